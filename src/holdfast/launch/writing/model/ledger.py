"""What the model was asked in a run, on disk before it is asked: the budget, and the answers, survive every kill.

calls.jsonl            one line when a call begins, one when it has ended; appended under a lock, by every section
answers/<section>-<digest>.json   the record of the call that answered a question of a section
slot-<n>               held while somebody waits for the model

The folder belongs to one run. Losing it loses answers, not money: calls that events tell of count as well.
"""

import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.launch.documents import DocumentError, decode, sha256

__all__ = ["Allowance", "Call", "Ledger"]

_LOOK = 0.02
_NEVER = threading.Event()


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `tokens` is what it may cost while it is open, and what it has cost when it is over.

    `failure` is why it brought no answer, where that is known.
    """

    call_id: str
    section: str
    prompt_hash: str
    tokens: int
    is_over: bool
    begun: Mapping[str, Any]
    failure: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most calls and tokens, of one section and of the whole run."""

    calls: int
    tokens: int
    calls_in_all: int
    tokens_in_all: int


class Ledger:
    """The calls of one run. `told` are those that the run's events tell of."""

    def __init__(self, folder: Path, run_id: str, told: Iterable[Mapping[str, Any]] = ()) -> None:
        self._folder = folder
        self._run_id = run_id
        self._told = [
            Call(
                one["call_id"],
                one["section"],
                one["prompt_hash"],
                one["tokens"],
                is_over=one["is_over"],
                begun=one["begun"],
            )
            for one in told
        ]
        (folder / "answers").mkdir(parents=True, exist_ok=True)

    def calls(self) -> dict[str, Call]:
        """Every call so far, by its id."""
        with self._locked() as file:
            return self._read(file)

    def begin(
        self, section: str, prompt_hash: str, tokens: int, allowance: Allowance, begun: Mapping[str, Any]
    ) -> str | None:
        """Write down that a call is made now; its id, or None where the budget does not allow it."""
        with self._locked() as file:
            calls = self._read(file)
            every = list(calls.values())
            mine = [one for one in every if one.section == section]
            if len(mine) >= allowance.calls or len(every) >= allowance.calls_in_all:
                return None
            if _cost(mine) + tokens > allowance.tokens or _cost(every) + tokens > allowance.tokens_in_all:
                return None
            number = sum(one.prompt_hash == prompt_hash for one in mine)
            call_id = "llm_" + sha256(f"{self._run_id}:{section}:{prompt_hash}:{number}".encode())[:16]
            row = {"call_id": call_id, "section": section, "prompt_hash": prompt_hash, "tokens": tokens}
            self._append(file, row | {"begun": {"call_id": call_id, **begun}})
            return call_id

    def end(self, call_id: str, tokens: int, failure: Mapping[str, Any] | None = None) -> None:
        """Write down what a call has cost, and why it has failed if it did."""
        with self._locked() as file:
            self._append(file, {"call_id": call_id, "ended": tokens, "failure": dict(failure or {})})

    def answer(self, section: str, prompt_hash: str) -> dict[str, Any] | None:
        """The record of the call that answered this question; None for none, or where it is not whole."""
        try:
            record: dict[str, Any] = decode("llm_call", self._answer_path(section, prompt_hash).read_bytes())
        except (FileNotFoundError, DocumentError):
            return None
        return record if record["prompt_hash"] == prompt_hash and "text" in record else None

    def keep(self, record: Mapping[str, Any]) -> None:
        """Keep the record of a call that was answered; whole or not at all."""
        path = self._answer_path(record["section"], record["prompt_hash"])
        draft = path.with_suffix(f".{os.getpid()}")
        with draft.open("wb") as file:
            file.write(json.dumps(record, ensure_ascii=False).encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    @contextlib.contextmanager
    def slot(self, at_once: int, deadline: float) -> Iterator[bool]:
        """Wait until fewer than `at_once` wait for the model, in this run; False where that takes too long."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context((self._folder / f"slot-{n}").open("ab")) for n in range(at_once)]
            while not any(_try_lock(file) for file in files):
                if time.monotonic() >= deadline:
                    yield False
                    return
                _NEVER.wait(_LOOK)
            yield True

    def _answer_path(self, section: str, prompt_hash: str) -> Path:
        return self._folder / "answers" / f"{section}-{prompt_hash}.json"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        with (self._folder / "calls.jsonl").open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _read(self, file: BinaryIO) -> dict[str, Call]:
        calls = {one.call_id: one for one in self._told}
        file.seek(0)
        for line in file:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # half a line: its call was never made
                row = json.loads(line)
                if "ended" in row:
                    if row["call_id"] in calls:
                        begun = calls[row["call_id"]]
                        ended = replace(begun, tokens=row["ended"], is_over=True, failure=row["failure"])
                        calls[row["call_id"]] = ended
                else:
                    begun = Call(
                        row["call_id"],
                        row["section"],
                        row["prompt_hash"],
                        row["tokens"],
                        is_over=False,
                        begun=row["begun"],
                    )
                    calls[begun.call_id] = begun
        return calls

    def _append(self, file: BinaryIO, row: Mapping[str, Any]) -> None:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
        is_torn = size > 0 and file.read(1) != b"\n"
        file.write((b"\n" if is_torn else b"") + json.dumps(row).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _cost(calls: Iterable[Call]) -> int:
    return sum(one.tokens for one in calls)


def _try_lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
