"""C and C++: every definition of a small file, with what is known of it."""

from functools import cache

import pytest

from holdfast.search.extract.code import extract
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
        ("struct", "Item", "public", 9, 11),
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
        ("variable", "x", "", 3, 3),
        ("class", "Shop", "", 6, 20),
        ("method", "Shop.Shop", "", 9, 9),
        ("method", "Shop.size", "", 12, 12),
        ("method", "Shop.operator==", "", 13, 13),
        ("method", "Shop.operator", "", 14, 14),
        ("struct", "Shop.Till", "", 16, 16),
        ("enum", "Shop.Kind", "", 17, 17),
        ("struct", "Plain", "", 22, 22),
        ("struct", "Bits", "", 24, 24),
        ("type", "Id", "", 25, 25),
        ("type", "Numbers", "", 26, 26),
        ("method", "Shop.close", "", 28, 29),
        ("method", "Shop.~Shop", "", 31, 31),
        ("function", "max", "", 33, 33),
        ("function", "numbers", "", 34, 34),
        ("variable", "LIMIT", "", 35, 36),
        ("method", "B.deep", "", 38, 38),
        ("function", "operator<", "", 39, 39),
        ("type", "Small", "", 40, 40),
        ("function", "main", "", 42, 45),
        ("function", "from_c", "", 47, 48),
    ],
}


@cache
def definitions(language: str) -> list[Chunk]:
    chunks = extract(language, "shop", SOURCES[language].encode()).chunks
    return [found for found in chunks if found.mode == "code" and found.kind != "module"]


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
        ("c", "Item", "typedef struct item"),
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
