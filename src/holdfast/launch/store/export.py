"""What a run's directory says of it, `events.ndjson` and `snapshot.json`; the proof that it follows from events.

Exports are copies: they can be thrown away, and are mended when a crash has cut or mixed them up.
"""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.contract.canonical import canonical_json
from holdfast.launch.documents import DocumentError, decode, violations
from holdfast.launch.store.chain import json_text
from holdfast.launch.store.folding import picture_of, snapshot_of
from holdfast.launch.store.records import Event, RunPicture
from holdfast.launch.store.refusals import ChainBroken

if TYPE_CHECKING:
    from holdfast.launch.store.run_store import RunStore

__all__ = ["EVENTS_FILE", "SNAPSHOT_FILE", "ReplayReport", "replay", "replay_file", "write_exports"]

EVENTS_FILE = "events.ndjson"
SNAPSHOT_FILE = "snapshot.json"
_MOST_DIFFERENCES = 100


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What came of folding the events of a run again. `ok` when nothing speaks against them."""

    run_id: str
    events: int
    snapshot: dict[str, Any] | None
    broken_at: int | None = None
    differences: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the events can be believed, and say what is kept elsewhere."""
        return self.broken_at is None and not self.differences


def write_exports(store: "RunStore", run_id: str, root: Path) -> None:
    """Bring the two files in `root` up to date with the store."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / EVENTS_FILE
    with _alone_in(root):
        seq, told_hash = _last_exported(path)
        # From the last one on, in order to see that it is the one that was exported.
        picture, events = store.history(run_id, after=max(seq - 1, 0))
        if seq and events and events[0].event_hash == told_hash:
            if events[1:]:
                with path.open("ab") as file:
                    file.write(_lines(events[1:]))
        else:
            whole = events if seq <= 1 else store.events(run_id)
            _replace(path, _lines(whole))
        _replace(root / SNAPSHOT_FILE, canonical_json(snapshot_of(picture)))


def replay(store: "RunStore", run_id: str) -> ReplayReport:
    """Fold the events of a run again and compare it with what the tables say; NoSuchRun if there is none."""
    picture, events = store.history(run_id)
    try:
        folded = picture_of(events)
    except ChainBroken as broken:
        return ReplayReport(run_id, len(events), None, broken.seq, [str(broken)])
    snapshot = snapshot_of(folded)
    found = [*_differences(_comparable(folded), _comparable(picture)), *_unfitting(snapshot)]
    return ReplayReport(run_id, len(events), snapshot, None, found[:_MOST_DIFFERENCES])


def replay_file(path: Path) -> ReplayReport:
    """Fold exported events alone, and compare with the snapshot that lies beside them, if there is one."""
    seen: list[Event] = []
    try:
        folded = picture_of(_recorded(path, seen))
    except ChainBroken as broken:
        run_id = seen[0].run_id if seen else ""
        return ReplayReport(run_id, len(seen), None, broken.seq, [str(broken)])
    snapshot = snapshot_of(folded)
    found = [*_beside(path.with_name(SNAPSHOT_FILE), snapshot), *_unfitting(snapshot)]
    return ReplayReport(folded.run.run_id, len(seen), snapshot, None, found[:_MOST_DIFFERENCES])


def _lines(events: list[Event]) -> bytes:
    return "".join(json_text(event.document()) + "\n" for event in events).encode()


def _last_exported(path: Path) -> tuple[int, str]:
    """Number and hash of the last event in the file; zero where it does not end as we would have written it."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return 0, ""
    lines = content.split(b"\n")
    if len(lines) < 2 or lines[-1]:
        return 0, ""
    with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError):
        last = json.loads(lines[-2])
        # As many lines as events: none was doubled or lost on the way.
        if last["seq"] == len(lines) - 1:
            return int(last["seq"]), str(last["event_hash"])
    return 0, ""


def _recorded(path: Path, seen: list[Event]) -> Iterator[Event]:
    with path.open("rb") as file:
        for seq, line in enumerate(file, start=1):
            try:
                event = Event(**decode("event", line))
            except DocumentError as error:
                raise ChainBroken(seq, str(error)) from error
            if not line.endswith(b"\n"):
                raise ChainBroken(seq, "the line is cut off")
            seen.append(event)
            yield event


def _comparable(picture: RunPicture) -> dict[str, Any]:
    """A picture without what is no event: who holds the run."""
    told = asdict(picture)
    del told["run"]["holder"], told["run"]["token"]
    told["items"] = {item["work_item_id"]: item for item in told["items"]}
    told["issues"] = {item["issue_id"]: item for item in told["issues"]}
    return told


def _differences(events: Any, tables: Any, where: str = "") -> Iterator[str]:
    if isinstance(events, dict) and isinstance(tables, dict):
        for key in sorted({*events, *tables}):
            yield from _differences(events.get(key), tables.get(key), f"{where}/{key}")
    elif events != tables:
        yield f"{where}: events say {_short(events)}, kept is {_short(tables)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"


def _unfitting(snapshot: dict[str, Any]) -> list[str]:
    return [f"{item['instancePath']}: {item['message']}" for item in violations("snapshot", snapshot)]


def _beside(path: Path, snapshot: dict[str, Any]) -> Iterator[str]:
    if path.is_file():
        try:
            yield from _differences(snapshot, decode("snapshot", path.read_bytes()))
        except DocumentError as error:
            yield str(error)


def _replace(path: Path, content: bytes) -> None:
    # Not synced: after a power failure it is written again.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.draft")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Hold the directory: of two processes that export a run, one comes after the other."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
