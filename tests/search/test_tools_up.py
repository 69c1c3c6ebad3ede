"""`holdfast up`, as a person types it: both searches, what to paste, a curl line that works, and Ctrl-C."""

import http.server
import json
import os
import re
import select
import shlex
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
from typing import Any

import pytest
from tests.search.sample import write_sample

from holdfast.cli.up import _get
from holdfast.errors import SessionError
from holdfast.testing import HostUnderTest, marked_processes
from holdfast.testing.marked import MARK

BOUND = 30.0


class Person:
    """Somebody who types `holdfast up` in the directory of a repository, with a home that is empty."""

    def __init__(self, place: Path, *words: str, **environment: str) -> None:
        self.mark = uuid.uuid4().hex
        outer = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST_", "XDG_"))}
        self.surroundings = {**outer, "HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), MARK: self.mark}
        self.surroundings |= environment
        for name in ("home", "tmp"):
            (place / name).mkdir()
        command = [sys.executable, "-m", "holdfast", "up", "--http=127.0.0.1:0", "--query=retry budget", *words]
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
    write_sample(tmp_path / "repo")
    with ExitStack() as stack:

        def types(*words: str, **environment: str) -> Person:
            person = Person(tmp_path, *words, **environment)
            stack.enter_context(person.process)
            stack.callback(person.goes)
            return person

        yield types


def block_in(said: str) -> dict[str, Any]:
    """The configuration to paste."""
    found = re.search(r"^\{.*?^\}", said, re.MULTILINE | re.DOTALL)
    assert found is not None, said
    block: dict[str, Any] = json.loads(found[0])["mcpServers"]["search"]
    return block


def test_it_shows_both_searches_and_ends_within_three_seconds_of_ctrl_c(up: Types, tmp_path: Path) -> None:
    person = up()
    said = person.reads("until Ctrl-C.")
    took = person.stops()

    assert re.search(r"MCP  search 'retry budget' \(\d+ ms\)\n  src/budget\.py:\d+", said), said
    assert re.search(r"HTTP search 'retry budget' \(\d+ ms\)\n  src/budget\.py:\d+", said), said
    assert took < 3
    assert marked_processes(person.mark) == []
    assert person.process.returncode == 0
    assert "Traceback" not in person.reads("stopped")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_it_says_to_paste_is_a_server_that_answers(up: Types, tmp_path: Path) -> None:
    person = up()
    block = block_in(person.reads("until Ctrl-C."))
    home = {"HOME": str(tmp_path / "home")}
    (tmp_path / "client").mkdir()
    with HostUnderTest([block["command"], *block["args"]], tmp_path / "client", environment=home) as client:
        client.handshake()
        found = client.call("search", {"query": "retry budget"})["result"]["structuredContent"]
        assert found["code"][0]["file"] == "src/budget.py"
        client.assert_nothing_left()
    person.stops()


def test_the_curl_line_that_it_prints_works(up: Types) -> None:
    person = up()
    said = person.reads("until Ctrl-C.")
    line = next(line for line in said.splitlines() if line.startswith("  curl"))
    done = subprocess.run(shlex.split(line), capture_output=True, check=True, timeout=BOUND)

    assert json.loads(done.stdout)["result"]["search"]["code"][0]["file"] == "src/budget.py"
    person.stops()


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


def test_an_address_that_is_taken_is_told_in_one_line(up: Types) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        person = up(f"--http={address}")
        assert person.process.wait(BOUND) not in (0, None)

    said = person.reads(address)
    assert "Traceback" not in said
    assert marked_processes(person.mark) == []


def test_ctrl_c_while_it_indexes_ends_it_as_well(up: Types, tmp_path: Path) -> None:
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
