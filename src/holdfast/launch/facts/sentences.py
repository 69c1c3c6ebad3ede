"""Sentences: cut out of a text with their lines, and judged by whether they can stand alone on a page.

A sentence that leans on its neighbours (`This also ...`), points elsewhere (`see below`), speaks to contributors
or is no sentence at all is worth nothing as a claim. `refusal` names the rule, so that a test can be exact.
"""

import re
from typing import NamedTuple

from holdfast.launch.facts.refusals import DANGLING, ENTRY, LEANING_PHRASES, POINTING, PRONOUN, REFUSED
from holdfast.launch.facts.roles import REFERENCE
from holdfast.launch.facts.words import AUXILIARIES, LEANING, OBJECTS, PLURALS, SUBJECTS, VERBS, base_form

__all__ = ["LEANS", "LONGEST", "Sentence", "has_verb", "is_fragment", "leans", "refusal", "split", "tidy"]

LEANS = "begins_with_a_pronoun"
"""The refusal of a sentence that is good together with the one before it."""

LONGEST = 420
_FEWEST_WORDS = 4
_MOST_WORDS = 60

_LEAD_WORDS = 3  # `Fast:` and `Easy to use:` are names of what follows
_RELATIVE = frozenset({"that", "which", "who", "whose", "what"})

# What is said of many or of some leans on what they are chosen from, unless nothing stands before it.
_SOME = re.compile(r"(?:there|most|many|several|some|certain)\b", re.IGNORECASE)
_FIT = frozenset({"useful", "handy", "helpful", "suitable", "ideal", "perfect", "great", "good"})
_CODE = re.compile(r"`[^`]*`")
_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s+\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|eg|ie|etc|vs|cf|approx|incl|resp|ca|al|no|fig|sec|dr|mr|ms|mrs|st|jr|inc|ltd|co|"
    r"dept|est|min|max|v)|"
    r"\b[A-Z]|\.\.)\.$",
    re.IGNORECASE,
)
_REFERENCES = re.compile(rf"[\s(\[,]*{REFERENCE}(?:[\s,;&{REFERENCE}]|and)*[)\]]*(?=[.!]?$)")
_SPACES = re.compile(r"\s+")
_WORDS = re.compile(r"[A-Za-z][A-Za-z'’-]*")


class Sentence(NamedTuple):
    """A sentence, and the lines of its text (from 0) on which it begins and ends."""

    text: str
    first: int
    last: int


def split(text: str, product: str = "") -> list[Sentence]:
    """The sentences of a paragraph, in order; nothing is left out. A product may have a name without capitals."""
    masked = _CODE.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    found, start = [], 0
    for end in _END.finditer(masked):
        following = masked[end.end() :].lstrip()
        continues = following[:1].islower() and not (product and following.startswith(product))
        if continues or _ABBREVIATION.search(masked[max(0, start, end.end() - 12) : end.end()]):
            continue
        if _open_brackets(masked[start : end.end()]) > 0:
            continue
        found.append((start, end.end()))
        start = end.end()
    found.append((start, len(text)))
    return [_sentence(text, first, last) for first, last in found if text[first:last].strip()]


def _open_brackets(text: str) -> int:
    return text.count("(") + text.count("[") - text.count(")") - text.count("]")


def _sentence(text: str, start: int, end: int) -> Sentence:
    lead = len(text[start:end]) - len(text[start:end].lstrip())
    first = text.count("\n", 0, start + lead)
    last = text.count("\n", 0, start + len(text[start:end].rstrip()))
    return Sentence(tidy(text[start:end]), first, last)


def tidy(text: str) -> str:
    """One line of text: single spaces, none before a full stop, no empty brackets, no references at the end."""
    text = _REFERENCES.sub("", _SPACES.sub(" ", text).strip())
    text = re.sub(r"(?:(?<!\s)\s+|(?<!\w))\((?:[\s,;]|and)*\)", "", text)
    return re.sub(r"(?<=[\w`)])\s+([.,;](?:\s|$))", r"\1", text).strip()


def refusal(sentence: str, product: str = "", *, opens: bool = False) -> str:
    """Why this cannot stand alone as a claim; nothing where it can. What `opens` a section leans on less."""
    bare = _CODE.sub("code", sentence)
    for name, pattern in REFUSED:
        if pattern.search(bare):
            return name
    if opens and _SOME.match(bare):
        return _form(sentence, bare) or _substance(bare, product)
    return _form(sentence, bare) or _beginning(sentence, bare, product) or _substance(bare, product)


def leans(sentence: str) -> bool:
    """Whether this begins with a word for something that the sentence before it names."""
    return PRONOUN.match(_CODE.sub("code", sentence)) is not None


def _form(sentence: str, bare: str) -> str:
    if len(sentence) > LONGEST:
        return "too_long"
    if bare.endswith(("?", ":", ";", ",")):
        return "no_statement"
    if not sentence.rstrip("\"'”’)").endswith("."):
        return "no_end"
    if _open_brackets(bare) or bare.count('"') % 2 or bare.count("“") != bare.count("”"):
        return "unbalanced"
    return "dangling" if DANGLING.search(bare) else ""


def _beginning(sentence: str, bare: str, product: str) -> str:
    if product and re.match(rf"{re.escape(product)}\b", sentence, re.IGNORECASE):
        return ""
    first = sentence[0]
    if not (first.isupper() or first.isdigit() or first in "`\"“'"):
        return "begins_small"
    if ENTRY.match(sentence):
        return "entry_of_a_list"
    opening = (_WORDS.match(bare) or [""])[0].lower().replace("’", "'").removesuffix("'s")
    if PRONOUN.match(bare):
        return LEANS
    if _has_no_subject(bare):
        return "no_subject"
    if opening in LEANING or opening in POINTING or LEANING_PHRASES.match(bare):
        return "leans_on_another"
    return ""


def _has_no_subject(bare: str) -> bool:
    """`Reads and writes files.` Who does? But `Joins hold one table.` has one: a noun that looks like a verb."""
    words = [word.lower() for word in _WORDS.findall(bare)[:2]]
    if words[:1] and words[0] in _FIT and words[-1] in ("when", "if", "for", "in", "to", "with", "as", "where"):
        return True
    if not bare[:1].isupper() or len(words) < 2 or not base_form(words[0]):
        return False
    return words[1] not in VERBS and words[1] not in AUXILIARIES


def _substance(bare: str, product: str) -> str:
    if len(bare.split()) < _FEWEST_WORDS:
        return "too_short"
    if len(bare.split()) > _MOST_WORDS:
        return "too_long"
    letters = sum(character.isalpha() or character.isspace() for character in bare)
    if letters < 0.75 * len(bare):
        return "not_words"
    if not has_verb(bare) and not _does(bare, product):
        return "no_verb"
    return ""


def _does(bare: str, product: str) -> bool:
    """Whether the product is the subject, with a verb right behind it."""
    following = _WORDS.match(bare[len(product) :].lstrip()) if product and bare.startswith(product) else None
    return following is not None and bool(base_form(following[0]))


def has_verb(text: str) -> bool:
    """Whether there is a verb that can carry a sentence: an order at the beginning, or one behind a subject."""
    small = [word.lower().replace("’", "'") for word in _WORDS.findall(_CODE.sub("code", text))]
    if small and small[0] in VERBS:
        return True
    return any(_is_finite(small, at) for at in range(1, len(small)))


def is_fragment(text: str) -> bool:
    """Whether the part before a colon only names something: its verbs all belong to a `that` or `which`."""
    head = _CODE.sub("code", text).partition(": ")[0]
    small = [word.lower().replace("’", "'") for word in _WORDS.findall(head)]
    if len(small) <= _LEAD_WORDS or small[0] in VERBS:
        return False
    verbs = sum(_is_finite(small, at) for at in range(1, len(small)))
    return verbs <= sum(word in _RELATIVE for word in small)


def _is_finite(words: list[str], at: int) -> bool:
    word, before = words[at], words[at - 1]
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in AUXILIARIES:
        return True
    if base_form(word):
        return word not in PLURALS or following in OBJECTS
    two_names = words[max(0, at - 3) : at] == ["code", "and", "code"]  # `one` and `two` accept streams.
    return word in VERBS and (two_names or before in SUBJECTS or (before.endswith("s") and before not in SUBJECTS))
