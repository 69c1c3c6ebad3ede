"""What a file is: by its name, by its first line, by its first bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.discover import discover, language_ids
from holdfast.search.discover.kinds import (
    BINARY_EXTENSIONS,
    INTERPRETERS,
    LANGUAGES,
    MODES_OF_LANGUAGE,
    kind_of_name,
)
from holdfast.search.discover.sniff import HEAD_BYTES, Look, look_at
from holdfast.search.model import MODES
from holdfast.search.repository import Repository


def look(folder: Path, name: str, content: str | bytes) -> Look:
    data = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(data)
    return look_at(str(folder / name), name, len(data))


def language(folder: Path, name: str, content: str | bytes = "some text\n") -> str:
    seen = look(folder, name, content)
    assert seen.reason == ""
    return seen.kind.language


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.py", "python"), ("a.pyi", "python"), ("A.PY", "python"), ("a.js", "javascript"),
        ("a.mjs", "javascript"), ("a.jsx", "javascript"), ("a.ts", "typescript"),
        ("a.d.ts", "typescript"), ("a.tsx", "tsx"), ("a.go", "go"),
        ("go.mod", "go"), ("A.java", "java"), ("a.rs", "rust"), ("a.c", "c"),
        ("a.cc", "cpp"), ("a.hpp", "cpp"),
        ("a.cs", "csharp"), ("a.rb", "ruby"), ("Gemfile", "ruby"), ("Rakefile", "ruby"), ("a.php", "php"),
        ("a.sh", "shell"), (".bashrc", "shell"), ("a.kt", "kotlin"), ("a.swift", "swift"), ("a.scala", "scala"),
        ("a.lua", "lua"), ("a.exs", "elixir"), ("a.scss", "css"), ("a.html", "html"), ("a.vue", "vue"),
        ("a.svelte", "svelte"), ("package-lock.json", "json"), ("a.yml", "yaml"), ("a.toml", "toml"),
        ("Cargo.lock", "toml"), ("setup.cfg", "ini"), ("a.xml", "xml"), ("README.md", "markdown"),
        ("a.rst", "rst"),
        ("README", "text"), ("LICENSE", "text"), ("README.de", "text"), ("a.sql", "sql"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"), ("api.dockerfile", "dockerfile"), ("Makefile", "makefile"),
        ("rules.mk", "makefile"), ("CMakeLists.txt", "cmake"), ("a.proto", "protobuf"), ("a.graphql", "graphql"),
        ("a.log", "log"), ("a.lcov", "log"), (".gitignore", "ignore"), ("BUILD", "bazel"), ("a.unknown", "text"),
        ("noextension", "text"), ("a.", "text"), (".hidden", "text"), ("...", "text"),
    ],
)  # fmt: skip
def test_a_name_gives_the_language(tmp_path: Path, name: str, expected: str) -> None:
    folder = tmp_path / "f"
    folder.mkdir()

    assert language(folder, name) == expected
    assert language(folder, name, "") == expected


@pytest.mark.parametrize(
    ("first_line", "expected"),
    [
        ("#!/bin/sh", "shell"), ("#! /usr/bin/env  bash", "shell"), ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.11 -E", "python"), ("#!/usr/bin/env -S node --flag", "javascript"),
        ("#!/usr/bin/env -S A=1 ruby", "ruby"), ("#!/opt/perl5/bin/perl", "perl"), ("#!/bin/unknown", "text"),
        ("#!", "text"), ("#!/usr/bin/env", "text"), ("# no interpreter", "text"), ("#!/bin/sh\r", "shell"),
    ],
)  # fmt: skip
def test_a_script_without_extension_is_known_by_its_first_line(
    tmp_path: Path, first_line: str, expected: str
) -> None:
    assert language(tmp_path, "script", f"{first_line}\nbody\n") == expected
    assert language(tmp_path, "install", f"{first_line}\nbody\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(void);\n", "c"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nstruct s { int class_id; };\n', "c"),
        ("// the class of it: a namespace\nint x;\n", "c"),
        ("namespace a {\n}\n", "cpp"),
        ("  class A : public B {\n", "cpp"),
        ("template <typename T>\nT f();\n", "cpp"),
        ("#include <vector>\n", "cpp"),
        ("#include <stdio.h>\n", "c"),
        ("void f(std::string a);\n", "cpp"),
        ("#import <Foundation/Foundation.h>\n@interface A\n", "objc"),
        ("", "c"),
    ],
)
def test_a_header_is_c_unless_it_looks_like_something_else(tmp_path: Path, text: str, expected: str) -> None:
    assert language(tmp_path, "a.h", text) == expected


LOG = "2024-01-02T03:04:05Z INFO started\n" * 20
SYSLOG = "Jan  2 03:04:05 host daemon[1]: hello\n" * 20
ACCESS = '127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 1\n' * 20
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: no\n'
JAVA = 'Exception in thread "main" java.lang.E: x\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n'
GO = "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\n"
NOTES = "Notes of the meeting\n\n2024-01-02 10:00 we met\nWe talked.\nWe ate.\nWe left.\n"


@pytest.mark.parametrize("text", [LOG, SYSLOG, ACCESS, TRACE, JAVA, GO, "a\nb\n" + LOG])
@pytest.mark.parametrize("name", ["a.txt", "a.err", "a.stdout"])
def test_a_text_that_a_program_wrote_is_a_record(tmp_path: Path, text: str, name: str) -> None:
    assert look(tmp_path, name, text).kind.mode == "records"


@pytest.mark.parametrize("text", [NOTES, "", "\n" * 100, "2024-01-02 03:04:05 one line\n", "prose\n" * 50 + TRACE])
def test_a_text_that_a_person_wrote_is_prose(tmp_path: Path, text: str) -> None:
    assert look(tmp_path, "a.txt", text).kind.mode == "prose"


@pytest.mark.parametrize("name", ["a.log", "a.out", "a.trace", "a.tap", "a.gcov", "A.LOG"])
def test_extensions_of_records_decide_alone(tmp_path: Path, name: str) -> None:
    assert look(tmp_path, name, NOTES).kind.mode == "records"
    assert look(tmp_path, "a.py", LOG).kind.mode == "code"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", b"x = 1\n\0"),
        ("a.unknown", b"text\n" * 100 + b"\0"),
        ("a.md", bytes(range(256))),
        ("a", b"\x01\x02\x03\x04\x05\x06"),
        ("a.png", b"text really"),
        ("a.TAR", b""),
    ],
)
def test_binary_files_are_skipped(tmp_path: Path, name: str, content: bytes) -> None:
    assert look(tmp_path, name, content).reason == "binary"


@pytest.mark.parametrize(
    "content",
    [
        "x = 'wide'\n".encode("utf-16"),
        b"\xfe\xff" + "x = 'wide'\n".encode("utf-16-be"),
        "x = 'wide'\n".encode("utf-32"),
        b"\xef\xbb\xbfx = 1\n",
        "x = 'é'\n".encode("latin-1"),
        b"\x1b[31mred\x1b[0m\n",
        b"a" * 9000 + b"\0",  # beyond what is looked at
    ],
)
def test_text_in_any_encoding_is_text(tmp_path: Path, content: bytes) -> None:
    assert language(tmp_path, "a.py", content) == "python"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.min.js", "var a;\n", "minified"),
        ("a.MIN.css", "a{}\n", "minified"),
        ("a.js", "x" * 6000, "minified"),
        ("a.css", ("y" * 1000 + "\n") * 10, "minified"),
        ("a.json", "[" + "1," * 9000 + "1]", "minified"),
        ("a.svg", "<svg>" + "z" * 9000, "minified"),
        ("a.js", "x" * 4000, ""),
        ("a.js", "x = 1;\n" * 4000, ""),
        ("a.js", "x = 1;\r" * 4000, ""),
        ("a.py", "x" * 90_000, ""),
        ("a.md", "x" * 90_000, ""),
    ],
)
def test_minified_files_are_skipped_and_long_lines_elsewhere_are_not(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    assert look(tmp_path, name, content).reason == reason


def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to("a.py")
    os.mkfifo(tmp_path / "pipe.py")

    assert look_at(str(tmp_path / "a.py"), "a.py", 1) == Look(
        reason="unreadable", detail="No such file or directory"
    )
    assert look_at(str(tmp_path / "link.py"), "link.py", 1).reason == "unreadable"
    assert look_at(str(tmp_path / "pipe.py"), "pipe.py", 1).reason == "special"
    assert look_at(str(tmp_path), "folder.py", 1).reason == "special"


@pytest.mark.parametrize(
    "unit", ["\n", " \n", "class a", "#!", "@", "template ", " at ", "a\t", "1", "{", "using\n"]
)
@pytest.mark.parametrize("name", ["a.h", "a.m", "a.txt", "script"])
def test_content_of_one_kind_over_and_over_is_judged(tmp_path: Path, unit: str, name: str) -> None:
    content = unit * (HEAD_BYTES // len(unit))

    assert look(tmp_path, name, content).reason in {"", "binary", "minified"}


@given(content=st.binary(max_size=300), name=st.sampled_from(["a.txt", "a.h", "a.m", "a.js", "a", "a.ts"]))
def test_any_bytes_are_judged(tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str) -> None:
    folder = tmp_path_factory.getbasetemp()

    seen = look(folder, name, content)

    assert seen.reason in {"", "binary", "minified"}
    assert seen.kind.mode in {"code", "prose", "records"}


@each_row(
    ("name", "ids"),
    [
        ("py", {"python"}), ("Python", {"python"}), (" python ", {"python"}), (".py", {"python"}),
        ("js", {"javascript"}), ("ts", {"typescript", "tsx"}), ("typescript", {"typescript", "tsx"}),
        ("tsx", {"tsx"}), ("golang", {"go"}), ("rs", {"rust"}), ("c#", {"csharp"}), ("C++", {"cpp"}), ("c", {"c"}),
        ("bash", {"shell"}), ("zsh", {"shell"}), ("kt", {"kotlin"}), ("md", {"markdown"}), ("yml", {"yaml"}),
        ("jinja2", {"template"}), ("starlark", {"bazel"}), ("objc", {"objc"}), ("befunge", set()), ("", set()),
        ("💥", set()),
    ],
)  # fmt: skip
def test_languages_are_found_by_the_names_that_people_use(name: str, ids: set[str]) -> None:
    assert language_ids(name) == ids


def test_the_tables_fit_together() -> None:
    assert set(MODES_OF_LANGUAGE) == set(LANGUAGES)
    assert set(MODES_OF_LANGUAGE.values()) <= set(MODES)
    assert set(INTERPRETERS.values()) <= LANGUAGES
    assert not [extension for extension in BINARY_EXTENSIONS if kind_of_name(f"x.{extension}")]
    assert all(language_ids(name) for name in LANGUAGES)


def test_the_names_of_languages_are_known_without_loading_the_walk() -> None:
    program = "import sys; from holdfast.search.discover.kinds import language_ids; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "holdfast.search.discover.kinds" in done.stdout.split()
    assert not {"subprocess", "holdfast.search.discover.walk"} & set(done.stdout.split())


def test_discovery_says_what_every_file_is_searched_as(tmp_path: Path) -> None:
    for name, text in {"a.py": "x", "README.md": "x", "b.log": "x", "c.yaml": "x", "d.unknown": "x"}.items():
        (tmp_path / name).write_text(text)

    found = discover(Repository(tmp_path, is_git=False, git_dir=None, repo_id="r"))

    modes = {file.path: file.mode for file in found.files}
    prose = {"README.md": "prose", "d.unknown": "prose"}
    assert modes == {"a.py": "code", "b.log": "records", "c.yaml": "code"} | prose
