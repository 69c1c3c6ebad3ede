"""Text without a grammar: named by its keys and sections, whole to the last line, and never slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row
from tests.unit.search.work import grows_evenly

from holdfast.search.decode import MAX_CHUNK_BYTES
from holdfast.search.model import Chunk
from holdfast.search.windows import extract_windows

FORMATS = ["json", "yaml", "toml", "ini", "xml", "sql", "dockerfile", "makefile", "css", "html", "unknown"]


def blocks(language: str, text: str) -> list[Chunk]:
    found = extract_windows(language, "dir/some.file", text.encode()).chunks
    return [chunk for chunk in found if chunk.kind == "block"]


def names(language: str, text: str) -> list[str]:
    return [chunk.name for chunk in blocks(language, text)]


def comments(language: str, text: str) -> list[tuple[str, str | None]]:
    found = extract_windows(language, "dir/some.file", text.encode()).chunks
    return [(chunk.name, chunk.text) for chunk in found if chunk.mode == "extracted-prose"]


def test_sections_of_toml_are_blocks_with_the_comment_above_them() -> None:
    text = "# file\n[project]\nname = 'x'\n\n# style\n[tool.ruff]\nline-length = 115\n[[package]]\nname = 'y'\n"

    found = blocks("toml", text)

    assert [(chunk.name, chunk.start_line, chunk.end_line) for chunk in found] == [
        ("project", 1, 3),
        ("tool.ruff", 5, 7),
        ("package", 8, 9),
    ]
    assert text.encode()[found[1].start : found[1].end] == b"# style\n[tool.ruff]\nline-length = 115"
    assert found[1].signature == "[tool.ruff]"


def test_short_entries_of_one_name_share_a_window() -> None:
    lock = "".join(f"[[package]]\nname = 'p{number}'\nversion = '1'\n\n" for number in range(12))

    found = blocks("toml", lock)

    assert [chunk.name for chunk in found] == ["package", "package"]
    assert (found[0].start_line, found[0].end_line) == (1, 23)


def test_small_keys_of_json_share_a_block_and_large_ones_have_their_own() -> None:
    scripts = ",\n".join(f'    "s{number}": "run"' for number in range(12))

    text = '{\n  "name": "x",\n  "version": "1",\n  "scripts": {\n' + scripts + '\n  },\n  "license": "MIT"\n}\n'

    assert names("json", text) == ["name, version", "scripts", "license"]
    assert blocks("json", text)[0].start_line == 1


def test_a_long_key_is_parted_into_the_keys_inside_of_it() -> None:
    service = "".join(f"    option{number}: {number}\n" for number in range(40))

    text = f"version: 3\nservices:\n  web:\n{service}  worker:\n{service}"

    assert names("yaml", text) == ["version", "services.web", "services.worker"]


def test_tasks_of_a_list_are_named_by_their_name() -> None:
    step = "".join(f"  option{number}: x\n" for number in range(10))

    assert names("yaml", f"- name: Install it\n{step}- name: 'Start it'\n{step}") == ["Install it", "Start it"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ini", "[mypy]\nstrict = true\n[mypy-tests.*]\nx = 1\n", ["mypy", "mypy-tests.*"]),
        ("makefile", "CC := gcc\n.PHONY: all\nall: a b\n\tcc\n\n%.o: %.c\n\t$(CC)\n", ["some.file", "all", "%.o"]),
        ("dockerfile", "FROM python:3.11 AS build\nRUN x\nFROM scratch\nCOPY a b\n", ["build", "scratch"]),
        (
            "sql",
            "CREATE TABLE IF NOT EXISTS users (\n id int,\n name text\n);\ncreate unique index i on users(id);\n",
            ["users", "i"],
        ),
        ("css", ".a,\n.b > c {\n  x: y\n}\n@media print {\n  a { b: c }\n}\n", [".a, .b > c, @media print"]),
        ("html", "<html><title>Shop</title>\n<body>\n<h1>Buy things</h1>\n<p>x\n", ["Shop", "Buy things"]),
        ("hcl", 'resource "aws_s3_bucket" "logs" {\n}\nvariable "region" {}\n', ["aws_s3_bucket.logs", "region"]),
        ("perl", "use strict;\nsub first {\n}\nsub second {\n}\n", ["some.file", "first", "second"]),
    ],
)
def test_each_format_is_named_by_what_it_is_made_of(language: str, text: str, expected: list[str]) -> None:
    assert names(language, text) == expected


def test_elements_are_told_apart_by_their_attribute() -> None:
    bean = "".join(f"    <property>{number}</property>\n" for number in range(35))

    inner = f'  <bean id="users">\n{bean}  </bean>\n  <bean id="jobs">\n{bean}  </bean>\n'

    text = f'<?xml version="1.0"?>\n<beans>\n{inner}</beans>\n'

    assert names("xml", text) == ["some.file", "beans.bean users", "beans.bean jobs"]


def test_comments_are_prose_under_the_name_of_what_they_belong_to() -> None:
    assert comments("toml", "#! shebang line\n[a]\n# why it\n#   is so\nx = 1 # not\n#----\n") == [
        ("a", "why it\nis so")
    ]
    assert comments("sql", "/* all\n * users */\nCREATE TABLE t (\n-- the key\nid int);\n") == [
        ("some.file", "all\nusers"),
        ("t", "the key"),
    ]
    assert comments("xml", "<a>\n<!-- two words -->\n</a>") == [("a", "two words")]
    assert comments("json", '{"a": "// no comment"}') == []


def test_a_long_text_without_structure_is_cut_at_blank_lines() -> None:
    text = "".join(f"value {line}\n" if line % 25 else "\n" for line in range(1, 201))

    found = blocks("unknown", text)

    assert [(chunk.start_line, chunk.end_line) for chunk in found] == [(1, 49), (51, 99), (101, 149), (151, 199)]
    assert {chunk.name for chunk in found} == {"some.file"}


@each_row("language", FORMATS)
@each_row("piece", ["é", "a b, ", "日本語", '{"a":1},', "/*", "\t", "[", "<a "])
def test_a_giant_line_becomes_pieces_of_bounded_size_without_a_gap(language: str, piece: str) -> None:
    data = (piece * (100_000 // len(piece.encode()))).encode()

    found = [chunk for chunk in extract_windows(language, "x", data).chunks if chunk.kind == "block"]

    assert all(chunk.end - chunk.start <= MAX_CHUNK_BYTES for chunk in found)
    assert b"".join(data[chunk.start : chunk.end] for chunk in found).strip() == data.strip()
    for chunk in found:
        data[chunk.start : chunk.end].decode()


@each_row("language", FORMATS)
@each_row(
    "line", ["/*\n", "<!--\n", "# x\n", "{\n", " " * 500 + "\n", "a: {\n", '"a":\n', "[a" + " " * 300 + "\n"]
)
def test_the_work_on_hostile_lines_grows_with_their_number(language: str, line: str) -> None:
    assert grows_evenly(lambda count: extract_windows(language, "x", line.encode() * count), 150)


@each_row("language", FORMATS)
@each_row("text", ["", "\n\n", "\ufeff", "\r\r", "x", "\ufeff[a]\n"])
def test_next_to_nothing_is_no_problem(language: str, text: str) -> None:
    found = blocks(language, text)

    assert len(found) == bool(text.strip())


LINES = st.lists(
    st.sampled_from(
        [
            "",
            "  ",
            "a: 1",
            "[s]",
            "  b: 2",
            "# c d",
            '"k": {',
            "}",
            "x" * 9000,
            "y" * 20_000,
            "<a>",
            "/* y z",
            "*/",
        ]
    )
)


@given(st.sampled_from(FORMATS), LINES | st.lists(st.text(), max_size=4), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_line_with_something_in_it_is_in_exactly_one_block(
    language: str, lines: list[str], end: str
) -> None:
    data = end.join(lines).encode("utf-8", "replace")

    found = extract_windows(language, "x", data).chunks

    covered = bytearray(len(data))
    for chunk in found:
        assert data[: chunk.start].count(b"\n") + 1 == chunk.start_line or b"\r" in data
        if chunk.kind == "block":
            assert not any(covered[chunk.start : chunk.end])
            covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    left = bytes(byte for byte, seen in zip(data, covered, strict=True) if not seen)
    assert not left.strip()
    assert [chunk.start for chunk in found] == sorted(chunk.start for chunk in found)
