"""What a section of a README or of the documentation is about, told by its headings."""

import re
from collections.abc import Sequence

__all__ = ["NOISE", "is_introduction", "is_question", "section_kind"]

NOISE = "noise"

_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        NOISE,
        (
            "donat", "sponsor", "fund(?:ing|ers)", "back(?:ers|ing)", "contribut", r"credits?\b", r"authors?\b",
            r"maintainers?\b", "acknowledg",
            "thanks", "licen[cs]e", "copyright", r"chang(?:e ?log|es)\b", "history", "news",
            "release (?:notes|process|history|policy)",
            "releas(?:es|ing)", "table of contents", r"^contents?\b", "indices", "roadmap", r"^to-?do\b",
            "communit", "code of conduct", "citation",
            "citing", "translations?$", "related", "alternatives?", "comparison", "compared",
            "similar (?:projects|packages)", r"\bvs\.?\b",
            "benchmarks?", "^performance", "develop(?:ment|ing|er)", "hacking", "running (?:the )?tests",
            r"^tests?\b", "^testing$",
            "build(?:ing)? (?:the )?doc", "^links?$", "project links", r"^support\b", "getting help", "badges?",
            "status$", "who uses", "used by",
            "users$", "testimonials", "migrat", "upgrad", "deprecat", "security polic", "report",
            "further reading", "see also", "resources",
            "references$", "colophon", "in the wild", "^meta$", "inspiration", "why not",
            "design (?:notes|decisions|opinions)", "internals", "glossary",
        ),
    ),
    (
        "limitation",
        (
            "limitation", "known issues", "caveats?", "gotchas?", "not supported", "unsupported",
            "restrictions?", "pitfalls", "non-goals",
            "shortcomings",
        ),
    ),
    ("install", ("install", r"getting (?:it|\w+kit)\b", "download", "set ?up$")),
    (
        "compatibility",
        (
            "requirements?$", "compatib", "supported (?:versions?|pythons?|platforms?|environments?|systems?)",
            "prerequisites",
            "python versions?", "dependencies$",
        ),
    ),
    (
        "feature",
        (
            r"\bfeatures\b", "^feature (?:list|overview)", "highlights", r"why\b",
            r"what (?:it (?:does|promises|offers)|does|is (?:it|this|(?!\w+ed\b)\w+)\??$)", "advantages",
            "benefits", "overview", "about", "introduction",
            "^intro$", "goals", "key points", "capabilit", "at a glance",
        ),
    ),
    (
        "quickstart",
        (
            "quick ?-?start", "getting started", "get started", "first steps", "simple example",
            "basic (?:usage|example)", "tutorial", "hello",
            "minimal example", "definitive example", "in a nutshell",
        ),
    ),
    (
        "workflow",
        (
            "usage", "using", "how ?-?to", r"examples?\b", "recipes?", "cookbook", "guide", "command line",
            r"\bcli\b",
        ),
    ),
)  # fmt: skip
_COMPILED = tuple((kind, re.compile("|".join(words), re.IGNORECASE)) for kind, words in _KINDS)


def section_kind(trail: Sequence[str]) -> str:
    """The kind of the nearest heading that has one; noise anywhere above is noise."""
    kinds = [_kind(title) for title in trail]
    if NOISE in kinds:
        return NOISE
    return next((kind for kind in reversed(kinds) if kind), "")


# `What it is not`: what stands there is neither what it does nor a limit that one meets.
_IS_NOT = re.compile(r"what\b.*\bis(?: not|n['’]t)$", re.IGNORECASE)


def _kind(title: str) -> str:
    if is_question(title):
        return ""
    if _IS_NOT.match(title):
        return NOISE
    return next((kind for kind, pattern in _COMPILED if pattern.search(title)), "")


def is_question(title: str) -> bool:
    """Whether a heading asks what its section answers."""
    return title.endswith("?") and len(title.split()) > 2


def is_introduction(title: str) -> bool:
    """Whether a heading only says that the document begins."""
    return (
        re.fullmatch(
            r"(?:intro(?:duction)?|about|overview|summary|description|what is [\w -]+\??)", title, re.IGNORECASE
        )
        is not None
    )
