"""Extraction under hostile input: random bytes, cut files, deep nesting, giant lines; and what always holds."""

import gc
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ToolError
from holdfast.search import extract as package
from holdfast.search.extract import grammar
from holdfast.search.extract.code import extract
from holdfast.search.languages import LANGUAGES, available, fields_of
from holdfast.search.model import COUNTS, FACTS, FLAGS, Extraction

PYTHON = Path(package.__file__).with_name("facts.py").read_bytes()
GO = b"""package a

import "fmt"

// Shop sells things here.
type Shop struct{ name string }

const (
	One = iota
	Two
)

func (s *Shop) Sell(n int) error {
	if n > 1 { fmt.Println("x", n) }
	return nil
}
"""
SAMPLES = {"python": PYTHON, "go": GO}

# Those of which more than the definitions is known; the others have a test of their own.
WHOLE = sorted(language for language in LANGUAGES if "calls" in fields_of(language))


def check(source: bytes, found: Extraction) -> None:
    """What holds for every file."""
    covered: set[int] = set()
    for chunk in found.chunks:
        assert 0 <= chunk.start < chunk.end <= len(source)
        assert chunk.start_line == source.count(b"\n", 0, chunk.start) + 1
        assert chunk.end_line == source.count(b"\n", 0, chunk.end - 1) + 1
        assert set(chunk.facts) <= set(FACTS)
        assert set(chunk.counts) <= set(COUNTS)
        assert chunk.flags <= set(FLAGS)
        assert all(len(values) <= 400 and len(set(values)) == len(values) for values in chunk.facts.values())
        assert all(0 < len(value) <= 200 for values in chunk.facts.values() for value in values)
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    assert found.chunks == sorted(found.chunks, key=lambda chunk: (chunk.start, -chunk.end))
    lines = source.split(b"\n")
    assert [number for number, line in enumerate(lines, 1) if line.strip() and number not in covered] == []


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_every_line_that_is_not_blank_is_inside_of_a_chunk(language: str) -> None:
    check(SAMPLES[language], extract(language, "a", SAMPLES[language]))


@pytest.mark.parametrize("language", WHOLE)
@settings(max_examples=60, deadline=None)
@given(source=st.binary(max_size=400))
def test_random_bytes_give_chunks_and_no_errors(language: str, source: bytes) -> None:
    check(source, extract(language, "a", source))


@pytest.mark.parametrize("language", sorted(SAMPLES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_that_is_cut_anywhere_still_gives_all_its_lines(language: str, data: st.DataObject) -> None:
    sample = SAMPLES[language][:6_000]
    start = data.draw(st.integers(0, len(sample)))
    source = sample[start : data.draw(st.integers(start, len(sample)))]

    check(source, extract(language, "a", source))


@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(st.sampled_from([*PYTHON[:4_000].split(b"\n"), b"class A:", b"def f(", b"'''", b"# a b"])))
def test_shuffled_lines_give_all_their_lines(pieces: list[bytes]) -> None:
    source = b"\r\n".join(pieces)

    check(source, extract("python", "a.py", source))


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_line_ends_of_another_system_change_no_name_and_no_line(language: str) -> None:
    plain = extract(language, "a", SAMPLES[language])
    other = SAMPLES[language].replace(b"\n", b"\r\n")
    found = extract(language, "a", other)

    check(other, found)
    assert [(c.kind, c.name, c.start_line, c.end_line, c.facts, c.doc) for c in found.chunks] == [
        (c.kind, c.name, c.start_line, c.end_line, c.facts, c.doc) for c in plain.chunks
    ]


def test_a_byte_order_mark_changes_nothing() -> None:
    found = extract("python", "a.py", b"\xef\xbb\xbfdef f(): pass\n")

    assert [(chunk.kind, chunk.name) for chunk in found.chunks if chunk.kind == "function"] == [("function", "f")]


@pytest.mark.parametrize("source", [b"", b"\n\n", b"\xef\xbb\xbf", b" \t\r\n"])
def test_an_empty_file_has_no_definitions(source: bytes) -> None:
    assert [chunk for chunk in extract("python", "a.py", source).chunks if chunk.kind != "module"] == []


def test_definitions_around_broken_syntax_are_found() -> None:
    source = b"def before(): return 1\n\ndef broken(:\n    x = = 2\n\nclass After:\n    def method(self): pass\n"
    found = extract("python", "a.py", source)

    names = {chunk.name for chunk in found.chunks}
    assert {"before", "After", "After.method"} <= names
    assert found.remarks
    assert found.remarks[0].endswith(("syntax error", "syntax errors"))


def test_go_definitions_around_broken_syntax_are_found() -> None:
    source = b"package a\nfunc before() {}\nfunc broken( {\n\tx := := 1\n}\nfunc after() int { return 1 }\n"
    found = extract("go", "a.go", source)

    assert {"before", "after"} <= {chunk.name for chunk in found.chunks}


def test_a_bracket_that_is_never_closed_hides_nothing_behind_it() -> None:
    source = b"x = [1,\n\ndef f(a):\n    return g(a, {\n\nclass After:\n    y = 1\n    def method(self): pass\n"
    found = extract("python", "a.py", source)

    check(source, found)
    after = next(chunk for chunk in found.chunks if chunk.name == "After")
    assert source[after.start : after.end].startswith(b"class After:")
    assert after.facts["inferred_types"] == ["y: int"]
    assert {"f", "After.method"} <= {chunk.name for chunk in found.chunks}


@pytest.mark.parametrize(
    "source",
    [
        b"x = " + b"(" * 10_000 + b"1" + b")" * 10_000,
        b"x = " + b"f(" * 10_000 + b"1" + b")" * 10_000,
        b"x = a" + b".b()" * 10_000,
        b"".join(b" " * depth + b"if x:\n" for depth in range(1_500)),
        b"".join(b" " * depth + b"def f():\n" for depth in range(1_000)),
        b"x = '" + b"a" * 1_000_000 + b"'\n",
        b"a" * 1_000_000,
        b"\0" * 50_000 + b"\ndef f(): pass\n",
        b" = ".join([b"x"] * 5_000),
        b"def f(" + b", ".join(b"a%d=1" % number for number in range(5_000)) + b"): pass\n",
        b"[" * 5_000,
    ],
    ids=[
        "parentheses",
        "calls",
        "chain",
        "blocks",
        "functions",
        "string",
        "name",
        "nul",
        "equals",
        "params",
        "open",
    ],
)
def test_monstrous_input_costs_little_time(source: bytes) -> None:
    began = time.process_time()
    found = extract("python", "a.py", source)

    assert time.process_time() - began < 4
    check(source, found)


LONG = {
    "javascript": [
        b"const x = {" + b"".join(b"k%d: (a) => a + 1,\n" % number for number in range(20_000)) + b"};\n",
    ],
    "python": [b"".join(b"CONST_%d = 1\n" % number for number in range(25_000)), b"def f():\n " * 3_000],
}


@pytest.mark.parametrize(
    ("language", "index"), [(language, index) for language in LONG for index in range(len(LONG[language]))]
)
def test_a_long_file_costs_time_by_its_length_alone(language: str, index: int) -> None:
    began = time.process_time()
    extract(language, "a", LONG[language][index])

    assert time.process_time() - began < 3


def test_matches_and_captures_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = extract("python", "a.py", PYTHON)
    monkeypatch.setattr(grammar, "LONG_FILE", 0)

    assert extract("python", "a.py", PYTHON) == captured


@pytest.mark.parametrize("language", WHOLE)
def test_noise_costs_little_time(language: str) -> None:
    signs = b"(){}[]<>\"'`#/*\\\n\t =:;,.@$a1"
    extract(language, "a", b"x")
    for seed in (5, 6):
        source = bytes(random.Random(seed).choices(signs, k=20_000))
        began = time.process_time()
        check(source, extract(language, "a", source))
        assert time.process_time() - began < 1


def test_extraction_leaves_the_garbage_collector_as_it_was() -> None:
    extract("python", "a.py", b"x = 1")
    assert gc.isenabled()


def test_a_file_of_many_lines_takes_a_few_seconds() -> None:
    source = b"def f(a, b=1):\n    if a:\n        return g(a) + b\n\n\n" * 5_000
    began = time.process_time()
    found = extract("python", "a.py", source)

    assert time.process_time() - began < 8
    assert len(found.chunks) == 5_000


def test_module_code_is_cut_into_windows() -> None:
    source = b"".join(b"call(%d)\n" % number + (b"\n" if number % 10 == 9 else b"") for number in range(500))
    chunks = extract("python", "a.py", source).chunks

    assert all(chunk.end_line - chunk.start_line < 120 for chunk in chunks)
    assert 4 < len(chunks) < 10
    assert all(source[chunk.end : chunk.end + 2] in (b"\n\n", b"\n") for chunk in chunks)


def test_definitions_nested_without_end_are_cut_off_at_a_depth() -> None:
    source = b"".join(b" " * depth + b"def f%d():\n" % depth for depth in range(100)) + b" " * 100 + b"pass\n"
    functions = [chunk for chunk in extract("python", "a.py", source).chunks if chunk.kind == "function"]

    assert 10 < len(functions) < 50
    assert functions[1].name == "f0.f1"


def test_facts_are_bounded() -> None:
    source = b"def f():\n" + b"".join(b"    call_%d(x_%d)\n" % (number, number) for number in range(3_000))
    found = next(chunk for chunk in extract("python", "a.py", source).chunks if chunk.name == "f")

    assert len(found.facts["calls"]) == 400
    assert len(found.facts["reads"]) == 400
    assert len(found.call_sites) == 2_000


@pytest.mark.parametrize(
    "comment", [b"# noqa: E501 too long\n", b"# ------\n", b"# single\n", b"# type: ignore[x]\n"]
)
def test_comments_that_say_nothing_are_no_prose(comment: bytes) -> None:
    chunks = extract("python", "a.py", comment + b"call()\n").chunks

    assert [chunk.mode for chunk in chunks] == ["code"]


def test_a_language_without_a_grammar_is_refused_with_a_remedy() -> None:
    assert available("klingon") is None
    assert fields_of("klingon") == frozenset()
    with pytest.raises(ToolError, match="klingon"):
        extract("klingon", "a.k", b"Qapla'")


def test_asking_for_fields_loads_no_grammar() -> None:
    code = (
        "import sys; from holdfast.search.languages import LANGUAGES, fields_of; "
        "assert all(fields_of(name) for name in LANGUAGES); "
        "assert not [name for name in sys.modules if name.startswith('tree_sitter')]"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_fields_are_those_that_the_model_knows() -> None:
    others = {"signature", "visibility", "doc"}
    for language in LANGUAGES:
        assert fields_of(language) <= set(FACTS) | set(COUNTS) | set(FLAGS) | others
