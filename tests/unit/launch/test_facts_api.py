"""The public interface of a Python package: names, signatures, documentation, and the lines that show them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.facts_place import PYPROJECT, built, place_of

from holdfast.launch.facts.docstrings import Documented, read_docstring
from holdfast.launch.facts.ecosystems.python.signatures import class_fields, read_signature

INIT = b'''"""Tables in memory."""
from ._io.reader import read_csv as read
from .table import *
from .errors import TableError

__version__ = "1.4.2"
'''
READER = b'''def read_csv(path: str, *, sep: str = ",") -> list:
    """Read a CSV file.

    Args:
        path: Where the file is.
        sep: What parts the columns.

    Raises:
        OSError: It is not there.
    """
    return []


def internal() -> None:
    """Not for users."""
'''
TABLE = b'''"""Tables of rows."""
from dataclasses import dataclass, field
from typing import overload

__all__ = ["Point", "Table"]


class Table:
    """Rows with names."""

    def __init__(self, rows: list, name: str = "") -> None:
        self.rows_ = rows

    @property
    def width(self) -> int:
        """How many columns there are."""
        return 0

    @width.setter
    def width(self, value: int) -> None:
        """Set it."""

    @overload
    def get(self, key: int) -> str: ...
    @overload
    def get(self, key: str) -> str: ...
    def get(self, key):
        """One row by its key."""

    async def save(self) -> None:
        """Write it down.

        .. deprecated:: 1.2
            Use `write`.
        """

    @staticmethod
    def empty(rows: int) -> "Table":
        """An empty table."""

    def _hidden(self) -> None:
        """Private."""


@dataclass
class Point:
    """A place."""

    x: int
    tags: list[str] = field(default_factory=list)
'''
FILES = {
    "pyproject.toml": PYPROJECT,
    "src/tablekit/__init__.py": INIT,
    "src/tablekit/_io/__init__.py": b"",
    "src/tablekit/_io/reader.py": READER,
    "src/tablekit/table.py": TABLE,
    "src/tablekit/errors.py": b'class TableError(ValueError):\n    """Something about a table is wrong."""\n',
    "src/tablekit/_vendor/six.py": b'def vendored():\n    """Not ours."""\n',
    "src/tablekit/helpers.py": b"def by_accident():\n    pass\n",
    "tests/test_table.py": b'def test_it():\n    """Tests it."""\n',
}


@pytest.fixture(scope="module")
def symbols(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    facts, _, _ = built(place_of(tmp_path_factory.mktemp("api") / "place", FILES))
    return {symbol["qualified_name"]: symbol for symbol in facts["api_symbols"]}


def test_symbols_have_the_names_that_users_import(symbols: dict[str, Any]) -> None:
    assert list(symbols) == [
        "tablekit",
        "tablekit.Point",
        "tablekit.Table",
        "tablekit.Table.empty",
        "tablekit.Table.get",
        "tablekit.Table.save",
        "tablekit.Table.width",
        "tablekit.TableError",
        "tablekit.read",
        "tablekit.table",
    ]
    assert symbols["tablekit.read"]["path"] == "src/tablekit/_io/reader.py"
    assert (symbols["tablekit.read"]["start_line"], symbols["tablekit.read"]["end_line"]) == (1, 11)


def test_symbols_have_kinds_signatures_and_parents(symbols: dict[str, Any]) -> None:
    shown = {
        name.removeprefix("tablekit."): (symbol["kind"], symbol["signature"]) for name, symbol in symbols.items()
    }
    assert shown["read"] == ("function", "read(path: str, *, sep: str = ',') -> list")
    assert shown["Table"] == ("class", "class Table(rows: list, name: str = '')")
    assert shown["Point"] == ("class", "class Point(x: int, tags: list[str] = list())")
    assert shown["Table.width"] == ("property", "width: int")
    assert shown["Table.save"] == ("method", "async save() -> None")
    assert shown["Table.empty"][1] == "empty(rows: int) -> Table"
    assert shown["TableError"][0] == "exception"
    assert symbols["tablekit.Table.get"]["parent"] == "tablekit.Table"


def test_parameters_errors_and_deprecations_are_documented(symbols: dict[str, Any]) -> None:
    read = symbols["tablekit.read"]
    assert read["parameters"] == [
        {"annotation": "str", "description": "Where the file is.", "kind": "any", "name": "path"},
        {
            "annotation": "str",
            "default": "','",
            "description": "What parts the columns.",
            "kind": "keyword",
            "name": "sep",
        },
    ]
    assert read["raises"] == [{"description": "It is not there.", "name": "OSError"}]
    assert symbols["tablekit.Table.save"]["deprecated"] == "1.2"
    assert symbols["tablekit.Table"]["parameters"][1]["default"] == "''"


def test_a_claim_of_a_symbol_is_cited_from_its_name_to_the_end_of_its_documentation(tmp_path: Path) -> None:
    facts, evidence, _ = built(place_of(tmp_path, FILES))
    claims = {claim["claim_id"]: claim for claim in evidence["claims"]}
    texts = {path: content.decode().split("\n") for path, content in FILES.items()}
    for symbol in facts["api_symbols"]:
        citation = claims[symbol["claim_id"]]["citations"][0]
        cited = "\n".join(texts[citation["path"]][citation["start_line"] - 1 : citation["end_line"]])
        assert symbol["summary"].rstrip(".") in cited
        if symbol["kind"] != "module" and symbol["name"] != "read":
            assert symbol["name"] in cited


GOOGLE = """Read it.

Args:
    path (str): The
        file.
    *rest: More.

Returns:
    list: The rows.

Raises:
    OSError: No file.
"""
NUMPY = """Read it.

Parameters
----------
path : str
    The
    file.
*rest
    More.

Returns
-------
list
    The rows.

Raises
------
OSError
    No file.
"""
SPHINX = """Read it.

:param path: The
    file.
:param rest: More.
:returns: The rows.
:raises OSError: No file.
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_three_styles_of_docstrings_say_the_same(text: str) -> None:
    found = read_docstring(text)
    assert found.summary == "Read it."
    assert found.parameters == [Documented("path", "The file."), Documented("rest", "More.")]
    assert (found.returns, found.raises) == ("The rows.", [Documented("OSError", "No file.")])


def test_a_summary_is_one_sentence_without_markup() -> None:
    found = read_docstring("Read a :class:`~tablekit.Table` from\n``files``. More of it.\n\nRest.")
    assert (found.summary, found.summary_lines) == ("Read a `Table` from `files`.", 2)
    assert read_docstring("read(path) -> Table\n\nRead a table").summary == "Read a table."
    assert read_docstring("Example::\n\n    x = 1").summary == ""
    assert read_docstring("Give the mean, the median and others,\n\nMore.").summary == (
        "Give the mean, the median and others."
    )
    assert read_docstring("").summary == ""


@given(st.text(max_size=120))
def test_any_docstring_and_any_signature_can_be_read(text: str) -> None:
    read_docstring(text)
    read_signature(text, drop_first=True)
    class_fields(text.split("\n"), ("dataclass",), ())


def test_signatures_newer_than_the_interpreter_are_still_shown() -> None:
    assert (
        read_signature("def f[T](x: T, /, y=1, *a, **k) -> T", drop_first=False).text
        == "(x: T, /, y=1, *a, **k) -> T"
    )
    assert read_signature("def f(x: int", drop_first=False).text == "(x: int"


@pytest.mark.parametrize(
    "text",
    [
        "(a, b=1, /, c: int = 2, *d: str, e, g: x.Y = None, **k) -> T",
        "(a, /)", "(*, a)", "()", "(a, /, *, b='x, y')", "(*a, b: list[int] = [1, 2])",
    ],
)  # fmt: skip
def test_a_signature_is_shown_as_people_write_it(text: str) -> None:
    assert read_signature(f"def f{text}", drop_first=False).text == text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("(a: 'X', b: Callable[['R'], None]) -> 'Self | None'", "(a: X, b: Callable[[R], None]) -> Self | None"),
        ("(a: Literal['r', 'w'] = 'r')", "(a: Literal['r', 'w'] = 'r')"),
        ("(a: Annotated['X', 'a text'])", "(a: Annotated[X, 'a text'])"),
        ("(a, _parent=None, *, b=1, _sort: bool = False, **_more)", "(a, *, b=1, **_more)"),
        ("(a: 'no type at all')", "(a: 'no type at all')"),
        ("(a=_marker, b: int = m._unset, c=m.MAX, d=__all__)", "(a=..., b: int = ..., c=m.MAX, d=__all__)"),
    ],
)  # fmt: skip
def test_a_signature_has_types_without_quotation_marks_and_no_private_names(written: str, shown: str) -> None:
    assert read_signature(f"def f{written}", drop_first=False).text == shown


HEIRS = b'''"""Waits."""
import abc

__all__ = ["Alias", "Extended", "Foreign", "Generic", "Wait", "Waiting"]


class Base(abc.ABC):
    """What waits."""


class Wait(Base):
    """Waits."""

    def __init__(self, first: float = 1, *, most: "float | None" = None) -> None:
        """Make it.

        Args:
            first: The first wait.
        """


class Extended(Wait):
    """Waits longer."""


class Generic(Base, Extended):
    """Waits for anything."""


class Foreign(threading.Thread, Wait):
    """Is made as a thread is."""


class Waiting(Wait):
    """Waits, under two names."""


Alias = Waiting
'''


def test_a_class_is_made_as_its_base_is_unless_that_is_from_elsewhere(tmp_path: Path) -> None:
    facts, evidence, _ = built(place_of(tmp_path, FILES | {"src/tablekit/waits.py": HEIRS}))
    symbols = {one["name"]: one for one in facts["api_symbols"]}
    made = "(first: float = 1, *, most: float | None = None)"
    assert {name: symbols[name]["signature"] for name in ("Wait", "Extended", "Generic", "Foreign")} == {
        "Wait": f"class Wait{made}",
        "Extended": f"class Extended{made}",
        "Generic": f"class Generic{made}",
        "Foreign": "class Foreign",
    }
    assert symbols["Extended"]["parameters"][0]["description"] == "The first wait."
    claim = next(one for one in evidence["claims"] if one["claim_id"] == symbols["Extended"]["claim_id"])
    lines = HEIRS.decode().split("\n")
    cited = "\n".join("\n".join(lines[at["start_line"] - 1 : at["end_line"]]) for at in claim["citations"])
    assert all(words in cited for words in ("class Extended", "first: float = 1"))


def test_of_two_names_in_one_package_the_own_one_is_shown(tmp_path: Path) -> None:
    init = (
        b'"""Tables."""\nfrom .waits import Waiting\nfrom .waits import Waiting as W\n__all__ = ["W", "Waiting"]\n'
    )
    files = FILES | {"src/tablekit/__init__.py": init, "src/tablekit/waits.py": HEIRS}
    facts, _, _ = built(place_of(tmp_path, files))
    names = [one["qualified_name"] for one in facts["api_symbols"]]
    assert {"tablekit.Waiting", "tablekit.W"} & set(names) == {"tablekit.Waiting"}


def test_what_a_package_passes_on_from_another_of_the_repository_is_its_own_if_it_says_so(tmp_path: Path) -> None:
    passing = b'from core import Table\nfrom core._more import rows as lines\n__all__ = ["Table", "lines"]\n'
    files = {
        "pyproject.toml": PYPROJECT,
        "src/tablekit/__init__.py": passing,
        "src/tablekit/silent/__init__.py": b'"""Says nothing of what it offers."""\nfrom core import Table\n',
        "src/core/__init__.py": b"from ._table import Table, Hidden\n",
        "src/core/_table.py": b'class Table:\n    """Rows."""\n\n\nclass Hidden:\n    """Not passed on."""\n',
        "src/core/_more.py": b'def rows(n: int) -> list:\n    """Make rows."""\n',
    }
    facts, _, _ = built(place_of(tmp_path, files))
    names = [one["qualified_name"] for one in facts["api_symbols"] if one["kind"] != "module"]
    assert names == ["tablekit.Table", "tablekit.lines"]
    assert facts["code_structure"]["package_names"] == ["tablekit"]


def test_a_class_that_is_bound_again_is_still_that_class(tmp_path: Path) -> None:
    code = b'"""Rows."""\n__all__ = ["Row"]\n\n\nclass Row:\n    """One row."""\n\n\nRow = compared(Row)\n'
    facts, _, _ = built(place_of(tmp_path, FILES | {"src/tablekit/rows.py": code}))
    symbol = next(one for one in facts["api_symbols"] if one["name"] == "Row")
    assert (symbol["kind"], symbol["summary"]) == ("class", "One row.")


def test_a_single_module_is_a_package_too(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PYPROJECT,
        "tablekit.py": b'def read():\n    """Read a table."""\n',
        "setup.py": b"x",
    }
    facts, _, _ = built(place_of(tmp_path, files))
    assert facts["api_surface_summary"]["functions"] == ["tablekit.read"]
    assert facts["code_structure"]["package_names"] == ["tablekit"]


FAMILY = '''"""Errors."""


class BadData(Exception):
    """Raised on bad data."""


class BadSignature(BadData):
    """Raised on a bad signature.

    .. versionadded:: 0.15
    """

    def __init__(
        self,
        message: str,
        payload: object = None,
    ) -> None:
        self.message = message
'''


def test_an_error_is_one_by_the_bases_of_its_bases_and_cited_with_all_its_words(tmp_path: Path) -> None:
    facts, evidence, _ = built(place_of(tmp_path, FILES | {"src/tablekit/exc.py": FAMILY.encode()}))
    symbol = next(one for one in facts["api_symbols"] if one["name"] == "BadSignature")
    assert symbol["kind"] == "exception"
    claim = next(one for one in evidence["claims"] if one["claim_id"] == symbol["claim_id"])
    lines = FAMILY.split("\n")
    cited = "\n".join("\n".join(lines[at["start_line"] - 1 : at["end_line"]]) for at in claim["citations"])
    assert all(words in cited for words in ("versionadded:: 0.15", "payload: object", "class BadSignature"))
