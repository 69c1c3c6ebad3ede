"""Swift: what its labelled sample does not show; awkward forms, one test per odd rule."""

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk


def first(source: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("swift", source, "a.swift")[0]


def test_a_name_that_is_imported_alone_is_resolved() -> None:
    found = extract("swift", "a.swift", b"import func Darwin.fputs\nimport UIKit\nfunc f() { fputs(x) }\n")

    assert found.imports == ["Darwin.fputs", "UIKit"]
    assert found.chunks[-1].facts["calls"] == ["fputs", "Darwin.fputs"]


@each_row(
    ("body", "calls"),
    [
        ("a[1]", []),
        ("defer { g() }", ["g"]),
        ("run { g() }", ["run", "g"]),
        ("a?.b?.c(1)", ["a.b.c"]),
        ("a!.b(1)", ["a.b"]),
        ("let x: T = .make(1)", ["make"]),
        ("let y = [Int]()", []),
        ("try! g()", ["g"]),
    ],
)
def test_a_call_is_what_has_arguments_or_a_closure_and_a_name(body: str, calls: list[str]) -> None:
    assert first(f"func f() {{ {body} }}\n").facts.get("calls", []) == calls


def test_quotes_around_a_name_are_no_part_of_it() -> None:
    found = first("func `default`(for key: Key) { store.`get`(key) }\n")

    assert (found.name, found.facts["calls"]) == ("default", ["store.get"])


@each_row(("access", "visibility"), [("public", "public"), ("", "internal"), ("internal", "internal")])
def test_what_a_protocol_asks_for_is_as_visible_as_the_protocol(access: str, visibility: str) -> None:
    found = extract("swift", "a.swift", f"{access} protocol Store {{\n  func get() -> Int\n}}\n".encode())

    assert [item.visibility for item in found.chunks if item.name == "Store.get"] == [visibility]


def test_modifiers_and_attributes_are_those_of_the_definition_itself() -> None:
    source = """
        @MainActor public final class Shelf {
          @Published private var books = 0
          private lazy var size = 1
          @objc override func open(_ done: @escaping () async -> Void) { @Box var local = 1; final class Inner {} }
          required init() async {}
        }
    """
    found = {item.name: item for item in extract("swift", "a.swift", source.encode()).chunks}

    assert [item.lstrip("@") for item in found["Shelf"].facts["decorators"]] == ["MainActor"]
    assert found["Shelf"].facts["modifiers"] == ["public", "final"]
    assert found["Shelf.open"].facts["modifiers"] == ["override"]
    assert [item.lstrip("@") for item in found["Shelf.open"].facts["decorators"]] == ["objc"]
    assert ("async" in found["Shelf.open"].flags, "async" in found["Shelf.init"].flags) == (False, True)


def test_call_sites_hold_the_arguments_of_constructors_and_methods() -> None:
    source = "func f() { g(a) { b }; T<Int>(c); d?.e(h: i) }\n"

    sites = [(site.callee, source[site.start : site.end]) for site in first(source).call_sites]
    assert sites == [("g", "(a)"), ("T", "(c)"), ("d.e", "(h: i)")]


@each_row(
    ("statement", "written"),
    [
        ("if let a = b, let c { use(c) }", ["a", "c"]),
        ("if case let .some(v) = t { use(v) }", ["v"]),
        ("guard let self else { return }", []),
        ("while let next = q.pop() { use(next) }", ["next"]),
        ("for (i, x) in y { use(i) }", ["i", "x"]),
        ("let (p, q) = pair", ["p", "q"]),
        ("a.b?.c = 1", ["a.b.c"]),
        ("g(&total)", ["total"]),
    ],
)
def test_every_way_to_bind_a_name_writes_it(statement: str, written: list[str]) -> None:
    assert first(f"func f() {{ {statement} }}\n").facts.get("writes", []) == written


@each_row(
    ("parameters", "expected"),
    [
        ("_ a: [K: V], to b: Int?", ["a: [K: V]", "b: Int?"]),
        ("f: @escaping (A, B) -> C", ["f: (A, B) -> C"]),
        ("a: inout Map<K, V>", ["a: Map<K, V>"]),
        ("xs: Int...", ["xs: Int..."]),
    ],
)
def test_a_parameter_has_its_inner_name_and_its_plain_type(parameters: str, expected: list[str]) -> None:
    assert first(f"func f({parameters}) {{}}\n").facts["param_types"] == expected


def test_what_a_closure_returns_throws_and_awaits_is_its_own() -> None:
    found = first("func f() { g { return 1 }; h { throw E.x }; Task { await i() } }\n")

    assert found.flags == set()
    assert not {"throws", "awaits"} & set(found.facts)


def test_a_single_expression_is_returned_only_where_there_is_a_result() -> None:
    assert first("func f() -> Int { 1 }\n").flags == {"returns"}
    assert first("func f() { g() }\n").flags == set()


def test_a_computed_property_returns_nothing_of_its_type() -> None:
    found = first("struct A {\n    var n: Int {\n        if x { return 1 }\n        return 2\n    }\n}\n")

    assert (found.kind, found.flags, found.counts["returns"]) == ("struct", set(), 0)


def test_an_extension_is_no_name_that_the_file_offers() -> None:
    assert extract("swift", "a.swift", b"public extension A { func f() {} }\npublic class B {}\n").exports == ["B"]


def test_names_outside_of_ascii_and_line_ends_of_windows_are_fine() -> None:
    found = first('func größe(π: Int) -> Int {\r\n    let ñ = "\\(π) x"\r\n    return π\r\n}\r\n')

    assert (found.name, found.facts["params"], found.facts["reads"]) == ("größe", ["π"], ["π"])


@pytest.mark.parametrize("source", [b"\xef\xbb\xbffunc f() {}", b"func f() {}\n\x00\x00", b"func f() {}\nclass {"])
def test_a_definition_survives_what_is_broken_around_it(source: bytes) -> None:
    assert "f" in {chunk.name for chunk in extract("swift", "a.swift", source).chunks}


def test_swift_has_everything_but_generators() -> None:
    assert {"awaits", "async", "throws", "decorators", "param_defaults"} <= fields_of("swift")
    assert "generator" not in fields_of("swift")


def test_a_call_to_the_right_of_a_sign_is_a_call() -> None:
    source = 'func f() { let a = width() * height() - rows.count(of: 1); return "a" + name() }\n'
    source += "func g() { return -sign() }\n"
    f, g = [chunk for chunk in extract("swift", "a.swift", source.encode()).chunks if chunk.kind == "function"]

    assert set(f.facts["calls"]) == {"width", "height", "rows.count", "name"}
    assert g.facts["calls"] == ["sign"]
