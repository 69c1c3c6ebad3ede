"""Examples beside the code of a Python package: in docstrings, and short tests where there is little else."""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from holdfast.launch.facts.code_texts import without_prompts
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.shown import Shown
from holdfast.launch.facts.titles import slug

__all__ = ["python_examples"]

_LONGEST = 60
_LONGEST_TEST = 14
_ENOUGH = 3  # examples of the language; with fewer, tests are looked into
_MOST_TESTS = 10


def python_examples(repository: Repository, facts: Mapping[str, Any], known: int) -> Iterator[Shown]:
    """The examples, tests only where fewer than enough are known from elsewhere."""
    if known < _ENOUGH:
        yield from _tests(repository, facts)
    yield from _docstrings(repository, facts)


def _docstrings(repository: Repository, facts: Mapping[str, Any]) -> Iterator[Shown]:
    for symbol in facts["api_symbols"]:
        if symbol["kind"] == "module" or ">>>" not in symbol.get("documentation", ""):
            continue
        text = repository.text(symbol["path"], LARGEST_CODE)
        lines = text.split("\n") if text else []
        end = min(symbol["end_line"], len(lines))
        found = _doctest(lines, symbol["start_line"], end)
        if found is not None and found[1] - found[0] < _LONGEST:
            code = without_prompts("python", textwrap.dedent("\n".join(lines[found[0] - 1 : found[1]])))
            name = symbol["qualified_name"]
            summary = symbol["summary"]
            tags = ("api", f"api:{name}"[:200], slug(name))
            yield Shown(
                "docstring",
                symbol["path"],
                *found,
                "python",
                code,
                name[:300],
                summary,
                symbol["start_line"],
                tags,
            )


def _doctest(lines: list[str], start: int, end: int) -> tuple[int, int] | None:
    """The first run of prompts with their results; empty lines within it are bridged where prompts follow."""
    first = next((at for at in range(start, end + 1) if lines[at - 1].lstrip().startswith(">>>")), 0)
    if not first:
        return None
    last = at = first
    while at <= end and not lines[at - 1].strip().endswith(('"""', "'''")):
        if lines[at - 1].strip():
            last = at
        elif at < end and not lines[at].lstrip().startswith(">>>"):
            break
        at += 1
    return first, last


def _tests(repository: Repository, facts: Mapping[str, Any]) -> Iterator[Shown]:
    packages = set(facts.get("code_structure", {}).get("package_names", []))
    number = 0
    for path in repository.under([str(root) for root in repository.inventory["test_roots"]], (".py",)):
        text = repository.text(path, LARGEST_CODE)
        if text is None or not packages or number >= _MOST_TESTS:
            continue
        for shown in _test_functions(path, text, packages):
            if number < _MOST_TESTS:
                number += 1
                yield shown


def _test_functions(path: str, text: str, packages: set[str]) -> Iterator[Shown]:
    """Short tests without fixtures, each with the imports of the product that its file has."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    imports = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and _imports_one(node, packages)
    ]
    head = "\n".join(ast.unparse(node) for node in imports)
    for node in tree.body if head else ():
        if (
            not isinstance(node, ast.FunctionDef)
            or not node.name.startswith("test_")
            or node.args.args
            or node.decorator_list
        ):
            continue
        start, end = node.body[0].lineno, node.end_lineno or node.lineno
        if end - start >= _LONGEST_TEST or ast.get_docstring(node):
            continue
        body = textwrap.dedent("\n".join(lines[start - 1 : end]))
        title = node.name.removeprefix("test_").replace("_", " ")
        tags = ("test", slug(PurePosixPath(path).stem))
        code = f"{head}\n\n{body}"
        yield Shown("test", path, start, end, "python", code, title[:1].upper() + title[1:], "", 0, tags)


def _imports_one(node: ast.Import | ast.ImportFrom, packages: set[str]) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return any(name.partition(".")[0] in packages for name in names)
