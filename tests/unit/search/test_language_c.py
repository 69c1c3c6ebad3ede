"""C and C++: every definition of a small file, and what their labelled samples do not show."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk

C = """\
/* Sells things. */
#include <stdio.h>
#define LIMIT 10
#define SQUARE(x) ((x) * (x))
#ifndef GUARD_H
#define GUARD_H

typedef unsigned int id_t;
typedef struct item {
    int price;
} Item;
typedef struct { int x; } Point;
typedef int (*handler)(int, char *);

struct shop {
    const char *name;
    struct till { int cents; } till;
};
enum color { RED, GREEN };
union bits { int a; float b; };

static const char *home = "home";
int table[] = {1, 2}, other = 3;
extern int elsewhere;

/** Opens a shop. */
struct shop *open_shop(const char *name, int size);

// Sells an item.
static inline int sell(struct shop *shop, Item *item)
{
    LIST_FOREACH(a, b) {
        printf("x");
    }
    return 0;
}

char **names(void) { return 0; }
int (*chooser(int a))(int) { return 0; }
EXPORT_API int exported(void) { return 1; }
DEFINE_THING(foo, bar)
int after_macro(int a) { return a; }
#endif
#ifdef X
int conditional(void) { return 1; }
#else
int conditional(void) { return 2; }
#endif
"""

CPP = """\
#include <vector>
namespace shop {
namespace inner::deep { int x = 1; }

/// Sells items.
template <typename T>
class Shop : public Base<T>, private detail::Other {
public:
    Shop(int size) : size_(size) {}
    ~Shop();
    virtual void sell(const Item& item) = 0;
    int size() const { return size_; }
    bool operator==(const Shop& other) const { return true; }
    operator bool() const { return true; }
    static constexpr int LIMIT = 10;
    struct Till { int cents; };
    enum class Kind : int { A, B };
private:
    int size_;
};

struct Plain { int a; };
class Forward;
union Bits { int a; };
using Id = unsigned long;
typedef std::vector<int> Numbers;

template <class T>
void Shop<T>::close(int a) { }

Shop::~Shop() {}

template <typename T> T max(T a, T b) { return a > b ? a : b; }
std::vector<int>& numbers() { static std::vector<int> n; return n; }
const int LIMIT = 3;
}  // namespace shop

int A::B::deep(int x) { return x; }
bool operator<(const A& a, const A& b) { return true; }
template <typename T> concept Small = sizeof(T) < 4;
Q_DECLARE_METATYPE(Foo)
int main(int argc, char** argv) {
    auto f = [](int x) { return x; };
    return 0;
}
extern "C" {
int from_c(void);
}
"""

SOURCES = {"c": C, "cpp": CPP}

# kind, name, visibility, first line, last line
DEFINITIONS = {
    "c": [
        ("variable", "LIMIT", "public", 3, 3),
        ("function", "SQUARE", "public", 4, 4),
        ("type", "id_t", "public", 8, 8),
        ("struct", "Item, item", "public", 9, 11),
        ("struct", "Point", "public", 12, 12),
        ("type", "handler", "public", 13, 13),
        ("struct", "shop", "public", 15, 18),
        ("struct", "shop.till", "public", 17, 17),
        ("enum", "color", "public", 19, 19),
        ("struct", "bits", "public", 20, 20),
        ("variable", "home", "private", 22, 22),
        ("variable", "table, other", "public", 23, 23),
        ("function", "open_shop", "public", 27, 27),
        ("function", "sell", "private", 30, 36),
        ("function", "names", "public", 38, 38),
        ("function", "chooser", "public", 39, 39),
        ("function", "exported", "public", 40, 40),
        ("function", "after_macro", "public", 42, 42),
        ("function", "conditional", "public", 45, 45),
        ("function", "conditional", "public", 47, 47),
    ],
    "cpp": [
        ("variable", "x", "public", 3, 3),
        ("class", "Shop", "public", 6, 20),
        ("method", "Shop.Shop", "public", 9, 9),
        ("method", "Shop.~Shop", "public", 10, 10),
        ("method", "Shop.sell", "public", 11, 11),
        ("method", "Shop.size", "public", 12, 12),
        ("method", "Shop.operator==", "public", 13, 13),
        ("method", "Shop.operator bool", "public", 14, 14),
        ("variable", "Shop.LIMIT", "public", 15, 15),
        ("struct", "Shop.Till", "public", 16, 16),
        ("enum", "Shop.Kind", "public", 17, 17),
        ("struct", "Plain", "public", 22, 22),
        ("struct", "Bits", "public", 24, 24),
        ("type", "Id", "public", 25, 25),
        ("type", "Numbers", "public", 26, 26),
        ("method", "Shop.close", "", 28, 29),
        ("method", "Shop.~Shop", "", 31, 31),
        ("function", "max", "public", 33, 33),
        ("function", "numbers", "public", 34, 34),
        ("variable", "LIMIT", "public", 35, 36),
        ("method", "B.deep", "", 38, 38),
        ("function", "operator<", "public", 39, 39),
        ("type", "Small", "public", 40, 40),
        ("function", "main", "public", 42, 45),
        ("function", "from_c", "public", 47, 48),
    ],
}


@cache
def definitions(language: str) -> list[Chunk]:
    return definitions_of(language, SOURCES[language])


def definition(language: str, name: str) -> Chunk:
    return next(found for found in definitions(language) if found.name == name)


@pytest.mark.parametrize("language", SOURCES)
def test_every_definition_is_found_with_its_kind_name_visibility_and_lines(language: str) -> None:
    found = [
        (item.kind, item.name, item.visibility, item.start_line, item.end_line) for item in definitions(language)
    ]

    assert found == DEFINITIONS[language]


@pytest.mark.parametrize(
    ("language", "name", "fact", "expected"),
    [
        ("c", "sell", "modifiers", ["static", "inline"]),
        ("c", "home", "modifiers", ["static"]),
        ("c", "names", "modifiers", []),
        ("cpp", "Shop", "extends", ["Base<T>", "detail::Other"]),
        ("cpp", "Plain", "extends", []),
    ],
)
def test_bases_and_modifiers_are_exactly_those_of_the_definition(
    language: str, name: str, fact: str, expected: list[str]
) -> None:
    assert definition(language, name).facts.get(fact, []) == expected


@pytest.mark.parametrize(
    ("language", "name", "doc"),
    [
        ("c", "open_shop", "Opens a shop."),
        ("cpp", "Shop", "Sells items."),
    ],
)
def test_the_comment_above_a_definition_documents_it(language: str, name: str, doc: str) -> None:
    prose = [item for item in extract(language, "shop", SOURCES[language].encode()).chunks if item.name == name]

    assert definition(language, name).doc == doc
    assert ("docstring", doc) in [(item.kind, item.text) for item in prose]


@pytest.mark.parametrize(
    ("language", "name", "signature"),
    [
        ("c", "sell", "static inline int sell(struct shop *shop, Item *item)"),
        ("c", "Item, item", "typedef struct item"),
        ("c", "names", "char **names(void)"),
        ("c", "SQUARE", "#define SQUARE(x)"),
        ("cpp", "Shop", "class Shop : public Base<T>, private detail::Other"),
        ("cpp", "Shop.close", "void Shop<T>::close(int a)"),
        ("cpp", "max", "T max(T a, T b)"),
        ("cpp", "Shop.Kind", "enum class Kind : int"),
    ],
)
def test_a_signature_is_one_line_without_the_body(language: str, name: str, signature: str) -> None:
    assert definition(language, name).signature == signature


def inside(language: str, body: str) -> Chunk:
    """A function with this body."""
    chunks = extract(language, "a", f"void f(void) {{ {body} }}\n".encode()).chunks
    return next(found for found in chunks if found.name == "f")


@each_row(
    ("language", "body", "writes", "mutations"),
    [
        ("c", "p->x = 1;", ["p->x"], ["p->x"]),
        ("c", "s.a.b += 1;", ["s.a.b"], ["s.a.b"]),
        ("c", "p->rows[i].n = 1;", [], ["p->rows[].n"]),
        ("c", "*p = 1;", ["p"], ["*p"]),
        ("c", "(*p).x = 1;", [], ["(*p).x"]),
        ("c", "((struct q *)x)->y = 1;", [], ["((struct q *)x)->y"]),
        ("c", "int a = 1, *b = &a, c[] = { 1 };", ["a", "b", "c"], []),
        ("cpp", "this->x = 1; auto [a, b] = c;", ["this->x", "a", "b"], ["this->x"]),
        ("cpp", "for (auto& [k, v] : m) {}", ["k", "v"], []),
        ("cpp", "g([&](int a) { return a; });", [], []),
        ("cpp", "std::swap(a, b); items.swap(c);", [], ["items.swap()"]),
    ],
)  # fmt: skip
def test_members_are_written_and_changed_by_arrow_and_dot(
    language: str, body: str, writes: list[str], mutations: list[str]
) -> None:
    facts = inside(language, body).facts

    assert (facts.get("writes", []), facts.get("mutations", [])) == (writes, mutations)


@each_row(
    ("language", "parameters", "types"),
    [
        ("c", "void", []),
        ("c", "const char *restrict a, unsigned b", ["a: const char *restrict", "b: unsigned"]),
        ("c", "struct s, const item, unsigned long, ...", []),
        ("c", "int (*cb)(int, void *), int (*m)[3]", ["cb: int (*)(int, void *)", "m: int (*)[3]"]),
        ("cpp", "std::map<int, V<int>> m, T&&... ts", ["m: std::map<int, V<int>>", "ts: T&&..."]),
        ("cpp", "[[maybe_unused]] int a, Foo&, int = 3", ["a: int"]),
    ],
)  # fmt: skip
def test_a_parameter_is_found_inside_of_its_type(language: str, parameters: str, types: list[str]) -> None:
    found = extract(language, "a", f"int f({parameters}) {{ return 1; }}".encode()).chunks[0]

    assert found.facts.get("param_types", []) == types


@each_row(
    ("language", "body", "sites"),
    [
        ("c", "ops->open(a, 1);", [("ops->open", "(a, 1)")]),
        ("c", "(*cb)(2); (x->fn)(3);", [("cb", "(2)"), ("x->fn", "(3)")]),
        ("c", "f(g(1), \"a)(\");", [("f", "(g(1), \"a)(\")"), ("g", "(1)")]),
        ("cpp", "std::make_unique<A<B>>(1);", [("std::make_unique", "(1)")]),
        ("cpp", "::close(1); a().b<C>(2);", [("close", "(1)"), ("a", "()"), ("b", "(2)")]),
        ("cpp", "new ns::Foo<int>(1); static_cast<int>(2);", [("ns::Foo", "(1)")]),
    ],
)  # fmt: skip
def test_calls_have_the_range_of_their_arguments(language: str, body: str, sites: list[tuple[str, str]]) -> None:
    source = f"void f(void) {{ {body} }}\n".encode()
    found = extract(language, "a", source).chunks[0]

    assert [(site.callee, source[site.start : site.end].decode()) for site in found.call_sites] == sites


def test_includes_are_imports_unless_a_macro_names_them() -> None:
    found = extract("c", "a.c", b'#include <sys/types.h> // why\n#include "b.h"\n#include NAMED\nint x = 1;\n')

    assert found.imports == ["sys/types.h", "b.h"]
    assert found.exports == ["x"]


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("static const char *const f(void) { return 0; }", ["const char *const"]),
        ("struct s **f(void);", ["struct s **"]),
        ("__attribute__((unused)) int f(void) { return 0; }", ["int"]),
        ("int (*f(int a))(int) { return 0; }", []),
    ],
)
def test_a_return_type_is_what_stands_before_the_name_without_modifiers(source: str, written: list[str]) -> None:
    assert extract("c", "a.c", source.encode()).chunks[0].facts.get("return_types", []) == written


def test_static_variables_of_a_function_do_not_make_it_static() -> None:
    found = inside("c", "static int count; extern int other;")

    assert (found.visibility, found.facts.get("modifiers", [])) == ("public", [])


def test_variables_without_a_value_are_defined_unless_they_are_elsewhere() -> None:
    chunks = extract("c", "a.c", b"static int a, b[2];\nextern int c;\nint *d;\nint f(int);\n").chunks

    assert [(item.name, item.visibility) for item in chunks if item.kind == "variable"] == [
        ("a, b", "private"),
        ("d", "public"),
    ]


@each_row(
    ("source", "name", "visibility"),
    [
        ("class A { void f(); };", "A.f", "private"),
        ("struct A { void f(); };", "A.f", "public"),
        ("class A { public: int x; protected: void f(); private: };", "A.f", "protected"),
        ("class A { public: class B { void f(); }; void g(); };", "A.g", "public"),
        ("class A { public: class B { void f(); }; };", "A.B.f", "private"),
        ("class A { public: static void f() {} };", "A.f", "public"),
        ("class A { public: template <class T> void f(T t); };", "A.f", "public"),
        ("static int f() { return 1; }", "f", "private"),
        ("namespace { class A {}; }", "A", "private"),
        ("void A::f() {}", "A.f", ""),
    ],
)
def test_sections_and_places_give_visibility(source: str, name: str, visibility: str) -> None:
    found = next(item for item in extract("cpp", "a.cpp", source.encode()).chunks if item.name == name)

    assert found.visibility == visibility


def test_aliases_of_namespaces_and_used_names_resolve_calls() -> None:
    source = b"""\
namespace fs = std::filesystem;
using net::Socket;
using namespace std;
void f() { fs::remove(a); Socket::open(b); }
"""
    found = extract("cpp", "a.cpp", source)
    chunk = next(item for item in found.chunks if item.name == "f")

    assert chunk.facts["calls"] == ["fs::remove", "std::filesystem::remove", "Socket::open", "net::Socket::open"]
    assert found.imports == []


def test_what_a_lambda_returns_and_throws_is_its_own() -> None:
    found = inside("cpp", "run([] { throw Error(1); return 1; });")

    assert "throws" not in found.facts
    assert (found.flags, found.counts["returns"]) == (set(), 0)


def test_fields_are_those_that_each_language_can_have() -> None:
    assert not {"throws", "awaits", "async", "extends", "param_defaults"} & fields_of("c")
    assert {"throws", "awaits", "async", "generator", "extends", "param_defaults"} <= fields_of("cpp")


@each_row("language", ["c", "cpp", "csharp", "rust"])
@each_row(
    "body",
    [
        "x = " + "a + " * 1_500 + "a;",
        "f(" * 800 + ")" * 800 + ";",
        "chain" + ".method()" * 800 + ";",
        "if (one) { two(); " * 300 + "}" * 300,
    ],
)
def test_code_that_is_nested_deeply_is_still_one_definition(language: str, body: str) -> None:
    heads = {"csharp": "class A { void f() {", "rust": "fn f() {", "c": "void f(void) {", "cpp": "void f() {"}
    found = extract(language, "a", f"{heads[language]} {body} }}{'}' * (language == 'csharp')}\n".encode())

    assert "f" in {item.name.rpartition(".")[2] for item in found.chunks}


def method(source: str) -> Chunk:
    """The last definition of a small file in C++."""
    return [item for item in extract("cpp", "a.cpp", source.encode()).chunks if item.mode == "code"][-1]


@each_row(
    ("initializers", "calls", "writes"),
    [
        ("ver_t(major, 0)", ["ver_t"], None),
        ("Base(major), patch_{make(1)}", ["Base", "make"], ["patch_"]),
    ],
)
def test_a_constructor_calls_another_one_or_gives_values(
    initializers: str, calls: list[str], writes: list[str] | None
) -> None:
    found = method(f"ver_t::ver_t(int major) noexcept : {initializers} {{}}\n")

    assert (found.facts["calls"], found.facts.get("writes")) == (calls, writes)
    assert found.facts["modifiers"] == ["noexcept"]


def test_a_variable_with_arguments_calls_its_constructor() -> None:
    source = 'void f() { std::ifstream in(path + ".txt", mode); int n(1 + 2); }\n'

    found = method(source)
    assert [(site.callee, source[site.start : site.end]) for site in found.call_sites] == [
        ("std::ifstream", '(path + ".txt", mode)')
    ]
    assert found.facts["calls"] == ["std::ifstream"]


@each_row("language", ["c", "cpp"])
def test_a_macro_between_static_and_the_type_is_no_syntax_error(language: str) -> None:
    found = extract(language, "a", b"\nstatic FORCE_INLINE item *find(int id) { return get(id); }\n")

    assert [(item.kind, item.name) for item in found.chunks] == [("function", "find")]
    assert found.remarks == []


FIRST_C = """\
#define NEED(n) do { while (bits < (n)) PULL(); } while (0)
int ZEXPORT inflate(strm, flush, version)
z_streamp strm;
int flush; /* how much */
const char *version;
{
    return NEED(strm) flush;
}

static int size;
int behind(void)
{
    return size;
}
"""


def test_parameters_between_the_head_and_the_body_belong_to_the_function_in_a_file_with_errors() -> None:
    found = extract("c", "a.c", FIRST_C.encode())
    assert found.remarks
    names = [
        (chunk.kind, chunk.name, chunk.start_line, chunk.end_line)
        for chunk in found.chunks
        if chunk.mode == "code"
    ]
    assert names == [
        ("function", "NEED", 1, 1),
        ("function", "inflate", 2, 8),
        ("variable", "size", 10, 10),
        ("function", "behind", 11, 14),
    ]


SPECIALIZED = """\
template <> inline void put<char>(char c) { write(c); }
template <> int Shop::count<Item>(int most) { return most; }
template <> const std::string& store::Shop::name<Item>() const { return names; }
template <> Item* make<Item>() { return 0; }
"""


def test_a_template_function_for_one_type_is_a_definition_of_that_name() -> None:
    chunks = extract("cpp", "a.cc", SPECIALIZED.encode()).chunks
    assert [
        (c.kind, c.name, c.start_line, c.facts["return_types"], c.facts.get("params", [])) for c in chunks
    ] == [
        ("function", "put", 1, ["void"], ["c"]),
        ("method", "Shop.count", 2, ["int"], ["most"]),
        ("method", "Shop.name", 3, ["const std::string&"], []),
        ("function", "make", 4, ["Item*"], []),
    ]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_type_that_a_variable_is_declared_with_is_no_part_of_the_variable(language: str) -> None:
    source = "struct limits { int most; } small = { 8 };\nenum color { RED } *first;"

    assert {(chunk.kind, chunk.name) for chunk in definitions_of(language, source)} == {
        ("variable", "small"),
        ("struct", "limits"),
        ("variable", "first"),
        ("enum", "color"),
    }


def test_a_type_of_a_variable_inside_of_a_value_is_part_of_that_value() -> None:
    source = "auto sum = [](int a) {\n  struct pair { int one; } both;\n  return a;\n};"

    assert [chunk.name for chunk in definitions_of("cpp", source)] == ["sum", "sum.pair"]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_type_that_is_defined_with_a_tag_has_both_names(language: str) -> None:
    source = """\
typedef struct tag { struct inner { int b; } a; } name_t;
typedef struct same { int a; } same;
typedef enum kind { ONE } kind_t, *kind_p;
typedef union { int a; } plain;
typedef union both { int a; } both_t;
typedef struct elsewhere other;
"""
    assert [(chunk.kind, chunk.name) for chunk in definitions_of(language, source)] == [
        ("struct", "name_t, tag"),
        ("struct", "name_t.inner"),
        ("struct", "same"),
        ("enum", "kind_t, kind"),
        ("struct", "plain"),
        ("struct", "both_t, both"),
        ("type", "other"),
    ]


def test_a_conversion_operator_is_named_by_the_type_that_it_makes() -> None:
    source = """\
class A {
    operator bool() const { return true; }
    explicit operator int *() const noexcept;
    operator std::pair<int, int>() &&;
    operator std::function<void()>() const { return {}; }
    template <class T> operator T() const;
    void operator()(int x) const;
    A &operator=(const A &);
};
B::operator double(void) const volatile { return 1; }
shop::B<T>::operator T() { return t; }
"""
    assert [chunk.name for chunk in definitions_of("cpp", source)] == [
        "A",
        "A.operator bool",
        "A.operator int *",
        "A.operator std::pair<int,int>",
        "A.operator std::function<void()>",
        "A.operator T",
        "A.operator()",
        "A.operator=",
        "B.operator double",
        "B.operator T",
    ]


def test_a_class_that_is_defined_outside_of_what_it_belongs_to_is_found_with_that_name() -> None:
    source = """\
class Shop::Till : public Base { void open() {} };
template <> struct std::hash<Shop> { size_t operator()(const Shop &shop) const; };
struct a::b::Deep { int one() { return 1; } };
Shop::operator bool() const { return true; }
typedef const Shop &shop_ref;
typedef void *(*allocator)(void *state);
"""
    assert [(chunk.kind, chunk.name) for chunk in definitions_of("cpp", source)] == [
        ("class", "Shop.Till"),
        ("method", "Shop.Till.open"),
        ("struct", "std.hash"),
        ("method", "std.hash.operator()"),
        ("struct", "b.Deep"),
        ("method", "b.Deep.one"),
        ("method", "Shop.operator bool"),
        ("type", "shop_ref"),
        ("type", "allocator"),
    ]
