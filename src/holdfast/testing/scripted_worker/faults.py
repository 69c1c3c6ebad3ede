"""What can go wrong with the scripted worker: when a fault fires, and what it does then.

A fault fires at a *moment*:

start     the process runs and has read nothing        effect    a tool has done its work; nothing is answered
input     bytes have arrived and are not read yet      answer    the answer is about to be written
read      a message was read; nothing is done yet      answered  the answer is written
cancel    a cancellation of a running call was read
"""

import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from .messages import Call, encoded
from .state import Dice
from .worker import LIFETIME, Worker, die, linger

__all__ = ["ACTIONS", "MOMENTS", "NOISES", "Fault"]

Json = dict[str, Any]

NOISES = {
    "text": b"Listening on stdio ...\n",
    "half_json": b'{"jsonrpc": "2.0", "id": 1, "resu\n',
    "binary": bytes(byte for byte in range(256) if byte != 10) + b"\n",
    "no_message": b'[1, "two", null]\n{"hello": "world"}\n"jsonrpc"\n',
    "empty": b"\n",
    "glued": b"no end of line ",  # whatever is written next becomes part of this line
    "long_line": b"",  # as many bytes as the fault says
}


class Fault:
    """One fault of the script, armed or not in this generation."""

    def __init__(self, data: Json, seed: int, generation: int, number: int) -> None:
        self.do: str = data["do"]
        self.at: str = data.get("at") or MOMENTS[self.do]
        self.arguments: Json = data.get("arguments") or {}
        self._method, self._tool, self._request = data.get("method"), data.get("tool"), data.get("request")
        self._nth, self._times = data.get("nth"), data.get("times")
        self._probability: float = data.get("probability", 1.0)
        first, last = data.get("generations") or (1, None)
        self._is_armed = first <= generation <= (generation if last is None else last)
        self._dice = Dice(seed, generation, number)
        self._seen = self._fired = 0

    def fires(self, moment: str, call: Call | None, number: int) -> bool:
        """Whether now is the time, at the request with this number; asking counts as one occasion."""
        if not self._is_armed or moment != self.at or not self._concerns(call):
            return False
        if self._request not in {None, number}:
            return False
        self._seen += 1
        if self._nth is not None and self._seen != self._nth:
            return False
        if self._times is not None and self._fired >= self._times:
            return False
        if self._probability < 1 and self._dice.roll() >= self._probability:
            return False
        self._fired += 1
        return True

    def _concerns(self, call: Call | None) -> bool:
        if call is None:
            return self._method is None and self._tool is None
        if not call.is_request:
            return call.method == self._method  # notifications are concerned only by name
        return self._method in {None, call.method} and self._tool in {None, call.tool}


# --- dying and hanging ---------------------------------------------------------------------------------------


def _kill(_worker: Worker, _call: Call | None) -> None:
    die(None)


def _exit(_worker: Worker, _call: Call | None, code: int = 1) -> None:
    die(code)


def _kill_mid_answer(_worker: Worker, call: Call, byte: int = 10) -> None:
    call.cut, call.exit_code = byte, None


def _exit_mid_answer(_worker: Worker, call: Call, byte: int = 10, code: int = 1) -> None:
    call.cut, call.exit_code = byte, code


def _stop_reading(_worker: Worker, _call: Call | None) -> None:
    linger()


def _freeze(_worker: Worker, _call: Call | None) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _mute(worker: Worker, _call: Call | None) -> None:
    worker.traits["is_mute"] = True


def _never_answer(_worker: Worker, call: Call) -> None:
    call.lines = []


def _delay(_worker: Worker, _call: Call | None, seconds: float = 0.1) -> None:
    linger(seconds)


def _spin(_worker: Worker, _call: Call | None, seconds: float = LIFETIME) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def _await_peer(_worker: Worker, _call: Call | None, seconds: float = LIFETIME) -> None:
    """Wait for the network in a synchronous call, from a peer that takes its time."""
    ours, theirs = socket.socketpair()
    ours.settimeout(seconds)
    try:
        ours.recv(1)
    except TimeoutError:
        theirs.close()


# --- what is written -----------------------------------------------------------------------------------------


def _noise(worker: Worker, _call: Call | None, kind: str = "text", size: int = 10 * 2**20) -> None:
    worker.write(b"x" * size + b"\n" if kind == "long_line" else NOISES[kind])


def _flood_stderr(_worker: Worker, _call: Call | None, size: int = 4 * 2**20) -> None:
    rest = memoryview((b"a line of a log that nobody asked for\n" * (size // 38 + 1))[:size])
    while rest:
        rest = rest[os.write(2, rest[:65536]) :]


def _split_writes(worker: Worker, _call: Call | None, size: int = 1) -> None:
    worker.traits["split"] = size


def _answer_twice(_worker: Worker, call: Call) -> None:
    call.lines *= 2


def _answer_with_id(worker: Worker, call: Call, which: str = "unknown", *, then_rightly: bool = True) -> None:
    wrong: dict[str, Any] = {
        "unknown": "an-id-that-nobody-uses",
        "old": worker.last_id,
        "null": None,
        "wrong_type": int(call.id) if isinstance(call.id, str) and call.id.isdigit() else str(call.id),
        "boolean": True,
        "list": [call.id],
    }
    line = encoded({"id": wrong[which], "result": {"content": [], "stray": True}})
    call.lines = [line, *call.lines] if then_rightly else [line]


def _answer_error(_worker: Worker, call: Call, code: int = -32000, message: str = "scripted") -> None:
    call.lines = [encoded({"id": call.id, "error": {"code": code, "message": message}})]


def _ignore_cancel(_worker: Worker, call: Call) -> None:
    call.heeds_cancel = False


def _answer_cancelled(_worker: Worker, call: Call) -> None:
    call.answers_cancel = True


def _progress_after_answer(worker: Worker, call: Call) -> None:
    worker.notify_progress(call, 1000, 1000)


def _list_changed(worker: Worker, _call: Call | None) -> None:
    worker.write(encoded({"method": "notifications/tools/list_changed"}))


def _ask_client(
    worker: Worker, _call: Call | None, method: str = "roots/list", params: Json | None = None
) -> None:
    worker.ask(None, method, params or {})


# --- what one generation is like -----------------------------------------------------------------------------


def _set(**traits: Any) -> Callable[..., None]:
    def set_traits(worker: Worker, _call: Call | None) -> None:
        worker.traits.update(traits)

    return set_traits


def _list_tools(worker: Worker, _call: Call | None, names: list[str]) -> None:
    worker.traits["tools"] = names


def _shuffle_tools(worker: Worker, _call: Call | None) -> None:
    worker.traits["tools"] = sorted(worker.traits["tools"], key=lambda _: worker.dice.roll())


def _other_revision(worker: Worker, _call: Call | None, revision: str) -> None:
    worker.traits["revision"] = revision


def _probe_outcome(worker: Worker, _call: Call | None, outcome: str = "unknown") -> None:
    worker.traits["probe"] = outcome


def _ignore_sigterm(_worker: Worker, _call: Call | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _close_stdout(_worker: Worker, _call: Call | None) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.close(sink)


def _grandchild(
    worker: Worker, _call: Call | None, kind: str = "group", *, keeps_pipes: bool = False, stubborn: bool = False
) -> None:
    """Fork a process that lives on; it carries the environment of this one, since it executes nothing."""
    if os.fork():
        return
    if kind in {"session", "daemon"}:
        os.setsid()
    if kind == "daemon" and os.fork():
        os._exit(0)
    signal.alarm(LIFETIME)  # what a failed test leaves behind ends some day
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not keeps_pipes:
        os.closerange(0, 3)
    worker.state.note("grandchildren", pid=os.getpid(), kind=kind)
    linger()


# The moment at which each fault fires unless the script names another one, and what it does.
_FAULTS: dict[str, tuple[str, Callable[..., None]]] = {
    "kill": ("read", _kill),
    "spin": ("read", _spin),
    "await_peer": ("read", _await_peer),
    "kill_before_read": ("input", _kill),
    "kill_after_effect": ("effect", _kill),
    "kill_before_answer": ("answer", _kill),
    "kill_mid_answer": ("answer", _kill_mid_answer),
    "kill_after_answer": ("answered", _kill),
    "exit": ("read", _exit),
    "exit_before_read": ("input", _exit),
    "exit_after_effect": ("effect", _exit),
    "exit_before_answer": ("answer", _exit),
    "exit_mid_answer": ("answer", _exit_mid_answer),
    "exit_after_answer": ("answered", _exit),
    "stop_reading": ("read", _stop_reading),
    "freeze": ("read", _freeze),
    "mute": ("read", _mute),
    "never_answer": ("answer", _never_answer),
    "delay": ("read", _delay),
    "noise": ("answer", _noise),
    "flood_stderr": ("read", _flood_stderr),
    "split_writes": ("read", _split_writes),
    "answer_twice": ("answer", _answer_twice),
    "answer_with_id": ("answer", _answer_with_id),
    "answer_error": ("answer", _answer_error),
    "ignore_cancel": ("cancel", _ignore_cancel),
    "answer_cancelled": ("cancel", _answer_cancelled),
    "progress_after_answer": ("answered", _progress_after_answer),
    "list_changed": ("read", _list_changed),
    "ask_client": ("read", _ask_client),
    "no_tools": ("start", _set(no_tools=True)),
    "list_error": ("start", _set(list_error=True)),
    "endless_pages": ("start", _set(endless_pages=True)),
    "list_tools": ("start", _list_tools),
    "shuffle_tools": ("start", _shuffle_tools),
    "other_revision": ("start", _other_revision),
    "probe_outcome": ("start", _probe_outcome),
    "ignore_sigterm": ("start", _ignore_sigterm),
    "ignore_eof": ("start", _set(ignores_eof=True)),
    "close_stdout": ("read", _close_stdout),
    "grandchild": ("read", _grandchild),
}

MOMENTS = {name: moment for name, (moment, _) in _FAULTS.items()}
ACTIONS = {name: action for name, (_, action) in _FAULTS.items()}
