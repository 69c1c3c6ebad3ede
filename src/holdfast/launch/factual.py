"""Which lines of a page state something that must rest on a claim: numbers, names, versions, platforms, abilities.

A line is judged by what a reader sees of it: code blocks, comments, addresses of links and the syntax of Markdown
do not count. This is a rule that anybody can apply by eye, not an understanding of the sentence, so that the one
who writes a page and the one who checks it always agree. Whether a line is true is not known here.
"""

import functools
import html
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.launch.claim_marks import without_marks
from holdfast.launch.code_spans import code_spans, replace_code_spans
from holdfast.launch.factual_words import (
    ABILITIES,
    ABILITY_PHRASE,
    FORMAT_ENDING,
    FORMATS,
    NAVIGATION,
    NOUNS,
    NUMBER_WORDS,
    PLAIN_VERBS,
    PLATFORM_SIGN,
    PLATFORMS,
    WELL_KNOWN_NAMES,
)

__all__ = ["FactualLine", "factual_lines", "identifiers_of", "names_of", "prose_lines", "visible"]


class FactualLine(NamedTuple):
    """A line that needs a claim; `text` is what a reader sees, `line` counts from 1 within the body."""

    line: int
    text: str
    reasons: tuple[str, ...]


_FENCE = re.compile(r"(?:\s*>)*\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}(?=[^`]*$)|~{3,})")
_HIGHLIGHT = re.compile(r"\{\{[<%]\s*(/?)\s*highlight\b[^}]*?(/?)\s*[>%]\}\}")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_SHORTCODE = re.compile(r"\{\{[<%].*?[>%]\}\}")
_LEAD = re.compile(r"(?:\s*>)*\s*(?:#{1,6}(?=\s|$)|[-*+]\s+(?:\[[ xX]\]\s)?)?\s*(?:\d{1,9}[.)]\s+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_DEFINITION = re.compile(r"\s{0,3}\[(?!\^)[^\]]+\]:\s*\S")
_TABLE_RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*")
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\((?:[^()\s]|\([^()]*\))*(?:\s+[\"'(][^)]*+)?\)|\[[^\[\]]*\])"
)
_ADDRESS = re.compile(r"<?\b(?:https?|ftp|mailto):[^\s<>|]+>?")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_STEP = re.compile(r"\b(?:[Ss]tep|[Pp]art|[Cc]hapter)\s+\d+\b")
_NUMBER = re.compile(r"\d")
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.(?:\d+|x|\*))+|[<>=~^!]=?\s*\d|\b[Vv]ersions?\s+\d")
_DOTTED = re.compile(r"(?<![\w.@/])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w.]*@)")
_SNAKE = re.compile(r"(?<!\w)[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![\w])")
_CAMEL = re.compile(r"(?<![\w.])(?:[A-Z]+[a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[a-z]+[A-Z][A-Za-z0-9]*)\b")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_CALL = re.compile(r"\b[A-Za-z_]\w*\(\)")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a", "U.S", "a.m", "p.m"})
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def factual_lines(
    body: str, *, identifiers: Collection[str] = (), names: Collection[str] = ()
) -> list[FactualLine]:
    """The lines of Markdown that need a claim. `names` are no facts by themselves, such as the product's own."""
    known = _whole_words(frozenset(identifiers))
    own = _whole_words(frozenset(names))
    lines = body.split("\n")
    judged = ((line, _reasons(text, known, own)) for line, text in prose_lines(body))
    return [
        FactualLine(line, without_marks(lines[line - 1]).strip(), reasons) for line, reasons in judged if reasons
    ]


def prose_lines(body: str) -> Iterator[tuple[int, str]]:
    """The lines outside code and comments with their numbers; comments inside a line are left out of its text."""
    fence, in_comment, in_highlight, in_list, blank_before, in_indented = "", False, False, False, True, False
    for number, raw in enumerate(body.split("\n"), 1):
        line = raw.rstrip("\r").expandtabs(4)
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        line, in_comment = _without_comments(line, in_comment)
        line, in_highlight = _without_highlights(line, in_highlight)
        if not line.strip():
            blank_before = blank_before or not raw.strip()
            continue
        in_indented = line.startswith("    ") and not in_list and (blank_before or in_indented)
        blank_before = False
        if in_indented:
            continue
        if opened := _FENCE.match(line):
            fence = opened[1]
            continue
        in_list = _LIST_ITEM.match(line) is not None or (in_list and line.startswith(" "))
        yield number, line


def visible(text: str) -> str:
    """What a reader sees of a line: no bullets, addresses, tags or shortcodes; code spans stay as they are."""
    text = _SHORTCODE.sub(" ", without_marks(text))
    text = _LEAD.sub("", text, count=1)
    text = _LINK.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)  # an image inside a link
    return html.unescape(_TAG.sub(" ", _ADDRESS.sub(" ", text))).strip()


def identifiers_of(facts: Mapping[str, Any]) -> frozenset[str]:
    """The names of the product's interface that are no ordinary words, so that they count wherever they stand."""
    summary = facts["api_surface_summary"]
    every = [symbol[key] for symbol in facts["api_symbols"] for key in ("name", "qualified_name")]
    every += [*summary["modules"], *summary["classes"], *summary["functions"]]
    every += [command["name"] for command in facts.get("commands", ())]
    own = {name.lower() for name in names_of(facts)}
    return frozenset(name for name in every if _is_distinctive(name) and name.lower() not in own)


def names_of(facts: Mapping[str, Any]) -> frozenset[str]:
    """What the product itself is called: naming it is not a statement."""
    packages = facts.get("code_structure", {}).get("package_names", [])
    published = [entry["identifier"] for entry in facts.get("distribution", ())]
    return frozenset(
        name for name in (facts["product_name"], facts["product_slug"], *packages, *published) if name
    )


def _reasons(line: str, known: re.Pattern[str], own: re.Pattern[str]) -> tuple[str, ...]:
    if _TABLE_RULE.fullmatch(line) or _DEFINITION.match(line) or _is_navigation(line):
        return ()
    code = [span.code.strip() for span in code_spans(line)]
    text = visible(
        replace_code_spans(line, lambda span: " `" + span.code.replace("[", " ").replace("]", " ") + "` ")
    )
    plain = own.sub(" ", replace_code_spans(text, " "))
    named = [name for name in code if not own.fullmatch(name)]
    words = [word.lower().replace("’", "'") for word in _WORD.findall(plain)]
    spoken = frozenset(words)
    found = {
        "identifier": bool(named) or known.search(plain) is not None or _holds_name(plain),
        "number": _NUMBER.search(_STEP.sub(" ", plain)) is not None or not NUMBER_WORDS.isdisjoint(spoken),
        "version": _VERSION.search(plain) is not None,
        "platform": not PLATFORMS.isdisjoint(spoken) or PLATFORM_SIGN.search(plain) is not None,
        "format": not FORMATS.isdisjoint(spoken) or FORMAT_ENDING.search(plain) is not None,
        "capability": _holds_ability(plain, words, heading=_HEADING.match(line) is not None),
    }
    return tuple(reason for reason, there in found.items() if there)


def _is_navigation(line: str) -> bool:
    """Only links, with the words that lead to them."""
    text = _SHORTCODE.sub(" ", without_marks(line))
    rest, links = _LINK.subn(" ", _LINK.sub("[x](x)", text))
    rest, addresses = _ADDRESS.subn(" ", rest)
    if not links + addresses:
        return False
    return all(word.lower() in NAVIGATION for word in _WORD.findall(_TAG.sub(" ", _LEAD.sub("", rest, count=1))))


def _holds_name(text: str) -> bool:
    if _SNAKE.search(text) or _OPTION.search(text) or _CALL.search(text):
        return True
    dotted = (match[0] for match in _DOTTED.finditer(text))
    if any(name not in _ABBREVIATIONS for name in dotted):
        return True
    return any(match[0] not in WELL_KNOWN_NAMES for match in _CAMEL.finditer(text))


def _holds_ability(text: str, words: list[str], *, heading: bool) -> bool:
    """A label of one word, such as `Returns`, says nothing, and a heading uses many of the verbs as nouns."""
    if len(words) < 2:
        return False
    told = ABILITIES.intersection(words) | PLAIN_VERBS.intersection(words[1:])
    return bool(told - NOUNS if heading else told) or ABILITY_PHRASE.search(text) is not None


def _closes(line: str, fence: str) -> bool:
    rest = line.strip().lstrip("> ").strip()
    return len(rest) >= len(fence) and set(rest) == {fence[0]}


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """The line without what is in comments, and whether one is still open at its end."""
    kept: list[str] = []
    while line:
        if inside:
            _, ended, line = line.partition("-->")
            if not ended:
                return "".join(kept), True
        before, begun, line = line.partition("<!--")
        kept.append(before)
        # What begins inside a code span is code, which ends with the line.
        if begun and "".join(kept).count("`") % 2:
            return "".join([*kept, begun, line]), False
        inside = bool(begun)
    return "".join(kept), inside


def _without_highlights(line: str, inside: bool) -> tuple[str, bool]:
    """The same for code between two shortcodes of Hugo."""
    kept, start = [], 0
    for match in _HIGHLIGHT.finditer(line):
        kept.append("" if inside else line[start : match.start()])
        inside, start = not match[1] and not match[2], match.end()
    kept.append("" if inside else line[start:])
    return "".join(kept), inside


def _is_distinctive(name: str) -> bool:
    # An operator is no name: `|` is in every table.
    return re.search(r"\w", name.rpartition(".")[2]) is not None and not (
        name.isalpha() and (name.islower() or name.istitle())
    )


@functools.lru_cache(maxsize=32)
def _whole_words(words: frozenset[str]) -> re.Pattern[str]:
    if not words:
        return re.compile(r"(?!)")
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w|\.\w)")
