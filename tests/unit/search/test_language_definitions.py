"""What holds for every language of which only the definitions are known: truthful fields, and hostile files."""

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of

# A function before something broken, and one behind it.
BROKEN = {
    "c": "int before(void) { return 1; }\nint broken( { if (x ]\nint after(void) { return 2; }\n",
    "cpp": "int before() { return 1; }\nclass Half { void f( ;\nint after() { return 2; }\n",
    "csharp": "class A { void before() {} }\nclass Half { void f( }\npublic class B { void after() {} }\n",
    "elixir": "defmodule A do\n def before, do: 1\nend\ndefmodule Half do\n ([{\n"
    "defmodule B do\n def after_all(x), do: x\nend\n",
    "kotlin": "fun before() {}\nclass Half { fun ( {\nfun after() {}\n",
    "lua": "function before() end\nfunction half( if\nfunction after() end\n",
    "php": "<?php\nfunction before() {}\nclass Half { function ( }\nfunction after() {}\n",
    "ruby": "def before\nend\nclass Half def ( [\ndef after\nend\n",
    "rust": "fn before() {}\nimpl Half { fn half( { [\nfn after() {}\n",
    "scala": "def before() = 1\nclass Half { def ( {\ndef after() = 2\n",
    "shell": "before() { :; }\nhalf() { if [ ; ( \nafter() { :; }\n",
    "swift": "func before() {}\nclass Half { func ( {\nfunc after() {}\n",
}
LANGUAGES = sorted(BROKEN)


@pytest.mark.parametrize("language", LANGUAGES)
def test_definitions_before_and_behind_broken_syntax_are_found(language: str) -> None:
    names = {found.name.rpartition(".")[2] for found in definitions_of(language, BROKEN[language].encode())}

    assert "before" in names
    assert names & {"after", "after_all"}
    assert extract(language, "a", BROKEN[language].encode()).remarks


@each_row("language", LANGUAGES)
@each_row("line_end", ["\n", "\r\n"])
def test_a_chunk_claims_no_more_than_the_fields_of_its_language(language: str, line_end: str) -> None:
    chunks = extract(language, "a", BROKEN[language].replace("\n", line_end).encode()).chunks

    assert {fact for chunk in chunks for fact in chunk.facts} <= fields_of(language)
    assert {"signature", "doc"} <= fields_of(language)
    inside = {"calls", "reads", "uses", "imports", "exports", "complexity"} & fields_of(language)
    assert not inside or "calls" in inside  # all of it is known, or nothing


@pytest.mark.parametrize("language", LANGUAGES)
def test_line_ends_of_windows_change_no_definition(language: str) -> None:
    source = BROKEN[language].partition("half")[0]
    plain, windows = (definitions_of(language, text.encode()) for text in (source, source.replace("\n", "\r\n")))

    assert [(item.kind, item.name, item.start_line) for item in plain] == [
        (item.kind, item.name, item.start_line) for item in windows
    ]


@each_row("language", LANGUAGES)
@each_row("source", [b"", b"\n\n", b"\xef\xbb\xbf", b"\x00\x00", b"\xff\xfe\xfd"])
def test_files_with_nothing_in_them_have_no_definitions(language: str, source: bytes) -> None:
    assert definitions_of(language, source) == []


@each_row("language", LANGUAGES)
@each_row("sign", [b"(", b"{", b"[", b"begin "])
def test_deep_nesting_loses_no_line(language: str, sign: bytes) -> None:
    source = BROKEN[language].encode() + sign * 3_000 + b"\nlast line\n"
    covered: set[int] = set()
    for chunk in extract(language, "a", source).chunks:
        covered.update(range(chunk.start_line, chunk.end_line + 1))

    assert covered >= {number for number, line in enumerate(source.split(b"\n"), 1) if line.strip()}


@pytest.mark.parametrize(
    ("language", "source", "names"),
    [
        (
            "c",
            'MODULE_LICENSE("GPL")\nint f(void) { return 1; }\nDEFINE(x)\nint g(void) { return 2; }\n',
            {"f", "g"},
        ),
        (
            "c",
            "API int f(void)\n{\n    FOREACH(a, b)\n        use(a);\n}\nint g(void) { return 1; }\n",
            {"f", "g"},
        ),
        (
            "c",
            "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n}\nint g(void) { return 1; }\n",
            {"f", "g"},
        ),
        ("cpp", "class API Shop {\n  int f() { return 1; }\n};\nint g() { return 1; }\n", {"Shop", "g"}),
        ("cpp", "Q_OBJECT\nDECLARE(A, B);\nvoid A::f() { emit g(); }\nvoid h() {}\n", {"A.f", "h"}),
    ],
)
def test_macros_do_not_lose_the_definitions_around_them(language: str, source: str, names: set[str]) -> None:
    assert names <= {found.name for found in definitions_of(language, source.encode())}
