"""The files of `tablekit`, a small Python library of the kind that gets launched. Text only: nobody imports it."""

__all__ = ["TABLEKIT"]

_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tablekit"
version = "1.4.0"
description = "Small, typed tables for Python: read, filter, join and write tabular data."
readme = "README.md"
requires-python = ">=3.10"
license = { text = "MIT" }
keywords = ["csv", "json", "tables"]
classifiers = [
  "License :: OSI Approved :: MIT License",
  "Operating System :: OS Independent",
  "Programming Language :: Python :: 3.10",
  "Programming Language :: Python :: 3.11",
  "Programming Language :: Python :: 3.12",
]
dependencies = ["python-dateutil>=2.8"]

[project.optional-dependencies]
excel = ["openpyxl>=3.1"]

[project.urls]
Homepage = "https://tablekit.example"
Source = "https://code.example/tablekit/tablekit"

[project.scripts]
tablekit = "tablekit.command:main"
"""

_README = """\
# tablekit

Small, typed tables for Python. tablekit reads, filters, joins and writes tabular data without a data frame.

![build](https://tablekit.example/build.svg)

## Installation

```bash
pip install tablekit
```

With support for Excel files:

```bash
pip install "tablekit[excel]"
```

tablekit requires Python 3.10 or newer.

## Features

- Reads and writes CSV, TSV and JSON Lines files.
- Supports typed columns: integer, float, boolean, date and text.
- Joins two tables by one or more key columns.
- Streams files row by row, so a file may be larger than memory.
- Provides a command line tool, `tablekit`, that converts between formats.

## Usage

```python
from tablekit import Table

table = Table.read("people.csv")
adults = table.where(lambda row: row["age"] >= 18)
adults.write("adults.json")
```

Join two tables:

```python
from tablekit import Table

people = Table.read("people.csv")
cities = Table.read("cities.csv")
joined = people.join(cities, on="city_id")
print(len(joined))
```

See [the guide](docs/guide.md) and [the examples](examples/) for more. The old guide is in `docs/legacy.md`.

## Limitations

- tablekit does not support nested JSON objects.
- Joins hold the right table in memory.
- Writing Excel files is not supported.

## License

MIT. See [LICENSE](LICENSE).
"""

_CHANGELOG = """\
# Changelog

## 1.4.0 - 2024-05-01

- Added `Table.join` with several key columns.
- Fixed dates without a time zone.

## 1.3.0 - 2024-02-10

- Added the command line tool `tablekit`.
"""

_LICENSE = """\
MIT License

Copyright (c) 2024 The tablekit authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction.
"""

_GUIDE = """\
# Guide

## Reading a file

`Table.read` opens a file and guesses its format from the suffix. The encoding is UTF-8 unless you say otherwise.

```python
from tablekit import Table

table = Table.read("people.csv", encoding="latin-1")
print(table.columns)
```

## Choosing columns

`Table.select` returns a new table with only the columns that you name.

```python
names = table.select("name", "age")
```

## Converting on the command line

```bash
tablekit convert people.csv people.jsonl
```

The command returns exit code 2 when the format of a file is not known.
"""

_TROUBLESHOOTING = """\
# Troubleshooting

## UnknownFormat is raised

tablekit raises `UnknownFormat` when a file has a suffix that no reader claims. Pass `format="csv"` to choose one.

## A column is text and should be a number

Columns are typed by the first 100 rows. Pass `types={"age": int}` to `Table.read` to set a type by hand.
"""

_INIT = '''\
"""Small, typed tables for Python."""

from tablekit.errors import TablekitError, UnknownFormat
from tablekit.formats import FORMATS, Format
from tablekit.table import Row, Table

__all__ = ["FORMATS", "Format", "Row", "Table", "TablekitError", "UnknownFormat"]
__version__ = "1.4.0"
'''

_TABLE = '''\
"""Tables: rows with named, typed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tablekit.formats import format_of

Row = dict[str, Any]
SAMPLE_ROWS = 100
"""How many rows are looked at to find the type of a column."""


class Table:
    """Rows with named columns.

    A table is immutable: every method that changes something returns a new table.

    Example:
        >>> Table(["name"], [{"name": "Ada"}]).columns
        ('name',)
    """

    def __init__(self, columns: Iterable[str], rows: Iterable[Row]) -> None:
        """Make a table of these columns and rows."""
        self.columns = tuple(columns)
        self._rows = list(rows)

    @classmethod
    def read(cls, path: str | Path, *, format: str | None = None, encoding: str = "utf-8") -> Table:
        """Read a table from a file.

        Args:
            path: The file to read.
            format: The name of a format; guessed from the suffix when it is not given.
            encoding: The encoding of the file.

        Returns:
            The table.

        Raises:
            UnknownFormat: No reader claims the suffix of the file.
        """
        reader = format_of(Path(path), format)
        with open(path, encoding=encoding) as file:
            rows = list(reader.read(file))
        return cls(rows[0] if rows else (), rows)

    def write(self, path: str | Path, *, format: str | None = None) -> int:
        """Write the table to a file and return the number of rows written."""
        writer = format_of(Path(path), format)
        with open(path, "w", encoding="utf-8") as file:
            return writer.write(file, self.columns, self._rows)

    def where(self, condition: Callable[[Row], bool]) -> Table:
        """Return the rows for which the condition is true."""
        return Table(self.columns, [row for row in self._rows if condition(row)])

    def select(self, *columns: str) -> Table:
        """Return only the named columns, in the given order."""
        return Table(columns, [{name: row[name] for name in columns} for row in self._rows])

    def join(self, other: Table, *, on: str | list[str]) -> Table:
        """Join with another table by one or more key columns."""
        keys = [on] if isinstance(on, str) else list(on)
        right = {tuple(row[key] for key in keys): row for row in other}
        rows = [row | right[key] for row in self._rows if (key := tuple(row[name] for name in keys)) in right]
        return Table(dict.fromkeys((*self.columns, *other.columns)), rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def _repr_html_(self) -> str:
        return "<table></table>"
'''

_FORMATS = '''\
"""The file formats: CSV, TSV and JSON Lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tablekit.errors import UnknownFormat


@dataclass(frozen=True)
class Format:
    """One file format: its name and the suffixes it claims."""

    name: str
    suffixes: tuple[str, ...]
    delimiter: str = ","

    def read(self, file: TextIO) -> Iterator[dict[str, Any]]:
        """Yield the rows of an open file."""
        if self.name == "jsonl":
            yield from (json.loads(line) for line in file)
        else:
            yield from csv.DictReader(file, delimiter=self.delimiter)

    def write(self, file: TextIO, columns: Iterable[str], rows: Iterable[dict[str, Any]]) -> int:
        """Write rows to an open file and return how many there were."""
        count = 0
        for count, row in enumerate(rows, 1):
            file.write(json.dumps({name: row[name] for name in columns}) + "\\n")
        return count


FORMATS = (Format("csv", (".csv",)), Format("tsv", (".tsv",), "\\t"), Format("jsonl", (".jsonl", ".json")))


def format_of(path: Path, name: str | None = None) -> Format:
    """Return the format with this name, or the one that claims the suffix of the path."""
    for known in FORMATS:
        if known.name == name or (name is None and path.suffix in known.suffixes):
            return known
    raise UnknownFormat(path)
'''

_ERRORS = '''\
"""What can go wrong."""


class TablekitError(Exception):
    """The base class of all errors of tablekit."""


class UnknownFormat(TablekitError):
    """No reader or writer claims the suffix of a file."""
'''

_COMMAND = '''\
"""The command line tool."""

import argparse
import sys

from tablekit.errors import UnknownFormat
from tablekit.table import Table


def main(arguments: list[str] | None = None) -> int:
    """Convert one file into another; returns the exit code."""
    parser = argparse.ArgumentParser("tablekit")
    parser.add_argument("command", choices=["convert"])
    parser.add_argument("source")
    parser.add_argument("target")
    given = parser.parse_args(arguments)
    try:
        Table.read(given.source).write(given.target)
    except UnknownFormat as error:
        print(f"unknown format: {error}", file=sys.stderr)
        return 2
    return 0
'''

_FILTER_EXAMPLE = '''\
"""Keep only the adults of a list of people."""

from tablekit import Table

table = Table.read("people.csv")
adults = table.where(lambda row: int(row["age"]) >= 18)
print(adults.write("adults.jsonl"), "people")
'''

_JOIN_EXAMPLE = '''\
"""Join people with the cities that they live in."""

from tablekit import Table

people = Table.read("people.csv")
cities = Table.read("cities.csv")
for row in people.join(cities, on="city_id"):
    print(row["name"], row["city"])
'''

_TEST = """\
from tablekit import Table


def test_where_keeps_the_rows_that_match() -> None:
    table = Table(["age"], [{"age": 3}, {"age": 30}])
    assert len(table.where(lambda row: row["age"] >= 18)) == 1
"""

_PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf"
    b"\xc0P\x0f\0\x04\x85\x01\x80\x84\xa9\x8c!\0\0\0\0IEND\xaeB`\x82"
)

TABLEKIT: dict[str, bytes] = {
    ".gitignore": b"__pycache__/\n*.log\ndist/\n",
    "CHANGELOG.md": _CHANGELOG.encode(),
    "LICENSE": _LICENSE.encode(),
    "README.md": _README.encode(),
    "docs/guide.md": _GUIDE.encode(),
    "docs/logo.png": _PIXEL,
    "docs/troubleshooting.md": _TROUBLESHOOTING.encode(),
    "examples/filter_people.py": _FILTER_EXAMPLE.encode(),
    "examples/join_cities.py": _JOIN_EXAMPLE.encode(),
    "examples/people.csv": b"name,age,city_id\nAda,36,1\nBen,12,2\n",
    "pyproject.toml": _PYPROJECT.encode(),
    "src/tablekit/__init__.py": _INIT.encode(),
    "src/tablekit/command.py": _COMMAND.encode(),
    "src/tablekit/errors.py": _ERRORS.encode(),
    "src/tablekit/formats.py": _FORMATS.encode(),
    "src/tablekit/py.typed": b"",
    "src/tablekit/table.py": _TABLE.encode(),
    "tests/test_table.py": _TEST.encode(),
}
