"""Examples of Go: functions of tests whose names begin with `Example`."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from holdfast.launch.evidence import parsed
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.shown import Shown
from holdfast.launch.facts.titles import slug

__all__ = ["go_examples"]

_LONGEST_EXAMPLE = 40


def go_examples(repository: Repository, _facts: Mapping[str, Any], _known: int) -> Iterator[Shown]:
    """The bodies of the functions, each with the comment above it."""
    for path in repository.under([""], ("_test.go",)):
        text = repository.text(path, LARGEST_CODE) or ""
        module = parsed("go", path, text) if "func Example" in text else None
        lines = text.split("\n")
        for item in module.definitions if module else ():
            if item.kind != "function" or not item.name.startswith("Example"):
                continue
            body = lines[item.start_line : item.end_line - 1]
            if not body or len(body) > _LONGEST_EXAMPLE:
                continue
            code = textwrap.dedent("\n".join(body).replace("\t", "    ")).strip("\n")
            title = _go_title(item.name, PurePosixPath(path).stem)
            tags = (slug(title), "example", slug(PurePosixPath(path).stem))
            sentence = " ".join(item.doc.split()) if item.doc else ""
            yield Shown(
                "example", path, item.start_line + 1, item.end_line - 1, "go", code, title, sentence,
                item.doc_line or item.start_line, tags,
            )  # fmt: skip


def _go_title(name: str, stem: str) -> str:
    """`ExampleTable_Rows` shows Table.Rows; `Example_reading` shows reading."""
    rest = name.removeprefix("Example")
    if not rest:
        return stem.removesuffix("_test").replace("_", " ").capitalize()
    if rest.startswith("_"):
        return rest.strip("_").replace("_", " ").capitalize()
    return rest.replace("_", ".")
