"""TypeScript: a file labelled by hand, and each fact with a case that fails if it is missing or wrong."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_in, definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk, Extraction

SOURCE = """\
import type { Item } from "./item";
import { Bank as House, type Coin } from 'bank';
import legacy = require("legacy");

export type Pair<T> = { left: T; swap(): Pair<T> } | null;
type ID = string;

/** A shop. */
export interface Seller<T> extends Base, stores.Other<T> {
  name: string;
  sell?(item: Item, count?: number): Promise<Receipt>;
  [key: string]: unknown;
}

export enum Color { Red = 1, Green }
export const enum Size { Small = "s" }
declare enum Far { Away }

export namespace Money.Euro {
  export const cent = 0.01;
  export function round(value: number): number { return Math.round(value / cent); }
}

declare module "untyped" {
  export function load(path: string): any;
}

declare const VERSION: string;
export declare function external(a: string, b?: number): asserts a is string;

@Component({ selector: "shop" })
@Sealed
export class Shop<T extends Item> extends Base<T> implements Seller<T>, Closable {
  @Input() private readonly stock: Map<string, T> = new Map();
  static count = 0;
  protected handler = async (event: Event): Promise<void> => { await this.close(event); };

  constructor(@Inject(T) private bank: House, public readonly name: string = "x", ...rest: Map<string, T>[]) {}

  open(): void;
  open(force?: boolean): void { if (!force) throw new Errors.Closed("no"); }

  @Log("info")
  @Retry
  public async sell<U>({ item, count = 1 }: SellArgs, cb: (e: Error, n: number) => void = noop): Promise<U[]> {
    const price: number = item.price as number;
    const coin = await this.bank.pay<Coin>(price);
    this.total ??= price;
    let parsed = JSON.parse(text) as Receipt;
    return coin!.value satisfies U;
  }
  private static _make(this: Shop, { a, b }: { a: string; b?: number[] }): a is string { return true; }
  get total(): number { return 1; }
}

export abstract class Shape {
  abstract area(scale: number): number;
  protected abstract readonly sides: number;
}

export const pick = <T, K extends keyof T>(value: T, key: K): T[K] => value[key];
function isItem(value: unknown): value is Item { return typeof value === "object"; }
export default { name: "x", setup() { return 1; } };
let assertion = <Shop>found;
export = legacy;
export async function* walk(root: Node): AsyncGenerator<Node> { yield root; }
abstract class Hidden { }
"""

# kind, name, first line, last line
DEFINITIONS = [
    ("type", "Pair", 5, 5),
    ("type", "ID", 6, 6),
    ("interface", "Seller", 9, 13),
    ("method", "Seller.sell", 11, 11),
    ("enum", "Color", 15, 15),
    ("enum", "Size", 16, 16),
    ("enum", "Far", 17, 17),
    ("namespace", "Money.Euro", 19, 22),
    ("variable", "Money.Euro.cent", 20, 20),
    ("function", "Money.Euro.round", 21, 21),
    ("namespace", "untyped", 24, 26),
    ("function", "untyped.load", 25, 25),
    ("variable", "VERSION", 28, 28),
    ("function", "external", 29, 29),
    ("class", "Shop", 31, 54),
    ("method", "Shop.handler", 36, 36),
    ("method", "Shop.constructor", 38, 38),
    ("method", "Shop.open", 40, 40),
    ("method", "Shop.open", 41, 41),
    ("method", "Shop.sell", 43, 51),
    ("method", "Shop._make", 52, 52),
    ("method", "Shop.total", 53, 53),
    ("class", "Shape", 56, 59),
    ("method", "Shape.area", 57, 57),
    ("function", "pick", 61, 61),
    ("function", "isItem", 62, 62),
    ("variable", "default", 63, 63),
    ("method", "default.setup", 63, 63),
    ("variable", "assertion", 64, 64),
    ("function", "walk", 66, 66),
    ("class", "Hidden", 67, 67),
]


@cache
def extraction() -> Extraction:
    return extract("typescript", "shop", SOURCE.encode())


def chunk(name: str) -> Chunk:
    return next(found for found in extraction().chunks if found.mode == "code" and found.name == name)


def snippet(body: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("typescript", body)[0]


def test_every_definition_is_found_with_its_kind_qualified_name_and_lines() -> None:
    found = [(item.kind, item.name, item.start_line, item.end_line) for item in definitions_in(extraction())]

    assert found == DEFINITIONS


def test_the_file_knows_its_imports_and_its_exports() -> None:
    found = extraction()

    assert found.imports == ["./item", "bank", "legacy"]
    assert found.exports == [
        "Pair", "Seller", "Color", "Size", "Money.Euro", "external", "Shop", "Shape", "pick", "default", "legacy",
        "walk",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("Seller", "interface Seller<T> extends Base, stores.Other<T>"),
        ("Size", "const enum Size"),
        ("Shop", "class Shop<T extends Item> extends Base<T> implements Seller<T>, Closable"),
        ("Shop.handler", "protected handler = async (event: Event): Promise<void>"),
        ("Shape.area", "abstract area(scale: number): number"),
        ("pick", "const pick = <T, K extends keyof T>(value: T, key: K): T[K]"),
        ("ID", "type ID = string;"),
    ],
)
def test_a_signature_is_one_line(name: str, signature: str) -> None:
    assert chunk(name).signature == signature


@each_row(
    ("name", "fact", "expected"),
    [
        ("Shop.constructor", "params", ["bank", "name", "rest"]),
        ("Shop.constructor", "param_types", ["bank: House", "name: string", "rest: Map<string, T>[]"]),
        ("Shop.constructor", "param_defaults", ['name="x"']),
        ("Shop.sell", "params", ["item", "count", "cb"]),
        ("Shop.sell", "param_types", [
            'item: SellArgs["item"]', 'count: SellArgs["count"]', "cb: (e: Error, n: number) => void",
        ]),
        ("Shop.sell", "param_defaults", ["count=1", "cb=noop"]),
        ("Shop._make", "params", ["a", "b"]),
        ("Shop._make", "param_types", ["a: string", "b: number[]"]),
        ("Shop", "decorators", ["Component", "Sealed"]),
        ("Shop.sell", "decorators", ["Log", "Retry"]),
        ("Shop", "extends", ["Base", "Seller", "Closable"]),
        ("Seller", "extends", ["Base", "stores.Other"]),
        ("Shop.sell", "return_types", ["Promise<U[]>"]),
        ("isItem", "return_types", ["value is Item"]),
        ("external", "modifiers", ["export", "declare"]),
        ("Shape", "modifiers", ["export", "abstract"]),
        ("Shop._make", "modifiers", ["private", "static"]),
        ("Shop.sell", "awaits", ["this.bank.pay"]),
        ("Shop.sell", "calls", ["this.bank.pay", "JSON.parse"]),
        ("Shop.sell", "writes", ["price", "coin", "parsed", "this.total"]),
        ("Shop.sell", "mutations", ["this.total"]),
        ("Shop.sell", "inferred_types", ["price: number", "parsed: Receipt"]),
        ("Shop", "inferred_types", ["stock: Map", "count: number", "stock: Map<string, T>"]),
        ("VERSION", "inferred_types", ["VERSION: string"]),
        ("isItem", "reads", ["value"]),
        ("isItem", "uses", ["Item"]),
        ("Shop.handler", "uses", ["this.close", "Event", "Promise"]),
        ("Color", "exports", ["Color"]),
    ],
)  # fmt: skip
def test_a_fact_is_exactly_what_the_source_says(name: str, fact: str, expected: list[str]) -> None:
    assert chunk(name).facts.get(fact, []) == expected


def test_what_is_thrown_belongs_to_the_implementation_of_an_overload() -> None:
    overloads = [item for item in extraction().chunks if item.name == "Shop.open"]

    assert [item.facts.get("throws", []) for item in overloads] == [[], ["Errors.Closed"]]


@pytest.mark.parametrize(
    ("name", "visibility"),
    [("Shop.handler", "protected"), ("Shop._make", "private"), ("Shop.sell", "public"), ("Shop.total", "public")],
)
def test_visibility_is_told_by_modifiers(name: str, visibility: str) -> None:
    assert chunk(name).visibility == visibility


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("Shop.sell", {"async", "returns"}),
        ("Shop.handler", {"async"}),
        ("pick", {"returns"}),
        ("walk", {"async", "generator"}),
        ("Seller.sell", set()),
    ],
)
def test_flags_are_set_where_they_are_true(name: str, flags: set[str]) -> None:
    assert chunk(name).flags == flags


def test_logical_assignment_counts_as_a_decision() -> None:
    counts = chunk("Shop.sell").counts

    assert (counts["branches"], counts["complexity"]) == (0, 2)


def test_a_range_of_bytes_holds_the_decorators() -> None:
    found = chunk("Shop.sell")

    assert SOURCE.encode()[found.start : found.end].startswith(b'@Log("info")\n  @Retry\n  public async sell')


def test_the_text_of_a_class_keeps_signatures_and_leaves_out_bodies() -> None:
    text = chunk("Shop").text or ""

    assert "get total(): number ..." in text
    assert "JSON.parse" not in text


def test_a_variable_with_a_type_may_hold_a_function() -> None:
    found = snippet("export const f: Handler<A, B> = async (a?: string): Promise<void> => {};")

    assert (found.kind, found.name, found.flags) == ("function", "f", {"async"})
    assert found.facts["param_types"] == ["a: string"]
    assert found.facts["return_types"] == ["Promise<void>"]


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("this: A, a: Map<B, C>, b = 1", ["a", "b"]),
        ("@Dec({ x: f(1) }) readonly a: string", ["a"]),
        ("a: (b: C, d: E) => F<G, H> = (x, y) => x", ["a"]),
        ("{ a: { b, c: [d] }, ...e }: P = {}", ["e", "b", "d"]),
        ("a = 'x, y', b: ',' = ','", ["a", "b"]),
        ("readonly, a$: string", ["readonly", "a$"]),
    ],
)
def test_parameters_are_named_whatever_surrounds_them(parameters: str, names: list[str]) -> None:
    assert snippet(f"function f({parameters}) {{}}").facts["params"] == names


def test_definitions_before_and_after_broken_syntax_are_found() -> None:
    source = b"interface A { x: 1 }\nexport class B { m( {\nexport interface C {}\nexport const d = () => 1;\n"
    found = extract("typescript", "a.ts", source)

    assert {"A", "C", "d"} <= {item.name for item in found.chunks}
    assert found.remarks


def test_line_breaks_of_windows_change_nothing_but_the_offsets() -> None:
    found = extract("typescript", "a.ts", SOURCE.replace("\n", "\r\n").encode()).chunks
    lines = [
        (item.kind, item.name, item.start_line, item.end_line)
        for item in found
        if item.mode == "code" and item.kind != "module"
    ]

    assert lines == DEFINITIONS


@pytest.mark.parametrize(
    "source",
    [
        b"", b"\r\n", b"\xff\x00", b"type A = " + b"B<" * 2000, b"type A = " + b"{a: " * 2000 + b"}" * 2000,
        b"namespace A {" * 1000 + b"}" * 1000, b"let a: " + b"(" * 2000, b"x = " + b"a + " * 5000 + b"b",
    ],
)  # fmt: skip
def test_hostile_files_are_survived(source: bytes) -> None:
    found = extract("typescript", "a.ts", source)

    assert all(0 <= item.start < item.end <= len(source) for item in found.chunks)


def test_typescript_has_declared_types() -> None:
    assert {"param_types", "return_types", "decorators", "modifiers", "calls"} <= fields_of("typescript")
    assert fields_of("tsx") == fields_of("typescript")


def test_type_arguments_do_not_hide_the_arguments_of_a_call() -> None:
    source = b"function f() { g<T>(x); a.b?.<K>(y); new Map<K, V>(z); }"
    found = next(item for item in extract("typescript", "a.ts", source).chunks if item.name == "f")

    sites = [(site.callee, source[site.start : site.end]) for site in found.call_sites]
    assert sites == [("g", b"(x)"), ("a.b", b"(y)"), ("Map", b"(z)")]


def test_a_declared_return_type_counts_more_than_a_documented_one() -> None:
    source = b"/** Says so.\n * @returns {object} it\n */\nfunction f(): string { return g(); }"
    found = next(item for item in extract("typescript", "a.ts", source).chunks if item.kind == "function")

    assert found.facts["return_types"] == ["string"]


@pytest.mark.parametrize("language", ["typescript", "tsx", "javascript"])
def test_a_decorator_is_called_by_the_scope_around_what_it_decorates(language: str) -> None:
    source = b"class A { @log(x()) m() { z(); } }"
    facts = {item.name: item.facts for item in extract(language, "a", source).chunks}

    assert facts["A"]["calls"] == ["log", "x"]
    assert facts["A.m"]["calls"] == ["z"]
    assert facts["A.m"]["decorators"] == ["log"]


@pytest.mark.parametrize("language", ["typescript", "tsx", "javascript"])
def test_the_constructor_of_the_base_class_is_called_by_the_word_super(language: str) -> None:
    source = b"class B extends A { constructor(a) { super(a); super.go(); } }"
    found = next(item for item in extract(language, "a", source).chunks if item.name == "B.constructor")

    assert found.facts["calls"] == ["super", "super.go"]
    assert next((site.callee, source[site.start : site.end]) for site in found.call_sites) == ("super", b"(a)")
    assert found.facts["uses"] == ["super.go"]


@pytest.mark.parametrize("language", ["typescript", "tsx", "javascript"])
def test_what_a_callback_awaits_and_throws_is_its_own(language: str) -> None:
    source = b"async function f() { await a(); g(async () => { await b(); throw new E(); }); throw c; }"
    found = next(item for item in extract(language, "a", source).chunks if item.name == "f")

    assert found.facts["awaits"] == ["a"]
    assert found.facts["throws"] == ["c"]
    assert found.facts["calls"] == ["a", "g", "b", "E"]
