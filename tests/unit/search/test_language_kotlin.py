"""Kotlin: what its labelled sample does not show; awkward forms, one test per odd rule."""

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_in, definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.languages.kotlin import LANGUAGE
from holdfast.search.model import Chunk


def first(source: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("kotlin", source, "a.kt")[0]


@each_row(
    ("imported", "call", "resolved"),
    [
        ("a.b.run", "run", "a.b.run"),
        ("a.b.run as go", "go", "a.b.run"),
        ("a.b.Files", "Files.read", "a.b.Files.read"),
        ("a.`in`.Box", "Box.of", "a.in.Box.of"),
    ],
)
def test_calls_are_resolved_by_imports(imported: str, call: str, resolved: str) -> None:
    found = first(f"import {imported}\nfun f() {{\n    {call}(1)\n}}\n")

    assert found.facts["calls"] == [call, resolved]


def test_an_import_of_everything_binds_no_name() -> None:
    found = extract("kotlin", "a.kt", b"import a.b.*\nfun f() { g() }\n")

    assert found.imports == ["a.b"]
    assert found.chunks[-1].facts["calls"] == ["g"]


@each_row(
    ("statement", "calls"),
    [
        ("if (!isOpen(door)) close(door)", ["isOpen", "close"]),
        ("return -half(x)", ["half"]),
        ("`when`(clock.`in`(zone)).thenReturn(noon)", ["clock.in", "when", "thenReturn"]),
    ],
)
def test_signs_around_a_name_are_no_part_of_what_is_called(statement: str, calls: list[str]) -> None:
    found = first(f"fun `opens at noon`() {{ {statement} }}\n")

    assert found.name == "opens at noon"
    assert sorted(found.facts["calls"]) == sorted(calls)
    assert sorted(site.callee for site in found.call_sites) == sorted(calls)


def test_what_an_object_holds_is_found_and_what_every_instance_holds_is_not() -> None:
    source = "class A {\n  val own = 1\n  companion object {\n    @JvmField private val log = Log()\n  }\n}\n"
    found = [item for item in extract("kotlin", "a.kt", source.encode()).chunks if item.kind == "variable"]

    assert [(item.name, item.visibility, item.facts["decorators"]) for item in found] == [
        ("A.log", "private", ["JvmField"])
    ]


def test_type_arguments_do_not_hide_the_arguments_of_a_call() -> None:
    source = "fun f() {\n    a.g<Int>(x)\n    h<Int, String>(y)\n    i?.j(z)\n    k!!.l(w)\n}\n"

    sites = [(site.callee, source[site.start : site.end]) for site in first(source).call_sites]
    assert sites == [("a.g", "(x)"), ("h", "(y)"), ("i.j", "(z)"), ("k.l", "(w)")]


@each_row(
    ("body", "reads"),
    [
        ('val s = "$a of ${b.c} and \\$d"', ["a", "b.c"]),
        ('val s = """x $a ${f("text $b")}"""', ["a", "b"]),
        ("g(name = a)", ["a"]),
        ("list.map { it.size }", ["list", "it.size"]),
    ],
)
def test_names_in_templates_are_read_and_the_text_around_them_is_not(body: str, reads: list[str]) -> None:
    assert first(f"fun f() {{\n    {body}\n}}\n").facts["reads"] == reads


def test_what_a_lambda_calls_its_argument_is_no_name_of_others() -> None:
    assert first("fun f() {\n    it.size\n}\n").facts.get("uses", []) == []


def test_a_plain_return_in_a_lambda_leaves_the_function_and_a_labelled_one_does_not() -> None:
    found = first(
        "fun f(): Int {\n    a.forEach { return 1 }\n    a.forEach { return@forEach }\n    throw X()\n}\n"
    )

    assert found.counts["returns"] == 1
    assert found.flags == {"returns"}


@each_row(
    ("parameters", "expected"),
    [
        ("a: Map<K, V>, b: Int", ["a: Map<K, V>", "b: Int"]),
        ("f: (A, B) -> C, vararg x: D", ["f: (A, B) -> C", "x: D"]),
        ('@Foo("a, b") a: String', ["a: String"]),
        ("crossinline f: suspend () -> Unit", ["f: suspend () -> Unit"]),
    ],
)
def test_commas_and_words_inside_of_a_parameter_are_its_own(parameters: str, expected: list[str]) -> None:
    assert first(f"fun f({parameters}) {{}}\n").facts["param_types"] == expected


@each_row("target", ["a?.b", "a!!.b"])
def test_a_safe_assignment_writes_the_whole_path(target: str) -> None:
    assert first(f"fun f() {{\n    {target} = 1\n}}\n").facts["writes"] == ["a.b"]


def test_a_declared_type_is_the_only_type_of_a_variable() -> None:
    found = first("fun f() {\n    val a: Long = 1\n    var b = 2\n}\n")

    assert found.facts["inferred_types"] == ["b: Int", "a: Long"]
    assert [(write.target) for write in found.written] == ["b", "a"]


@each_row("behind", ["\n", "", "\n\nfun f() {}\n"])
def test_a_class_of_annotations_needs_nothing_behind_its_name(behind: str) -> None:
    """The grammar takes it for a call of `class`."""
    found = first(f"/** Marks. */\n@Target(CLASS)\n@Retained\nannotation class Fast{behind}")

    assert (found.kind, found.name, found.start_line, found.end_line, found.doc) == (
        "class",
        "Fast",
        2,
        4,
        "Marks.",
    )
    assert found.facts["decorators"] == ["Target", "Retained"]
    assert found.facts["modifiers"] == ["annotation"]
    assert "calls" not in found.facts


def test_an_annotated_expression_decorates_no_function() -> None:
    assert "decorators" not in first('fun f() {\n    @Suppress("x") a foo b\n}\n').facts


def test_names_outside_of_ascii_and_line_ends_of_windows_are_fine() -> None:
    found = first("fun größe(π: Int): Int {\r\n    val ñ = π\r\n    return ñ\r\n}\r\n")

    assert (found.name, found.facts["params"], found.facts["aliases"]) == ("größe", ["π"], ["ñ=π"])


@pytest.mark.parametrize("source", [b"\xef\xbb\xbffun f() {}", b"fun f() {}\n\x00\x00", b"fun f() {}\nclass {"])
def test_a_definition_survives_what_is_broken_around_it(source: bytes) -> None:
    assert "f" in {chunk.name for chunk in extract("kotlin", "a.kt", source).chunks}


def test_kotlin_has_coroutines_but_no_word_for_awaiting_and_no_generators() -> None:
    assert {"async", "returns", "decorators", "param_defaults"} <= fields_of("kotlin")
    assert not {"awaits", "generator"} & fields_of("kotlin")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("class A { fun run() {} }", ["class A", "method A.run"]),
        ("class A { val b = 1 }", ["class A"]),
        ("interface A { fun run() }", ["interface A", "method A.run"]),
        ("fun interface A { fun run() }", ["interface A", "method A.run"]),
        ("class A { companion object { const val B = 1 } }", ["class A", "variable A.B"]),
        ("class A { inner class B { fun run() = it } }", ["class A", "class A.B", "method A.B.run"]),
        ("enum class A { B { override fun run() = 1 }; abstract fun run(): Int }",
         ["enum A", "class A.B", "method A.B.run", "method A.run"]),
    ],
)  # fmt: skip
def test_a_body_that_ends_on_the_line_of_its_last_member_is_read_like_any_other(
    source: str, found: list[str]
) -> None:
    extracted = extract("kotlin", "a.kt", source.encode())

    assert [f"{chunk.kind} {chunk.name}" for chunk in definitions_in(extracted)] == found
    assert extracted.remarks == []


def test_what_is_read_well_stays_so_beside_a_body_on_one_line() -> None:
    source = b"""\
class A { fun run() {} }
class B {
    fun walk(each: (Int) -> Unit = { _ -> }) {
        each(1)
    }
}
class C { fun run() {} }"""
    extracted = extract("kotlin", "a.kt", source)

    found = ["class A", "method A.run", "class B", "method B.walk", "class C", "method C.run"]
    assert [f"{chunk.kind} {chunk.name}" for chunk in definitions_in(extracted)] == found
    assert extracted.remarks == []


def test_a_blank_in_a_template_of_a_string_is_no_end_of_a_body() -> None:
    assert LANGUAGE.guessed is not None
    assert LANGUAGE.guessed(b'val a = "${b }" + { c }') == [(21, 22)]
