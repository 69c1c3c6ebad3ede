"""The documents of a repository: README and documentation as sections, and which of them are for users."""

import re
from pathlib import PurePosixPath

from holdfast.launch.facts.blocks import Section, sections
from holdfast.launch.facts.reading import Repository

__all__ = ["document_sections", "shown_docs"]

_MOST_DOCUMENTS = 60
_MARKUP = (".md", ".markdown", ".rst")
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:change(?:s|log)|glossary|history|news|licen[cs]e|contributing|contributors?|contrib|authors|"
    r"releas\w*|development|developing|code_of_conduct|conduct|security|"
    r"roadmap|todo|upgrad\w*|migrat\w*|why|comparison|alternatives|design\w*|internals|benchmarks?|404|"
    r"readme(?:[_.-][\w.-]*)?|copying|whatsnew\S*|credits|adopters|(?:projects|who)[_-](?:using|uses)\S*|"
    r"requirements|testing-guide|maintainers?|governance|support-multiple-versions)\.\w+$|(?:^|/)(?:_build|"
    r"releas[^/]*|verification|audits?|plans?|internal|superpowers|_static|_templates|node_modules|adr|"
    r"rfcs?|news|newsfragments|changelog\.d|blog|man|locale|translations|i18n)/",
    re.IGNORECASE,
)
_FIRST = (
    "index",
    "quickstart",
    "getting-started",
    "getting_started",
    "usage",
    "tutorial",
    "guide",
    "overview",
    "install",
)


def document_sections(repository: Repository, path: str) -> list[Section]:
    """The sections of a document, read once; none where it cannot be read."""
    if path not in repository.sections:
        repository.sections[path] = _sections(repository, path)
    return repository.sections[path]


def _sections(repository: Repository, path: str) -> list[Section]:
    text = repository.text(path)
    if text is None:
        return []
    if PurePosixPath(path).suffix.lower() in (".rst", ".txt") or _looks_like_rst(path, text):
        from holdfast.launch.facts.rst_blocks import rst_blocks

        return sections(rst_blocks(text))
    from holdfast.launch.facts.markdown_blocks import markdown_blocks

    return sections(markdown_blocks(text))


def _looks_like_rst(path: str, text: str) -> bool:
    return (
        not PurePosixPath(path).suffix
        and re.search(r"^(?:={4,}|-{4,}|\.\. \w+::)", text, re.MULTILINE) is not None
    )


def shown_docs(repository: Repository) -> list[str]:
    """The documents for users, those that introduce something first."""
    entries = repository.inventory["doc_entrypoints"]
    named = [str(item["path"]) for item in entries if item["kind"] == "docs"]
    others = {str(item["path"]) for item in entries} - set(named)  # a README may lie among the documentation
    roots = [str(root) for root in repository.inventory["docs_roots"]]
    below = repository.under(roots, (".md", ".markdown", ".rst")) if roots else []
    written = {path for path in [*named, *below] if path not in others and path.lower().endswith(_MARKUP)}
    found = {path for path in written if not _LEFT_OUT.search(path)}
    return sorted(found, key=_reading_order)[:_MOST_DOCUMENTS]


def _reading_order(path: str) -> tuple[int, int, str]:
    stem = PurePosixPath(path).stem.lower()
    return next((at for at, name in enumerate(_FIRST) if name in stem), len(_FIRST)), path.count("/"), path
