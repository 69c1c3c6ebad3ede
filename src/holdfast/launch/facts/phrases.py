"""Phrases made into sentences: a description without a verb, an item of a list of features.

Only patterns that cannot change what is said: the words stay those of the repository, the subject is the product.
"""

import re

from holdfast.launch.facts.words import ADJECTIVES, PRODUCT_NOUNS, PROPER, VERBS, base_form, is_verb

__all__ = ["described", "featured", "in_sentence", "listed", "lowered"]

_HEAD_ENDS = re.compile(
    r"(?:(?<!\s)\s+)?[,;:(.–—]|\s-\s|(?<!\s)\s+(?:for|to|that|which|with|in|of|on|from|by|written|based|using|and|as|without|"
    r"at|providing|implementing|inspired|"
    r"designed|built|used|like|via|per|made)\b",
    re.IGNORECASE,
)
# A name in capitals and what it is: a sentence already, though the name is not that of the package.
_SENTENCE = re.compile(r"[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*){0,3} (?:is|are) (?:an?|the) ")
_ARTICLE = re.compile(r"(?:an?|the|one)\s", re.IGNORECASE)
_VOWEL = re.compile(
    r"(?:[aeio]|u(?!ni|se|til|s\b)|(?:html|http|xml|sql|ssh|sdk|llm|rst|mcp|ftp|nfs)\b|8|hour|honest)",
    re.IGNORECASE,
)


def listed(items: list[str]) -> str:
    """`a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def lowered(text: str) -> str:
    """The text as it stands in the middle of a sentence; names and abbreviations stay as they are."""
    word = re.match(r"[A-Za-z'-]+", text)
    if word is None or not word[0][0].isupper() or word[0] in PROPER or not word[0][1:].islower():
        return text[0].lower() + text[1:] if re.match(r"A\s", text) else text
    if re.match(r"[A-Za-z]++[\w.(]*[._(\d]", text):  # an identifier or a version
        return text
    return text[0].lower() + text[1:]


def in_sentence(title: str) -> str:
    """A title as it stands in the middle of a sentence; where all its words are capitals, they become small."""
    words = title.split()
    plain = [word for word in words[1:] if len(word) > 3 and word.isalpha()]
    if plain and all(word[0].isupper() for word in plain):
        words[1:] = [lowered(word) if word.isalpha() else word for word in words[1:]]
    return lowered(" ".join(words))


def described(product: str, text: str) -> str:
    """The description of a manifest as a sentence about the product."""
    text = " ".join(text.split())
    full = text.rstrip(".") + "."
    words = text.split()
    own = re.match(rf"{re.escape(product)}\s*(?:[-–—:,]+\s*|(?=is\b|are\b|\w+s\b))(.*)$", text, re.IGNORECASE)
    if own and own[1]:
        rest = own[1].split()
        return full if is_verb(rest[0]) and rest[0].lower() not in VERBS else described(product, own[1])
    if _SENTENCE.match(text):
        return full
    if base_form(words[0]):
        return f"{product} {lowered(full)}"
    order = words[1:] if words[0].endswith("ly") and len(words) > 1 else words
    if (
        order[0].lower() in VERBS
        and len(words) > 2
        and not _is_noun_use(order)
        and _head(text) not in PRODUCT_NOUNS
    ):
        return f"With {product} you can {lowered(full)}"
    if ". " in text or any(is_verb(word) and word.lower() not in VERBS for word in words[:3]):
        return f"{product} describes itself as “{text.rstrip('.')}”."
    if _ARTICLE.match(text):
        return f"{product} is {lowered(full)}"
    if (
        _head(text) in PRODUCT_NOUNS
        and " and " not in text.partition(_head(text))[0] + text.partition(_head(text))[2][:5]
    ):
        return f"{product} is {'an' if _VOWEL.match(text) else 'a'} {lowered(full)}"
    return f"{product} describes itself as “{text.rstrip('.')}”."


def _head(text: str) -> str:
    """The last word of a noun phrase, before what is said about it."""
    end = _HEAD_ENDS.search(text)
    words = text[: end.start() if end else len(text)].split()
    return words[-1].lower().rstrip(".") if words else ""


def featured(product: str, item: str, lead: str = "") -> str:
    """An item of a list of features as a sentence about the product; nothing where no pattern fits."""
    text = " ".join(item.split()).rstrip(".;,")
    words = re.findall(r"[A-Za-z][\w'’-]*", text)
    if len(text.split()) < 2 or not words:
        return ""
    first = words[0].lower()
    if not text.lower().startswith(first) and text[0] != "`":
        return f"{product} is {text}." if _is_adjective(text) else f"{product} features {text}."
    if first in (
        "it",
        "it's",
        "this",
        "they",
        "and",
        "but",
        "that",
        "there",
        "no",
        "not",
        "never",
        "you",
        "we",
        "i",
        "your",
    ):
        return f"{product} has {lowered(text)}." if first == "no" else ""
    if base_form(first) and not lead:
        return f"{product} {lowered(text)}."
    if _is_adjective(lead or text):
        return f"{product} is {lowered(text)}."
    if first in VERBS and not lead and not _is_noun_use(words):
        return f"With {product} you can {lowered(text)}."
    return f"{product} features {lowered(text)}."


def _is_adjective(text: str) -> bool:
    head = _head(text)
    return head in ADJECTIVES or head.rpartition("-")[2] in ADJECTIVES or text.lower().startswith("pure python")


def _is_noun_use(words: list[str]) -> bool:
    """`Support for X`, `Filter functions`: a word that could be an order but names a thing."""
    following = words[1].lower() if len(words) > 1 else ""
    return following in ("for", "of", "and", "or", "in", "on", "with", "via", "by") or (
        following.endswith("s") and following not in ("as", "its", "across", "this", "files")
    )
