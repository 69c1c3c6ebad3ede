"""PHP: what its labelled sample does not show. Imports, names with dollar signs, dynamic members."""

from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk


def chunk(body: str) -> Chunk:
    return definitions_of("php", f"<?php\n{body}", "a.php")[0]


def in_a_function(body: str) -> Chunk:
    return chunk(f"function f($class, $list) {{\n{body}\n}}\n")


@each_row(
    ("body", "fact", "expected"),
    [
        ("return $class;", "reads", ["class"]),
        ("return $class.$list;", "reads", ["class", "list"]),
        ("return $this->a->b;", "reads", ["this->a->b"]),
        ('return "$class and {$list->x}";', "reads", ["class", "list->x"]),
        ("return '$class';", "reads", []),
        ("$o->$name();", "calls", []),
        ("$o->$name();", "reads", ["name", "o"]),
        ("$f($class);", "calls", ["f"]),
        ("$count = count($list);", "uses", ["count"]),
        ("$a->b()->c();", "calls", ["$a->b".removeprefix("$"), "c"]),
        ("$a?->b();", "calls", ["a?->b"]),
        ("\\strlen('x');", "calls", ["strlen"]),
        ("new \\A\\B(1);", "calls", ["A\\B"]),
        ("isset($list['x']);", "calls", []),
        ("$this->items[] = 1;", "mutations", ["this->items[]"]),
        ("static::$all = [];", "mutations", ["static::all"]),
        ("$x = &$list;", "aliases", ["x=list"]),
        ("$x = (bool) $list;", "inferred_types", ["x: bool"]),
        ("foreach ($list as ['id' => $id]) {}", "writes", ["id"]),
        ("throw Oops::because('x');", "throws", ["Oops"]),
    ],
)
def test_what_a_function_does_is_told_without_the_signs_of_variables(
    body: str, fact: str, expected: list[str]
) -> None:
    assert sorted(in_a_function(body).facts.get(fact, [])) == sorted(expected)


@each_row(
    ("line", "modules", "called", "resolved"),
    [
        ("use A\\B;", ["A\\B"], "B::run()", "A\\B::run"),
        ("use A\\B as C;", ["A\\B"], "C::run()", "A\\B::run"),
        ("use A\\{B, C as D};", ["A\\B", "A\\C"], "D::run()", "A\\C::run"),
        ("use function A\\go;", ["A\\go"], "go()", "A\\go"),
        ("use A\\{function go, const X};", ["A\\go", "A\\X"], "go()", "A\\go"),
        ("use A\\B, \\C\\D;", ["A\\B", "C\\D"], "new D()", "C\\D"),
        ("require_once __DIR__ . '/lib.php';", ["/lib.php"], "go()", "go"),
    ],
)
def test_imported_names_are_resolved(line: str, modules: list[str], called: str, resolved: str) -> None:
    found = extract("php", "a.php", f"<?php\n{line}\nfunction f() {{ {called}; }}\n".encode())

    assert found.imports == modules
    assert resolved in next(item for item in found.chunks if item.name == "f").facts["calls"]


def test_defaults_keep_the_dollar_signs_of_prices() -> None:
    found = chunk("function f(string $sign = '$5', #[Sensitive] private ?A\\B &$b = null, int|float ...$more) {}")

    assert found.facts["params"] == ["sign", "b", "more"]
    assert found.facts["param_defaults"] == ["sign='$5'", "b=null"]
    assert found.facts["param_types"] == ["sign: string", "b: ?A\\B", "more: int|float"]


def test_what_a_closure_returns_and_yields_is_its_own() -> None:
    found = in_a_function("$g = function () { yield 1; return 2; }; $h = fn ($x) => $x;")

    assert found.flags == set()
    assert found.counts["returns"] == 0


def test_calls_and_assignments_tell_where_their_values_stand() -> None:
    source = "<?php\nfunction f() {\n $cmd = $_GET['x'];\n $this->db->query(\"a $cmd\");\n}\n"
    found = next(item for item in extract("php", "a.php", source.encode()).chunks if item.name == "f")

    assert [(one.target, source[one.start : one.end]) for one in found.written] == [("$cmd", "$_GET['x']")]
    assert [source[one.start : one.end] for one in found.call_sites] == ['("a $cmd")']


def test_text_around_the_code_is_no_code() -> None:
    found = extract("php", "a.php", b"<h1>read me</h1>\n<?php function f() { return 1; } ?>\n<p>write me</p>\n")

    assert [item.name for item in found.chunks if item.kind == "function"] == ["f"]
    assert not any("me" in item.facts.get("reads", []) for item in found.chunks)
