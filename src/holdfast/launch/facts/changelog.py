"""The changelog: the newest versions and what each changed, from headings and lists."""

import re
from typing import NamedTuple

from holdfast.launch.facts.blocks import Section
from holdfast.launch.facts.claims import Citation
from holdfast.launch.facts.documents_read import document_sections
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.roles import LOST, REFERENCE
from holdfast.launch.facts.sentences import LONGEST, has_verb, split, tidy

__all__ = ["gather_changes"]

# A change that no version has yet, as tools keep it that join such files for a release.
_NEWS = re.compile(
    r"(?:[\w.-]+/)?(?:changelog\.d|changelog_unreleased|newsfragments|news|changes|\.changeset)/"
    r"(?!readme|template|_|\.)[^/]+\.(?:md|rst|txt|feature|bugfix|misc|change\w*|breaking)$",
    re.IGNORECASE,
)
_KINDS = frozenset({"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"})
_MOST_VERSIONS = 5
_MOST_ENTRIES = 20
_FEWEST_WORDS = 5
_VERSION = re.compile(
    r"(?:^|[\s\[v(])v?(\d+\.\d+(?:\.\d+)*(?:[-.]?(?:a|b|rc|alpha|beta|post|dev)[-.]?\d*)?)\b", re.IGNORECASE
)
_UNRELEASED = re.compile(r"\bunreleased\b|\bin development\b|\bnext\b|\bmain\b", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_DAY = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d|"
    r"\breleased?:? (?:on )?\d",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\b(?:GH|PR|issue|pull)[ -]?)?#\d+\b|\bGH-\d+|(?<![\w.])@[\w-]+(?!\.?\w)", re.IGNORECASE)
_CREDIT = (
    r"by|in|via|from|see|of|and|or|for|to|thanks|fix(?:es|ed)|close[sd]|resolve[sd]|"
    r"reported|requested|suggested|issue|pr"
)
_TAIL = re.compile(
    rf"(?:(?<![\s,;(\[])[\s,;(\[]+)?(?:\b(?:{_CREDIT})[\s:]+)*{REFERENCE}(?:[\s,;:&.()\[\]{REFERENCE}-]|\b(?:{_CREDIT})\b)*(?=[.!]?$)",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"^[^\w`\"'(<\[]+")
_BAD = re.compile(
    rf"[{LOST}{REFERENCE}\ufffd]|https?://|<[a-zA-Z/]|\{{\w|@\w|\bpull request\b|\bpre-commit\b|\bCI\b|"
    r"\bthanks?\b|^(?:please )?see\b|for more (?:details|information)\b|^(?:bump|merge|docs?:|chore|test)|\[\w*\]",
    re.IGNORECASE,
)


class _Entry(NamedTuple):
    text: str
    start_line: int
    end_line: int
    heading_line: int  # of the kind of change, where the text needs it; else 0


class _Release(NamedTuple):
    version: str
    date: str
    line: int
    entries: list[_Entry]


def gather_changes(known: Gathered) -> None:
    """Tell the changes of the newest versions, newest first."""
    for path in known.repository.entries("changelog")[:1]:
        document = document_sections(known.repository, path)
        _describe_version(known, path, document)
        for release in _releases(document, known):
            claims = [_claim(known, path, release, entry) for entry in release.entries]
            dated = {"date": release.date} if release.date else {}
            if claims:
                known.enter("changes", version=release.version, claim_ids=list(dict.fromkeys(claims)), **dated)


def _describe_version(known: Gathered, path: str, document: list[Section]) -> None:
    """The version of what is described, where neither manifest nor code has it: the newest in the list of changes.

    Not where that list, or a folder of news beside it, has changes since then.
    """
    dated = ((version, section) for section in document if (version := _version(section, known.name)))
    version, section = next(dated, ("", None))
    if "version" in known.single or section is None or not version[:1].isdigit():
        return
    if any(_NEWS.match(one) for one in known.repository.paths):
        return
    citation = Citation(path, section.line, section.line, "implementation_doc")
    text = f"{known.name} {version} is the version described here."
    claim = known.ledger.add(text, "version", citation, topic="version")
    known.single["version"] = {"value": version, "claim_id": claim}


def _claim(known: Gathered, path: str, release: _Release, entry: _Entry) -> str:
    """What changed, cited with the heading that says in which version."""
    citations = [Citation(path, entry.start_line, entry.end_line, "implementation_doc")]
    headings = dict.fromkeys((entry.heading_line, release.line))
    citations += [Citation(path, line, line, "implementation_doc") for line in headings if line]
    return known.ledger.add(entry.text, "change", *citations, topic=release.version)


def _releases(document: list[Section], known: Gathered) -> list[_Release]:
    found: list[_Release] = []
    for section in document:
        version = _version(section, known.name)
        if version:
            if len(found) == _MOST_VERSIONS:
                break
            found.append(_Release(version, _date(section), section.line, []))
        if found and len(found[-1].entries) < _MOST_ENTRIES:
            told = _entries(section) or ([] if found[-1].entries else _told(section))
            found[-1].entries.extend(told[: _MOST_ENTRIES - len(found[-1].entries)])
    return [release for release in found if release.entries]


def _version(section: Section, product: str) -> str:
    title = re.sub(re.escape(product), "", section.title, flags=re.IGNORECASE) if product else section.title
    numbered = _VERSION.search(title)
    if numbered and len(title) <= 80:
        return numbered[1]
    return "Unreleased" if section.level <= 2 and _UNRELEASED.search(title) and len(title) <= 40 else ""


def _date(section: Section) -> str:
    near = [section.title, *(block.text for block in section.blocks[:1] if block.kind == "paragraph")]
    return next((found[1] for text in near if (found := _DATE.search(text))), "")


def _entries(section: Section) -> list[_Entry]:
    found = []
    kind = section.title.strip(" :!").capitalize()
    for block in section.blocks:
        text, last = _entry(block.text) if block.kind == "item" and block.level == 1 else ("", 0)
        if not any(map(str.isalnum, text)):
            continue
        # `Python 3.8 support.` says the opposite of itself below `Removed`.
        told = has_verb(text) or " now " in text or text.startswith(kind)
        needs_kind = kind in _KINDS and (kind == "Removed" or not told) and not text.startswith(kind)
        words = f"{kind}: {text}" if needs_kind else text
        found.append(_Entry(words, *block.lines_of(0, last), section.line if needs_kind else 0))
    return found


def _told(section: Section) -> list[_Entry]:
    """What a version says of itself in plain words, where it has no list."""
    found = []
    for block in section.blocks:
        text, last = _entry(block.text) if block.kind == "paragraph" else ("", 0)
        if len(text.split()) >= _FEWEST_WORDS and not _DAY.search(text):
            found.append(_Entry(text, *block.lines_of(0, last), 0))
    return found


def _entry(raw: str) -> tuple[str, int]:
    """What changed, in as many whole sentences as are short enough, and the line on which they end."""
    kept, last = "", 0
    for sentence in split(raw):
        text = tidy(_SIGNS.sub("", _TAIL.sub("", _NUMBER.sub(REFERENCE, sentence.text)))).rstrip(" ,;")
        if not any(map(str.isalnum, text)):
            continue
        if _BAD.search(text) or len(kept) + len(text) > LONGEST or text.endswith((":", "?")):
            break
        kept = f"{kept} {text if text.endswith(('.', '!')) else text + '.'}".strip()
        last = sentence.last
    if len(kept.split()) < 2 or kept.count("`") % 2 or kept.count("(") != kept.count(")"):
        return "", 0
    return kept[0].upper() + kept[1:], last
