"""Conditionals of the C preprocessor: those that cut statements in two cost no definition."""

from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.languages.rules.conditionals import hidden_branches
from holdfast.search.model import Chunk

CHAIN = "    if (a)\n        f();\n#ifdef X\n    else if (b)\n        g();\n#endif\n    else\n        h();\n"
OPENED = "#ifdef X\n    if (f(a)) {\n#else\n    if (g(a)) {\n#endif\n        h();\n    }\n"
EXPRESSION = "    f(a,\n#if X > 1\n      1\n#elif X\n      2\n#else\n      3\n#endif\n    );\n"
INSIDE = "#ifdef Y\n    if (a)\n#ifdef X\n        f(a) {\n#endif\n    }\n#else\n    g();\n#endif\n"


def hide(source: str) -> str:
    """The source without what is hidden of it."""
    raw = source.encode()
    for start, end in reversed(hidden_branches(raw)):
        raw = raw[:start] + raw[end:]
    return " ".join(raw.decode().split())


def definitions(language: str, source: str) -> dict[str, Chunk]:
    chunks = extract(language, "a.c", source.encode()).chunks
    return {found.name: found for found in chunks if found.mode == "code" and found.kind != "module"}


@each_row(
    ("language", "body", "calls"),
    [
        (language, body, calls)
        for language in ("c", "cpp")
        for body, calls in ((CHAIN, ["f", "g", "h"]), (OPENED, ["f", "h"]), (EXPRESSION, ["f"]))
    ],
)
def test_a_statement_that_is_cut_in_two_costs_no_definition(language: str, body: str, calls: list[str]) -> None:
    found = definitions(
        language, f"int cut(int a)\n{{\n{body}    return 0;\n}}\n\nint after(int a) {{ return a; }}\n"
    )

    assert list(found) == ["cut", "after"]
    assert (found["cut"].start_line, found["cut"].end_line) == (1, 4 + body.count("\n"))
    assert found["cut"].facts["calls"] == calls
    assert "X" not in found["cut"].facts["uses"]


@each_row(
    ("source", "left"),
    [
        ("#ifdef X\nint a;\n#else\nint b;\n#endif\n", "#ifdef X int a; #else int b; #endif"),
        ("#ifdef X\n#include <a.h>\n#endif\n", "#ifdef X #include <a.h> #endif"),
        ("#ifdef X\nf(\"(\", '{'); // [\n#endif\n", "#ifdef X f(\"(\", '{'); // [ #endif"),
        (OPENED, "if (f(a)) { h(); }"),
        (INSIDE, "#ifdef Y if (a) f(a) { } #else g(); #endif"),
        ("#if 0\n if (\n#else\n if (a\n#endif\n) f();\n", "if (a ) f();"),
        ("#ifdef X\n if (\n", "#ifdef X if ("),
        ("#endif\n#else\n)", "#endif #else )"),
    ],
)
def test_what_is_whole_stays_and_of_the_rest_one_branch(source: str, left: str) -> None:
    assert hide(source) == left


def test_conditionals_of_any_depth_are_gone_through_in_time() -> None:
    assert hidden_branches(b"#if 1\n" * 50_000 + b"{\n" + b"#endif\n" * 50_000)


@each_row("language", ["c", "cpp"])
def test_a_macro_in_front_of_a_statement_defines_no_function_called_if(language: str) -> None:
    body = "    BEGIN_THREADS\n    a = g(a);\n    END_THREADS\n    if (a) {\n        h(a);\n    }\n"
    found = definitions(language, f"int f(int a) {{\n{body}    return a;\n}}\n")

    assert not [name for name in found if name.endswith("if")]
    assert {"g", "h"} <= set(found["f"].facts["calls"])


def test_a_statement_is_put_together_in_a_file_that_is_broken_somewhere_else_too() -> None:
    found = definitions("c", f"int x = = 1;\nint cut(int a)\n{{\n{OPENED}}}\n\nint after(int a) {{ return a; }}\n")

    assert {"cut", "after"} <= set(found)
