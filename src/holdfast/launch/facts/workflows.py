"""Workflows: what one does with the product, from examples and from sections that show code."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from holdfast.launch.facts.blocks import Section
from holdfast.launch.facts.claims import Citation
from holdfast.launch.facts.documents_read import document_sections, shown_docs
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.phrases import in_sentence
from holdfast.launch.facts.section_kinds import NOISE, section_kind
from holdfast.launch.facts.sentences import refusal
from holdfast.launch.facts.titles import example_title, slug, whole_title
from holdfast.launch.facts.words import VERBS

__all__ = ["gather_workflows"]

_MOST = 60
_SHOWN = frozenset(
    {
        "python", "py", "pycon", "python3", "", "bash", "sh", "shell", "console", "text", "javascript", "js",
        "mjs", "jsx", "typescript", "ts", "tsx", "go", "golang", "rust", "rs", "java", "csharp", "cs", "c#",
    }
)  # fmt: skip
_GENERIC = re.compile(
    r"^(?:examples?|usage|api|index|notes?|basic|advanced|faq|overview|introduction)$", re.IGNORECASE
)


class _Task(NamedTuple):
    tag: str
    title: str
    claims: list[str]
    path: str


def gather_workflows(known: Gathered) -> None:
    """Tell what can be done, in the order examples, README, documentation."""
    found: dict[str, _Task] = {}
    for task in [*_from_examples(known), *_from_documents(known)]:
        if task.tag and task.tag not in found and len(found) < _MOST:
            found[task.tag] = task
    for task in found.values():
        for claim in task.claims:
            if known.ledger.claims[claim].kind in ("workflow", "feature"):
                known.group("workflow_claims", claim)
        known.enter(
            "workflows",
            workflow_tag=task.tag,
            title=task.title[:200],
            claim_ids=task.claims,
            snippet_tags=[task.tag],
            source_path=task.path,
            summary=" ".join(known.ledger.claims[claim].text for claim in task.claims[:2])[:2_000],
        )


def _from_examples(known: Gathered) -> Iterator[_Task]:
    for path in sorted(str(path) for path in known.repository.inventory["example_paths"]):
        title, line, end, sentence = example_title(known.repository, path)
        if not title:
            continue
        tag = slug(title)
        known.enter(
            "example_inventory", example_id=_example_id(path), title=title[:200], path=path, tags=[tag, "example"]
        )
        text = f"{known.name} comes with an example: {in_sentence(title)}."
        if sentence and not refusal(sentence, known.name):
            text = sentence
        claim = known.ledger.add(text, "workflow", Citation(path, line, end, "docstring"), topic=title)
        yield _Task(tag, title, [claim], path)


def _example_id(path: str) -> str:
    return slug(str(PurePosixPath(path).with_suffix("")))[:80] or "example"


def _from_documents(known: Gathered) -> Iterator[_Task]:
    readmes = known.repository.entries("readme")[:1]
    told = _told_by_path(known)
    for path in [*readmes, *shown_docs(known.repository)]:
        sections = document_sections(known.repository, path)
        name = next((section for section in sections if section.level == 1), None)
        for section in sections:
            # What a README begins with is called like the product, and is about all of it.
            is_whole = section is name and path in readmes and not section_kind(section.trail)
            if not is_whole and _shows_how(section, is_readme=path in readmes):
                claims = _claims_of(told.get(path, []), section) or _title_claim(known, path, section, readmes)
                if claims:
                    yield _Task(slug(section.title), whole_title(section.trail).replace("`", ""), claims, path)


def _shows_how(section: Section, *, is_readme: bool) -> bool:
    kind = section_kind(section.trail)
    codes = [block for block in section.blocks if block.kind == "code" and block.language in _SHOWN]
    if kind in (NOISE, "install") or not codes or not section.title or section.title.endswith("?"):
        return False
    if _GENERIC.match(section.title) and not is_readme:
        return False
    return (
        (is_readme and section.level > 1) or len(section.title.split()) > 1 or kind in ("quickstart", "workflow")
    )


def _told_by_path(known: Gathered) -> dict[str, list[tuple[int, str]]]:
    """What was told from each document so far: the line and the claim, without limitations."""
    told: dict[str, list[tuple[int, str]]] = {}
    for claim in known.ledger.claims.values():
        for citation in claim.citations if claim.kind != "limitation" else ():
            told.setdefault(citation.path, []).append((citation.start_line, claim.claim_id))
    return {path: sorted(found) for path, found in told.items()}


def _claims_of(told: list[tuple[int, str]], section: Section) -> list[str]:
    """What was already told from this section."""
    last = max(block.end_line for block in section.blocks)
    return list(dict.fromkeys(claim for line, claim in told if section.line <= line <= last))[:12]


def _title_claim(known: Gathered, path: str, section: Section, readmes: list[str]) -> list[str]:
    """For a section of the README that shows code and says nothing: that it is there."""
    if path not in readmes:
        return []
    text = _shown(known.name, section.title)
    citation = Citation(path, section.line, section.line, "readme_technical")
    return [known.ledger.add(text, "workflow", citation, topic=section.title)]


def _shown(product: str, title: str) -> str:
    if _GENERIC.match(title):
        return f"The README of {product} shows how to use it."
    first = title.split(maxsplit=1)[0].lower()
    if first in VERBS:
        return f"The README of {product} shows how to {in_sentence(title)}."
    if first.endswith("ing") and len(title.split()) > 1:
        return f"The README of {product} covers {in_sentence(title)}."
    return f"The README of {product} has an example under the heading “{title}”."
