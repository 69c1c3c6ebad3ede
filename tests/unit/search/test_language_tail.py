"""The long tail: languages of the extra `languages`, of which the definitions are known.

Each has a small program in `tests/labelled/tail` with a list of its definitions. What holds for all of them is
tried on these programs, whole and damaged.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import tests.labelled.scoring as scoring
from tests.rows import each_row

from holdfast.search.discover.kinds import kind_of_name
from holdfast.search.extract.code import extract
from holdfast.search.languages import LANGUAGES, available, described, fields_of
from holdfast.search.model import Extraction
from holdfast.search.prepare import FileToPrepare, prepare
from holdfast.search.prepared import PreparedFile

PACK = "tree_sitter_language_pack"
pytest.importorskip(PACK)

PROGRAMS = sorted(path for path in scoring.TAIL.glob("*/*") if path.suffix != ".labels")
TAIL = sorted({path.parent.name for path in PROGRAMS})

Row = tuple[str, str, str]


@cache
def extracted(language: str, source: bytes) -> Extraction:
    return extract(language, "a", source)


def rows(language: str, source: bytes) -> list[Row]:
    return [
        (chunk.kind, chunk.name, f"{chunk.start_line}-{chunk.end_line}")
        for chunk in extracted(language, source).chunks
        if chunk.mode == "code" and chunk.kind != "module"
    ]


def labelled(program: Path) -> Iterator[Row]:
    for kind, name, first, last in scoring.labelled_definitions(program):
        yield kind, name, f"{first}-{last}"


def covered(language: str, source: bytes) -> set[int]:
    return {
        number
        for chunk in extracted(language, source).chunks
        for number in range(chunk.start_line, chunk.end_line + 1)
    }


def lines_with_text(source: bytes) -> set[int]:
    return {number for number, line in enumerate(source.split(b"\n"), 1) if line.strip()}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_definitions_of_a_program_are_found_with_their_names_and_lines(program: Path) -> None:
    language, source = program.parent.name, program.read_bytes()

    assert rows(language, source) == list(labelled(program))
    assert scoring.score_language(language)[1].wrong() == scoring.score_language(language)[1].missing() == []
    assert extracted(language, source).remarks in ([], ["3 syntax errors"])  # a macro of Objective-C
    assert covered(language, source) >= lines_with_text(source)


def test_every_language_of_the_pack_has_a_program_and_a_name_that_leads_to_it() -> None:
    packed = {name for name in LANGUAGES if (rules := described(name)) and rules.grammar.startswith(PACK)}

    assert packed == set(TAIL)
    assert {kind.language for path in PROGRAMS if (kind := kind_of_name(path.name))} == packed
    assert len(LANGUAGES) > 45


@each_row("program", PROGRAMS)
def test_line_ends_of_windows_change_no_definition(program: Path) -> None:
    source = program.read_bytes()

    assert rows(program.parent.name, source.replace(b"\n", b"\r\n")) == rows(program.parent.name, source)


@each_row("program", PROGRAMS)
def test_a_byte_order_mark_changes_no_definition(program: Path) -> None:
    source = program.read_bytes()
    found = rows(program.parent.name, b"\xef\xbb\xbf" + source)

    assert found[1:] == rows(program.parent.name, source)[1:]


# Of a program in which one line is rubbish, so much is still found in the worst case.
@each_row("program", PROGRAMS)
@each_row("rubbish", [b"((( [ {", b'"', b"\x00\x00\x00", b"\xff\xfe\xfd", b"end end } ) ]"])
def test_a_broken_line_costs_little_and_loses_no_line(program: Path, rubbish: bytes) -> None:
    language, lines = program.parent.name, program.read_bytes().split(b"\n")
    middle = len(lines) // 2
    source = b"\n".join([*lines[:middle], rubbish, *lines[middle:]])

    wanted = {name.rpartition(".")[2] for _, name, _ in labelled(program)}
    found = {name.rpartition(".")[2] for _, name, _ in rows(language, source)}
    assert len(wanted & found) >= 0.4 * len(wanted), sorted(wanted - found)
    assert covered(language, source) >= lines_with_text(source)


@each_row("language", TAIL)
def test_random_bytes_are_no_trouble(language: str) -> None:
    chance = random.Random(language)
    for _ in range(6):
        source = chance.randbytes(chance.randrange(200)) + bytes(chance.choices(b"aZ09_ \n\t(){}.:;\"'-", k=200))
        assert covered(language, source) >= lines_with_text(source)


@each_row("language", TAIL)
@each_row("source", [b"", b"\n\n", b"\xef\xbb\xbf", b"\x00\x00", b"\xff\xfe\xfd", b"x", b"x = 1\n"])
def test_files_with_next_to_nothing_in_them_are_no_trouble(language: str, source: bytes) -> None:
    assert len(rows(language, source)) <= 1


@each_row("program", PROGRAMS)
def test_a_chunk_claims_no_more_than_the_fields_of_its_language(program: Path) -> None:
    language = program.parent.name
    chunks = extracted(language, program.read_bytes()).chunks

    assert {fact for chunk in chunks for fact in chunk.facts} <= fields_of(language)
    assert {"signature", "doc"} <= fields_of(language)
    assert ("visibility" in fields_of(language)) == any(chunk.visibility for chunk in chunks)
    assert not {"calls", "reads", "uses", "imports", "complexity"} & fields_of(language)


@pytest.mark.parametrize("language", ["haskell", "dart", "erlang", "cobol", "verilog"])
def test_deep_and_long_files_take_no_time_to_speak_of(language: str) -> None:
    program = next(path for path in PROGRAMS if path.parent.name == language)
    source = (program.read_bytes() + b"\n") * 60 + b"(" * 3_000 + b"\nlast line\n"

    assert len(rows(language, source)) >= 60
    assert covered(language, source) >= lines_with_text(source)


def test_without_the_extra_a_file_is_indexed_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == PACK]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, PACK, None)  # as if it were not installed
    available.cache_clear()
    try:
        (tmp_path / "stock.jl").write_text("function with_tax(price)\n    price * 2\nend\n")
        prepared = prepare(FileToPrepare(str(tmp_path), "stock.jl", "code", "julia"))

        assert not any(available(language) for language in TAIL)
        assert isinstance(prepared, PreparedFile)
        assert [(chunk.kind, chunk.name) for chunk in prepared.chunks] == [("block", "with_tax")]
        assert fields_of("julia") == described_fields("julia")
    finally:
        available.cache_clear()


def test_asking_whether_a_language_is_there_loads_no_parser() -> None:
    code = (
        "import sys; from holdfast.search.languages import LANGUAGES, available; "
        "assert all(available(name) for name in LANGUAGES); "
        "assert not [name for name in sys.modules if name.startswith('tree_sitter')]"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def described_fields(language: str) -> frozenset[str]:
    rules = described(language)
    assert rules is not None
    return rules.fields


@pytest.mark.parametrize(
    ("language", "source", "name", "doc"),
    [
        ("haskell", "-- | Adds one.\nf :: Int -> Int\n{-# INLINE f #-}\nf 0 = 1\nf n = n\n", "f", "Adds one."),
        ("dart", "/// Sells it.\n@override\n@pragma('x')\nint f() {\n  return 1;\n}\n", "f", "Sells it."),
        ("elm", "{-| The sum. -}\nf : Int\nf =\n    1\n", "f", "The sum."),
        ("erlang", "%% Adds one.\n-spec f(x) -> y.\nf(0) -> 1;\nf(N) -> N.\n", "f", "Adds one."),
        ("julia", '"Adds one."\nfunction f(x)\n    x\nend\n', "f", "Adds one."),
        ("clojure", '(defn f\n  "Adds one."\n  [x]\n  x)\n', "f", "Adds one."),
        ("graphql", '"Sold here."\ntype Item { id: ID }\n', "Item", "Sold here."),
        ("powershell", "# Adds one.\nfunction Add-One { 1 }\n", "Add-One", "Adds one."),
    ],
)
def test_what_belongs_to_a_definition_is_one_with_it(language: str, source: str, name: str, doc: str) -> None:
    chunks = [chunk for chunk in extracted(language, source.encode()).chunks if chunk.mode == "code"]

    assert [(chunk.name, chunk.doc) for chunk in chunks] == [(name, doc)]
    assert chunks[0].end_line == source.count("\n")
