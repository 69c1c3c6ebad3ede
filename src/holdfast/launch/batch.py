"""Many runs at once: read from one file, each started at most once, and followed until all of them rest.

A batch is a list (YAML or JSON) or one entry per line (JSONL). An entry is a configuration, the path of a file
with one, or `{config | file, key}`. Nothing about a batch is kept: the same file leads to the same runs, because
the key of an entry follows from what it says.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError, UsageError
from holdfast.launch import states
from holdfast.launch.engine.asking import INTERRUPTED
from holdfast.launch.identifiers import key_problem
from holdfast.launch.run_config import checked, config_sha256, load_file, parsed, read_text
from holdfast.launch.store.records import OPEN

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["Batch", "Entry", "read_entries"]

_LARGEST_FILE = 64 << 20
_MOST_VALUES = 5_000_000
_MOST_ENTRIES = 10_000
_LONGEST_LABEL = 60
_LIMITED = "FORGE_RATE_LIMITED"
_LONGEST_LIMIT = 2 * 3600  # seconds that a forge may have us wait; those of GitHub are over within an hour
_LINES = (".jsonl", ".ndjson")
_AROUND = frozenset({"config", "file", "key"})  # what an entry may have that is no configuration itself
_REMEDY = "name a list of run configurations (YAML, JSON), or a file with one per line (.jsonl)"
_GOOD = frozenset({states.READY_FOR_PR, states.PR_OPENED, states.DONE})


@dataclass(slots=True)
class Entry:
    """One entry of a batch: what it says, or what is wrong with it; later the run that it led to."""

    number: int
    name: str
    config: dict[str, Any] | None = None
    key: str = ""
    problems: list[str] = field(default_factory=list)
    run_id: str = ""
    is_new: bool = False
    state: str = ""
    trouble: str = ""  # why its run goes on no more, where it neither rests nor is executed
    is_unchanged: bool = False  # the site has all of it already, so there is nothing to open
    not_before: float = 0.0  # when a forge that has had enough may be asked again

    @property
    def is_good(self) -> bool:
        """Whether it came to the end that was wanted."""
        return self.state == states.DONE or (self.state in _GOOD and not self.trouble)

    def document(self) -> dict[str, Any]:
        """The entry, for programs."""
        told = {"item": self.number, "name": self.name, "run_id": self.run_id or None, "state": self.state or None}
        wrong = [*self.problems, *([self.trouble] if self.trouble else [])]
        return {**told, "new": self.is_new, "ok": self.is_good, "problems": wrong}


def read_entries(path: Path, *, label: str = "") -> list[Entry]:
    """The entries of a file, each checked; UsageError where it is no batch at all."""
    if len(label) > _LONGEST_LABEL or not (label.isprintable() or not label):
        raise UsageError(f"a label has at most {_LONGEST_LABEL} printable characters", remedy="shorten it")
    text = read_text(path, largest=_LARGEST_FILE, remedy=_REMEDY)
    told = list(_of_lines(text, path.name) if path.suffix.lower() in _LINES else _of_list(text, path))
    if not told:
        raise UsageError(f"{path.name} has no entries", remedy=_REMEDY)
    if len(told) > _MOST_ENTRIES:
        raise UsageError(f"{path.name} has more than {_MOST_ENTRIES} entries", remedy="divide it")
    entries = [_entry(number, one, path.parent, label) for number, one in enumerate(told, start=1)]
    first: dict[str, Entry] = {}
    for entry in entries:
        other = first.setdefault(entry.key, entry) if entry.key else entry
        if other is not entry:
            entry.problems.append(f"it is the same as entry {other.number}, or has its key")
    return entries


def _of_lines(text: str, name: str) -> Iterator[Any]:
    # Not at every separator that Unicode knows: in JSON, text may hold those as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield parsed(line, name, is_json=True)
            except UsageError as error:
                yield UsageError(f"line {number} is no JSON", remedy=error.remedy)


def _of_list(text: str, path: Path) -> list[Any]:
    document = parsed(text, path.name, is_json=path.suffix.lower() == ".json", most=_MOST_VALUES)
    if not isinstance(document, list):
        raise UsageError(f"{path.name} is no list", remedy=_REMEDY)
    return document


def _entry(number: int, told: Any, folder: Path, label: str) -> Entry:
    entry = Entry(number, f"entry {number}")
    try:
        config, key = _opened(told, folder, entry)
        entry.name = str(config.get("product_slug", entry.name))[:100] if isinstance(config, dict) else entry.name
        entry.config = checked(config)
        entry.key = key or f"batch:{label}:{config_sha256(entry.config)}"
    except ToolError as error:
        found = [f"{one['instancePath'] or '/'}: {one['message']}" for one in error.details.get("violations", ())]
        entry.problems += found or [error.message]
    except UsageError as error:
        entry.problems.append(error.message)
    return entry


def _opened(told: Any, folder: Path, entry: Entry) -> tuple[Any, str]:
    """The configuration that an entry holds or leads to, and its own key."""
    if isinstance(told, UsageError):
        raise told
    key = ""
    if isinstance(told, dict) and _AROUND & set(told):
        if more := sorted(str(name) for name in set(told) - _AROUND):
            known = " and ".join(sorted(_AROUND & set(told)))
            raise UsageError(
                f"beside {known} it has {', '.join(more)[:200]}, and only config, file and key are known"
            )
        if ("config" in told) == ("file" in told):
            raise UsageError("it names a file, or holds a config; one of the two")
        key = told.get("key", "")
        if not isinstance(key, str):
            raise UsageError("its key is no text")
        if "key" in told and (problem := key_problem(key)):
            raise UsageError(problem)
        told = told["config"] if "config" in told else told["file"]
        if not isinstance(told, str | dict):
            raise UsageError("it holds neither a configuration nor the path of a file")
    if isinstance(told, str):
        if not told or "\0" in told:
            raise UsageError("it is no path of a file")
        path = folder / Path(told).expanduser()
        entry.name = path.name[:100]
        return load_file(path), key
    return told, key


class Batch:
    """The runs of the entries that nothing is wrong with."""

    def __init__(
        self,
        service: "RunService",
        entries: list[Entry],
        *,
        open_pr: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.entries = [entry for entry in entries if not entry.problems]
        self._service = service
        self._opens = open_pr
        self._clock = clock
        self.limit = ""  # what the forge has said that we wait for
        self._asked: dict[str, str] = {}  # run -> the last request that was made here

    def start(self, told: Callable[[int], None], stop: Callable[[], bool]) -> None:
        """Start what was never started; `told` is told after each. A refusal stops none of the others."""
        for count, entry in enumerate(self.entries, start=1):
            if stop():
                return
            try:
                run, entry.is_new = self._service.start(entry.config, entry.key, drive=False)
            except ToolError as error:
                entry.problems.append(error.message)
                continue
            entry.run_id, entry.state = run.run_id, run.state
            # Whatever becomes of us, the run is asked for; what was interrupted before is asked for again.
            if run.state not in states.RESTING and run.holder is None and not self._is_wanted(run.run_id):
                self._ask(entry, "drive")
            told(count)

    def _is_wanted(self, run_id: str) -> bool:
        return any(one.state in OPEN for one in self._service.store.requests(run_id=run_id))

    def unfinished(self) -> int:
        """How many runs were not at rest when we looked last."""
        return sum(1 for entry in self.entries if entry.state not in states.RESTING)

    def look(self) -> Counter[str]:
        """Where all runs are: how many in each state; `executing` and `waiting` are gone when all of them rest."""
        store, counts = self._service.store, Counter[str]()
        self._service.engine.wake()
        started = [entry for entry in self.entries if entry.run_id]
        # In this order: what has its outcome by now has also come to where we see it then.
        wanted = {one.run_id for one in store.requests(state=OPEN)}
        where = store.whereabouts([entry.run_id for entry in started])
        for entry in started:
            entry.state, is_held = where[entry.run_id]
            counts[entry.state] += 1
            if entry.state == states.FAILED and not entry.trouble:
                entry.trouble = _failed(self._service, entry.run_id)
            if is_held:
                counts["executing"] += 1
            elif entry.run_id in wanted or self._goes_on(entry):
                counts["waiting"] += 1
        return counts

    def _goes_on(self, entry: Entry) -> bool:
        """Whether something is still to come for a run that nobody executes; asks for it where that is on us."""
        outcome = self._outcome(entry.run_id)
        if outcome is not None and "error" in outcome:
            outcome = self._taken(entry, outcome["error"])
        if entry.trouble or entry.is_unchanged or entry.state in states.TERMINAL:
            return False
        if self._clock() < entry.not_before:
            return True
        if outcome == INTERRUPTED:
            is_opening = self._opens and entry.state in (states.READY_FOR_PR, states.PR_OPENED)
            self._ask(entry, "finish_open_pr" if is_opening else "drive")
        elif self._opens and entry.state == states.READY_FOR_PR:
            self._ask(entry, "open_pr")
        elif entry.state not in states.RESTING:
            entry.trouble = _paused(self._service, entry.run_id)
            return False
        else:
            return False
        return True

    def _taken(self, entry: Entry, error: Mapping[str, Any]) -> dict[str, Any] | None:
        """A request that failed means trouble, unless that passes or means no harm; what it is taken for then."""
        details = error["details"]
        if details.get("reason") == "busy" or details.get("state") in (states.PR_OPENED, states.DONE):
            return INTERRUPTED  # somebody else has asked for the same
        if details.get("reason") == "no_changes":
            entry.is_unchanged = True
        elif details.get("code") == _LIMITED and details.get("retry_after_s", _LONGEST_LIMIT) < _LONGEST_LIMIT:
            entry.not_before = self._clock() + details["retry_after_s"]
            self.limit = f"the forge wants to be asked again after {details.get('retry_at', 'a while')}"
        else:
            entry.trouble = f"{error['code']}: {error['message']}"
        return None

    def _ask(self, entry: Entry, kind: str) -> None:
        self._asked[entry.run_id] = self._service.engine.ask(kind, entry.run_id)

    def _outcome(self, run_id: str) -> dict[str, Any] | None:
        request = self._asked.pop(run_id, None)
        found = self._service.store.request(request) if request else None
        return None if found is None else found.outcome


def _failed(service: "RunService", run_id: str) -> str:
    """Why a run cannot be carried on."""
    failure = service.run(run_id).failure
    return f"{failure['code']}: {failure['message']}" if failure else ""


def _paused(service: "RunService", run_id: str) -> str:
    """Why a run waits for somebody to go on with it."""
    told = service.pause(run_id)
    why = f": {told['code']} {told['message']}" if told else ""
    return f"it was interrupted{why}"
