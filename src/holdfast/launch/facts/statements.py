"""The statements of a section: its sentences that can stand alone, and its lists of features made into sentences.

The words stay as they are. Two things are mended, because they depend on the place and not on the meaning: `This
library` becomes the product's name, and a sentence that begins with `It` stays with the one it leans on.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.launch.facts.blocks import Block, Section
from holdfast.launch.facts.phrases import featured
from holdfast.launch.facts.sentences import LEANS, LONGEST, is_fragment, refusal, split

__all__ = ["Found", "statements"]

_THIS_PRODUCT = re.compile(
    r"This (?:[a-zA-Z-]+ ){0,2}(?:library|package|project|tool|framework|program|plugin|module)(?= (?:is|"
    r"was|has|can|does|will|\w+s)\b)"
)
_THIS_IS = re.compile(r"This is (?=an? |the )")
_IT = re.compile(
    r"It(?!(?:'s|’s| is| was| can be| may be)? (?:(?:also|often|even|not|then|usually|generally) )?"
    r"(?:been|got|possible|important|recommended|necessary|useful|common|safe|best|better|easy|easier|worth|"
    r"seems|takes|makes sense|follows|turns out|depends)\b)"
    r"(?P<is>'s|’s| is)?(?= [a-z])"
)
_SAYS_WHAT = r"{}(?:'s|’s| is) (?:an?|the|one) [^:]+:"
_THING = re.compile(r"An? ")
# "`name`: what it is. Sentence." or "`one`, `two`: what they are. Sentence.": all of it speaks of the names.
_ENTRY = re.compile(r"`[^`]*`(?:(?:\s*[,/]|\s+and|\s+or)\s*`[^`]*`)*\s*(?::|--?|–|—)\s")
_NEW = re.compile(r"\ban? ((?:[a-z-]+ ){0,2}[a-z-]+)", re.IGNORECASE)
_KNOWN = re.compile(r"\bthe ((?:[a-z-]+ ){0,1}[a-z-]+)", re.IGNORECASE)
_OPENING = re.compile(r"(?:\S+ ){0,6}\S+")
_SHORTEST_NOUN = 4
_INCOMPLETE = ("no_verb", "too_short", "not_words")
_ELSEWHERE = re.compile(
    r"(?:see also|(?:for )?further reading|references|links|resources|related(?: \w+)?):", re.IGNORECASE
)
_FEATURE_LIST = re.compile(
    r"\b(?:features?|points|use cases|provides?|supports?|offers?|includes?|highlights|goals|benefits|"
    r"advantages|can|allows?|"
    r"reasons|capabilit\w+|lets)\b",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """A statement in a document."""

    text: str
    start_line: int
    end_line: int
    is_pattern: bool = False
    is_item: bool = False
    topic: str = ""
    number: int = 0  # of its first sentence among those of the paragraphs of its section
    sentences: int = 1
    is_aside: bool = False  # it follows something in its list item that is not told


def statements(section: Section, product: str, *, features: bool, about_product: bool = False) -> Iterator[Found]:
    """All statements of a section, in order; with `features`, items that are no sentences as well.

    In a section that is about the product as a whole, `This library` and `It` mean the product.
    """
    introduced, elsewhere = False, False
    before = 0  # sentences of earlier paragraphs
    for block in section.blocks:
        if block.kind == "paragraph":
            introduced = block.text.rstrip().endswith(":") and _FEATURE_LIST.search(block.text) is not None
            elsewhere = _ELSEWHERE.fullmatch(block.text.strip()) is not None
            told = _sentences(block, product, about_product=about_product, before=before)
            yield from _whole(told, product) if about_product else told
            before += len(split(block.text, product))
        elif block.kind == "item" and not elsewhere:
            is_entry = _ENTRY.match(block.text) is not None
            whole = [] if is_entry else list(_sentences(block, product, about_product=False))
            if whole:
                yield from (found._replace(topic=block.lead, is_item=True) for found in whole)
            elif features and (introduced or section.level > 1) and block.level == 1:
                yield from _feature(block, product)


def _sentences(block: Block, product: str, *, about_product: bool, before: int = 0) -> Iterator[Found]:
    """The sentences of a block that can stand alone; one that leans on such a one is told together with it."""
    held: Found | None = None
    leaned, aside = False, False
    unsaid = ""  # the sentences before this one that are not told
    subject = about_product  # whether `It` would mean the product
    for number, sentence in enumerate(split(block.text, product), before):
        text = _named(sentence.text, product, this=about_product, it=subject)
        if about_product and re.fullmatch(_SAYS_WHAT.format(re.escape(product)), text, re.IGNORECASE):
            text = text[:-1] + "."  # a list of what it is good for follows, and what it is stands here
        start, end = block.lines_of(sentence.first, sentence.last)
        reason = refusal(text, product, opens=number == 0 and block.kind == "paragraph")
        reason = reason or ("speaks_of_the_unsaid" if _speaks_of(text, unsaid) else "")
        unsaid += f" {text}" if reason else ""
        # An item is one thought: what follows in it leans on what is not told.
        aside = aside or (
            block.kind == "item" and reason in _INCOMPLETE and text.rstrip(".:") != block.lead.rstrip(".:")
        )
        if held and not leaned and reason == LEANS and len(held.text) + len(text) < LONGEST:
            held, leaned = held._replace(text=f"{held.text} {text}", end_line=end, sentences=2), True
            continue
        if held:
            yield held
        held, leaned = (None if reason else Found(text, start, end, number=number, is_aside=aside)), False
        subject = text.lower().startswith(product.lower()) or (subject and bool(_IT.match(sentence.text)))
    if held:
        yield held


def _speaks_of(text: str, unsaid: str) -> bool:
    """Whether a sentence begins with something, `the cache`, that only an unsaid one has named: `a cache`."""
    opening = _OPENING.match(text)
    known = _nouns(_KNOWN, opening[0]) if opening and unsaid else set()
    return not known.isdisjoint(_nouns(_NEW, unsaid))


def _nouns(pattern: re.Pattern[str], text: str) -> set[str]:
    words = " ".join(pattern.findall(text)).lower().split()
    return {word.removesuffix("s") for word in words if len(word) >= _SHORTEST_NOUN}


def _whole(told: Iterable[Found], product: str) -> Iterator[Found]:
    """Sentences; what is only the name of a thing, `A parser for dates.`, is told as a part of the product."""
    for found in told:
        if not is_fragment(found.text):
            yield found
        elif _THING.match(found.text):
            text = featured(product, found.text)
            if text and not refusal(text, product):
                yield found._replace(text=text, is_pattern=True)


def _named(text: str, product: str, *, this: bool, it: bool) -> str:
    """The sentence with the name of the product where it says `It` or `This library`, written as it is asked."""
    if this and re.match(rf"{re.escape(product)} (?:is|has|aims|provides|supports)\b", text, re.IGNORECASE):
        text = product + text[len(product) :]
    if this:
        text = _at_start(_THIS_IS, f"{product} is ", _at_start(_THIS_PRODUCT, product, text))
    found = _IT.match(text) if it else None
    return (f"{product} is" if found["is"] else product) + text[found.end() :] if found else text


def _feature(block: Block, product: str) -> Iterator[Found]:
    first = split(block.text, product)[:1]
    if not first:
        return
    text = featured(product, first[0].text, block.lead)
    if text and not refusal(text, product):
        start, end = block.lines_of(first[0].first, first[0].last)
        yield Found(text, start, end, is_pattern=True, is_item=True, topic=block.lead)


def _at_start(pattern: re.Pattern[str], words: str, text: str) -> str:
    found = pattern.match(text)
    return words + text[found.end() :] if found else text
