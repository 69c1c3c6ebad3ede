"""Python: a file labelled by hand, and each fact with a case that fails if it is missing or wrong."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_in, definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk, Extraction

SOURCE = '''\
"""A shop that sells things."""

from __future__ import annotations

import json, os.path as path
import numpy as np
from subprocess import run as r, PIPE
from .stock import (Item,  # what we sell
                    Shelf)

__all__ = ["Shop", "open_shop"]

LIMIT = 10
RATES: dict[str, float] = {"a": 1.5}
logger = make_logger("shop")
_hidden = LIMIT
type Pair[T] = tuple[T, T]


@cache
def open_shop(name: str, *args: int, sep=",", size: int = 3, **rest: Any) -> Shop | None:
    """Open a shop by its name."""
    if name and size > LIMIT or not args:
        raise ValueError(f"bad {name!r}: {size:>4d}")
    shop = Shop(name)
    data = np.zeros(size)
    r(["ls"], stdout=PIPE)
    return shop


async def fetch(session, url="x"):
    async with session.get(url) as reply:
        body = await reply.json()
    await wait
    for key, (low, high) in body.items():
        if low: continue
        elif high: break
    while True:
        yield key


def outer(count):
    total = 0
    seen: set[str] = set()
    alias = path.join

    def inner(x):
        nonlocal total
        total += x
        return lambda y: y + x

    class Local:
        pass

    seen.add(inner(count))
    table[count] = [n for n in numbers if n]
    del cache[count]
    global LIMIT
    LIMIT = total
    return


class Shop(Base[int], abc.Mixin, metaclass=Meta):
    """Sells items.

    And more.
    """

    count: int = 0

    def __init__(self, name: str) -> None:
        self.name = name
        self.items, self.closed = [], False
        self.stock[name] = Shelf()

    # Closing is final.
    # Nobody reopens.
    @property
    def is_open(self) -> bool:
        return not self.closed

    @staticmethod
    def _guess(a, /, b, *, c: int): return a if b else c

    async def __sell(self, item: Item) -> "Receipt":
        try:
            await self.bank.charge(item.price, currency="EUR")
        except (OSError, BankError) as error:
            logger.warning("no money %s", error)
            raise SaleError from error
        except KeyError:
            raise
        self.sold += 1
        self.items.append(item)

    class Till:
        def count(self):
            match self.kind:
                case "a": return 1
                case _: return 2


def _private(): pass


def __mangled(): pass


if True:
    def conditional():
        "One line."

try:
    import tomllib
except ImportError:
    tomllib = None

x = 1; y = 2  # trailing words here


def with_default(a=1, b=2.5, c="s", d=True, e=[], f={}, g=(), h=None, i=f(1, 2), j=b"x"): ...


@app.get("/things", tags=["a"])
@functools.lru_cache(maxsize=None)
def decorated(): return (yield)


first, second = 1, 2
check(first)


def generator():
    yield from range(3)


def walrus(stream):
    if (line := stream.read()) and (n := 3):
        return line
    with open(stream) as handle, lock:
        handle.write(line)


def strings():
    a = "x" "y"
    b = b"raw"
    c = 1.5
    d = {1}
    e = {1: 2}
    g = [1][0]
    h = models.Thing(1).name
    k = models.Thing(1)
    m = lambda: 0
    q = x
    a = u = 3


class Empty(Exception): ...


class Color(Enum):
    RED = auto()
    BLUE = auto()


def última(café):
    return café.größe


run_all = [
    open_shop,
    outer,
]
'''

# kind, name, first line, last line
DEFINITIONS = [
    ("variable", "__all__", 11, 11),
    ("variable", "LIMIT", 13, 13),
    ("variable", "RATES", 14, 14),
    ("variable", "logger", 15, 15),
    ("variable", "_hidden", 16, 16),
    ("type", "Pair", 17, 17),
    ("function", "open_shop", 20, 28),
    ("function", "fetch", 31, 39),
    ("function", "outer", 42, 60),
    ("function", "outer.inner", 47, 50),
    ("class", "outer.Local", 52, 53),
    ("class", "Shop", 63, 100),
    ("method", "Shop.__init__", 71, 74),
    ("method", "Shop.is_open", 78, 80),
    ("method", "Shop._guess", 82, 83),
    ("method", "Shop.__sell", 85, 94),
    ("class", "Shop.Till", 96, 100),
    ("method", "Shop.Till.count", 97, 100),
    ("function", "_private", 103, 103),
    ("function", "__mangled", 106, 106),
    ("function", "conditional", 110, 111),
    ("variable", "x", 118, 118),
    ("variable", "y", 118, 118),
    ("function", "with_default", 121, 121),
    ("function", "decorated", 124, 126),
    ("function", "generator", 133, 134),
    ("function", "walrus", 137, 141),
    ("function", "strings", 144, 155),
    ("class", "Empty", 158, 158),
    ("class", "Color", 161, 163),
    ("function", "última", 166, 167),
    ("variable", "run_all", 170, 173),
]


@cache
def extraction() -> Extraction:
    return extract("python", "shop.py", SOURCE.encode())


def chunk(name: str) -> Chunk:
    return next(found for found in extraction().chunks if found.mode == "code" and found.name == name)


def facts(name: str, fact: str) -> list[str]:
    return chunk(name).facts.get(fact, [])


def snippet(body: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("python", body, "a.py")[0]


def test_every_definition_is_found_with_its_kind_qualified_name_and_lines() -> None:
    found = [(item.kind, item.name, item.start_line, item.end_line) for item in definitions_in(extraction())]

    assert found == DEFINITIONS


def test_the_code_between_definitions_is_module_code() -> None:
    between = [(item.start_line, item.end_line) for item in extraction().chunks if item.kind == "module"]

    assert between == [(1, 9), (109, 109), (113, 116), (129, 130)]


def test_a_range_of_bytes_holds_the_decorators_and_the_body() -> None:
    found = chunk("Shop.is_open")
    text = SOURCE.encode()[found.start : found.end].decode()

    assert text.startswith("@property\n")
    assert text.endswith("return not self.closed")


def test_the_text_of_a_class_keeps_signatures_and_leaves_out_bodies() -> None:
    text = chunk("Shop").text or ""

    assert "def __init__(self, name: str) -> None: ..." in text
    assert "count: int = 0" in text
    assert "self.name = name" not in text
    assert chunk("open_shop").text is None


def test_comments_and_docstrings_are_prose_under_the_name_of_their_definition() -> None:
    prose = [(item.kind, item.name, item.text) for item in extraction().chunks if item.mode == "extracted-prose"]

    assert prose == [
        ("docstring", "", "A shop that sells things."),
        ("comment", "", "what we sell"),
        ("docstring", "open_shop", "Open a shop by its name."),
        ("docstring", "Shop", "Sells items.\n\nAnd more."),
        ("comment", "Shop", "Closing is final.\nNobody reopens."),
        ("docstring", "conditional", "One line."),
        ("comment", "y", "trailing words here"),
    ]


def test_docstrings_document_their_definitions() -> None:
    assert chunk("Shop").doc == "Sells items.\n\nAnd more."
    assert chunk("conditional").doc == "One line."
    assert chunk("outer").doc == ""


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("open_shop", 'def open_shop(name: str, *args: int, sep=",", size: int = 3, **rest: Any) -> Shop | None'),
        ("fetch", 'async def fetch(session, url="x")'),
        ("Shop", "class Shop(Base[int], abc.Mixin, metaclass=Meta)"),
        ("Shop._guess", "def _guess(a, /, b, *, c: int)"),
        ("RATES", 'RATES: dict[str, float] = {"a": 1.5}'),
        ("Pair", "type Pair[T] = tuple[T, T]"),
        ("run_all", "run_all = [ open_shop, outer, ]"),
    ],
)
def test_a_signature_is_one_line(name: str, signature: str) -> None:
    assert chunk(name).signature == signature


def test_a_signature_over_several_lines_with_comments_is_collapsed() -> None:
    found = snippet("def f(\n    a: int,  # one\n    b=')',\n) -> str:\n    pass\n")

    assert found.signature == "def f( a: int, b=')', ) -> str"


@pytest.mark.parametrize(
    ("name", "visibility"),
    [
        ("open_shop", "public"),
        ("_private", "protected"),
        ("__mangled", "private"),
        ("Shop.__init__", "dunder"),
        ("Shop.__sell", "private"),
        ("_hidden", "protected"),
    ],
)
def test_visibility_is_told_by_underscores(name: str, visibility: str) -> None:
    assert chunk(name).visibility == visibility


@each_row(
    ("name", "fact", "expected"),
    [
        ("open_shop", "params", ["name", "args", "sep", "size", "rest"]),
        ("open_shop", "param_types", ["name: str", "args: int", "size: int", "rest: Any"]),
        ("open_shop", "param_defaults", ['sep=","', "size=3"]),
        ("Shop._guess", "params", ["a", "b", "c"]),
        ("open_shop", "decorators", ["cache"]),
        ("decorated", "decorators", ["app.get", "functools.lru_cache"]),
        ("Shop", "extends", ["Base[int]", "abc.Mixin"]),
        ("open_shop", "return_types", ["Shop | None"]),
        ("open_shop", "throws", ["ValueError"]),
        ("Shop.__sell", "throws", ["SaleError"]),
        ("fetch", "awaits", ["reply.json", "wait"]),
        ("open_shop", "calls", ["ValueError", "Shop", "np.zeros", "numpy.zeros", "r", "subprocess.run"]),
        ("outer", "calls", ["set", "seen.add", "inner"]),
        ("Shop.__init__", "calls", ["Shelf", ".stock.Shelf"]),
        ("Shop.is_open", "reads", ["self.closed"]),
        ("última", "reads", ["café.größe"]),
        ("open_shop", "reads", ["name", "size", "LIMIT", "args", "PIPE", "shop"]),
        ("fetch", "writes", ["body", "reply", "key", "low", "high"]),
        ("Shop.__init__", "writes", ["self.name", "self.items", "self.closed"]),
        ("walrus", "writes", ["line", "n", "handle"]),
        ("outer", "mutations", ["table[]", "cache[]", "seen.add()"]),
        ("Shop.__init__", "mutations", ["self.name", "self.items", "self.closed", "self.stock[]"]),
        ("Shop.__sell", "mutations", ["self.sold", "self.items.append()"]),
        ("outer", "aliases", ["alias=path.join", "LIMIT=total"]),
        ("outer.inner", "uses", ["total"]),
        ("walrus", "uses", ["lock", "open"]),
        ("Shop", "exports", ["Shop"]),
        ("fetch", "exports", []),
        ("open_shop", "inferred_types", ["sep: str", "shop: Shop"]),
        ("with_default", "inferred_types", [
            "a: int", "b: float", "c: str", "d: bool", "e: list", "f: dict", "g: tuple", "j: bytes",
        ]),
        ("strings", "inferred_types", [
            "a: str", "b: bytes", "c: float", "d: set", "e: dict", "k: models.Thing", "m: Callable", "u: int",
        ]),
        ("RATES", "inferred_types", ["RATES: dict", "RATES: dict[str, float]"]),
    ],
)  # fmt: skip
def test_a_fact_is_exactly_what_the_source_says(name: str, fact: str, expected: list[str]) -> None:
    assert facts(name, fact) == expected


def test_uses_are_the_names_that_come_from_outside() -> None:
    uses = facts("open_shop", "uses")

    assert {"LIMIT", "PIPE", "np", "np.zeros", "numpy.zeros", "cache", "Any", "ValueError"} <= set(uses)
    assert not {"name", "size", "shop", "open_shop", "data"} & set(uses)


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("fetch", {"async", "generator"}),
        ("open_shop", {"returns"}),
        ("outer", set()),
        ("outer.inner", {"returns"}),
        ("generator", {"generator"}),
        ("Shop.__sell", {"async"}),
    ],
)
def test_flags_are_set_where_they_are_true(name: str, flags: set[str]) -> None:
    assert chunk(name).flags == flags


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("open_shop", {"branches": 1, "loops": 0, "breaks": 0, "continues": 0, "returns": 1, "complexity": 4}),
        ("fetch", {"branches": 2, "loops": 2, "breaks": 1, "continues": 1, "returns": 0, "complexity": 5}),
        ("Shop.__sell", {"branches": 2, "loops": 0, "breaks": 0, "continues": 0, "returns": 0, "complexity": 3}),
        (
            "Shop.Till.count",
            {"branches": 2, "loops": 0, "breaks": 0, "continues": 0, "returns": 2, "complexity": 3},
        ),
        ("outer.Local", {}),
    ],
)
def test_control_flow_is_counted_for_its_innermost_definition(name: str, counts: dict[str, int]) -> None:
    assert chunk(name).counts == counts


def test_the_file_knows_its_imports_and_its_exports() -> None:
    found = extraction()

    assert found.imports == ["__future__", "json", "os.path", "numpy", "subprocess", ".stock", "tomllib"]
    assert found.exports == ["Shop", "open_shop"]


def test_without_a_list_of_exports_the_public_names_of_the_top_level_are_exported() -> None:
    found = extract("python", "a.py", b"import os\nA = 1\n_b = 2\ndef f():\n    def g(): pass\nclass C: pass\n")

    assert found.exports == ["A", "f", "C"]


def test_exports_that_are_added_later_count_too() -> None:
    source = b"__all__ = ['a']\n__all__ += ['b']\n__all__.extend(['c'])\n"

    assert extract("python", "a.py", source).exports == ["a", "b", "c"]


def test_call_sites_point_at_their_arguments() -> None:
    sites = [
        (site.callee, SOURCE.encode()[site.start : site.end], site.line) for site in chunk("open_shop").call_sites
    ]

    assert ("r", b'(["ls"], stdout=PIPE)', 27) in sites
    assert ("np.zeros", b"(size)", 26) in sites


def test_writes_point_at_their_values() -> None:
    written = [
        (write.target, SOURCE.encode()[write.start : write.end], write.line) for write in chunk("outer").written
    ]

    assert ("total", b"0", 43) in written
    assert ("table", b"[n for n in numbers if n]", 56) in written


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("import os.path\ndef f(): os.path.join(a)", ["os.path.join"]),
        ("from os import path as p\ndef f(): p.join(a)", ["p.join", "os.path.join"]),
        ("from . import lib\ndef f(): lib.go()", ["lib.go", ".lib.go"]),
        ("from ..a.b import c\ndef f(): c()", ["c", "..a.b.c"]),
        ("def f():\n    import json as j\n    j.loads(x)", ["j.loads", "json.loads"]),
        ("def f(): a(b).strip().lower()", ["lower", "strip", "a"]),
        ("def f(): [*x.values()]", ["x.values"]),
        ("def f(): print (1)", ["print"]),
    ],
)
def test_calls_are_named_as_written_and_by_their_import(source: str, calls: list[str]) -> None:
    assert sorted(snippet(source).facts["calls"]) == sorted(calls)


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("f'{a!r:>10} {b.c}' \"d\"", ["a", "b.c"]),
        ("g(key=value)", ["value"]),
        ("x: Type = y", ["y"]),
        ("1.5e3 + 0xff + a", ["a"]),
        ("# c\n    d", ["d"]),
        ("json.loads(s).value", ["json", "s"]),
    ],
)
def test_only_names_that_are_read_are_reads(body: str, reads: list[str]) -> None:
    assert snippet(f"def f():\n    {body}\n").facts["reads"] == reads


def test_a_module_is_not_a_variable_that_is_read() -> None:
    found = snippet("import json\ndef f(s):\n    return json.loads(s)\n")

    assert found.facts["reads"] == ["s"]
    assert found.facts["uses"] == ["json.loads", "json"]


def test_a_definition_that_begins_the_body_of_another_has_its_own_header() -> None:
    found = snippet("class A:\n    def f(self, a=DEFAULT): return a\n")

    assert "reads" not in found.facts
    assert found.signature == "class A"


def test_a_value_of_several_targets_gives_no_type_away() -> None:
    found = snippet("def f():\n    a, b = [1, 2]\n    c[0] = []\n")

    assert found.facts["writes"] == ["a", "b"]
    assert "inferred_types" not in found.facts


def test_python_has_all_facts_but_modifiers() -> None:
    fields = fields_of("python")

    assert {"calls", "awaits", "async", "generator", "complexity", "visibility", "risk_tags"} <= fields
    assert "modifiers" not in fields


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        ("def f():\n    g = lambda: (yield)\n", set()),
        ("def f():\n    g = lambda: lambda: (yield)\n", set()),
        ("def f():\n    g(lambda: (yield from h()), lambda: 1)\n", set()),
        ("def f():\n    g = lambda: 1; yield\n", {"generator"}),
        ("def f():\n    yield lambda: (yield)\n", {"generator"}),
        ("f = lambda: (yield)\n", set()),
    ],
)
def test_what_a_lambda_yields_makes_no_generator_of_the_function_around_it(source: str, flags: set[str]) -> None:
    assert snippet(source).flags == flags


def test_a_decorator_is_called_by_the_scope_around_what_it_decorates() -> None:
    source = b"class C:\n    @a(b(c))\n    def m(self): d()\ndef f():\n    @e(g)\n    class D: pass\n"
    calls = {item.name: item.facts.get("calls", []) for item in extract("python", "a.py", source).chunks}

    assert calls == {"C": ["a", "b"], "C.m": ["d"], "f": ["e"], "f.D": []}


def test_a_decorator_of_the_top_level_is_used_but_not_called_by_what_it_decorates() -> None:
    found = snippet("from functools import lru_cache\n@lru_cache(size())\ndef f(): g()\n")

    assert found.facts["calls"] == ["g"]
    assert [site.callee for site in found.call_sites] == ["g"]
    assert found.facts["decorators"] == ["lru_cache"]
    assert found.facts["uses"] == ["g", "lru_cache", "size", "functools.lru_cache"]


def test_a_function_of_an_imported_module_does_not_change_the_module() -> None:
    source = b"import os\nfrom shop import stock\ndef f(p):\n    os.remove(p)\n    stock.remove(p)\n"
    chunks = extract("python", "a.py", source).chunks

    assert next(found for found in chunks if found.name == "f").facts["mutations"] == ["stock.remove()"]


def test_comments_are_no_part_of_a_decorator_or_of_a_target() -> None:
    found = snippet(
        "@property  # type: ignore[override]\ndef f(self):\n    (\n    a,  # not b\n    c,\n    ) = g()\n"
    )

    assert found.facts["decorators"] == ["property"]
    assert found.facts["writes"] == ["a", "c"]


def test_every_name_of_a_long_list_is_written() -> None:
    names = [f"a_rather_long_name_{number}" for number in range(60)]

    assert snippet(f"def f():\n    {', '.join(names)} = g()\n").facts["writes"] == names
