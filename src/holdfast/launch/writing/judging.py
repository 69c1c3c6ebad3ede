"""Whether a model's sentence may take the place of the template's: it must say the same, in other words. Pure.

Judged is what can be judged by eye. A sentence may gain plain words, which hold others together, and words in
other forms. It may gain no number, version, name, code or other word that neither the template's sentence nor its
claims have, no negation, no degree of certainty, and no other side (on is not off, before is not after); and lose
none of its own facts. Words stay in their order, but for a fact that is the only one of its kind: in another order
they may say the opposite. A good sentence may be refused; then the template's stays, and is true.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.launch.claim_marks import claims_of, without_marks
from holdfast.launch.factual_words import FORMATS, NUMBER_WORDS, PLATFORMS
from holdfast.launch.writing.blocks import Sentence
from holdfast.launch.writing.plain_words import PLAIN_WORDS

__all__ = ["Verdict", "is_plain", "judged", "objection"]

_FORBIDDEN = ("<", ">", "](", "][", "{{", "{%", "}}", "\\", "://", "www.", "|", "*", "~~", "&#", "${")
_STRUCTURE = re.compile(r"\s*(?:[#>|=]|[-+]\s|-{3}|\d+[.)]\s|`{3}|~{3})")
_CODE = re.compile(r"`([^`]+)`")
_FACT = re.compile(r"\d[\w.]*|(?<!\w)\w+(?:[._/@]\w+)+|\b\w*[a-z][A-Z]\w*|--[\w-]+|\b[A-Z]{2,}\w*\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MENTION = re.compile("|".join(one.pattern for one in (_CODE, _FACT, _WORD)))
_NEGATION = re.compile(
    r"\b(?:not|no|none|never|neither|nor|cannot|without|unsupported|lacks?|except|unless)\b|n['’]t\b",
    re.IGNORECASE,
)
_TYPOGRAPHIC = frozenset("“”‘’–—…\u00a0")
_DEGREES = {
    "ability": "can could able allows allow lets let enables enable possible",
    "duty": "must shall requires require required needs need needed mandatory necessary",
    "chance": "may might perhaps possibly optional optionally sometimes usually often typically generally",
    "advice": "should recommended recommend ought better prefer preferred",
    "future": "will would planned soon upcoming eventually later",
    "limit": "only just merely least most until",
    "always": "always all every any each entire entirely fully completely guaranteed guarantee whatever",
    "state": "experimental deprecated beta alpha stable unstable obsolete legacy",
}
_SIDES = frozenset({
    "before", "after", "from", "off", "out", "up", "down", "over", "under", "above", "below", "because", "either",
    "both",
})  # fmt: skip
"""Words that hold others together and have an opposite that does so, too."""
_DEGREE_OF = {word: name for name, words in _DEGREES.items() for word in words.split()}
_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ied", "es", "ed", "s", "e")
_SHORTEST_STEM = 3
_FEWEST_TO_MIX_UP = 2


class Verdict(NamedTuple):
    """What is printed, how many lines of it are the model's, and why others of its lines are not used."""

    sentences: tuple[Sentence, ...]
    taken: int
    refused: tuple[str, ...]


def is_plain(sentence: Sentence) -> bool:
    """Whether a sentence can be told in other words at all: it rests on claims, and is text and code alone."""
    return bool(sentence.claims) and not any(sign in sentence.text for sign in _FORBIDDEN)


def judged(given: tuple[Sentence, ...], told: str, claim_texts: dict[str, str]) -> Verdict:
    """The sentences with those lines of the answer that may be used; every other line is as it was given."""
    made: list[Sentence] = []
    refused: list[str] = []
    taken = at = 0
    for line in told.replace("\r", "\n").split("\n"):
        marks = claims_of(line)
        text = without_marks(line).strip()
        if not marks:
            refused += ["a line has no mark"] if text else []
            continue
        begin, end = _span(given, set(marks), at)
        if begin == end:
            refused.append("a mark was invented, or is not where it was")
            continue
        made += given[at:begin]
        problem = objection(given[begin:end], text, (claim_texts.get(one, "") for one in marks))
        if problem:
            refused.append(problem)
            made += given[begin:end]
        else:
            taken += text != given[begin].text
            claims = dict.fromkeys(claim for one in given[begin:end] for claim in one.claims)
            made.append(Sentence(text, tuple(claims)))
        at = end
    if at < len(given):
        refused.append("a mark was lost")
    return Verdict((*made, *given[at:]), taken, tuple(refused))


def objection(given: Iterable[Sentence], told: str, claim_texts: Iterable[str]) -> str:
    """Why these words may not take the place of the given sentences; empty where they may."""
    own = " ".join(one.text for one in given)
    allowed = f"{own} {' '.join(claim_texts)}"
    if not told:
        return "a line has no text"
    if _STRUCTURE.match(told) or any(sign in told for sign in _FORBIDDEN) or told.count("`") % 2:
        return "the text holds HTML, a link or other structure"
    strange = set(told) - set(allowed) - _TYPOGRAPHIC
    if any(not char.isascii() or unicodedata.category(char).startswith("C") for char in strange):
        return "the text holds a character that no claim has"
    if len(_NEGATION.findall(told)) != len(_NEGATION.findall(own)):
        return "a negation was lost or added"
    if _degrees(told) != _degrees(own):
        return "how certain or necessary something is was changed"
    if _sides(told) != _sides(own):
        return "what comes first, from where, or on which side, was changed"
    if invented := _invented(told, allowed):
        return f"the text states what no claim says: {', '.join(invented[:5])}"[:300]
    if lost := sorted(_facts(own) - _facts(told)):
        return f"the text leaves out what the sentence said: {', '.join(lost[:5])}"[:300]
    if _is_reordered(own, told):
        return "what the sentence said is told in another order, and may mean something else"
    return "" if len(told) <= 2 * len(own) + 100 else "the text is much longer than what it was made of"


def _span(given: tuple[Sentence, ...], marks: set[str], at: int) -> tuple[int, int]:
    """The sentences, from `at` on, that have exactly these marks together; an empty span for none."""
    for begin in range(at, len(given)):
        found: set[str] = set()
        for end in range(begin, len(given)):
            if not set(given[end].claims) <= marks:
                break
            found |= set(given[end].claims)
            if found == marks:
                return begin, end + 1
    return at, at


def _invented(told: str, allowed: str) -> list[str]:
    """Code, numbers, names and words that are new; a word in another form is the same, plain words are free."""
    stems = {_stem(word.lower()) for word in _WORD.findall(allowed)}
    code = {code.strip().lower() for code in _CODE.findall(told) if code not in allowed}
    plain = _CODE.sub(" ", told)
    words = {word.lower() for word in _WORD.findall(plain)} - PLAIN_WORDS
    # A name is spelled as it is, tableKit is not TableKit; but CSV is csv.
    names = {name.rstrip(".") for name in _FACT.findall(plain)}
    respelled = {name for name in names if name not in allowed and name.lower() not in FORMATS | PLATFORMS}
    new = code | (_facts(told) - _facts(allowed)) | {word for word in words if _stem(word) not in stems}
    return sorted(new | {name for name in respelled if name.lower() not in new})


def _facts(text: str) -> set[str]:
    """Code, numbers and names; a word in code counts as written without code too."""
    found = {one.strip().lower() for one in _CODE.findall(text)}
    found |= {one.rstrip(".").lower() for one in _FACT.findall(_CODE.sub(" ", text))}
    words = {word.lower() for word in _WORD.findall(text)}
    return found | (words & (FORMATS | PLATFORMS | NUMBER_WORDS))


def _is_reordered(own: str, told: str) -> bool:
    """Whether what could be mixed up changes places: words, facts of one kind, or what a negation is about."""
    code = {one.strip().lower() for one in _CODE.findall(own)}
    names = _facts(own) - code
    numbers = {one for one in names if one[0].isdigit() or one in NUMBER_WORDS}
    before, after = _mentioned(own), _mentioned(told)
    if max(len(code), len(numbers), len(names - numbers)) < _FEWEST_TO_MIX_UP and not _NEGATION.search(own):
        # "To open a file, use `read`": a fact may stand elsewhere. Who does what to whom may not.
        moving = {_stem(one) for one in code | names}
        before, after = ([one for one in found if one not in moving] for found in (before, after))
    return [one for one in before if one in after] != [one for one in after if one in before]


def _mentioned(text: str) -> list[str]:
    """Code, names, words that are not plain, and negations by their number, as they are first mentioned."""
    found: dict[str, None] = {}
    negations = 0
    for match in _MENTION.finditer(text):
        said = match[0].strip("`").strip().rstrip(".").lower()
        if _NEGATION.search(said):
            negations += 1
            found[f"negation {negations}"] = None
        elif said not in PLAIN_WORDS or said in _SIDES:
            found[_stem(said)] = None
    return list(found)


def _degrees(text: str) -> set[str]:
    words = (word.lower() for word in _WORD.findall(_CODE.sub(" ", text)))
    return {_DEGREE_OF[word] for word in words if word in _DEGREE_OF}


def _sides(text: str) -> list[str]:
    return [word for word in map(str.lower, _WORD.findall(_CODE.sub(" ", text))) if word in _SIDES]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
