"""What Holdfast itself keeps: settings, its directories, the event logs, the hosts that run or died, an index."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.errors import SessionError, ToolError, UsageError
from holdfast.present.counted import counted
from holdfast.settings import SETTINGS, Settings, load_configuration
from holdfast.setup.checks import Check, Finding
from holdfast.setup.machine_checks import nearest_directory

__all__ = ["STATE_CHECKS"]

_ANSWER = 1.0  # seconds for a host to say how it is
_SHOWN = 5
_BLOCK = b"\0" * 4096


def _settings(_: Settings) -> Iterator[Finding]:
    configuration = load_configuration({})
    said = sum(1 for origin in configuration.origins.values() if origin != "default")
    where = f"{configuration.file} is in order" if configuration.file else "no configuration file"
    yield Finding("settings", "ok", f"{where}; {said} of {len(SETTINGS)} settings differ from their defaults")
    yield from _misspelled_variables()


def _misspelled_variables() -> Iterator[Finding]:
    import difflib

    known = [setting.env for setting in SETTINGS]
    for name in sorted(os.environ):
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.85) if name.startswith("HOLDFAST_") else []
        if close and name not in known:
            yield Finding("settings", "warn", f"the variable {name} means nothing", f"did you mean {close[0]}?")


def _state_directory(settings: Settings) -> Iterator[Finding]:
    from holdfast.host.private_places import private_directory, records_directory

    path = settings.state_path()
    yield _directory("state", path, is_private=True)
    private_directory(records_directory(settings), create=False)  # which says itself what is wrong with it


def _cache_directory(settings: Settings) -> Iterator[Finding]:
    yield _directory("cache", settings.cache_path(), is_private=False)


def _directory(check: str, path: Path, *, is_private: bool) -> Finding:
    if not os.path.lexists(path):
        above = nearest_directory(path)
        blocked = next((place for place in path.absolute().parents if os.path.lexists(place)), above)
        if not blocked.is_dir():
            remedy = "move it out of the way, or set another one"
            return Finding(check, "fail", f"{path} cannot be made: {blocked} is no directory", remedy)
        if not os.access(above, os.W_OK | os.X_OK):
            return Finding(check, "fail", f"{path} cannot be made", f"make {above} writable, or set another one")
        return Finding(check, "ok", f"{path} will be made when it is needed")
    _write_in(path)
    status = path.stat()
    loose = status.st_mode & (0o077 if is_private else 0o022)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return Finding(check, "warn", f"{path} belongs to another user", "choose one of your own")
    if loose:
        who = "written" if status.st_mode & 0o022 else "read"
        return Finding(
            check, "warn", f"{path} can be {who} by others", f"chmod {'700' if is_private else 'go-w'} {path}"
        )
    return Finding(check, "ok", f"{path} can be written" + (", by nobody else" if is_private else ""))


def _write_in(path: Path) -> None:
    """A file that is gone again at once, with enough in it to notice a full disk."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(_BLOCK)
    except NotADirectoryError:
        raise UsageError(f"{path} is not a directory", remedy="move it out of the way") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", remedy="check it and its disk") from error


def _event_logs(settings: Settings) -> Iterator[Finding]:
    if not settings.event_log:
        yield Finding("event log", "off", "switched off", "--event-log, or HOLDFAST_EVENT_LOG=on")
        return
    logs = sorted(settings.state_path().glob("*/events.jsonl"))
    locked = [log for log in logs if not log.is_file() or not os.access(log, os.W_OK)]
    for log in locked[:_SHOWN]:
        yield Finding("event log", "fail", f"{log} cannot be written", "check its permissions, or move it away")
    if not locked:
        yield Finding(
            "event log", "ok", f"{counted(len(logs), 'log')} written" if logs else "none was written yet"
        )


def _hosts(settings: Settings) -> Iterator[Finding]:
    from concurrent.futures import ThreadPoolExecutor

    from holdfast.host.records import list_hosts

    hosts = list_hosts(settings)
    dead = [host for host in hosts if not host.alive]
    for host in dead[:_SHOWN]:
        message = f"{host.name} (pid {host.pid}) died without cleaning up"
        yield Finding("hosts", "warn", message, f"holdfast stop {host.pid}")
    if len(dead) > _SHOWN:
        yield Finding("hosts", "warn", f"{len(dead) - _SHOWN} more died", "holdfast ps lists them")
    living = [host for host in hosts if host not in dead]
    with ThreadPoolExecutor(16) as pool:
        troubles = [finding for finding in pool.map(_health, living) if finding is not None]
    yield from troubles[:_SHOWN]
    if not troubles:
        yield Finding("hosts", "ok", f"{len(living)} running, all well" if living else "none is running")


def _health(host: Any) -> Finding | None:
    """What is wrong with a running host; None where nothing is."""
    from holdfast.host.remote import ask

    who = f"{host.name} (pid {host.pid})"
    try:
        health = ask(host, "status", _ANSWER)
    except SessionError as error:
        return Finding("hosts", "warn", str(error), f"holdfast stop {host.pid}") if host.alive else None
    state = health.get("state")
    if health.get("degraded") or state not in {"ready", "starting"}:
        words = "is degraded" if health.get("degraded") else f"is {state}"
        return Finding("hosts", "warn", f"{who} {words}", f"holdfast status {host.pid}")
    return None


def _index(settings: Settings) -> Iterator[Finding]:
    from holdfast.search.home import IndexHome
    from holdfast.search.repository import find_repository, index_home

    cache = settings.cache_path()
    try:
        repository = find_repository(None)
    except (ToolError, UsageError) as error:
        yield Finding("index", "off", str(error))
        return
    if IndexHome(index_home(repository, cache)).current() is None:
        message = f"{repository.root} has none; only the code search needs it"
        yield Finding("index", "off", message, "holdfast index build")
        return
    from holdfast.search.index_state import index_state

    state = index_state(repository, cache)
    if state.problem is not None:
        yield Finding("index", "fail", state.problem.message, state.problem.remedy)
    elif state.status is not None:
        changed = state.status["changedFiles"]
        words = (
            "the last update did not finish" if changed is None else f"{counted(changed, 'file')} changed since"
        )
        stale = changed is None or changed > 0
        remedy = "holdfast index build" if stale else ""
        yield Finding("index", "warn" if stale else "ok", words if stale else "up to date", remedy)


STATE_CHECKS: dict[str, Check] = {
    "settings": _settings,
    "state": _state_directory,
    "cache": _cache_directory,
    "event log": _event_logs,
    "hosts": _hosts,
    "index": _index,
}
