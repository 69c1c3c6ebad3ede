"""The client side of the contract suite: one server process, its pipes, and everything that it said.

The framing is written out here once more, on purpose: the suite does not use what it tests.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

BOUND = 60.0  # seconds after which what a test waits for is taken not to come
PIPE_SIZE = 64 * 1024
SERVER = Path(__file__).parent / "server_under_test.py"
HOST = (sys.executable, "-m", "holdfast", "run", "--name", "under-test", "--")
IN_FRONT: dict[str, tuple[str, ...]] = {"standalone": (), "hosted": HOST}


class Kind(NamedTuple):
    """Which kind of server a peer is: how it speaks, and whether it stands alone or behind the host."""

    mode: str
    topology: str

    @property
    def name(self) -> str:
        """Standing alone goes without saying."""
        return self.mode if self.topology == "standalone" else f"{self.topology}-{self.mode}"


class Peer:
    """A server process in one of the modes, alone or behind the host, and a client that remembers every message.

    There are no threads: whoever writes or waits also reads, so that neither side can block the other.
    """

    def __init__(self, kind: Kind, arguments: tuple[str, ...], settings: Mapping[str, str], state: Path) -> None:
        self.mode, self.topology = kind
        self.state = state
        state.mkdir(parents=True, exist_ok=True)
        own = {"HOLDFAST_MCP_MODE": self.mode, "HOLDFAST_STATE_DIR": str(state), **settings}
        own.setdefault("HOLDFAST_MAX_MESSAGE_BYTES", str(8 << 20))  # the default of `run` is larger
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
        with (state / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                [*IN_FRONT[self.topology], sys.executable, str(SERVER), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**kept, **own},
                bufsize=0,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin, self.process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._pipe = f"pipe:[{os.fstat(self._input.fileno()).st_ino}]"
        self.messages: list[Any] = []  # not yet claimed by an expectation
        self.ended = False
        self._buffer = bytearray()

    # --- sending ---------------------------------------------------------------------------------------------

    def frame(self, content: bytes) -> bytes:
        """The content as a message of the mode."""
        if self.mode == "legacy":
            return b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
        return content + b"\n"

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        rest = memoryview(data)
        until = time.monotonic() + BOUND
        while rest:
            readers = [] if self.ended else [self._output]
            readable, writable, _ = select.select(readers, [self._input], [], until - time.monotonic())
            assert readable or writable, f"the server does not read: {self.stderr()[-2000:]}"
            if readable:
                self._read()
            if writable:
                rest = rest[os.write(self._input.fileno(), rest[:PIPE_SIZE]) :]

    def close_input(self) -> None:
        """Tell the server that nothing more comes."""
        self._input.close()

    def is_read(self) -> bool:
        """Whether the server still holds the other end of its input."""
        held = set()
        with suppress(PermissionError):  # a host hides its files from everybody but root; there is no waiting then
            for item in Path(f"/proc/{self.process.pid}/fd").iterdir():
                with suppress(FileNotFoundError):  # it was closed meanwhile
                    held.add(os.readlink(item))
        return self._pipe in held

    # --- receiving -------------------------------------------------------------------------------------------

    def take(self, wanted: Callable[[Any], bool], what: str) -> Any:
        """The first unclaimed message of this kind, as soon as it is there."""
        number = self._position(wanted, what)
        return self.messages.pop(number)

    def take_until(self, wanted: Callable[[Any], bool], what: str) -> list[Any]:
        """Every unclaimed message before the first of this kind, as soon as that is there; it is taken too."""
        number = self._position(wanted, what)
        earlier = self.messages[:number]
        del self.messages[: number + 1]
        return earlier

    def _position(self, wanted: Callable[[Any], bool], what: str) -> int:
        until = time.monotonic() + BOUND
        while True:
            for number, message in enumerate(self.messages):
                if wanted(message):
                    return number
            if self.ended or not self._wait(until):
                raise AssertionError(
                    f"{what} did not come; unclaimed: {self.messages!r:.2000}; stderr: {self.stderr()[-2000:]}"
                )

    def take_all(self, wanted: Callable[[Any], bool]) -> list[Any]:
        """Every unclaimed message of this kind that is there now."""
        taken = [message for message in self.messages if wanted(message)]
        self.messages = [message for message in self.messages if not wanted(message)]
        return taken

    def stderr(self) -> str:
        """What the server wrote to stderr so far."""
        return (self.state / "stderr").read_text(errors="replace")

    def _wait(self, until: float) -> bool:
        readable, _, _ = select.select([self._output], [], [], max(0.0, until - time.monotonic()))
        if readable:
            self._read()
        return bool(readable)

    def _read(self) -> None:
        data = os.read(self._output.fileno(), PIPE_SIZE)
        self.ended = not data
        self._buffer += data
        while (content := self._next_frame()) is not None:
            self.messages.append(_decoded(content))
        if self.ended and self._buffer:
            self.messages.append(bytes(self._buffer))  # half a message is no message

    def _next_frame(self) -> bytes | None:
        if self.mode != "legacy":
            end = self._buffer.find(b"\n")
            return None if end < 0 else self._cut(0, end, 1)
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return None
        length = int(self._buffer[:head].removeprefix(b"Content-Length: "))
        whole = len(self._buffer) >= head + 4 + length
        return self._cut(head + 4, head + 4 + length, 0) if whole else None

    def _cut(self, start: int, end: int, delimiter: int) -> bytes:
        content = bytes(self._buffer[start:end])
        del self._buffer[: end + delimiter]
        return content

    # --- ending ----------------------------------------------------------------------------------------------

    def disconnect(self) -> None:
        """Go away without a word, as a client that died."""
        self._input.close()
        self._output.close()
        self.ended = True

    def exit_code(self) -> int:
        """The exit code, once the server has ended by itself and all that it said is read."""
        until = time.monotonic() + BOUND
        while not self.ended and self._wait(until):
            pass
        return self.process.wait(max(1.0, until - time.monotonic()))

    def stop(self) -> None:
        """End the server, whatever it does."""
        self.process.kill()
        self.process.wait(BOUND)
        self._input.close()
        self._output.close()


def _decoded(content: bytes) -> Any:
    if b"\n" in content or b"\r" in content or content != content.strip():
        return content  # a message is one line, and its delimiter is all there is around it
    try:
        return json.loads(content)
    except ValueError:
        return content  # no message: every expectation will fail on it
