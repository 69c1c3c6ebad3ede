"""The directory of running hosts: one record each, `<id>.json`, written whole or not at all, for this user alone.

A record outlives a host that is killed; what it says is then enough to clean up (see `reaper`). Records of other
machines and containers, which may share the directory, are nobody's business here and are not listed.
"""

import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.host.output_store import outputs_directory, remove_outputs
from holdfast.host.private_places import leave_directory, private_directory, records_directory, socket_path
from holdfast.host.process_identity import is_running, is_within_sight, machine_name, mark_of
from holdfast.process.command import MARKER
from holdfast.settings import Settings
from holdfast.version import __version__

__all__ = ["HostRecord", "Registration", "list_hosts", "remove_files"]

_MAX_BYTES = 1024 * 1024
_WORDS = ("host", "name", "started", "machine", "cwd", "socket", "version", "since")
_FILE_NAME = re.compile(r"[0-9a-f]{12}\.json")
# An empty token would be found in every environment; a strange one was not made by us.
_TOKEN = re.compile(r"[0-9A-Za-z_-]{8,64}")


@dataclass(frozen=True, slots=True)
class HostRecord:
    """One host, as it wrote itself down. `tokens` find what its workers started.

    `carried` are all tokens in its environment, which others may not read; those of outer hosts, too.
    """

    host: str
    name: str
    pid: int
    started: str
    machine: str
    command: tuple[str, ...]
    cwd: str
    socket: str
    tokens: tuple[str, ...]
    version: str
    since: str
    file: Path
    carried: tuple[str, ...] = ()

    @property
    def alive(self) -> bool:
        """Whether the host runs at this moment."""
        return is_running(self.pid, self.started)

    def as_json(self) -> dict[str, Any]:
        """The record as its file holds it."""
        fields = asdict(self)
        del fields["file"]
        return fields


class Registration:
    """The record of this process, from its start to its end. What cannot be written raises OSError."""

    def __init__(self, record: HostRecord) -> None:
        self.record = record

    @classmethod
    def create(
        cls, settings: Settings, name: str, command: Sequence[str], tokens: Iterable[str] = ()
    ) -> "Registration":
        """Write the record of this process; UsageError when its directory is not safe to use."""
        directory = records_directory(settings)
        private_directory(directory, create=True)
        identifier = secrets.token_hex(6)
        record = HostRecord(
            host=identifier,
            name=name,
            pid=os.getpid(),
            started=mark_of(os.getpid()),
            machine=machine_name(),
            command=tuple(command),
            cwd=os.getcwd(),
            socket=str(socket_path(settings, f"{identifier}.sock")),
            tokens=tuple(tokens),
            version=__version__,
            since=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            file=directory / f"{identifier}.json",
            carried=tuple(token for token in os.environ.get(MARKER, "").split(":") if token),
        )
        registration = cls(record)
        _write(record)
        return registration

    def update(self, *, tokens: Iterable[str]) -> None:
        """Write down the tokens of the present workers; to be done before they start."""
        changed = replace(self.record, tokens=tuple(tokens))
        _write(changed)
        self.record = changed

    def remove(self) -> None:
        """Take the record and the socket away; a second time does nothing."""
        remove_files(self.record)


def list_hosts(settings: Settings) -> list[HostRecord]:
    """The records of all hosts of this user here, the oldest first; also of those that died without a word."""
    directory = records_directory(settings)
    if not private_directory(directory, create=False):
        return []
    files = sorted(file for file in directory.iterdir() if _FILE_NAME.fullmatch(file.name))
    found = [record for file in files if (record := _read(file)) is not None]
    here = [record for record in found if is_within_sight(record.machine, record.started)]
    return sorted(here, key=lambda record: (record.since, record.pid))


def remove_files(record: HostRecord) -> None:
    """Delete the socket and what was kept of outputs, and then the record, so that nothing is left without it."""
    for token in record.tokens:
        remove_outputs(outputs_directory(record.file.parent, token))
    socket = Path(record.socket)
    if socket.name == f"{record.host}.sock":  # whatever a record says, nothing else is deleted
        with suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISSOCK(os.lstat(socket).st_mode):
                socket.unlink(missing_ok=True)
    record.file.unlink(missing_ok=True)
    leave_directory(socket)


def _write(record: HostRecord) -> None:
    draft = record.file.with_suffix(".draft")
    data = json.dumps(record.as_json(), indent=1).encode()
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
        draft.replace(record.file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _read(file: Path) -> HostRecord | None:
    """The record in a file; None when it is gone by now, or is none."""
    try:
        # Without waiting, should it be a named pipe.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as opened:
            data = json.loads(opened.read(_MAX_BYTES + 1))
    except (OSError, ValueError, RecursionError):
        return None
    return _checked(data, file)


def _checked(data: Any, file: Path) -> HostRecord | None:
    if not isinstance(data, dict) or data.get("host") != file.stem:
        return None
    words = {name: data.get(name) for name in _WORDS}
    if not all(isinstance(word, str) and "\0" not in word for word in words.values()):
        return None
    pid = data.get("pid")
    if type(pid) is not int or not 0 < pid < 2**31:
        return None
    command, tokens = _words(data.get("command")), _words(data.get("tokens"))
    safe = tuple(token for token in tokens if _TOKEN.fullmatch(token))
    carried = _words(data.get("carried"))
    return HostRecord(**words, pid=pid, command=command, tokens=safe, file=file, carried=carried)  # type: ignore[arg-type]


def _words(value: Any) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
