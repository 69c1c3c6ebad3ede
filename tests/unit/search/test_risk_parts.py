"""The parts of flows: what is masked, returned, chosen, repeated and called, and which function is meant."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk
from holdfast.search.risk.analysis import analyse
from holdfast.search.risk.bindings import find_bindings
from holdfast.search.risk.callees import Surroundings, callee_of, is_shadowed, surroundings_of
from holdfast.search.risk.conditions import without_conditions
from holdfast.search.risk.loading import load_rules
from holdfast.search.risk.masking import masked
from holdfast.search.risk.parallel import assigned
from holdfast.search.risk.patterns import Pattern
from holdfast.search.risk.resolving import GUESS, SURE, Function, Resolver
from holdfast.search.risk.returns import body_start, find_returns
from holdfast.search.risk.summary import Called, Summary, links_of, read_summary

LANGUAGES = [
    "python", "javascript", "go", "java", "php", "ruby", "csharp", "rust", "c", "cpp", "kotlin", "swift", "scala",
    "shell", "lua", "elixir", "sql",
]  # fmt: skip
EMPTY = Summary([], [], [], [], [], [], [], [], [], answers=False)


@each_row(
    ("language", "text", "plain"),
    [
        ("kotlin", b'"a $b ${c.d} e"', b"    b   c.d    "),
        ("swift", b'"a \\(b(c)) d"', b"     b(c)    "),
        ("csharp", b'$"a {b} {{c}}" + "d {e}"', b"     b         +        "),
        ("csharp", b'@"a\\" + b', b"      + b"),
        ("php", b"\"a $b {$c['d']}\" . 'e $f'", b"   $b  $c[   ]   +       "),
        ("php", b"`ls $a` # b", b"`   $a`    "),
        ("ruby", b"`ls #{a}` + 'b #{c}' # d", b"`     a ` +             "),
        ("shell", b"\"$a ${b}\" '$c' # d", b" $a  $b           "),
        ("rust", b"\"a {b} {c:?} {}\" 'd' &'e f", b"    b   c            &'e f"),
        ("elixir", b'"a #{b}" # c', b"     b      "),
        ("lua", b'"a" .. b -- c', b"    ++ b     "),
        ("sql", b"'a''b' || c -- d", b"       || c     "),
    ],
)
def test_what_a_string_computes_stays_in_every_language(language: str, text: bytes, plain: bytes) -> None:
    assert masked(language, text) == plain


@each_row(
    ("language", "text", "values"),
    [
        ("python", b"def f(a):\n    if a:\n        return a\n    yield b\n    return\n", [b" a", b" b"]),
        ("python", b"def f():\n    return (\n        a\n    )\n", [b" (\n        a\n    )"]),
        ("javascript", b"const f = (a) => a.b", [b"a.b"]),
        ("javascript", b"function f(a) { return a\n  .b() }", [b" a\n  .b() "]),
        ("kotlin", b"fun f(a: String = x): Int = a.b()", [b"a.b()"]),
        ("scala", b"def f(a: Int) = {\n  b\n  a\n}", [b"a\n"]),
        ("csharp", b"int F(int a) => a;", [b"a"]),
        ("rust", b"fn f() -> S {\n    x;\n    a\n        .b()\n}", [b"a\n        .b()\n"]),
        ("rust", b"fn f() {\n    a;\n}", []),
        ("ruby", b"def f(a)\n  b = a\n  b.c\nend", [b"b.c\n"]),
        ("ruby", b"def f(a)\nend", []),
    ],
)
def test_what_a_function_gives_back_is_found(language: str, text: bytes, values: list[bytes]) -> None:
    assert [text[start:end] for start, end in find_returns(language, text)] == values


@each_row(
    ("language", "text", "plain"),
    [
        ("python", b"x = a if b == c else d", b"x = a if        else d"),
        ("java", b"return f(a) == b ? c : d;", b"return           ? c : d;"),
        ("javascript", b"g(a ? b : c)", b"g(  ? b : c)"),
        ("javascript", b"a?.b ?? c", b"a?.b ?? c"),
        ("kotlin", b"val x = if (a == b) c else d", b"val x = if          c else d"),
        ("rust", b"if a == b { c } else { d }", b"if        { c } else { d }"),
        ("go", b"x := a + b", b"x := a + b"),
    ],
)
def test_a_condition_is_no_value(language: str, text: bytes, plain: bytes) -> None:
    assert without_conditions(language, text) == plain


@each_row(
    ("language", "text", "bound"),
    [
        ("php", b"foreach ($a as $k => $b) {", [("$b", b"$a")]),
        ("csharp", b"foreach (var a in b.C) {", [("a", b"b.C")]),
        ("kotlin", b"for (a in b) {", [("a", b"b")]),
        ("scala", b"for (a <- b(c)) d", [("a", b"b(c)")]),
        ("rust", b"for a in b.c() {", [("a", b"b.c() ")]),
        ("ruby", b"b.c.each do |a|", [("a", b"b.c")]),
        ("ruby", b"a << b", [("a", b"b")]),
        ("cpp", b"for (const auto& a : b) {", [("a", b"b")]),
        ("elixir", b"for a <- b, do: c", [("a", b"b")]),
        ("php", b"$a .= $b", [("$a", b"$b")]),
    ],
)
def test_loops_bind_names_in_every_language(language: str, text: bytes, bound: list[tuple[str, bytes]]) -> None:
    assert [(one.target, text[one.start : one.end]) for one in find_bindings(language, text)] == bound


def method(name: str) -> Chunk:
    return Chunk("code", "method", name, 0, 1, 1, 1)


@each_row(
    ("language", "names", "own"),
    [
        ("python", ("f",), True),
        ("python", ("str",), None),
        ("python", ("g", "lib.g"), False),
        ("python", ("self.m",), True),
        ("python", ("self.other",), False),
        ("python", ("x.append",), None),
        ("java", ("m",), True),
        ("php", ("trim",), False),
        ("java", ("Util.clean",), False),
        ("java", ("shop.get",), None),
        ("java", ("shop.m",), True),
    ],
)
def test_calls_that_may_lead_into_the_repository_are_told_apart(
    language: str, names: tuple[str, ...], own: bool | None
) -> None:
    around = Surroundings(language, frozenset({"f", "A.m"}))
    callee = callee_of(names, method("A.caller"), around, {"shop": "A"})
    assert (None if callee is None else callee.is_own) == own


def test_a_function_of_the_same_file_hides_the_one_that_a_rule_knows() -> None:
    source = b"import os\ndef eval(x):\n    return x\ndef f():\n    eval(input())\n"
    chunks = extract("python", "a.py", source).chunks
    for chunk in chunks:
        analyse("python", source, chunk, load_rules(), around=surroundings_of("python", chunks))

    assert not any("risk_sinks" in chunk.facts for chunk in chunks)
    assert is_shadowed(("quote", ".lib.quote"), method("f"), Surroundings("python"))


def function(number: int, path: str, name: str, language: str = "python") -> Function:
    return Function(number, hash(path), path, language, name, EMPTY)


@each_row(
    ("caller", "names", "callee", "how"),
    [
        (("a.py", "f"), ["run", "lib.shell.run"], ("lib/shell.py", "run"), SURE),
        (("a.py", "f"), ["run", ".shell.run"], ("shell.py", "run"), SURE),
        (("a.py", "f"), ["run", "lib.run"], ("lib/__init__.py", "run"), SURE),
        (("a.py", "f"), ["run", "other.run"], ("lib/shell.py", "run"), None),
        (("a.py", "C.f"), ["self.run"], ("a.py", "C.run"), SURE),
        (("a.py", "C.f"), ["self.run"], ("b.py", "D.run"), GUESS),
        (("a.py", "f"), ["thing.run"], ("b.py", "D.run"), GUESS),
        (("a.py", "f"), ["thing.run"], ("b.py", "run"), None),
        (("a.js", "f"), ["run", "./lib/shell.run"], ("lib/shell.ts", "run"), SURE),
        (("x/a.js", "f"), ["run", "../lib/shell.js.run"], ("lib/shell.js", "run"), SURE),
        (("x/a.js", "f"), ["run", "./lib/shell.run"], ("lib/shell.js", "run"), None),
        (("p/a.go", "f"), ["run"], ("p/b.go", "run"), SURE),
        (("p/a.java", "A.f"), ["Util.run", "com.x.Util.run"], ("src/com/x/Util.java", "Util.run"), SURE),
        (("p/a.java", "A.f"), ["Util.run"], ("p/Util.kt", "Util.run"), SURE),
        (("a.py", "f"), ["run"], ("a.rb", "run"), None),
    ],
)
def test_the_function_that_is_meant_is_found_by_file_class_or_import_and_else_guessed(
    caller: tuple[str, str], names: list[str], callee: tuple[str, str], how: str | None
) -> None:
    kinds = {"py": "python", "js": "javascript", "ts": "typescript", "rb": "ruby", "kt": "kotlin"}
    one, two = (
        function(number, path, name, kinds.get(path.rpartition(".")[2], path.rpartition(".")[2]))
        for number, (path, name) in enumerate((caller, callee))
    )
    found = Resolver([one, two], lambda *_: True).resolve(Called(names, is_own=False, line=1), one)
    assert (None if found is None else found[1]) == how


def test_nothing_is_guessed_where_a_name_is_not_unique_or_its_own_file_has_it() -> None:
    caller, callee = function(0, "a.py", "C.f"), function(1, "b.py", "D.run")
    for is_only, is_own in ((False, False), (True, True)):
        resolver = Resolver([caller, callee], lambda *_, is_only=is_only: is_only)
        assert resolver.resolve(Called(["x.run"], is_own, 1), caller) is None


def summary_of(code: str, language: str = "python") -> tuple[str, dict[str, Any]]:
    source = code.encode()
    chunks = extract(language, "a", source).chunks
    for chunk in chunks:
        analyse(language, source, chunk, load_rules(), around=surroundings_of(language, chunks))
    (chunk,) = [chunk for chunk in chunks if chunk.risk]
    return chunk.name, chunk.risk


def test_a_summary_is_read_as_it_was_written() -> None:
    name, stored = summary_of(
        "from lib import g\ndef f(a, b):\n    os.system(g(a) + input())\n    return int(b)\n"
    )
    summary = read_summary(stored)

    assert [(one.parameter, one.sink) for one in summary.reaches] == [(0, "os.system")]
    assert [(one.parameter, one.cleaned) for one in summary.hands] == [(1, ["*"])]
    assert (summary.params, summary.answers) == (["a", "b"], True)
    assert summary.packed() | {"links": links_of(name, stored)} == stored
    assert stored["links"] == ["is f", "uses g"]


@each_row(
    ("code", "kept"),
    [
        ("def f(a):\n    return a + 1\n", False),
        ("def f(a):\n    return int(a)\n", True),
        ("def f(a):\n    return " + "a + " * 200 + "int(a)\n", False),
        ("def f():\n    return int('1')\n", False),
    ],
)
def test_a_summary_is_kept_only_where_there_is_something_to_say(code: str, kept: bool) -> None:
    source = code.encode()
    (chunk,) = extract("python", "a", source).chunks
    analyse("python", source, chunk, load_rules(), around=surroundings_of("python", [chunk]))
    assert bool(chunk.risk) == kept


def test_a_rule_file_says_its_language_once(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('languages = ["lua"]\n[[source]]\nname = "mine"\npatterns = ["my.input()"]\n')
    (rule,) = [rule for rule in load_rules(own).sources if rule.name == "mine"]
    assert rule.languages == frozenset({"lua"})


def test_of_a_hostile_function_only_so_much_is_looked_at() -> None:
    assert len(list(find_returns("go", b"return (" * 5000))) == 300
    assert without_conditions("javascript", b"? " * 5000).strip()
    assert masked("lua", b"[" * 50_000) == b" " * 50_000


def test_no_rule_takes_more_than_its_length_for_a_long_row_of_blanks() -> None:
    """Long strings and comments are such rows; where each blank is tried, one file takes minutes."""
    rules = load_rules()
    kinds: list[list[tuple[Pattern, ...]]] = [
        [rule.patterns for rule in rules.sources],
        [rule.patterns for rule in rules.sinks],
        [rule.patterns for rule in rules.sanitizers],
    ]
    patterns = [pattern for kind in kinds for listed in kind for pattern in listed]
    assert len(patterns) > 1000
    row = b"a" + b" " * 20_000 + b"b"
    began = time.process_time()
    for pattern in patterns:
        assert not pattern.search.search(row)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("language", ["ruby", "elixir", "rust", "scala", "swift"])
def test_the_last_value_is_found_at_once_behind_a_line_of_any_length(language: str) -> None:
    closes = b"}" if language in ("rust", "scala", "swift") else b"end"
    text = b"def f {\n" + b"x = [" + b"1, " * 1_000 + b"1]" + b" " * 1_000 + b"\nyes\n" + closes
    began = time.process_time()
    assert [text[start:end] for start, end in find_returns(language, text)] == [b"yes\n"]
    assert time.process_time() - began < 2


PIECES = [
    "$_GET", "system", "eval ", "read ", "echo ", "params", "if ", " else ", " ? ", " : ", "return ", "=>", "->",
    "::", "(", ")", "{", "}", "[", "]", "=", " .. ", " . ", "`", '"', "'", "#{", "${", "\\(", "$", "@", "é", "\n",
    "\n  ", ";", ",", "x", "for ", " in ", " <- ", "end", "do |x|", "getenv", "fgets", "--", "/*", "mut ", "*x",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_no_text_of_any_language_breaks_a_part(pieces: list[str]) -> None:
    text = "".join(pieces).encode()
    for language in LANGUAGES:
        plain = masked(language, text)
        assert len(without_conditions(language, plain)) == len(plain) == len(text)
        assert all(0 <= start <= end <= len(text) for start, end in find_returns(language, plain))
        assert all(0 <= one.start <= one.end <= len(text) for one in find_bindings(language, plain))
        assert 0 <= body_start(language, plain) <= len(text)


@pytest.mark.parametrize("language", ["python", "php", "ruby", "shell", "lua", "go"])
def test_half_a_file_of_labelled_code_is_judged_without_an_error(language: str) -> None:
    folder = Path(__file__).parent.parent.parent / "labelled/risk" / language
    for path in sorted(folder.iterdir()):
        source = path.read_bytes()
        for part in (source[: len(source) // 2], source[len(source) // 3 :], source.replace(b"\n", b"\r\n")):
            chunks = extract(language, path.name, part.decode("utf-8", "ignore").encode()).chunks
            for chunk in chunks:
                if chunk.mode == "code":
                    around = surroundings_of(language, chunks)
                    analyse(language, part.decode("utf-8", "ignore").encode(), chunk, load_rules(), around=around)


@each_row(
    ("language", "text", "values"),
    [
        ("python", "def f():\n    a, b = g(x, 1), 'k, l'\n", ["a=g(x, 1)", "b='k, l'"]),
        ("python", "def f():\n    i.j, k[0] = (p, q)\n", ["i.j=p", "k=q"]),
        ("go", "package p\nfunc f() {\n\tvar a, b = x, y\n}\n", ["a=x", "b=y"]),
        ("ruby", "def f\n  @a, b = g(x), y\nend\n", ["@a=g(x)", "b=y"]),
        ("lua", "function f()\n  local a, b = g(x), y\nend\n", ["a=g(x)", "b=y"]),
        ("javascript", "function f() { const [a, b] = [g(x), y]; }\n", ["a=g(x)", "b=y"]),
        ("rust", "fn f() { let (a, b) = (g(x), y); }\n", ["a=g(x)", "b=y"]),
        ("csharp", "class C { void F() { var (a, b) = (G(x), y); } }\n", ["a=G(x)", "b=y"]),
        ("swift", "func f() { let (a, b) = (g(x), y) }\n", ["a=g(x)", "b=y"]),
        ("scala", "object O { def f() = { val (a, b) = (g(x), y) } }\n", ["a=g(x)", "b=y"]),
        ("elixir", "defmodule M do\n  def f do\n    {a, b} = {g(x), y}\n  end\nend\n", ["a=g(x)", "b=y"]),
        ("php", "<?php function f() { [$a, $b] = [g($x), $y]; }\n", ["$a=g($x)", "$b=$y"]),
    ],
)
def test_names_that_are_assigned_at_once_have_each_its_own_value(
    language: str, text: str, values: list[str]
) -> None:
    assert _assigned(language, text) == values


@each_row(
    ("language", "text"),
    [
        ("python", "def f():\n    a, b = pair(x, y)\n"),
        ("python", "def f():\n    a, b = b, a\n"),
        ("python", "def f():\n    a, *b = x, y, z\n"),
        ("go", "package p\nfunc f() {\n\ta, b := g(x)\n}\n"),
        ("ruby", "def f\n  a, b = pair x, y\nend\n"),
        ("javascript", "function f() { const {p: a, q: b} = {q: x, p: y}; }\n"),
        ("kotlin", "fun f() { val (a, b) = Pair(g(x), y) }\n"),
    ],
)
def test_where_it_is_not_sure_whose_a_value_is_every_name_has_the_whole(language: str, text: str) -> None:
    values = {one.partition("=")[2] for one in _assigned(language, text)}
    assert len(values) == 1
    assert text.count(values.pop()) == 1


def _assigned(language: str, text: str) -> list[str]:
    (chunk,) = (chunk for chunk in extract(language, "it", text.encode()).chunks if chunk.written)
    own = text.encode()[chunk.start : chunk.end]
    found = assigned(language, chunk.written, chunk.start, own, masked(language, own))
    return [f"{one.target}={own[slice(*one.value)].decode().strip()}" for one in found]
