"""Lua: what its labelled sample does not show. Modules, exports, calls without brackets."""

from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk


def function(body: str) -> Chunk:
    chunks = extract("lua", "a.lua", f"function f(a, ...)\n{body}\nend\n".encode()).chunks
    return next(found for found in chunks if found.mode == "code" and found.name == "f")


@each_row(
    ("body", "fact", "expected"),
    [
        ("print 'x'", "calls", ["print"]),
        ("make { x = 1 }", "calls", ["make"]),
        ("io.open(a):read('a')", "calls", ["io.open", "read"]),
        ("self.queue:push(a)", "calls", ["self.queue:push"]),
        ("self.queue:push(a)", "mutations", ["self.queue:push()"]),
        ("return a..b.. c", "reads", ["a", "b", "c"]),
        ("return t.x.y", "reads", ["t.x.y"]),
        ("goto out ::out::", "reads", []),
        ("return { key = a }", "reads", ["a"]),
        ("x, t.y = 1, 2", "writes", ["t.y", "x"]),
        ("t[1].z = 2", "writes", []),
        ("local x", "writes", []),
        ("local x", "uses", []),
        ("local g = function(q) return q end", "uses", []),
        ("local x = 'text'", "inferred_types", ["x: string"]),
        ("error('no')", "throws", ["error"]),
        ("local x <const> = 5", "writes", ["x"]),
        ("table.insert(a.list, 1)", "mutations", ["a.list"]),
        ("table.remove(a)", "mutations", ["a"]),
        ("list:insert(a)", "mutations", ["list:insert()"]),
    ],
)
def test_what_a_function_does_is_told_as_it_is_written(body: str, fact: str, expected: list[str]) -> None:
    assert sorted(function(body).facts.get(fact, [])) == sorted(expected)


@each_row(
    ("line", "module", "called", "resolved"),
    [
        ('local j = require("a.json")', "a.json", "j.decode()", "a.json.decode"),
        ("local j = require 'a.json'", "a.json", "j.decode()", "a.json.decode"),
        ('local d = require("a.json").decode', "a.json", "d()", "a.json.decode"),
        ('require("a.patch")', "a.patch", "d()", "d"),
    ],
)
def test_required_modules_are_imports_and_calls_of_them_are_resolved(
    line: str, module: str, called: str, resolved: str
) -> None:
    found = extract("lua", "a.lua", f"{line}\nfunction f() {called} end\n".encode())

    assert found.imports == [module]
    assert resolved in next(item for item in found.chunks if item.name == "f").facts["calls"]


@each_row(
    ("source", "exports"),
    [
        ("local M = {}\nfunction M.a() end\nfunction M:b() end\nM.c = 1\nreturn M\n", ["a", "b", "c"]),
        ("local function a() end\nreturn { a = a, z = 1 }\n", ["a", "z"]),
        ("function shared() end\nlocal function own() end\n", ["shared"]),
        ("local M = {}\nfunction M.a() end\n", []),
    ],
)
def test_a_file_exports_its_globals_and_what_it_returns(source: str, exports: list[str]) -> None:
    assert extract("lua", "a.lua", source.encode()).exports == exports


def test_functions_in_a_table_are_definitions_with_the_name_of_the_table() -> None:
    chunks = extract("lua", "a.lua", b"local M = {\n open = function(x) return x end,\n}\n").chunks

    assert ("function", "M.open") in [(item.kind, item.name) for item in chunks]


def test_what_a_callback_returns_is_its_own() -> None:
    found = function("pcall(function() return 1 end)")

    assert (found.flags, found.counts["returns"]) == (set(), 0)
