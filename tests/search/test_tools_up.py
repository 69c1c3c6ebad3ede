"""`holdfast up`, as a person types it: both searches, what to paste, a curl line that works, and Ctrl-C."""

import http.server
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.search.sample import write_sample

from holdfast.cli.up import _get
from holdfast.errors import SessionError
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository
from holdfast.testing import HostUnderTest, marked_processes
from holdfast.testing.marked import MARK

BOUND = 30.0


class Person:
    """Somebody who types `holdfast up` in the directory of a repository, with a home that is empty."""

    def __init__(self, place: Path, *words: str, query: str | None = "retry budget", **environment: str) -> None:
        self.mark = uuid.uuid4().hex
        outer = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST_", "XDG_"))}
        self.surroundings = {**outer, "HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), MARK: self.mark}
        self.surroundings |= environment
        for name in ("home", "tmp"):
            (place / name).mkdir(exist_ok=True)
        command = [sys.executable, "-m", "holdfast", "up", "--http=127.0.0.1:0", *words]
        command += [] if query is None else [f"--query={query}"]
        self.process = subprocess.Popen(
            command,
            cwd=place / "repo",
            env=self.surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = ""

    def reads(self, until: str) -> str:
        """Everything on the screen, when these words have come; or when nothing more can come."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + BOUND
        while until not in self.said and time.monotonic() < deadline:
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    break
                self.said += data.decode()
        assert until in self.said, self.said
        return self.said

    def waits_for(self, condition: Callable[[], bool]) -> None:
        """Wait until something is to be seen of what it does."""
        deadline = time.monotonic() + BOUND
        while not condition():
            assert time.monotonic() < deadline
            select.select([], [], [], 0.01)

    def stops(self) -> float:
        """Press Ctrl-C; seconds until everything has ended."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(BOUND)
        while marked_processes(self.mark) and time.monotonic() - began < BOUND:
            select.select([], [], [], 0.01)
        return time.monotonic() - began

    def goes(self) -> None:
        """Whatever a test has left running."""
        for pid in marked_processes(self.mark):
            os.kill(pid, signal.SIGKILL)


Types = Callable[..., Person]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Types]:
    """Somebody whose repository has an index already, unless the test removes it."""
    build_index(find_repository(write_sample(tmp_path / "repo")), tmp_path / "home" / ".cache" / "holdfast")
    with ExitStack() as stack:

        def types(*words: str, **environment: str) -> Person:
            person = Person(tmp_path, *words, **environment)
            stack.enter_context(person.process)
            stack.callback(person.goes)
            return person

        yield types


class Session(NamedTuple):
    """One session that was looked at from its first line to Ctrl-C: in a repository that nobody had indexed."""

    said: str
    pasted: str
    curled: bytes
    took: float
    left: list[int]
    code: int
    end: str
    temporary: list[Path]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    place = tmp_path_factory.mktemp("up")
    write_sample(place / "repo")
    person = Person(place)
    with person.process:
        try:
            said = person.reads("until Ctrl-C.")
            pasted = answer_of(block_in(said), place)
            line = next(line for line in said.splitlines() if line.startswith("  curl"))
            curled = subprocess.run(shlex.split(line), capture_output=True, check=True, timeout=BOUND).stdout
            took, left = person.stops(), marked_processes(person.mark)
            end, temporary = person.reads("stopped"), list((place / "tmp").iterdir())
        finally:
            person.goes()
    return Session(said, pasted, curled, took, left, person.process.returncode, end, temporary)


def answer_of(block: dict[str, Any], place: Path) -> str:
    """The file that the server to paste finds first."""
    home = {"HOME": str(place / "home")}
    (place / "client").mkdir()
    with HostUnderTest([block["command"], *block["args"]], place / "client", environment=home) as client:
        client.handshake()
        found = client.call("search", {"query": "retry budget"})["result"]["structuredContent"]
        client.assert_nothing_left()
    first: str = found["code"][0]["file"]
    return first


def block_in(said: str) -> dict[str, Any]:
    """The configuration to paste."""
    found = re.search(r"^\{.*?^\}", said, re.MULTILINE | re.DOTALL)
    assert found is not None, said
    block: dict[str, Any] = json.loads(found[0])["mcpServers"]["search"]
    return block


@pytest.mark.xdist_group("tools-up")
def test_it_shows_both_searches_and_ends_within_three_seconds_of_ctrl_c(session: Session) -> None:
    said = session.said

    assert re.search(r"MCP  search 'retry budget' \(\d+ ms\)\n  src/budget\.py:\d+", said), said
    assert re.search(r"HTTP search 'retry budget' \(\d+ ms\)\n  src/budget\.py:\d+", said), said
    assert session.took < 3
    assert (session.left, session.code, session.temporary) == ([], 0, [])
    assert "Traceback" not in session.end


@pytest.mark.xdist_group("tools-up")
@pytest.mark.parametrize(
    ("file", "text", "asked"),
    [
        ("a.c", "int zork(void) { return 1; }", "zork"),
        ("notes.md", "# Zork", "Zork"),
        ("b.py", "def turn_error():\n    return 1", "where is an error turned into an answer"),
    ],
)
def test_where_nobody_asks_it_asks_for_what_stands_in_the_repository(
    file: str, text: str, asked: str, tmp_path: Path
) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / file).write_text(f"{text}\n")
    person = Person(tmp_path, query=None)
    with person.process:
        try:
            said = person.reads("until Ctrl-C.")
            person.stops()
        finally:
            person.goes()
    assert re.findall(r"(\w+) +search '(.*?)' \(\d+ ms\)\n  (\S+?):1 ", said) == [
        ("MCP", asked, file),
        ("HTTP", asked, file),
    ]


@pytest.mark.xdist_group("tools-up")
def test_what_it_says_to_paste_is_a_server_that_answers(session: Session) -> None:
    assert session.pasted == "src/budget.py"


@pytest.mark.xdist_group("tools-up")
def test_the_curl_line_that_it_prints_works(session: Session) -> None:
    assert json.loads(session.curled)["result"]["search"]["code"][0]["file"] == "src/budget.py"


@pytest.mark.parametrize("is_in_file", [False, True])
def test_with_a_token_it_works_and_the_token_is_not_shown(up: Types, tmp_path: Path, is_in_file: bool) -> None:
    (tmp_path / "token file").write_text("open-sesame\n")
    by_file = {"HOLDFAST_HTTP_TOKEN_FILE": str(tmp_path / "token file")}
    person = up(**(by_file if is_in_file else {"HOLDFAST_HTTP_TOKEN": "open-sesame"}))
    said = person.reads("until Ctrl-C.")
    line = next(line for line in said.splitlines() if line.startswith("  curl"))
    shell = ["sh", "-c", line]
    done = subprocess.run(shell, env=person.surroundings, capture_output=True, check=True, timeout=BOUND)

    assert "open-sesame" not in said
    assert is_in_file or '-H "authorization: Bearer $HOLDFAST_HTTP_TOKEN"' in line
    assert json.loads(done.stdout)["result"]["search"]["code"][0]["file"] == "src/budget.py"
    person.stops()


class _Refusing(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(401)
        self.end_headers()
        self.wfile.write(b'{"message": "a valid bearer token is needed"}')

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def test_what_http_refuses_is_told_in_words() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), _Refusing) as server:
        serving = threading.Thread(target=server.handle_request)
        serving.start()
        with pytest.raises(SessionError, match="answered with 401: a valid bearer token is needed"):
            _get(f"http://127.0.0.1:{server.server_port}/search", {})
        serving.join(BOUND)


def test_a_server_that_dies_is_told_and_leaves_nothing(up: Types) -> None:
    person = up()
    person.reads("until Ctrl-C.")
    served = [pid for pid in marked_processes(person.mark) if b"search\0--repo" in _words(pid)]
    assert served
    os.kill(served[0], signal.SIGKILL)

    assert person.process.wait(BOUND) == 2
    assert "Traceback" not in person.reads("holdfast: ")
    assert person.stops() < 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--http=nowhere", "'nowhere' is not an address to listen on"),
        ("--http=0.0.0.0:0", "others can reach 0.0.0.0, and there is no token"),
        ("--repo=missing", "holdfast: Repo path not found: missing\n  try: Name an existing directory."),
    ],
)
def test_what_cannot_be_served_is_told_before_anything_is_indexed(
    up: Types, tmp_path: Path, words: str, told: str
) -> None:
    shutil.rmtree(tmp_path / "home")
    person = up(words)

    assert person.process.wait(BOUND) == 2
    assert told in person.reads("try:")
    assert not (tmp_path / "home" / ".cache").exists()


def test_an_address_that_is_taken_is_told_before_anything_is_indexed(up: Types, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "home")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        person = up(f"--http={address}")
        assert person.process.wait(BOUND) == 2

    said = person.reads("try:")
    assert f"holdfast: cannot listen on {address}: something else listens there already" in said
    assert len(said.splitlines()) == 2
    assert not (tmp_path / "home" / ".cache").exists()
    assert marked_processes(person.mark) == []


def test_ctrl_c_while_it_indexes_ends_it_as_well(up: Types, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "home")
    for number in range(3000):
        (tmp_path / "repo" / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n")
    person = up()
    cache = tmp_path / "home" / ".cache"
    person.waits_for(lambda: any(path.is_file() for path in cache.rglob("*")))

    assert person.stops() < 3
    assert person.process.returncode == 130
    assert marked_processes(person.mark) == []


def _words(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
