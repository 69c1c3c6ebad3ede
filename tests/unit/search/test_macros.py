"""Macros around the heads of C and C++ functions: what is left out of them, and what is not."""

import pytest
from tests.unit.search.extracted import definitions_of

from holdfast.search.languages.rules.macros import macros_of_heads


@pytest.mark.parametrize(
    ("source", "left_out"),
    [
        ("LIB_API item_t *find(int key);", ["LIB_API"]),
        ("JNIEXPORT jint JNICALL Java_a_b(JNIEnv *env) {", ["JNIEXPORT", "JNICALL"]),
        ("static int f(int a) LIB_PURE LIB_CHECKED(1, 2);", ["LIB_PURE", "LIB_CHECKED(1, 2)"]),
        ("BOOL WINAPI open(int a) {", ["WINAPI"]),
        ("LIB_API FILE *open(int a) {", ["LIB_API"]),
        ("static __always_inline __u32 swap(__u32 a) {", ["__always_inline"]),
        ("LIB_INLINE shop::~shop() {", ["LIB_INLINE"]),
        ("LIB_INLINE shop<T>::shop(int a) : a_(a) {", ["LIB_INLINE"]),
        ("friend LIB_CONST style operator|(style a, style b) {", ["LIB_CONST"]),
        ("LIB_BEGIN\nclass Shop {", ["LIB_BEGIN"]),
        ("int a;\nLIB_BEGIN\nLIB_CALLED(1)\nint b;", ["LIB_BEGIN\nLIB_CALLED(1)"]),
        ("static FILE *open(int a) {", []),
        ("void f(void) {\n  if (a) ABORT();\n  else if (b) ABORT;\n  return call(a) BOTH;\n}", []),
        ("enum kind { A,\n  LIB_ONE,\n  LIB_TWO\n};", []),
        ("#define EACH(a) \\\n  LIB_EACH(a)\nint b;", []),
        ("int mask = A_BIT |\n  B_BIT\n  | C_BIT;", []),
    ],
)
def test_of_the_words_of_a_head_macros_are_left_out_and_its_type_stays(source: str, left_out: list[str]) -> None:
    text = source.encode()
    assert [text[start:end].decode() for start, end in macros_of_heads(text)] == left_out


WRAPPED = """\
LIB_BEGIN_DECLS

LIB_API item_t find(int key) LIB_PURE
{
    return items[key];
}

LIB_API count_t count(void);
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_function_between_macros_is_found_by_its_name_and_its_type(language: str) -> None:
    found = definitions_of(language, WRAPPED)

    assert [(chunk.kind, chunk.name, chunk.start_line, chunk.end_line) for chunk in found] == [
        ("function", "find", 3, 6),
        ("function", "count", 8, 8),
    ]
    assert [chunk.facts["return_types"] for chunk in found] == [["item_t"], ["count_t"]]
    assert "LIB_PURE" not in found[0].facts.get("uses", [])


def test_a_long_directive_is_read_in_time_that_grows_with_it_alone() -> None:
    source = b'#define DATA "' + b"x" * 500_000 + b'"\nLIB_BEGIN\nint b;'

    assert [source[start:end] for start, end in macros_of_heads(source)] == [b"LIB_BEGIN"]
    assert macros_of_heads(b"#" + b" " * 500_000) == []


@pytest.mark.parametrize(
    "line", [b"a ", b"a b(\n", b"A b(c, \n", b";\nAAA\n", b"; \n\n", b"a::", b"a<", b"A f(x) AAA(b) ", b"AAA("]
)
def test_macros_are_looked_for_in_time_that_grows_with_the_file_alone(line: bytes) -> None:
    assert macros_of_heads(b"A f(x) " + line * 50_000 + b"+") is not None
