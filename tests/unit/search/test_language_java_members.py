"""Java: methods called on something, members that are public without saying so, types that stand before names."""

import pytest
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk


def method(body: str) -> Chunk:
    return definitions_of("java", f"import java.util.List;\nclass A {{ void f() {{ {body} }} }}\n")[1]


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("obj.run(1);", ["obj.run"]),
        ("List.of(1);", ["List.of", "java.util.List.of"]),
        ("this.bank.charge(x);", ["this.bank.charge"]),
        ("super.close();", ["super.close"]),
        ("builder\n  .append(x);", ["builder.append"]),
        ("a().b().c();", ["c", "b", "a"]),
        ("List.<String>of();", ["of"]),
        ("return plain();", ["plain"]),
    ],
)
def test_a_call_is_named_with_what_it_is_called_on(body: str, calls: list[str]) -> None:
    assert sorted(method(body).facts["calls"]) == sorted(calls)


def test_the_site_of_a_call_on_an_object_points_at_its_arguments() -> None:
    found = method("Runtime.exec(command);")

    assert [site.callee for site in found.call_sites] == ["Runtime.exec"]
    assert found.facts["reads"] == ["command"]


def test_collections_are_changed_by_their_methods() -> None:
    assert method("items.add(x); this.seen.put(a, b);").facts["mutations"] == ["items.add()", "this.seen.put()"]


def test_declared_types_are_known_and_var_declares_none() -> None:
    found = method("Map<String, Item> a = load(); int b, c = 2; var d = load();").facts["inferred_types"]

    assert sorted(found) == ["a: Map<String, Item>", "b: int", "c: int"]


def test_members_of_an_interface_are_public_unless_they_say_otherwise() -> None:
    source = "interface I { int K = 1; int f(); static void g() {} private void h() {} class C {} }"
    found = {item.name: item.visibility for item in definitions_of("java", source)}

    assert [name for name, visibility in found.items() if visibility == "public"] == ["I.K", "I.f", "I.g", "I.C"]
    assert found["I.h"] == "private"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("class API Shop", "Shop"),
        ("class API_X(1) Shop : public Base", "Shop"),
        ("struct T_API Shop final : Base", "Shop"),
        ("class ABC final", "ABC"),
    ],
)
def test_a_macro_in_front_of_the_name_of_a_class_is_not_its_name(head: str, name: str) -> None:
    source = f"namespace a {{\n{head} {{\n public:\n  int f() {{ return 1; }}\n}};\n}}\nint g() {{}}\n"
    found = definitions_of("cpp", source)

    assert [item.name for item in found] == [name, f"{name}.f", "g"]
    assert found[0].signature == head


def test_where_control_flow_is_not_known_it_is_not_counted() -> None:
    assert definitions_of("zig", "fn f() void { if (a) {} }")[0].counts == {}


def test_lambdas_type_arguments_and_receivers_are_told_apart_from_the_method() -> None:
    source = b"class A<T> { void f() { new B<T>(x); run(() -> { return 1; }); this.z = 1; } }"
    found = next(item for item in extract("java", "A.java", source).chunks if item.name == "A.f")

    assert [site.callee for site in found.call_sites] == ["B", "run"]
    assert "returns" not in found.flags
    assert "this" not in found.facts["uses"]


def test_an_anonymous_class_is_made_and_returned_by_the_method_around_it() -> None:
    found = method("return new X<T>(g(), y) { int h() { return k(); } };")

    assert found.flags == {"returns"}
    assert found.facts["calls"] == ["X", "g"]
    assert [site.callee for site in found.call_sites] == ["X", "g"]
    assert found.facts["reads"] == ["y"]
    assert found.facts["uses"] == ["y", "X", "g", "T"]


def test_an_anonymous_class_does_only_what_stands_in_its_body() -> None:
    source = "class A { X f() { return new X(g(y)) { int a = b(); int h() { return k(); } }; } }"
    found = {item.name: item for item in definitions_of("java", source)}

    assert found["A.f.X"].facts["calls"] == ["b"]
    assert found["A.f.X"].flags == set()
    assert found["A.f.X"].facts["extends"] == ["X"]
    assert "X" in found["A.f.X"].facts["uses"]
    assert found["A.f.X.h"].facts["calls"] == ["k"]


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("run(new Runnable() { public void run() { go(); } });", ["run", "Runnable"]),
        ("Runnable r = new Runnable() { public void run() { go(); } };", ["Runnable"]),
        ("new P(new Y(w()) { }, () -> new Z(v()) { }) { };", ["P", "Y", "w", "Z", "v"]),
        ("new a.b.C(d()) { };", ["a.b.C", "d"]),
    ],
)
def test_an_anonymous_class_is_a_call_of_the_method_wherever_it_stands(body: str, calls: list[str]) -> None:
    assert method(body).facts["calls"] == calls


def test_anonymous_classes_nested_too_deeply_take_nothing_from_the_ones_around_them() -> None:
    deep = "new X() { int a = " * 30 + "b()" + "; }" * 30
    found = definitions_of("java", f"class A {{ Object f() {{ return {deep}; }} }}")

    assert found[1].facts["calls"] == ["X"]
    assert found[-1].facts["calls"] == ["X", "b"]


@pytest.mark.parametrize(
    ("body", "throws"),
    [
        ("throw new Bad(z) { };", ["Bad"]),
        ("run(() -> { throw new Bad(); });", []),
        ("run(() -> { throw new Bad(); }); throw new Good();", ["Good"]),
        ("run(new Runnable() { public void run() { throw new Bad(); } });", []),
        ("new X(() -> { throw new Bad(); }) { };", []),
    ],
)
def test_what_a_lambda_or_an_anonymous_class_throws_is_its_own(body: str, throws: list[str]) -> None:
    assert method(body).facts.get("throws", []) == throws


def test_a_comment_behind_a_return_is_no_value() -> None:
    assert method("return /* nothing */;").flags == set()
