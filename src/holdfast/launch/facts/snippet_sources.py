"""Where the code of a repository is shown: examples, README, documentation, tests, docstrings, in this order."""

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from holdfast.launch.facts.blocks import Block, Section
from holdfast.launch.facts.code_texts import language_named, without_prompts
from holdfast.launch.facts.commented_examples import commented_examples
from holdfast.launch.facts.documents_read import document_sections, shown_docs
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem
from holdfast.launch.facts.reading import Repository
from holdfast.launch.facts.roles import LOST
from holdfast.launch.facts.section_kinds import NOISE, section_kind
from holdfast.launch.facts.sentences import leans, split
from holdfast.launch.facts.shown import Shown
from holdfast.launch.facts.titles import example_title, slug

__all__ = ["shown_code"]

_LONGEST_EXAMPLE = 400
_LONGEST = 60
_SETTINGS = {
    ".sh": "bash",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".ini": "ini",
}
_SHELL = re.compile(r"#!|# -\*-|# SPDX|# Copyright", re.IGNORECASE)


def shown_code(repository: Repository, facts: Mapping[str, Any], ecosystem: Ecosystem | None) -> Iterator[Shown]:
    """All code in the order of how good its places are; tests only where there is little else."""
    own = 0
    usual = str(facts.get("ecosystem", {}).get("language", "text"))
    for shown in [*_examples(repository, ecosystem), *_documents(repository, usual)]:
        own += ecosystem is not None and ecosystem.speaks(shown.language)
        yield shown
    if ecosystem is not None and ecosystem.is_fenced:
        yield from commented_examples(repository, facts, ecosystem)
    if ecosystem is not None and ecosystem.examples is not None:
        yield from ecosystem.examples(repository, facts, own)


def _examples(repository: Repository, ecosystem: Ecosystem | None) -> Iterator[Shown]:
    suffixes = {**_SETTINGS, **(ecosystem.suffixes if ecosystem else {})}
    for path in sorted(str(path) for path in repository.inventory["example_paths"]):
        language = suffixes.get(PurePosixPath(path).suffix.lower())
        text = repository.text(path) if language else None
        if text is None or language is None:
            continue
        title, line, _, sentence = example_title(repository, path)
        lines = text.rstrip("\n").split("\n")
        first = _first_line(language, text, lines)
        if not title or not 0 <= len(lines) - first < _LONGEST_EXAMPLE:
            continue
        code = "\n".join(lines[first - 1 :])
        tags = (slug(title), "example", slug(PurePosixPath(path).stem))
        yield Shown("example", path, first, len(lines), language, code, title, sentence, line, tags)


def _first_line(language: str, text: str, lines: list[str]) -> int:
    """The first line of code: behind the interpreter, the documentation and empty lines."""
    first = 1
    if language == "python":
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        if tree is not None and ast.get_docstring(tree) and len(tree.body) > 1:
            first = (tree.body[0].end_lineno or 0) + 1
    signs = ("//", "/*", "*") if language not in _SETTINGS.values() and language != "python" else ()
    while first < len(lines) and (
        not lines[first - 1].strip()
        or _SHELL.match(lines[first - 1])
        or lines[first - 1].strip().startswith(signs)
    ):
        first += 1
    return first


def _documents(repository: Repository, usual: str) -> Iterator[Shown]:
    readmes = repository.entries("readme")[:1]
    for path in [*readmes, *shown_docs(repository)]:
        for section in document_sections(repository, path):
            kind = section_kind(section.trail[1:] if path in readmes else section.trail)
            if kind == NOISE:
                continue
            for number, block in enumerate(section.blocks):
                shown = _block(path, section, number, kind, "readme" if path in readmes else "docs", usual)
                if block.kind == "code" and shown is not None:
                    yield shown


def _block(path: str, section: Section, number: int, kind: str, origin: str, usual: str) -> Shown | None:
    block = section.blocks[number]
    raw = textwrap.dedent(block.text).strip("\n")
    if block.kind != "code" or raw.count("\n") >= _LONGEST or LOST in raw or not raw.strip():
        return None
    language = language_named(block.language, raw, usual)
    code = without_prompts(language, raw)
    introduction, line = _introduction(section.blocks[:number])
    titles = [title for title in section.trail if title]
    tags = [*(slug(title) for title in reversed(titles)), origin, slug(PurePosixPath(path).stem)]
    if kind:
        tags.insert(1, {"workflow": "usage", "feature": "features"}.get(kind, kind))
    title = titles[-1].replace("`", "") if titles else ""
    tags = [tag for tag in dict.fromkeys(tags) if tag]
    return Shown(
        origin, path, block.start_line, block.end_line, language, code,
        title, introduction, line, tuple(tags),
    )  # fmt: skip


def _introduction(before: list[Block]) -> tuple[str, int]:
    """The last sentence in front of the code, where it belongs to it, with those that it leans on."""
    if not before or before[-1].kind not in ("paragraph", "item"):
        return "", 0
    is_list = [block.kind for block in before[-2:]] == ["item", "item"]
    sentences = split(before[-1].text)
    if not sentences or (is_list and not sentences[-1].text.endswith(":")):
        return "", 0
    first = len(sentences) - 1
    while first and leans(sentences[first].text):
        first -= 1
    told = sentences[first:]
    text = " ".join(sentence.text for sentence in told)
    if LOST in text:
        return "", 0
    return text[:2_000], before[-1].lines_of(told[0].first, told[-1].last)[0]
