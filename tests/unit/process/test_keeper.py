"""The keeper's own parts, in this process: the request it reads and the process table it judges by."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from holdfast.process import keeper


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_request_is_read_whole_however_it_arrives(pair: tuple[socket.socket, socket.socket]) -> None:
    body = b"\0".join([b"12", b"2.5", b"/tmp", b"2", b"printf", b"a\nb", b"A=1=2", b"B="])
    pair[0].sendall(b"%d\n%b" % (len(body), body))
    request = keeper.Request.read(pair[1].fileno())
    assert request is not None
    assert (request.parent, request.grace, request.cwd) == (12, 2.5, b"/tmp")
    assert request.argv == [b"printf", b"a\nb"]
    assert request.env == {b"A": b"1=2", b"B": b""}


@pytest.mark.parametrize("part", [b"", b"2", b"20\n", b"20\nhalf"])
def test_half_a_request_is_none(pair: tuple[socket.socket, socket.socket], part: bytes) -> None:
    pair[0].sendall(part)
    pair[0].close()
    assert keeper.Request.read(pair[1].fileno()) is None


def test_a_server_that_died_with_unread_records_is_an_end_of_file(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    pair[1].sendall(b"unread")
    pair[0].close()
    assert keeper.Request.read(pair[1].fileno()) is None


@pytest.mark.parametrize("source", [keeper._table_of_proc, keeper._table_of_ps])
def test_a_process_with_a_misleading_name_is_read_right(source: object, tmp_path: object) -> None:
    script = "import os, sys; open('/proc/self/comm', 'w').write(') Z 1 1 ('); print(); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    row = source()[child.pid]  # type: ignore[operator]
    child.communicate()
    assert (row.parent, row.group, row.zombie) == (os.getpid(), os.getpgid(0), False)


def test_a_process_that_was_not_collected_is_a_zombie_in_both_tables() -> None:
    child = subprocess.Popen(["true"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert keeper._table_of_proc()[child.pid].zombie
    assert keeper._table_of_ps()[child.pid].zombie
    child.communicate()
    assert child.pid not in keeper.process_table()


def test_the_keeper_needs_nothing_but_the_bare_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(keeper.__file__), "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"typing", "enum", "re", "json", "subprocess", "signal", "contextlib", "asyncio"}
    assert heavy & {line.split("|")[-1].strip() for line in done.stderr.splitlines()} == set()
