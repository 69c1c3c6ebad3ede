"""The state that a client carries between two rounds: sealed, bound, and short-lived."""

import os
import stat
import threading
from pathlib import Path

import pytest

from holdfast.worker.request_state import KEY_FILE, Sealer, StateRefusedError, Subject

SUBJECT = Subject.of("tools/call", {"name": "ask", "arguments": {"a": 1, "b": [2]}})
ANSWERS = {"step1": {"action": "accept", "content": {"name": "Ann"}}}


class Clock:
    """A time that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_was_sealed_is_opened_by_another_process_of_the_installation(tmp_path: Path) -> None:
    state = Sealer(tmp_path, "s", 60).seal(SUBJECT, ANSWERS)
    again = Subject.of("tools/call", {"name": "ask", "arguments": {"b": [2], "a": 1}})
    assert Sealer(tmp_path, "s", 60).open(state, again) == ANSWERS


def test_no_two_states_are_the_same(tmp_path: Path) -> None:
    sealer = Sealer(tmp_path, "s", 60)
    assert sealer.seal(SUBJECT, {}) != sealer.seal(SUBJECT, {})


@pytest.mark.parametrize(
    "other",
    [
        SUBJECT._replace(method="prompts/get"),
        SUBJECT._replace(name="other"),
        Subject.of("tools/call", {"name": "ask", "arguments": {"a": 2, "b": [2]}}),
        Subject.of("tools/call", {"name": "ask", "arguments": {"a": 1, "b": [2]}}, "somebody else"),
    ],
)
def test_a_state_belongs_to_one_call_of_one_client(tmp_path: Path, other: Subject) -> None:
    sealer = Sealer(tmp_path, "s", 60)
    state = sealer.seal(SUBJECT, ANSWERS)
    with pytest.raises(StateRefusedError, match="another call"):
        sealer.open(state, other)


def test_a_state_of_another_server_or_installation_is_refused(tmp_path: Path) -> None:
    state = Sealer(tmp_path / "a", "s", 60).seal(SUBJECT, ANSWERS)
    for sealer in (Sealer(tmp_path / "a", "other", 60), Sealer(tmp_path / "b", "s", 60)):
        with pytest.raises(StateRefusedError, match="changed"):
            sealer.open(state, SUBJECT)


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    sealer = Sealer(tmp_path, "s", 60)
    state = sealer.seal(SUBJECT, {})
    for place in range(len(state)):
        changed = state[:place] + ("A" if state[place] != "A" else "B") + state[place + 1 :]
        with pytest.raises(StateRefusedError):
            sealer.open(changed, SUBJECT)


def test_a_state_is_written_in_one_way_only(tmp_path: Path) -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    sealer = Sealer(tmp_path, "s", 60)
    state = sealer.seal(SUBJECT, {})
    # 32 bytes are 43 letters, of the last of which two bits mean nothing.
    other = letters[letters.index(state[-1]) ^ 1]

    with pytest.raises(StateRefusedError):
        sealer.open(state[:-1] + other, SUBJECT)


@pytest.mark.parametrize("state", ["", ".", "x", "e30.e30", "💥", "a" * 100_000, "=.=", "\0.\0", "a.b.c"])
def test_rubbish_is_refused(tmp_path: Path, state: str) -> None:
    with pytest.raises(StateRefusedError):
        Sealer(tmp_path, "s", 60).open(state, SUBJECT)


def test_a_state_expires(tmp_path: Path) -> None:
    clock = Clock()
    sealer = Sealer(tmp_path, "s", 60, clock=clock)
    state = sealer.seal(SUBJECT, ANSWERS)
    clock.now += 60
    assert sealer.open(state, SUBJECT) == ANSWERS
    clock.now += 0.01
    with pytest.raises(StateRefusedError, match="expired"):
        sealer.open(state, SUBJECT)


def test_the_key_is_readable_by_nobody_else(tmp_path: Path) -> None:
    Sealer(tmp_path / "state", "s", 60).seal(SUBJECT, {})
    assert stat.S_IMODE((tmp_path / "state" / KEY_FILE).stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "state") == [KEY_FILE]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_that_is_none_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    (tmp_path / KEY_FILE).chmod(0o600)
    state = Sealer(tmp_path, "s", 60).seal(SUBJECT, ANSWERS)
    assert Sealer(tmp_path, "s", 60).open(state, SUBJECT) == ANSWERS


def test_a_key_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    first = Sealer(tmp_path, "s", 60)
    state = first.seal(SUBJECT, ANSWERS)
    (tmp_path / KEY_FILE).chmod(0o644)
    with pytest.raises(StateRefusedError):
        Sealer(tmp_path, "s", 60).open(state, SUBJECT)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_workers_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    states: list[str] = []
    ready = threading.Barrier(8)

    def start() -> None:
        ready.wait(30)
        states.append(Sealer(tmp_path, "s", 60).seal(SUBJECT, ANSWERS))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [Sealer(tmp_path, "s", 60).open(state, SUBJECT) for state in states] == [ANSWERS] * 8


def test_where_no_key_can_be_kept_states_hold_as_long_as_the_process(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    sealer = Sealer(blocked, "s", 60)
    assert sealer.open(sealer.seal(SUBJECT, ANSWERS), SUBJECT) == ANSWERS
