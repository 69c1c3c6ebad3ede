"""Claims from prose: what README and documentation say, sorted into kinds by where and how it is said."""

import re
from collections.abc import Sequence

from holdfast.launch.facts.blocks import Section
from holdfast.launch.facts.claims import Citation
from holdfast.launch.facts.contradictions import Statement
from holdfast.launch.facts.documents_read import document_sections, shown_docs
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.licenses import license_named
from holdfast.launch.facts.section_kinds import NOISE, is_introduction, is_question, section_kind
from holdfast.launch.facts.sentences import is_fragment
from holdfast.launch.facts.statements import Found, statements
from holdfast.launch.facts.titles import whole_title

__all__ = ["gather_docs", "gather_readme"]

_MOST_README = 160
_MOST_DOCS = 420
_FEWEST_PER_DOCUMENT = 8
_POSITIONING = 4  # sentences of the introduction that say what the product is; the others say what it does

_LIMITS = re.compile(
    r"\b(?:does not|doesn't|do not|don't|cannot|can't|can not|is not|isn't|are not|aren't|"
    r"not) (?:yet )?(?:currently )?(?:support\w*|possible|thread[- ]safe|"
    r"available|implemented|handled?|guarantee\w*|allowed|work\w*|preserv\w*|includ\w*)|\b(?:unsupported|"
    r"limitation|only works?|no support for|at most|cannot be)\b",
    re.IGNORECASE,
)
# `It answers, even when the server cannot be started.` is the opposite of a limit.
_IN_SPITE = re.compile(
    r"^even (?:while|when|where|if|though)\b[^,]*,|(?<!^)\b(?:also|even) (?:while|when|where|if|though)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_COMPATIBLE = re.compile(
    r"\b(?:requires?|supports?|works? (?:with|on)|compatible with|runs? on|tested (?:with|"
    r"on))\b.{0,40}\b(?:Python|PyPy|CPython|Windows|Linux|macOS|Mac OS|FreeBSD)\b"
)
_CAN = re.compile(
    r"\b(?:supports?|provides?|allows?|offers?|enables?|can|includes?|generates?|handles?|features?|lets|"
    r"makes?|converts?|parses?|reads?|writes?|"
    r"implements?|comes? with|automatically|ships? with|formats?|renders?|validates?|detects?)\b"
)
_PYTHON = re.compile(
    r"\b(?:requires?|supports?|works?|runs?|compatible|needs?|"
    r"tested)\b[^.;]{0,50}?\bPython(?: versions?)? ?(?:>= ?)?(\d\.\d+)(?:\+| ?(?:or|and) (?:newer|later|"
    r"above|higher|up)|(?=[^.]*\bor newer\b)| ?>)?",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"\d\.\d+(?:\+| ?(?:or|and) (?:newer|later|above|higher|up))|>= ?\d\.\d+")
# What a project says of its past and of how it proves itself: true, and neither what it is nor what it does.
_PRAISE = re.compile(
    r"^[“\"][^”\"]*[”\"]\.?$|"
    r"\bsince (?:version )?\d|\b(?:has|have) been (?:\w+ )?(?:used|around|developed|maintained|battle)"
    r"|\b(?:is|are|was|were) (?:built|created|developed|maintained|made|sponsored|funded|backed) by "
    r"(?:the )?(?-i:[A-Z])"
    r"|\b(?:adapted|borrowed|derived|forked|ported|taken)\b[^.]* from\b"
    r"|\binfluential\b|\b(?:used|trusted) (?:by|at) (?:many|thousands|hundreds|millions|companies)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:Please )?note\b", re.IGNORECASE)
_PROOF = re.compile(
    r"`make |\bbench(?:mark)?(?:s|ed|ing)?\b|\bfigures\b|\bproves? (?:it|this|that)\b|\btest suite\b"
    r"|\byour machine\b|\btimes (?:less|more|faster|slower|as)\b|\bmilliseconds?\b|^`[\w.-]+/[\w./-]+`",
    re.IGNORECASE,
)
_INSTALLS = re.compile(
    r"\b(?:install\w*|pip|pipx|uv|conda|virtual ?env\w*|environments?|packages?|wheels?|download\w*|upgrad\w+|"
    r"depend\w*|extras?|requires?|compil\w+|binar(?:y|ies))\b|\bPython \d",
    re.IGNORECASE,
)
# The pages of the documentation that speak of the product as a whole.
_FRONT = re.compile(r"(?:^|/)(?:index|intro\w*|overview|about|features|home|what-is[\w-]*)\.\w+$", re.IGNORECASE)
_GROUPS = {
    "feature": "key_features",
    "format": "key_features",
    "install": "install_steps",
    "limitation": "limitations",
    "compatibility": "compatibility_notes",
    "workflow": "workflow_claims",
}

_PARTS = frozenset(
    {
        "answer",
        "solution",
        "details",
        "notes",
        "note",
        "example",
        "examples",
        "usage",
        "description",
        "explanation",
    }
)
_STOP_WORDS = frozenset(
    [
        "with",
        "from",
        "into",
        "that",
        "this",
        "these",
        "those",
        "your",
        "when",
        "where",
        "what",
        "which",
        "have",
        "will",
        "them",
        "they",
        "then",
        "there",
        "their",
        "using",
        "used",
        "uses",
        "more",
        "most",
        "than",
        "other",
        "only",
        "about",
        "each",
        "some",
        "also",
        "such",
        "like",
        "make",
        "made",
        "does",
    ]
)
_TECHNICAL = frozenset({"install", "limitation", "compatibility", "quickstart", "workflow"})
_LICENSED = re.compile(
    r"(?:licensed|released|distributed) under (?:the )?(.{2,60}?)(?: licen[cs]e)?\.", re.IGNORECASE
)


def gather_readme(known: Gathered) -> None:
    """What the README says; its first sentences are what the product is."""
    for path in known.repository.entries("readme")[:1]:
        left = _MOST_README
        sections = document_sections(known.repository, path)
        title = _title(sections)
        for section in sections:
            below_title = section.trail[1:] if section.trail[:1] == (title,) else section.trail
            kind = section_kind(below_title or (section.trail if section.level > 1 else ()))
            if kind == NOISE or left <= 0:
                continue
            is_intro = section.trail in ((), (title,)) or is_introduction(section.title)
            left -= _Teller(known, path, section, kind, is_intro=is_intro, is_readme=True).tell(left)


def _title(sections: Sequence[Section]) -> str:
    """What a document is called; nothing where its sections stand without a title above them."""
    heads = [section for section in sections if section.level == 1]
    return heads[0].title if len(heads) == 1 or (heads and not section_kind(heads[0].trail)) else ""


def gather_docs(known: Gathered) -> None:
    """What the documentation says; each document has its share."""
    paths = shown_docs(known.repository)
    share = max(_FEWEST_PER_DOCUMENT, _MOST_DOCS // max(len(paths), 1))
    for path in paths:
        left = share
        for section in document_sections(known.repository, path):
            kind = section_kind(section.trail)
            if kind != NOISE and left > 0:
                left -= _Teller(known, path, section, kind, is_intro=False, is_readme=False).tell(left)


class _Teller:
    """Tells the statements of one section."""

    def __init__(
        self, known: Gathered, path: str, section: Section, kind: str, *, is_intro: bool, is_readme: bool
    ) -> None:
        self._known, self._path, self._section, self._kind = known, path, section, kind
        self._is_intro, self._is_readme = is_intro, is_readme
        self._source = "implementation_doc"
        if is_readme:
            self._source = "readme_technical" if kind in _TECHNICAL else "readme_marketing"

    def tell(self, most: int) -> int:
        """Enter up to so many claims; how many there were."""
        number, whole = 0, 0  # `whole`: so many sentences from the beginning are told without a gap
        features = self._kind == "feature" or self._is_intro
        told = statements(self._section, self._known.name, features=features, about_product=self._is_intro)
        for found in told:
            if number < most and (self._is_whole(found) if self._is_readme else self._is_anchored(found)):
                whole += found.sentences if found.number == whole and not found.is_item else 0
                self._enter(found, goes_on=found.is_item or found.number >= whole)
                number += 1
        return number

    def _enter(self, found: Found, *, goes_on: bool) -> None:
        known = self._known
        kind = self._claim_kind(found)
        citation = Citation(self._path, found.start_line, found.end_line, self._source)
        topic = found.topic or ("description" if self._is_intro else _topic(self._section))
        confidence = "medium" if self._source == "readme_marketing" else "high"
        claim = known.ledger.add(found.text, kind, citation, topic=topic, confidence=confidence, goes_on=goes_on)
        if kind == "positioning":
            known.positioning.append(claim)
            known.description.append(known.ledger.claims[claim].text)
        group = self._group(kind)
        if group:
            known.group(group, claim)
        _remember(known, claim, found.text, self._source)

    def _is_whole(self, found: Found) -> bool:
        return found.is_pattern or not is_fragment(found.text)

    def _is_anchored(self, found: Found) -> bool:
        """Whether a sentence names what it is about: code, the product, or something of its headings.

        A page of documentation tells a story, and most of its sentences are good only within it.
        """
        product = self._known.name.lower()
        if found.is_item and self._kind != "feature":
            return found.text.lower().startswith((product, "`"))
        if "`" in found.text or product in found.text.lower():
            return True
        return not _content_words(found.text).isdisjoint(_content_words(" ".join(self._section.trail)))

    def _group(self, kind: str) -> str:
        group = _GROUPS.get(kind, "")
        if group == "limitations":
            return group
        if is_question(_topic(self._section)):
            return ""  # an answer belongs to its question
        if self._kind == "quickstart":
            return "quickstart_steps"
        if group == "key_features" and not self._is_readme and not self._tells_features():
            return ""  # a feature is what is told as one, not whatever can be done
        return group

    def _tells_features(self) -> bool:
        return self._kind == "feature" and _FRONT.search(self._path) is not None

    def _claim_kind(self, found: Found) -> str:
        if found.is_aside or _PRAISE.search(found.text) or _PROOF.search(found.text):
            return "other"
        if found.is_pattern:
            return "feature"
        by_words = self._kind_by_words(found.text)
        if self._is_as_headed(found.text):
            return self._kind
        if self._kind == "feature" and found.topic and by_words == "limitation":
            return "feature"  # an item of a list of features, under its own name
        if by_words == "limitation" or (by_words and self._kind not in ("quickstart", "workflow")):
            return by_words
        if self._kind in ("quickstart", "workflow"):
            return "workflow"
        if self._is_intro and (found.is_item or len(self._known.description) >= _POSITIONING):
            return "feature"
        if self._is_intro:
            return "other" if _NOTE.match(found.text) else "positioning"
        if self._kind in ("feature", "compatibility"):
            return self._kind
        return "feature" if self._says_what_it_does(found.text) else "other"

    def _kind_by_words(self, text: str) -> str:
        """What a sentence is by its own words; in the documentation only where the product is meant."""
        if not self._is_of_product(text):
            return ""
        if _LIMITS.search(_IN_SPITE.sub("", text)):
            return "limitation"
        return "compatibility" if _COMPATIBLE.search(text) else ""

    def _is_of_product(self, text: str) -> bool:
        return self._is_readme or self._known.name.lower() in text.lower()

    def _is_as_headed(self, text: str) -> bool:
        """Whether what stands under a heading for limits or installing is one of them."""
        if self._kind == "limitation":
            return self._limits_product(text)
        return self._kind == "install" and self._is_on_installing(text)

    def _limits_product(self, text: str) -> bool:
        """The caveats of a page on one topic are limits of that, unless they name the product."""
        is_front = _FRONT.search(self._path) is not None
        return is_front or section_kind(self._section.trail[:1]) == "limitation" or self._is_of_product(text)

    def _is_on_installing(self, text: str) -> bool:
        return self._is_of_product(text) and _INSTALLS.search(text) is not None

    def _says_what_it_does(self, text: str) -> bool:
        """What the product can do, or a name of it; `Keys can be quoted` is a rule of what it reads."""
        subject = text.lower().startswith((self._known.name.lower(), "you can", "`"))
        return subject and _CAN.search(text) is not None


def _topic(section: Section) -> str:
    """The heading that says what this is about; the one above where the nearest says only `Answer` or the like."""
    titles = [title for title in section.trail if title.lower().strip(":") not in _PARTS]
    return whole_title(titles) if titles else section.title


def _content_words(text: str) -> set[str]:
    words = re.findall(r"[a-z]{4,}", text.lower())
    return {
        re.sub(r"(?:ings?|ed|es|s|ion|ions|y|ies)$", "", word)[:7] for word in words if word not in _STOP_WORDS
    }


def _remember(known: Gathered, claim: str, text: str, source: str) -> None:
    """Note what can contradict the manifest."""
    python = _PYTHON.search(text)
    if python and _OPEN_END.search(text):
        known.statements.append(Statement("python", python[1], claim, source))
    licensed = _LICENSED.search(text)
    if licensed and license_named(licensed[1]):
        known.statements.append(Statement("license", license_named(licensed[1]), claim, source))
