"""A Python library of any size, made up by rule: the same number of files is always the same library."""

from collections.abc import Iterator

__all__ = ["product_files"]

_VERBS = ("read", "write", "merge", "filter", "sort", "count", "split", "check", "convert", "describe")
_NOUNS = ("tables", "columns", "rows", "ledgers", "letters", "parcels", "orders", "maps", "series", "labels")

_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tablekit"
version = "3.1.0"
description = "Tables of every kind: read, filter, join and write them."
readme = "README.md"
requires-python = ">=3.10"
license = { text = "MIT" }

[project.urls]
Source = "https://code.example/tablekit/tablekit"
"""

_README = """\
# tablekit

Tables of every kind, for Python. tablekit reads, filters, joins and writes tabular data.

## Installation

```bash
pip install tablekit
```

tablekit requires Python 3.10 or newer.

## Features

- Reads and writes CSV, TSV and JSON Lines files.
- Joins two tables by one or more key columns.
- Streams files row by row, so a file may be larger than memory.

## Usage

```python
from tablekit.part_000.module_000 import Tool0

tool = Tool0("people.csv")
print(tool.read_tables(3))
```

## Limitations

- tablekit does not support nested JSON objects.
"""


def product_files(modules: int, documents: int, examples: int, tests: int = 0) -> dict[str, bytes]:
    """The library with so many modules, pages of documentation, examples and tests."""
    files = {
        "CHANGELOG.md": "# Changelog\n\n## 3.1.0 - 2024-05-01\n\n- Added `Tool0`.\n",
        "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person.\n",
        "README.md": _README,
        "pyproject.toml": _PROJECT,
        "src/tablekit/__init__.py": '"""Tables of every kind."""\n\n__version__ = "3.1.0"\n',
    }
    for number in range(modules):
        folder = f"src/tablekit/part_{number // 20:03d}"
        files.setdefault(f"{folder}/__init__.py", f'"""Part {number // 20} of the tools for tables."""\n')
        files[f"{folder}/module_{number:03d}.py"] = "\n".join(_module(number)) + "\n"
    files |= {f"docs/guide_{number:03d}.md": _document(number) for number in range(documents)}
    files |= {f"examples/example_{number:03d}.py": _example(number) for number in range(examples)}
    files |= {f"tests/test_{number:03d}.py": _test(number) for number in range(tests)}
    return {path: text.encode() for path, text in sorted(files.items())}


def _module(number: int) -> Iterator[str]:
    noun = _NOUNS[number % len(_NOUNS)]
    yield f'"""Tools for {noun}, number {number}."""'
    yield "\nfrom collections.abc import Iterator\n"
    yield f'__all__ = ["LIMIT_{number}", "Tool{number}", "make_{number}"]\n'
    yield f"LIMIT_{number} = {number + 10}\n\n"
    yield f"class Tool{number}:"
    yield f'    """Works on the {noun} of one file, at most {number + 10} at a time."""\n'
    yield "    def __init__(self, path: str, *, strict: bool = False) -> None:"
    yield '        """Open the file.\n\n        Args:\n            path: Where the file is.'
    yield '            strict: Whether to refuse what is not known.\n        """'
    yield "        self.path = path\n        self.strict = strict\n"
    for verb in _VERBS[: 3 + number % 4]:
        yield f"    def {verb}_{noun}(self, limit: int = {number + 10}) -> Iterator[str]:"
        yield f'        """{verb.capitalize()} the {noun} of the file.\n\n        Args:'
        yield f"            limit: How many {noun} are wanted."
        yield f"\n        Returns:\n            The {noun}, one by one."
        yield '\n        Raises:\n            ValueError: When the limit is below one.\n        """'
        yield '        if limit < 1:\n            raise ValueError("limit")'
        yield "        yield from self.path[:limit]\n"
    yield f"\ndef make_{number}(path: str) -> Tool{number}:"
    yield f'    """Return a tool for the {noun} in a file."""\n    return Tool{number}(path)'


def _document(number: int) -> str:
    verb, noun = _VERBS[number % 10].capitalize(), _NOUNS[number // 10 % 10]
    return (
        f"# {verb} {noun}, part {number}\n\ntablekit can {verb.lower()} {noun} of {number + 2} kinds.\n\n"
        f"## How it works\n\n`Tool{number}` reads a file row by row and returns its {noun}.\n\n"
        f"```python\nfrom tablekit.part_{number // 20:03d}.module_{number:03d} import Tool{number}\n\n"
        f'tool = Tool{number}("people.csv")\n```\n\n- Supports files of up to {number + 1} GB.\n'
        f"- Requires {number + 1} MB of memory.\n"
    )


def _example(number: int) -> str:
    noun = _NOUNS[number % len(_NOUNS)]
    return (
        f'"""Read the {noun} of file {number} and print them."""\n\n'
        f"from tablekit.part_{number // 20:03d}.module_{number:03d} import make_{number}\n\n"
        f'for item in make_{number}("file.csv").read_{noun}(3):\n    print(item)\n'
    )


def _test(number: int) -> str:
    return (
        f"from tablekit.part_{number // 20:03d}.module_{number:03d} import make_{number}\n\n\n"
        f'def test_it_keeps_its_path():\n    assert make_{number}("a").path == "a"\n'
    )
