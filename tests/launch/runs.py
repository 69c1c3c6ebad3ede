"""One real run of a small library, and workspaces that are copies of it in whatever state a test needs.

The run is made once. A test takes a copy of its workspace and writes the state that it wants to meet straight into
the database, as nothing else may; then it talks to the nine tools over MCP.
"""

import asyncio
import contextlib
import functools
import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import jsonschema_rs
from tests.launch.products import git, make_product, make_site, run_config

from holdfast.launch import calls, states
from holdfast.launch.documents import encode, sha256
from holdfast.launch.issues import issue
from holdfast.launch.service import RunService
from holdfast.launch.store.objects import ObjectStore, address_of
from holdfast.launch.store.records import Event
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.token_grants import TokenGrants
from holdfast.launch.tools import server
from holdfast.launch.workspace import Workspace
from holdfast.settings import Settings
from holdfast.testing import CallResult, ScriptedClient, connect

__all__ = [
    "BOUND",
    "GONE",
    "MUTATING",
    "PAGE",
    "READING",
    "TOOLS",
    "UNKNOWN",
    "Launched",
    "Mended",
    "Place",
    "Published",
    "answered",
    "described",
    "error_of",
    "launched",
    "mended",
    "misfits",
    "published",
    "refused",
    "succeeded",
    "until",
]

BOUND = 50.0
SECTIONS = ["products", "kb"]  # three pages: enough for every gate to have something to look at
PAGE = "content/kb/tablekit/limitations.md"
UNKNOWN = "r_2026-01-21T10-00-00Z_00000000"
GONE = "http://127.0.0.1:9"  # nobody listens at the port that throws everything away

READING = ("launch_get_status", "launch_get_artifact", "launch_list_runs")
MUTATING = ("launch_validate", "launch_fix_next", "launch_resume", "launch_open_pr")
TOOLS = ("launch_start_run", *READING, *MUTATING, "launch_cancel")

_PAUSE = threading.Event()  # that never comes
_TABLES = ("runs", "events", "artifacts", "work_items", "issues", "requests", "outbox", "idempotency")


@dataclass(frozen=True)
class Mended:
    """A run with a dead link on a page, which the gates have found and a fix has mended."""

    place: "Place"
    dead_link: dict[str, Any]
    validated: dict[str, Any]
    fixed: dict[str, Any]


@dataclass(frozen=True)
class Published:
    """A run with a pull request on a bare repository."""

    place: "Place"
    remote: Path
    answer: dict[str, Any]
    records: list[dict[str, Any]]


@dataclass(frozen=True)
class Launched:
    """The run that the others are copies of: it is ready for its pull request."""

    folder: Path
    run_id: str
    config: dict[str, Any]
    key: str

    @property
    def site(self) -> Path:
        """The repository of the site."""
        return self.folder / "site"

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.folder / "workspace"


def launched(folder: Path) -> Launched:
    """Make the run, from its start until it is ready."""
    product, site = folder / "product", folder / "site"
    shas = make_product(product), make_site(site)
    config = run_config(product, shas[0], site, shas[1], required_sections=SECTIONS)
    with RunService(_workspace(folder / "workspace")) as service:
        run, is_new = service.start(config, "the first", drive=False)
        assert is_new
        done = service.engine.perform("drive", run.run_id)
        assert done == {"state": "READY_FOR_PR"}, service.run(run.run_id).failure
        assert service.flush_telemetry(BOUND)
    return Launched(folder, run.run_id, config, "the first")


def _workspace(root: Path) -> Workspace:
    grants = TokenGrants("LAUNCH_TOKEN=127.0.0.1")  # tests have their services on this machine
    return Workspace(root, f"sqlite:///{root / 'runs.sqlite'}", grants=grants)


class Place:
    """A copy of the workspace, which this process can serve; one at a time."""

    serving: ClassVar["Place | None"] = None

    def __init__(self, origin: Launched, folder: Path) -> None:
        self.origin = origin
        self.run_id = origin.run_id
        self.workspace = _workspace(folder / "workspace")
        self.root = self.workspace.root
        shutil.copytree(origin.root, self.root, copy_function=_copied, symlinks=True)
        shutil.copy(self.root / "runs.sqlite", folder / "pristine.sqlite")
        self._pristine = folder / "pristine.sqlite"

    @property
    def run_folder(self) -> Path:
        """What the run keeps outside of the database."""
        return self.workspace.run(self.run_id)

    @property
    def work_tree(self) -> Path:
        """The site with the pages of the run."""
        return self.run_folder / "work" / "site"

    @property
    def service(self) -> RunService:
        """The service that the tools use."""
        return calls.service()

    def serve(self, **settings: Any) -> None:
        """From now on the tools of this process serve this workspace."""
        if Place.serving is not self:
            Place.stop()
            own = {"launch_dir": self.root, "launch_tokens": "LAUNCH_TOKEN=127.0.0.1", **settings}
            calls.configure(replace(Settings(), **own))
            Place.serving = self

    @staticmethod
    def stop() -> None:
        """Serve nothing any more."""
        calls.close()
        Place.serving = None

    # --- what only a test does -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def database(self) -> Iterator[sqlite3.Connection]:
        """The tables themselves."""
        with contextlib.closing(sqlite3.connect(self.root / "runs.sqlite", timeout=20)) as connection, connection:
            yield connection

    def reset(self) -> None:
        """Everything in the database as the run has left it."""
        with self.database() as connection:
            connection.execute("ATTACH ? AS pristine", (str(self._pristine),))
            for table in _TABLES:
                connection.execute(f"DELETE FROM launch_{table}")
                connection.execute(f"INSERT INTO launch_{table} SELECT * FROM pristine.launch_{table}")

    def put_in(self, state: str, **columns: Any) -> None:
        """The run is in this state now, whatever led there."""
        over = "2026-01-21T10:00:00.000000Z" if state in states.TERMINAL else None
        columns = {"state": state, "finished_at": over, **columns}
        assigned = ", ".join(f"{name} = ?" for name in columns)
        with self.database() as connection:
            connection.execute(f"UPDATE launch_runs SET {assigned}", tuple(columns.values()))

    def reconfigure(self, **changes: Any) -> None:
        """Another configuration, as if the run had begun with it."""
        config = {**self.config(), **changes}
        with self.database() as connection:
            connection.execute("UPDATE launch_runs SET config = ?", (json.dumps(config),))

    def keep(self, name: str, content: bytes, schema: str = "text") -> None:
        """Put an artifact into the run."""
        digest = ObjectStore(self.workspace.objects).put(content)
        row = (self.run_id, name, address_of(digest), digest, schema, "test", len(content), 1, "e", "t")
        with self.database() as connection:
            connection.execute("DELETE FROM launch_artifacts WHERE name = ?", (name,))
            connection.execute(f"INSERT INTO launch_artifacts VALUES ({', '.join('?' * len(row))})", row)

    def spoil(self, name: str) -> None:
        """Change the file of an artifact behind the back of the store."""
        path = ObjectStore(self.workspace.objects).path_of(self.digests()[name])
        content = path.read_bytes()
        path.unlink()  # the file is shared with the other copies
        path.write_bytes(content + b" ")

    def keep_report(self, *found: Mapping[str, Any]) -> None:
        """A last validation that has found these issues."""
        report = {**self.document("validation_report.json"), "ok": not found, "issues": list(found)}
        report |= {"error_code": "GATE_FAILED"} if found else {}
        self.keep("validation_report.json", encode("validation_report", report), "validation_report")

    def edit_by_hand(self, path: str = PAGE, text: str = "\nA line of somebody else.\n") -> dict[str, Any]:
        """Edit a page behind the back of the run; the issue that the gates open for it."""
        with (self.work_tree / path).open("a") as page:
            page.write(text)
        return issue(
            "policy", "MANUAL_EDITS_NOT_ALLOWED", "blocker", "The file was edited by hand.", path=path,
            anchor="edited by hand", fix_rule="restore_file", data={"path": path},
        )  # fmt: skip

    def bare_site(self) -> Path:
        """A bare copy of the site, to which the run publishes from now on."""
        remote = self.root.parent / "site.git"
        git(self.root, "clone", "--quiet", "--bare", str(self.origin.site), str(remote))
        self.reconfigure(site_repo_url=str(remote))
        return remote

    # --- looking ---------------------------------------------------------------------------------------------

    def row(self) -> dict[str, Any]:
        """The run as the database has it, without who holds it."""
        with self.database() as connection:
            connection.row_factory = sqlite3.Row
            row = dict(connection.execute("SELECT * FROM launch_runs WHERE run_id = ?", (self.run_id,)).fetchone())
        del row["token"]
        return row

    def state(self) -> str:
        """The state of the run."""
        return str(self.row()["state"])

    def config(self) -> dict[str, Any]:
        """The configuration of the run."""
        config: dict[str, Any] = json.loads(self.row()["config"])
        return config

    def events(self, *, after: int = 0) -> list[Event]:
        """Everything that has happened in the run."""
        with contextlib.closing(RunStore(self.workspace.store_url)) as store:
            return store.events(self.run_id, after=after)

    def new_events(self) -> list[Event]:
        """What has happened since the run was made."""
        with contextlib.closing(sqlite3.connect(self._pristine)) as connection:
            last = connection.execute("SELECT max(seq) FROM launch_events").fetchone()[0]
        return self.events(after=last)

    def digests(self) -> dict[str, str]:
        """The artifacts of the run, by name."""
        with self.database() as connection:
            rows = connection.execute("SELECT name, sha256 FROM launch_artifacts WHERE run_id = ?", (self.run_id,))
            return dict(rows.fetchall())

    def document(self, name: str) -> Any:
        """A JSON artifact."""
        return json.loads(ObjectStore(self.workspace.objects).read(self.digests()[name]))

    def picture(self) -> str:
        """All that must be as before after a refusal: the run, its events, and what it keeps."""
        with self.database() as connection:
            tables = {name: connection.execute(f"SELECT * FROM launch_{name}").fetchall() for name in _TABLES[1:5]}
        return sha256(repr((self.row(), tables)).encode())

    def requests(self) -> int:
        """How much was ever asked of the engine here."""
        with self.database() as connection:
            return int(connection.execute("SELECT count(*) FROM launch_requests").fetchone()[0])

    def records(self) -> list[dict[str, Any]]:
        """What telemetry was told about this workspace, once it was delivered."""
        self.serve()
        assert self.service.flush_telemetry(BOUND)
        path = self.workspace.services / "telemetry.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT document FROM runs ORDER BY started, event_id").fetchall()
        return [json.loads(row[0]) for row in rows]

    # --- calling ---------------------------------------------------------------------------------------------

    def call(self, tool: str, /, **arguments: Any) -> CallResult:
        """One call by a client of its own, until its end."""

        async def ask() -> CallResult:
            async with connect(server) as client:
                return await answered(client, client.start_call(tool, arguments))

        result = asyncio.run(ask())
        if not result.is_error:
            assert misfits(tool, result.payload) == []
        return result

    def run_call(self, tool: str) -> CallResult:
        """One call of a tool that takes nothing but a run."""
        return self.call(tool, run_id=self.run_id)


def mended(origin: Launched, folder: Path) -> Mended:
    """Break a page by hand, where that is allowed, validate and fix it."""
    place = Place(origin, folder)
    place.serve()
    place.reconfigure(allow_manual_edits=True, max_fix_attempts=1)
    place.edit_by_hand(PAGE, "\nSee [the guide](/nowhere/at/all/).\n")
    validated = succeeded(place.run_call("launch_validate"))
    assert place.state() == "VALIDATING"
    fixed = succeeded(place.run_call("launch_fix_next"))
    Place.stop()
    (dead,) = [one for one in validated["validation_report"]["issues"] if one["gate"] == "internal_links"]
    return Mended(place, dead, validated, fixed)


def published(origin: Launched, folder: Path) -> Published:
    """Open the pull request of a run."""
    place = Place(origin, folder)
    place.serve()
    remote = place.bare_site()
    answer = succeeded(place.run_call("launch_open_pr"))
    records = place.records()
    Place.stop()
    return Published(place, remote, answer, records)


@functools.cache
def described() -> dict[str, dict[str, Any]]:
    """The tools as a client is told of them, by name."""

    async def ask() -> dict[str, Any]:
        async with connect(server) as client:
            return await client.request("tools/list")

    return {tool["name"]: tool for tool in asyncio.run(ask())["result"]["tools"]}


def misfits(tool: str, payload: Any) -> list[str]:
    """How an answer differs from what the tool publishes that it answers."""
    validator = jsonschema_rs.Draft202012Validator(described()[tool]["outputSchema"])
    return [error.message for error in validator.iter_errors(payload)]


async def answered(client: ScriptedClient, number: int) -> CallResult:
    """The end of a call, which may take as long as a validation does on a busy machine."""
    message = await client.wait_for(
        lambda message: "method" not in message and message["id"] == number, BOUND, f"an answer to {number}"
    )
    return CallResult(message)


def succeeded(result: CallResult) -> dict[str, Any]:
    """The answer of a call that has to succeed."""
    assert not result.is_error, result.text
    payload: dict[str, Any] = result.payload
    assert payload["ok"] is True
    return payload


def refused(result: CallResult) -> dict[str, Any]:
    """The answer of a call that has to fail, which has exactly the shape of all failures."""
    assert result.error is None, result.error
    assert result.is_error, result.text
    assert "structuredContent" not in result.message["result"]
    told: dict[str, Any] = json.loads(result.text)
    assert set(told) - {"run_id"} == {"ok", "error"}
    assert told["ok"] is False
    assert set(told["error"]) == {"code", "message", "retryable", "details"}
    assert isinstance(told["error"]["retryable"], bool)
    assert isinstance(told["error"]["details"], dict)
    assert 0 < len(told["error"]["message"]) < 1000
    return told


def error_of(result: CallResult) -> dict[str, Any]:
    """The error of a call that has to fail."""
    error: dict[str, Any] = refused(result)["error"]
    return error


def until(wanted: Callable[[], Any], bound: float = BOUND, what: str = "it", every: float = 0.02) -> Any:
    """What is wanted, as soon as there is some of it; `every` is the time between two looks."""
    end = time.monotonic() + bound
    while not (found := wanted()):
        assert time.monotonic() < end, f"{what} did not happen within {bound:g} s"
        _PAUSE.wait(every)
    return found


def _copied(source: str, target: str) -> None:
    """Objects never change, so that copies share them."""
    if "/objects/" in source and "/work/" not in source:
        os.link(source, target)
    else:
        shutil.copy2(source, target)
