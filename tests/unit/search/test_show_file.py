"""Showing a file: what must not be shown is refused, whatever way leads there; no character is cut in two."""

import hashlib
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import ToolError
from holdfast.search.answers.files import ShownFile
from holdfast.search.repository import Repository, find_repository
from holdfast.search.show_file import LARGEST_FILE, MOST_BYTES, show_file


def git(where: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=N", "-c", "user.email=n@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True)


def put(root: Path, name: str, content: str | bytes = "x = 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Repository:
    (tmp_path / "plain").mkdir()
    return find_repository(tmp_path / "plain")


@pytest.fixture
def tracked(tmp_path: Path) -> Repository:
    root = tmp_path / "tracked"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--template=")
    return find_repository(root)


def shown(repository: Repository, path: str, **arguments: Any) -> dict[str, Any]:
    payload = show_file(repository, path=path, **arguments)
    ShownFile.model_validate(payload)
    return payload


def refused(repository: Repository, path: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as refusal:
        show_file(repository, path=path, **arguments)
    assert str(repository.root) not in refusal.value.message
    assert refusal.value.hint or refusal.value.details
    assert len(refusal.value.message) < 500
    return refusal.value.code


# What must not be shown.


@pytest.mark.requirement("OURS-3-show-file")
@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "a/../../secret", "..", "a/../../plain/a.py", "../missing"]
)
def test_what_is_outside_is_forbidden_whether_it_is_there_or_not(plain: Repository, path: str) -> None:
    put(plain.root.parent, "secret")
    put(plain.root, "a.py")

    assert refused(plain, path) == "FORBIDDEN"


@pytest.mark.parametrize("name", ["file", "directory/secret", "chain", "nowhere"])
def test_a_link_does_not_lead_out_of_the_repository(plain: Repository, name: str) -> None:
    put(plain.root.parent, "outside/secret")
    (plain.root / "file").symlink_to("../outside/secret")
    (plain.root / "directory").symlink_to(plain.root.parent / "outside")
    (plain.root / "chain").symlink_to("file")
    (plain.root / "nowhere").symlink_to("../outside/missing")

    assert refused(plain, name) == "FORBIDDEN"


def test_a_link_within_the_repository_shows_what_it_leads_to(plain: Repository) -> None:
    put(plain.root, "lib/real.py", "real\n")
    (plain.root / "link.py").symlink_to("lib/real.py")

    assert (shown(plain, "link.py")["file"], shown(plain, "link.py")["text"]) == ("lib/real.py", "real\n")


def test_a_link_to_an_ignored_file_is_as_forbidden_as_the_file(tracked: Repository) -> None:
    put(tracked.root, ".gitignore", "secret.env\n")
    put(tracked.root, "secret.env", "TOKEN=1\n")
    (tracked.root / "open.txt").symlink_to("secret.env")

    assert refused(tracked, "open.txt") == refused(tracked, "secret.env") == "FORBIDDEN"


@pytest.mark.parametrize("path", [".git/config", ".git", ".GIT/config", "sub/.git", "sub/../.git/HEAD"])
def test_nothing_of_git_itself_is_shown(tracked: Repository, path: str) -> None:
    put(tracked.root, ".GIT/config")
    put(tracked.root, "sub/.git", "gitdir: elsewhere\n")

    assert refused(tracked, path) == "FORBIDDEN"


@pytest.mark.parametrize("repository", ["plain", "tracked"])
@pytest.mark.parametrize("path", ["a.log", "out/deep/b.py", "private/c.py", "deep/d.tmp"])
def test_what_is_ignored_is_forbidden(repository: str, path: str, request: pytest.FixtureRequest) -> None:
    found: Repository = request.getfixturevalue(repository)
    put(found.root, ".gitignore", "*.log\n/out/\n")
    put(found.root, ".holdfastignore", "private\n")
    put(found.root, "deep/.gitignore", "*.tmp\n")
    put(found.root, path)

    assert refused(found, path) == "FORBIDDEN"


def test_without_git_the_same_rules_are_read_from_the_files(
    tracked: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tracked.root, ".gitignore", "*.log\n!kept.log\n")
    put(tracked.root, ".git/info/exclude", "hidden\n")
    for name in ("a.log", "kept.log", "hidden", "open.py"):
        put(tracked.root, name)
    monkeypatch.setenv("PATH", "")

    assert [refused(tracked, name) for name in ("a.log", "hidden")] == ["FORBIDDEN"] * 2
    assert [shown(tracked, name)["totalLines"] for name in ("kept.log", "open.py")] == [1, 1]


# What cannot be shown.


@pytest.mark.parametrize(
    "path", ["missing.py", "a.py/inner", "x" * 300, "x" * 100_000, "a/" * 200_000, "gone", "loop"]
)
def test_what_is_not_there_is_not_found(plain: Repository, path: str) -> None:
    put(plain.root, "a.py")
    (plain.root / "gone").symlink_to("missing.py")
    (plain.root / "loop").symlink_to("loop")

    assert refused(plain, path) == "NOT_FOUND"


@pytest.mark.parametrize("path", ["", "a\0b", "\0", "\ud800.py"])
def test_what_is_no_path_is_refused(plain: Repository, path: str) -> None:
    assert refused(plain, path) == "INVALID_REQUEST"


@pytest.mark.parametrize("path", [".", "lib", "lib/", "./lib/.", "lib/../lib"])
def test_a_directory_is_not_shown(plain: Repository, path: str) -> None:
    put(plain.root, "lib/a.py")

    assert refused(plain, path) == "INVALID_REQUEST"


def test_a_pipe_or_a_socket_is_refused_and_not_waited_for(
    plain: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(plain.root / "pipe")
    monkeypatch.chdir(plain.root)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")

        assert [refused(plain, name) for name in ("pipe", "socket")] == ["INVALID_REQUEST"] * 2


@pytest.mark.parametrize(
    "content", [b"a\0b\n", b"\x89PNG\r\n\x1a\n\0", bytes(range(1, 31)) * 20, b"\0\0\xfe\xff\0"]
)
def test_what_is_not_text_is_refused(plain: Repository, content: bytes) -> None:
    put(plain.root, "data.txt", content)

    assert refused(plain, "data.txt") == "INVALID_REQUEST"


def test_a_huge_file_is_refused_without_being_read(plain: Repository) -> None:
    with (plain.root / "huge.txt").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)

    assert refused(plain, "huge.txt") == "INVALID_REQUEST"


@pytest.mark.parametrize(
    "arguments",
    [
        {"start_line": 0},
        {"end_line": -1},
        {"start_line": 3, "end_line": 2},
        {"start_line": 4},
        {"max_bytes": 0},
        {"max_bytes": MOST_BYTES + 1},
    ],
)
def test_a_range_that_cannot_be_is_refused(plain: Repository, arguments: dict[str, int]) -> None:
    put(plain.root, "a.py", "1\n2\n3\n")

    assert refused(plain, "a.py", **arguments) == "INVALID_REQUEST"


def test_every_mistake_in_the_numbers_is_told_at_once(plain: Repository) -> None:
    with pytest.raises(ToolError) as refusal:
        show_file(plain, path="a.py", start_line=0, end_line=-3, max_bytes=0)

    assert len(refusal.value.details["problems"]) == 4


# What is shown.


def test_a_whole_file_is_shown_with_what_is_known_of_it(tracked: Repository) -> None:
    content = b"def f():\r\n    return 1\r\n"
    put(tracked.root, "src/a.py", content)

    assert shown(tracked, "src/a.py") == {
        "repoPath": str(tracked.root),
        "file": "src/a.py",
        "startLine": 1,
        "endLine": 2,
        "totalLines": 2,
        "text": "def f():\r\n    return 1\r\n",
        "truncated": False,
        "encoding": "utf-8",
        "hash": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }


@pytest.mark.parametrize(
    ("first", "last", "text"), [(2, 3, "2\n3\n"), (3, None, "3\n4"), (4, 9, "4"), (None, 1, "1\n")]
)
def test_lines_are_counted_from_one_and_both_ends_are_shown(
    plain: Repository, first: int | None, last: int | None, text: str
) -> None:
    put(plain.root, "a.py", "1\n2\n3\n4")

    payload = shown(plain, "a.py", start_line=first, end_line=last)
    assert (payload["text"], payload["totalLines"], payload["truncated"]) == (text, 4, False)
    assert (payload["startLine"], payload["endLine"]) == (first or 1, min(last or 4, 4))


def test_an_empty_file_is_shown_as_no_lines(plain: Repository) -> None:
    put(plain.root, "empty.py", "")

    payload = shown(plain, "empty.py", start_line=1)
    assert (payload["text"], payload["totalLines"], payload["startLine"], payload["endLine"]) == ("", 0, 1, 0)


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"\xef\xbb\xbfn\xc3\xa9\n", "utf-8-sig"),
        ("né\n".encode("utf-16"), "utf-16-le"),
        (b"\xfe\xff" + "né\n".encode("utf-16-be"), "utf-16-be"),
        (b"\0\0\xfe\xff" + "né\n".encode("utf-32-be"), "utf-32-be"),
        (b"n\xe9\n", "cp1252"),
    ],
)
def test_other_encodings_are_shown_as_text_without_their_mark(
    plain: Repository, content: bytes, encoding: str
) -> None:
    put(plain.root, "a.txt", content)

    payload = shown(plain, "a.txt")
    assert (payload["text"], payload["encoding"], payload["bytes"]) == ("né\n", encoding, len(content))


def test_what_is_too_much_is_cut_behind_a_line(plain: Repository) -> None:
    put(plain.root, "a.py", "first\nsecond\nthird\n")

    payload = shown(plain, "a.py", max_bytes=15)
    assert (payload["text"], payload["endLine"], payload["truncated"]) == ("first\nsecond\n", 2, True)


@pytest.mark.parametrize(("room", "text"), [(1, "a"), (2, "a"), (3, "aé"), (4, "aé"), (6, "aé"), (7, "aé😀")])
def test_a_line_that_is_too_long_is_cut_between_characters(plain: Repository, room: int, text: str) -> None:
    put(plain.root, "a.py", "aé😀b\n")

    payload = shown(plain, "a.py", max_bytes=room)
    assert (payload["text"], payload["endLine"], payload["truncated"]) == (text, 1, True)


def test_no_line_end_is_cut_in_two(plain: Repository) -> None:
    put(plain.root, "a.py", "abc\r\ndef\r\n")

    assert shown(plain, "a.py", max_bytes=4)["text"] == "abc"


def test_a_file_of_line_ends_alone_is_counted_without_listing_them(plain: Repository) -> None:
    put(plain.root, "a.txt", b"\n" * (8 * 1024 * 1024))

    payload = shown(plain, "a.txt", start_line=8_000_000, end_line=8_000_001)
    assert (payload["text"], payload["totalLines"]) == ("\n\n", 8 * 1024 * 1024)


def test_old_macintosh_lines_are_lines(plain: Repository) -> None:
    put(plain.root, "a.txt", b"one\rtwo\rthree")

    assert shown(plain, "a.txt", start_line=2, end_line=2)["text"] == "two\r"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.sampled_from("aé€😀\n\r\t"), max_size=60),
    first=st.integers(1, 8),
    more=st.integers(0, 8),
    room=st.integers(1, 40),
)
def test_what_is_shown_is_always_the_beginning_of_the_lines(
    plain: Repository, text: str, first: int, more: int, room: int
) -> None:
    put(plain.root, "a.txt", text)
    ends = "\n" if "\n" in text or "\r" not in text else "\r"
    lines = [line + ends for line in text.split(ends)]
    lines[-1] = lines[-1].removesuffix(ends)
    lines = lines if lines[-1] else lines[:-1]
    if first > max(len(lines), 1):
        assert refused(plain, "a.txt", start_line=first) == "INVALID_REQUEST"
        return

    payload = shown(plain, "a.txt", start_line=first, end_line=first + more, max_bytes=room)
    wanted = "".join(lines[first - 1 : first + more])
    assert wanted.startswith(payload["text"])
    assert len(payload["text"].encode()) <= room
    assert payload["truncated"] == (payload["text"] != wanted)
