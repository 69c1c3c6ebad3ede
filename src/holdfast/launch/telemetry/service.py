"""The telemetry service itself: it keeps records of runs and their events, and answers questions about them.

Independent of HTTP; `telemetry.http` puts it behind one. Everything that writes may be repeated: the first wins.
"""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from holdfast.errors import ToolError
from holdfast.launch.identifiers import stamp
from holdfast.launch.telemetry.checking import (
    amended,
    checked_commit,
    checked_event,
    checked_run,
    moment,
    question,
    refused,
)
from holdfast.launch.telemetry.ledger import Ledger
from holdfast.version import __version__

__all__ = ["TelemetryService"]

MOST_IN_A_BATCH = 1000
MOST_IN_A_PICTURE = 1000
LARGEST_PAGE = 8 * 1024 * 1024
_COLUMNS = ("run_id", "parent_run_id", "status", "job_type", "product")
_FILTERS = frozenset({*_COLUMNS, "since", "until"})
_MOST_NAMES = 200  # of each kind, in metadata and metrics: data must not make them grow for ever


class TelemetryService:
    """The records in one file; safe to use from several threads."""

    def __init__(self, path: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._ledger = Ledger(path)
        self._now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._ledger.close()

    # --- records ---------------------------------------------------------------------------------------------

    def add_run(self, record: Any) -> tuple[dict[str, Any], bool]:
        """Keep a record; whether it is new. One that is known by its event_id stays as it is."""
        checked = checked_run(record)
        with self._ledger.writing() as connection:
            return self._insert(connection, checked)

    def add_batch(self, records: Any) -> dict[str, Any]:
        """Keep what can be kept, and say for each record what became of it."""
        results: list[dict[str, Any]] = []
        for index, record in enumerate(_batch(records)):
            try:
                kept, is_new = self.add_run(record)
                results.append({"index": index, "event_id": kept["event_id"], "status": _word(is_new)})
            except ToolError as error:
                if error.code != "INVALID_INPUT":
                    raise  # the file, and not this record
                told = {"code": error.code, "message": error.message, "details": error.details}
                results.append({"index": index, "event_id": _event_id(record), "status": "failed", "error": told})
        return _counted(results)

    def add_batch_as_one(self, records: Any) -> dict[str, Any]:
        """Keep all of the records, or none of them."""
        problems: list[dict[str, Any]] = []
        checked: list[dict[str, Any]] = []
        for index, record in enumerate(_batch(records)):
            try:
                checked.append(checked_run(record, f"/runs/{index}"))
            except ToolError as error:
                problems += error.details["violations"]
        if problems:
            raise refused(problems[:50], "the batch")
        with self._ledger.writing() as connection:
            kept = [self._insert(connection, record) for record in checked]
        return _counted(
            [
                {"index": index, "event_id": record["event_id"], "status": _word(is_new)}
                for index, (record, is_new) in enumerate(kept)
            ]
        )

    def change_run(self, event_id: str, changes: Any) -> dict[str, Any]:
        """Change a record; metrics and context are added to, everything else is replaced."""
        return self._rewritten(event_id, lambda record: amended(record, changes))

    def associate_commit(self, event_id: str, commit: Any) -> dict[str, Any]:
        """Say which commit a record led to; the same one may be said again, another one is KEY_CONFLICT."""
        return self._rewritten(event_id, lambda record: checked_commit(record, commit))

    def runs(self, query: Mapping[str, str]) -> dict[str, Any]:
        """One page of records, the newest first. `next_offset` leads on, and is null on the last page."""
        chosen, limit, offset = question(query, _FILTERS)
        terms = [f"{name} = :{name}" for name in _COLUMNS if name in chosen]
        terms += ["started >= :since"] if "since" in chosen else []
        terms += ["started < :until"] if "until" in chosen else []
        where = " AND ".join(terms) or "TRUE"
        select = f"SELECT * FROM runs WHERE {where} ORDER BY started DESC, event_id LIMIT :limit OFFSET :offset"  # noqa: S608 - names are ours
        with self._ledger.reading() as connection:
            rows = _rows(connection, select, {**chosen, "limit": limit + 1, "offset": offset})
            return _page("runs", map(_record, rows), limit, offset)

    def run(self, run_id: str) -> dict[str, Any]:
        """The record of this run; the first one, where several go by that id."""
        with self._ledger.reading() as connection:
            return self._first(connection, run_id)

    def picture(self, run_id: str) -> dict[str, Any] | None:
        """A run with its children and its events; None where nobody knows it."""
        with self._ledger.reading() as connection:
            try:
                run = self._first(connection, run_id)
            except ToolError:
                return None
            children = "SELECT * FROM runs WHERE parent_run_id = :id ORDER BY started, event_id LIMIT :most"
            named: dict[str, Any] = {"id": run_id, "most": MOST_IN_A_PICTURE + 1}
            of_run = _page("children", map(_record, _rows(connection, children, named)), MOST_IN_A_PICTURE, 0)
            events = "SELECT * FROM events WHERE run_id = :id ORDER BY seq, event_id LIMIT :most"
            told = _page("events", map(_document, _rows(connection, events, named)), MOST_IN_A_PICTURE, 0)
        is_whole = of_run["next_offset"] is None and told["next_offset"] is None
        return {"run": run, "children": of_run["children"], "events": told["events"], "is_complete": is_whole}

    # --- events ----------------------------------------------------------------------------------------------

    def add_event(self, run_id: str, event: Any) -> tuple[dict[str, Any], bool]:
        """Keep an event of a known run; whether it is new."""
        checked = checked_event(run_id, event)
        with self._ledger.writing() as connection:
            self._first(connection, run_id)
            found = _rows(connection, "SELECT * FROM events WHERE event_id = :id", {"id": checked["event_id"]})
            known = next(map(_document, found), None)
            if known is not None:
                return known, False
            names = ("event_id", "run_id", "seq", "ts", "type", "trace_id", "span_id")
            values = [*(checked[name] for name in names), _text(checked)]
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        return checked, True

    def events(self, run_id: str, query: Mapping[str, str]) -> dict[str, Any]:
        """One page of the events of a run, in their order."""
        chosen, limit, offset = question(query, frozenset({"type"}))
        of_type = "AND type = :type" if chosen else ""
        order = "ORDER BY seq, event_id LIMIT :limit OFFSET :offset"
        select = f"SELECT * FROM events WHERE run_id = :run_id {of_type} {order}"  # noqa: S608 - names are ours
        with self._ledger.reading() as connection:
            self._first(connection, run_id)
            rows = _rows(connection, select, {**chosen, "run_id": run_id, "limit": limit + 1, "offset": offset})
            return _page("events", map(_document, rows), limit, offset)

    # --- the whole -------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find out whether the file can be read; ToolError where it cannot."""
        with self._ledger.reading() as connection:
            connection.execute("SELECT 1 FROM runs LIMIT 1").fetchone()

    def metadata(self) -> dict[str, Any]:
        """Which names occur in the records, and how many records there are."""
        with self._ledger.reading() as connection:
            counts = {name: _count(connection, name) for name in ("runs", "events")}
            names = {name: _names(connection, name) for name in ("agent_name", "job_type", "status", "product")}
        return {
            "schema_version": "1.0",
            "version": __version__,
            "counts": counts,
            "agent_names": names["agent_name"],
            "job_types": names["job_type"],
            "statuses": names["status"],
            "products": names["product"],
        }

    def numbers(self) -> dict[str, Any]:
        """How many records there are of which kind, for metrics."""
        select = "SELECT job_type, status, count(*) AS n FROM runs GROUP BY 1, 2 ORDER BY 1, 2 LIMIT :most"
        with self._ledger.reading() as connection:
            rows = list(_rows(connection, select, {"most": _MOST_NAMES}))
            events = _count(connection, "events")
        return {"runs": [(row["job_type"], row["status"], row["n"]) for row in rows], "events": events}

    # --- inside ----------------------------------------------------------------------------------------------

    def _insert(self, connection: sqlite3.Connection, record: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        known = self._found(connection, record["event_id"])
        if known is not None:
            return known, False
        now = stamp(self._now())
        columns = (record["event_id"], *_values(record), now, now)
        marks = ", ".join("?" * len(columns))
        connection.execute(f"INSERT INTO runs VALUES ({marks})", columns)  # noqa: S608 - only marks
        return {**record, "created_at": now, "updated_at": now}, True

    def _rewritten(self, event_id: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        with self._ledger.writing() as connection:
            stored = self._found(connection, event_id)
            if stored is None:
                raise ToolError("NOT_FOUND", "there is no such record", details={"event_id": event_id[:200]})
            created, updated = stored.pop("created_at"), stored.pop("updated_at")
            changed = change(stored)
            if changed != stored:
                updated = stamp(self._now())
                connection.execute(
                    "UPDATE runs SET run_id = ?, parent_run_id = ?, status = ?, job_type = ?, agent_name = ?, "
                    "product = ?, started = ?, document = ?, updated_at = ? WHERE event_id = ?",
                    (*_values(changed), updated, event_id),
                )
        return {**changed, "created_at": created, "updated_at": updated}

    def _found(self, connection: sqlite3.Connection, event_id: str) -> dict[str, Any] | None:
        rows = _rows(connection, "SELECT * FROM runs WHERE event_id = :id", {"id": event_id})
        return next(map(_record, rows), None)

    def _first(self, connection: sqlite3.Connection, run_id: str) -> dict[str, Any]:
        select = "SELECT * FROM runs WHERE run_id = :id ORDER BY created_at, event_id LIMIT 1"
        found = next(map(_record, _rows(connection, select, {"id": run_id})), None)
        if found is None:
            raise ToolError("RUN_NOT_FOUND", "there is no record of this run", details={"run_id": run_id[:200]})
        return found


def _batch(given: Any) -> list[Any]:
    records = given.get("runs") if isinstance(given, dict) and set(given) == {"runs"} else None
    if not isinstance(records, list) or not 0 < len(records) <= MOST_IN_A_BATCH:
        problem = {"instancePath": "/runs", "keyword": "maxItems", "message": f"1 to {MOST_IN_A_BATCH} records"}
        raise refused([problem], "the batch")
    return records


def _counted(results: list[dict[str, Any]]) -> dict[str, Any]:
    words = [one["status"] for one in results]
    return {"results": results, **{word: words.count(word) for word in ("created", "existing", "failed")}}


def _word(is_new: bool) -> str:
    return "created" if is_new else "existing"


def _event_id(record: Any) -> str | None:
    found = record.get("event_id") if isinstance(record, dict) else None
    return found[:200] if isinstance(found, str) else None


def _values(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Every column between the key and the stamps."""
    names = ("run_id", "parent_run_id", "status", "job_type", "agent_name", "product")
    return (*(record.get(name) for name in names), moment(record["start_time"]), _text(record))


def _rows(connection: sqlite3.Connection, select: str, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    with contextlib.closing(connection.execute(select, dict(values))) as cursor:
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**_document(row), "created_at": row["created_at"], "updated_at": row["updated_at"]}


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(row["document"])
    return document


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _page(name: str, found: Iterator[dict[str, Any]], limit: int, offset: int) -> dict[str, Any]:
    """As many as fit: whoever reads it has a bound for an answer, too."""
    page: list[dict[str, Any]] = []
    size = 0
    is_last = True
    for one in found:
        size += len(_text(one))
        if len(page) == limit or (page and size > LARGEST_PAGE):
            is_last = False
            break
        page.append(one)
    following = None if is_last else offset + len(page)
    return {name: page, "limit": limit, "offset": offset, "next_offset": following}


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - a name of ours


def _names(connection: sqlite3.Connection, column: str) -> list[str]:
    select = f"SELECT DISTINCT {column} FROM runs WHERE {column} IS NOT NULL ORDER BY 1 LIMIT {_MOST_NAMES}"  # noqa: S608
    return [str(row[0]) for row in connection.execute(select)]
