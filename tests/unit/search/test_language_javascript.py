"""JavaScript: a file labelled by hand, and each fact with a case that fails if it is missing or wrong."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_in, definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk, Extraction

SOURCE = """\
#!/usr/bin/env node
/** Sells things. */
import fs, { readFile as read, default as fallback } from "node:fs";
import * as path from 'path';
import "./side-effect.js";
const { exec: run, spawn } = require("child_process");
const debug = require("debug")("shop"), join = require("path").join;
export { helper, Shop as Store } from "./lib/store.js";
export * as everything from "./all.js";

export const LIMIT = 10, RATE = 1.5;
let state;
const table = { a: 1, "b": [2] };

/**
 * Opens a shop.
 * @returns {Shop} it
 */
export async function openShop(name, { size = 3, owner: { id }, ...rest }, [first] = [], ...others) {
  if (name && size > LIMIT || !others.length) {
    throw new RangeError(`bad ${name}: \\n`);
  }
  const shop = new Shop(name), copy = shop;
  run("ls", { cwd: path.dirname(name) });
  const data = await read(name);
  for (const [key, value] of Object.entries(data)) {
    if (key?.length) continue;
    else break;
  }
  this.total += size;
  shop.items[id] = data ?? state;
  return shop;
}

export const double = (x = 2) => x * 2;
const identity = x => x;
const later = async function named(a) { await a; return; };
function* count(max) { while (max--) { yield max; } }
var one = () => 1, two = function () {};

export default class Shop extends stores.Base {
  static #open = false;
  name = "shop";
  handler = async (event) => { this.#close(event); };
  constructor(name) {
    super(name);
    this.name = name;
    this.render = () => <Card title={name}><div/></Card>;
  }
  // Whether it is open.
  get isOpen() { return !this.closed; }
  set isOpen(value) { this.closed = value; delete this.cache.x; }
  static async *stream() { yield* other(); }
  #close() { try { risky(); } catch (error) { log(error); throw error; } }
  _guess(a) { switch (a) { case 1: return "one"; case 2: return 2; default: return null; } }
  [Symbol.iterator]() { return this.items.values(); }
  'quoted name'() {}
}

const api = {
  get(url) { return fetch(url); },
  post: async (url, body) => { await fetch(url, { method: "POST" }); },
  nested: { remove: function (id) { delete table[id]; } },
};

exports.helper = function (a) { return a; };
module.exports.other = (b) => b;
module.exports = function create() {};
Shop.prototype.sell = function (item) { this.items.push(item); };
Shop.create = (n) => new Shop(n);
const Local = class extends Shop { m() {} };
function outer() {
  function inner() { return state; }
  const total = 1 + inner(), text = "a";
  const { a, b: renamed } = table;
  const { query } = request;
  state = total ? a : renamed;
  items.forEach((item) => { item.go(); });
  return inner;
}
"""

# kind, name, first line, last line
DEFINITIONS = [
    ("variable", "debug, join", 7, 7),
    ("variable", "LIMIT, RATE", 11, 11),
    ("variable", "state", 12, 12),
    ("variable", "table", 13, 13),
    ("function", "openShop", 19, 33),
    ("function", "double", 35, 35),
    ("function", "identity", 36, 36),
    ("function", "later", 37, 37),
    ("function", "count", 38, 38),
    ("function", "one", 39, 39),
    ("function", "two", 39, 39),
    ("class", "Shop", 41, 58),
    ("method", "Shop.handler", 44, 44),
    ("method", "Shop.constructor", 45, 49),
    ("method", "Shop.constructor.render", 48, 48),
    ("method", "Shop.isOpen", 51, 51),
    ("method", "Shop.isOpen", 52, 52),
    ("method", "Shop.stream", 53, 53),
    ("method", "Shop.#close", 54, 54),
    ("method", "Shop._guess", 55, 55),
    ("method", "Shop.[Symbol.iterator]", 56, 56),
    ("method", "Shop.quoted name", 57, 57),
    ("variable", "api", 60, 64),
    ("method", "api.get", 61, 61),
    ("method", "api.post", 62, 62),
    ("method", "api.remove", 63, 63),
    ("function", "helper", 66, 66),
    ("function", "other", 67, 67),
    ("function", "create", 68, 68),
    ("method", "Shop.sell", 69, 69),
    ("function", "Shop.create", 70, 70),
    ("class", "Local", 71, 71),
    ("method", "Local.m", 71, 71),
    ("function", "outer", 72, 80),
    ("function", "outer.inner", 73, 73),
]


@cache
def extraction() -> Extraction:
    return extract("javascript", "shop", SOURCE.encode())


def chunk(name: str) -> Chunk:
    return next(found for found in extraction().chunks if found.mode == "code" and found.name == name)


def snippet(body: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("javascript", body)[0]


def test_every_definition_is_found_with_its_kind_qualified_name_and_lines() -> None:
    found = [(item.kind, item.name, item.start_line, item.end_line) for item in definitions_in(extraction())]

    assert found == DEFINITIONS


def test_the_file_knows_its_imports_and_its_exports() -> None:
    found = extraction()

    assert found.imports == [
        "node:fs", "path", "./side-effect.js", "child_process", "debug", "./lib/store.js", "./all.js",
    ]  # fmt: skip
    assert found.exports == [
        "helper", "Store", "everything", "LIMIT", "RATE", "openShop", "double", "default", "Shop", "other",
        "create",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "openShop",
            "async function openShop(name, { size = 3, owner: { id }, ...rest }, [first] = [], ...others)",
        ),
        ("double", "const double = (x = 2)"),
        ("identity", "const identity = x"),
        ("count", "function* count(max)"),
        ("Shop", "class Shop extends stores.Base"),
        ("Shop.stream", "static async *stream()"),
        ("api.post", "post: async (url, body)"),
        ("Shop.sell", "Shop.prototype.sell = function (item)"),
        ("table", 'const table = { a: 1, "b": [2] };'),
    ],
)
def test_a_signature_is_one_line(name: str, signature: str) -> None:
    assert chunk(name).signature == signature


@pytest.mark.parametrize(
    ("name", "visibility"),
    [("openShop", "public"), ("Shop.#close", "private"), ("Shop._guess", "protected"), ("api.get", "public")],
)
def test_visibility_is_told_by_signs_and_underscores(name: str, visibility: str) -> None:
    assert chunk(name).visibility == visibility


@each_row(
    ("name", "fact", "expected"),
    [
        ("openShop", "params", ["name", "size", "rest", "id", "first", "others"]),
        ("openShop", "param_defaults", ["size=3"]),
        ("identity", "params", ["x"]),
        ("openShop", "modifiers", ["export"]),
        ("Shop", "modifiers", ["export", "default"]),
        ("Shop.isOpen", "modifiers", ["get"]),
        ("Shop", "extends", ["stores.Base"]),
        ("Local", "extends", ["Shop"]),
        ("openShop", "throws", ["RangeError"]),
        ("openShop", "awaits", ["read"]),
        ("openShop", "calls", [
            "RangeError", "Shop", "run", "child_process.exec", "path.dirname", "read", "fs.readFile",
            "Object.entries",
        ]),
        ("Shop.handler", "calls", ["this.#close"]),
        ("outer", "calls", ["inner", "items.forEach", "item.go"]),
        ("openShop", "writes", ["shop", "copy", "data", "key", "value", "this.total"]),
        ("outer", "writes", ["total", "text", "state", "a", "renamed", "query"]),
        ("openShop", "mutations", ["shop.items[]", "this.total"]),
        ("Shop.sell", "mutations", ["this.items.push()"]),
        ("api.remove", "mutations", ["table[]"]),
        ("openShop", "aliases", ["copy=shop"]),
        ("openShop", "inferred_types", ["size: number", "shop: Shop"]),
        ("outer", "inferred_types", ["text: string"]),
        ("Shop.isOpen", "reads", ["this.closed"]),
        ("outer", "reads", ["table", "request", "total", "a", "renamed", "items", "item", "inner"]),
        ("outer.inner", "uses", ["state"]),
        ("helper", "exports", ["helper"]),
        ("outer", "exports", []),
    ],
)  # fmt: skip
def test_a_fact_is_exactly_what_the_source_says(name: str, fact: str, expected: list[str]) -> None:
    assert chunk(name).facts.get(fact, []) == expected


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("openShop", {"async", "returns"}),
        ("double", {"returns"}),
        ("later", {"async"}),
        ("count", {"generator"}),
        ("Shop.stream", {"async", "generator"}),
        ("Shop.handler", {"async"}),
        ("two", set()),
    ],
)
def test_flags_are_set_where_they_are_true(name: str, flags: set[str]) -> None:
    assert chunk(name).flags == flags


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("openShop", {"branches": 2, "loops": 1, "breaks": 1, "continues": 1, "returns": 1, "complexity": 7}),
        ("Shop._guess", {"branches": 2, "loops": 0, "breaks": 0, "continues": 0, "returns": 3, "complexity": 3}),
        ("Shop.#close", {"branches": 1, "loops": 0, "breaks": 0, "continues": 0, "returns": 0, "complexity": 2}),
        ("count", {"branches": 0, "loops": 1, "breaks": 0, "continues": 0, "returns": 0, "complexity": 2}),
        ("Shop", {}),
    ],
)
def test_control_flow_is_counted_for_its_innermost_definition(name: str, counts: dict[str, int]) -> None:
    assert chunk(name).counts == counts


def test_the_comment_above_a_definition_documents_it() -> None:
    assert chunk("openShop").doc == "Opens a shop.\n@returns {Shop} it"
    assert chunk("Shop.isOpen").doc == "Whether it is open."
    assert chunk("outer").doc == ""


def test_comments_are_prose_under_the_name_of_their_definition() -> None:
    prose = [(item.kind, item.name, item.text) for item in extraction().chunks if item.mode == "extracted-prose"]

    assert prose == [
        ("comment", "", "Sells things."),
        ("docstring", "openShop", "Opens a shop.\n@returns {Shop} it"),
        ("docstring", "Shop.isOpen", "Whether it is open."),
    ]


def test_components_are_used_and_plain_tags_are_not() -> None:
    found = snippet("function F(p) { return <ui.Card a={b}><Icon/><div>some text</div></ui.Card>; }")

    assert found.facts["uses"] == ["b", "ui.Card", "ui", "Icon"]
    assert found.facts["reads"] == ["b"]


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ('import a from "m"; function f() { a.b() }', ["a.b", "m.b"]),
        ('import {b as c} from "./m"; function f() { c() }', ["c", "./m.b"]),
        ('import * as n from "m"; function f() { n.x.y() }', ["n.x.y", "m.x.y"]),
        ('import d, {default as e} from "node:m"; function f() { d(); e() }', ["d", "m", "e"]),
        ('const {exec: run} = require("child_process"); function f() { run() }', ["run", "child_process.exec"]),
        ('const e = require("m").b; function f() { e() }', ["e", "m.b"]),
        ('async function f() { const m = await import("x"); m.go() }', ["m.go", "x.go"]),
        ("function f() { a?.b?.(c); new D.E; g`x`; (h)(); }", ["a.b", "D.E", "g"]),
        ("function f() { a(b).c(); }", ["c", "a"]),
    ],
)
def test_calls_are_named_as_written_and_by_their_import(source: str, calls: list[str]) -> None:
    found = next(item for item in extract("javascript", "a.js", source.encode()).chunks if item.name == "f")

    assert sorted(found.facts["calls"]) == sorted(calls)


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ('export * from "./a"', ["./a"]),
        ('import"a";import{b}from"c"', ["a", "c"]),
        ('require("a"); x(require("b"))', ["a", "b"]),
        ('import("a").then(b)', ["a"]),
        ("require(name)", []),
        ("const a = load('b')", []),
    ],
)
def test_imports_are_the_modules_as_written(source: str, imports: list[str]) -> None:
    assert extract("javascript", "a.js", source.encode()).imports == imports


@pytest.mark.parametrize(
    ("source", "exports"),
    [
        ("export { a, b as c }; export let d = 1;", ["a", "c", "d"]),
        ("export const { a, b } = c;", ["a", "b"]),
        ("export default function () {}", ["default"]),
        ("exports.a = exports.b = 1; exported.c = 2;", ["a", "b"]),
        ("module.exports = { a, b: 1, c() {} };", ["a", "b", "c"]),
        ("function f() {} const b = 1;", []),
    ],
)
def test_exports_are_the_names_that_the_file_offers(source: str, exports: list[str]) -> None:
    assert extract("javascript", "a.js", source.encode()).exports == exports


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        ("export default function () {}", "function", "default"),
        ("export default async (a) => a;", "function", "default"),
        ("export default class {}", "class", "default"),
        ("module.exports = (a) => a;", "function", "module.exports"),
        ("module.exports = class A {};", "class", "A"),
        ("exports.A = class {};", "class", "A"),
        ("foo = function () {};", "function", "foo"),
        ("a.b.c = function* () {};", "function", "a.b.c"),
        ("this.x = () => 1;", "method", "x"),
        ("x({ m() {} });", "method", "m"),
        ("x({ 'a b': () => 1 });", "method", "a b"),
        ("const a = 1, f = () => 2;", "variable", "a"),
    ],
)
def test_a_function_is_called_by_what_it_is_bound_to(source: str, kind: str, name: str) -> None:
    found = snippet(source)

    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize(
    ("value", "inferred"),
    [
        ("1.5", "number"), ("'a'", "string"), ("`a`", "string"), ("false", "boolean"), ("!b", "boolean"),
        ("[]", "Array"), ("{}", "Object"), ("/x/", "RegExp"), ("new a.B(1)", "a.B"), ("Number(b)", "number"),
        ("-1", "number"), ("b()", ""), ("b", ""), ("new B().c", ""),
    ],
)  # fmt: skip
def test_literals_and_constructors_give_types_away(value: str, inferred: str) -> None:
    found = snippet(f"function f() {{ const a = {value}; }}")

    assert found.facts.get("inferred_types", []) == ([f"a: {inferred}"] if inferred else [])


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("`a ${b.c} d`", ["b.c"]),
        ("x({ key: value, short })", ["value", "short"]),
        ("/re+x/g.test(s)", ["s"]),
        ("l: for (const k of list) continue l", ["list"]),
        ("$el.x + this.#y", ["$el.x", "this.#y"]),
        ("a\n  .b(c)", ["a", "c"]),
        ("[1].map((n) => n + m)", ["n", "m"]),
    ],
)
def test_only_names_that_are_read_are_reads(body: str, reads: list[str]) -> None:
    assert snippet(f"function f() {{ {body} }}").facts["reads"] == reads


def test_decorators_are_named_without_their_arguments() -> None:
    found = snippet("@tag('x')\nclass A { @log m() {} }")

    assert found.facts["decorators"] == ["tag"]


def test_definitions_before_and_after_broken_syntax_are_found() -> None:
    found = extract("javascript", "a.js", b"function a() {}\nfunction b( { [\nfunction c() {}\nclass D {}\n")

    assert {"a", "c", "D"} <= {item.name for item in found.chunks}
    assert found.remarks


def test_line_breaks_of_windows_change_nothing_but_the_offsets() -> None:
    found = extract("javascript", "a.js", SOURCE.replace("\n", "\r\n").encode()).chunks
    lines = [
        (item.kind, item.name, item.start_line, item.end_line)
        for item in found
        if item.mode == "code" and item.kind != "module"
    ]

    assert lines == DEFINITIONS


@pytest.mark.parametrize(
    "source",
    [
        b"", b"\n\n", b"\xef\xbb\xbflet a", b"\x00\xff\xfe",
        b"x = " + b"(" * 5000 + b")" * 5000, b"function f(){" * 2000, b"x = " + b"a + " * 5000 + b"b",
        b"const a = " + b"{a: " * 3000 + b"}" * 3000, b"a" + b".b(c)" * 3000, b"const f = " + b"() => " * 3000,
        b"function f(" + b"{a: " * 2000 + b"b" + b"}" * 2000 + b"){}",
    ],
)  # fmt: skip
def test_hostile_files_are_survived(source: bytes) -> None:
    found = extract("javascript", "a.js", source)

    assert all(0 <= item.start < item.end <= len(source) for item in found.chunks)


def test_javascript_declares_no_types_of_parameters() -> None:
    fields = fields_of("javascript")

    assert {"calls", "awaits", "modifiers", "exports", "async", "generator", "risk_flows"} <= fields
    assert "return_types" in fields  # by its documentation
    assert "param_types" not in fields


def only(source: str, name: str) -> Chunk:
    found = extract("javascript", "a.js", source.encode()).chunks
    return next(chunk for chunk in found if chunk.name == name and chunk.mode == "code")


def written(source: str, name: str) -> list[tuple[str, str]]:
    return [(write.target, source[write.start : write.end]) for write in only(source, name).written]


def test_a_call_with_a_question_mark_is_a_call_site() -> None:
    found = only("function f() { a?.(x); a.b?.(y); }", "f")

    assert [site.callee for site in found.call_sites] == ["a", "a.b"]


def test_what_a_callback_returns_is_not_returned_by_the_function_around_it() -> None:
    found = only("function f() { g(() => { return 1; }); h(function () { return 2; }); }", "f")

    assert "returns" not in found.flags
    assert found.counts["returns"] == 0


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("const f = () => { return 1; };", 1),
        ("const f = () => () => 1;", 0),
        ("function f() { g(() => { return 1; }); return 2; }", 1),
        ("function f() { return () => { return 1; }; }", 1),
    ],
)
def test_a_function_has_the_returns_of_its_own(source: str, count: int) -> None:
    found = only(source, "f")

    assert "returns" in found.flags
    assert found.counts["returns"] == count


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("const {a: b} = req.body;", ["b"]),
        ("const {a, c: {d}, e = 1, ...rest} = req.body;", ["a", "d", "e", "rest"]),
        ("const [a, [b]] = req.body;", ["a", "b"]),
        ("({a: b} = req.body);", ["b"]),
    ],
)
def test_every_name_of_a_pattern_is_written(statement: str, names: list[str]) -> None:
    found = written("function f(req) { " + statement + " }", "f")

    assert found == [(name, "req.body") for name in names]


def test_two_constants_of_one_statement_are_both_exported() -> None:
    found = only("export const A = 1, B = 2;", "A, B")

    assert found.facts["exports"] == ["A", "B"]


def test_a_call_of_a_name_with_a_dollar_sign_is_found() -> None:
    found = only("function f() { let x = $q.$make(1); }", "f")

    assert found.facts["calls"] == ["$q.$make"]
    assert [site.callee for site in found.call_sites] == ["$q.$make"]


def test_tags_of_the_documentation_tell_what_is_thrown_and_returned() -> None:
    source = (
        "/** Does it.\n * @throws {TypeError} never\n * @returns {Promise<{a: string}>} it\n */\nfunction f() {}"
    )
    found = only(source, "f")

    assert found.facts["throws"] == ["TypeError"]
    assert found.facts["return_types"] == ["Promise<{a: string}>"]


def test_the_receiver_is_no_name_that_is_used() -> None:
    assert only("function f() { return this.a.b; }", "f").facts["uses"] == ["this.a.b"]


@pytest.mark.parametrize(
    ("source", "awaits", "throws"),
    [
        ("const f = async () => { await a(); throw b; };", ["a"], ["b"]),
        ("const f = async function () { for await (const x of a()) throw b; };", ["a"], ["b"]),
        ("const o = { f: async () => { await a; throw new b(); } };", ["a"], ["b"]),
        ("g(() => { async function f() { await a(); throw b; } });", ["a"], ["b"]),
        ("const f = g(async () => { await a(); throw b; });", [], []),
        ("const f = () => async () => { await a(); throw b; };", [], []),
        ("function f(c = async () => { await a(); throw b; }) {}", [], []),
        ("function f() { g(function () { throw b; }); }", [], []),
    ],
)
def test_a_function_awaits_and_throws_what_is_its_own(source: str, awaits: list[str], throws: list[str]) -> None:
    facts = only(source, "o.f" if source.startswith("const o") else "f").facts

    assert facts.get("awaits", []) == awaits
    assert facts.get("throws", []) == throws


def test_callbacks_of_module_code_leave_it_nothing_but_their_calls() -> None:
    found = only("go(async () => { await a(); throw b; });", "")

    assert found.facts["calls"] == ["go", "a"]
    assert not {"awaits", "throws"} & found.facts.keys()


@pytest.mark.parametrize(
    "source",
    [
        "function f(a = () => { return 1; }) {}",
        "function f() { return /* nothing */; }",
        "function f() { return }",
    ],
)
def test_a_function_that_returns_no_value_says_so(source: str) -> None:
    assert only(source, "f").flags == set()


def test_a_function_under_a_computed_key_has_its_parameters_for_itself() -> None:
    found = only("function f() { return { [k]: async (a) => { await a; } }; }", "f")

    assert found.flags == {"returns"}
    assert not {"params", "awaits"} & found.facts.keys()


def test_functions_that_are_declared_in_one_list_with_variables_are_definitions_of_their_own() -> None:
    source = "var a = 1,\n  b = function () {},\n  c = 2,\n  d = () => 3,\n  e = { run() {} };"

    assert [(chunk.kind, chunk.name, chunk.start_line) for chunk in definitions_of("javascript", source)] == [
        ("variable", "a, c, e", 1),
        ("function", "b", 2),
        ("function", "d", 4),
        ("method", "a, c, e.run", 5),
    ]


def test_functions_in_a_list_of_variables_inside_of_a_value_are_part_of_that_value() -> None:
    source = """\
var lib = (function () {
  var a = 1, b = function () {};
  return function c() {};
})();"""

    assert [(chunk.kind, chunk.name, chunk.start_line) for chunk in definitions_of("javascript", source)] == [
        ("variable", "lib", 1),
        ("function", "lib.b", 2),
    ]
