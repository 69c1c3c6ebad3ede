"""What is changed in a client's configuration: an entry that starts a server behind the host, put in or taken out.

A change is worked out first, can be looked at, and is then carried out or not. Taking out concerns entries of ours
alone, recognised by their command; nothing else in the file is ever removed.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from holdfast.errors import UsageError
from holdfast.setup.client_places import Client, Document
from holdfast.setup.config_file import ConfigFile, Written, read_config, replace_config
from holdfast.setup.our_command import Served, served_by
from holdfast.setup.text_refused import TextRefused

__all__ = ["Change", "NotEdited", "carry_out", "check_name", "plan_install", "plan_undo"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every one of the clients takes
_KEYS = frozenset({"type", "command", "args", "env"})  # all that we ever write into an entry


class NotEdited(UsageError):  # noqa: N818 - it names what happened
    """A file that is not touched; `block` is what a person may paste into it, if anything."""

    def __init__(self, message: str, remedy: str, block: str) -> None:
        super().__init__(message, remedy=remedy)
        self.block = block


@dataclass(frozen=True, slots=True)
class Change:
    """What would be done to a file. `after` is its new content, None where it is removed or stays as it is.

    `edited` says in which way an entry that is to be taken out is not what we wrote.
    """

    file: ConfigFile
    name: str
    action: Literal["add", "update", "remove", "none"]
    entry: dict[str, Any]
    after: bytes | None = None
    edited: str = ""
    drops_backup: bool = False

    @property
    def removes_file(self) -> bool:
        """Whether the file goes, because only we had made it and nothing else is in it."""
        return self.action == "remove" and self.after is None


def check_name(name: str) -> str:
    """The name of a server, where every client takes it; UsageError otherwise."""
    if not _NAME.fullmatch(name):
        remedy = f"--name {re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-')[:64] or 'server'}"
        raise UsageError(f"{name!r} is no name that every client takes: letters, digits, - and _", remedy=remedy)
    return name


def plan_install(
    client: Client,
    path: Path,
    name: str,
    entry: dict[str, Any],
    *,
    force: bool = False,
    project: Path | None = None,
) -> Change:
    """Put an entry in; one of ours that serves the same is brought up to date, another one needs `force`.

    `project` is the directory that the file is in, if it is one of a project.
    """
    file = read_config(path, project)
    with _told(file):
        document = client.read(file.text)
    known = document.servers.get(name)
    if known == entry:
        return Change(file, name, "none", entry)
    with _told(file, document, name, entry):
        if known is None and name not in document.servers:
            return Change(file, name, "add", entry, file.encoded(document.put(name, entry).text))
        if served_by(known) == served_by(entry):
            edited = document.update(name, _with_their_variables(known, entry))  # what somebody added to it stays
            action: Literal["update", "none"] = "none" if edited.text == document.text else "update"
            return Change(file, name, action, edited.servers[name], file.encoded(edited.text))
        if force:
            return Change(file, name, "update", entry, file.encoded(document.put(name, entry).text))
    raise UsageError(
        f"{path} has another server of the name {name}: {_described(known)}",
        remedy=f"--name {name[:60]}-2 puts this one beside it, --force in its place",
    )


def _with_their_variables(known: Any, entry: dict[str, Any]) -> dict[str, Any]:
    theirs = known.get("env")
    if "env" not in entry or not isinstance(theirs, dict):
        return entry
    return {**entry, "env": {**theirs, **entry["env"]}}


def plan_undo(
    client: Client, path: Path, name: str, wanted: Served | None, *, project: Path | None = None
) -> Change:
    """Take the entry of this name out, if it is ours; `wanted` is what it should serve, where that was said."""
    file = read_config(path, project)
    with _told(file):
        document = client.read(file.text)
    if name not in document.servers:
        return Change(file, name, "none", {})
    entry = document.servers[name]
    served = served_by(entry)
    if served is None:
        raise UsageError(
            f"{name} in {path} was not written by `holdfast install`: {_described(entry)}",
            remedy="remove it by hand, if it is to go",
        )
    edited = _edits(entry, served, wanted)
    if _is_untouched(client, file, document, name):
        return Change(file, name, "remove", entry, read_config(file.backup).data, edited, drops_backup=True)
    with _told(file):
        left = document.drop(name)
    is_ours = left.is_bare and not file.backup.exists()
    return Change(file, name, "remove", entry, None if is_ours else file.encoded(left.text), edited)


def carry_out(change: Change) -> Written:
    """Write the file, or remove it; UsageError, and everything as it was, where that is not possible."""
    written = replace_config(change.file, change.after, keep_copy=change.action != "remove")
    if change.drops_backup:
        change.file.backup.unlink(missing_ok=True)
    return written


@contextlib.contextmanager
def _told(
    file: ConfigFile, document: Document | None = None, name: str = "", entry: dict[str, Any] | None = None
) -> Iterator[None]:
    """What is wrong with a text, with the name of its file in front and the entry to paste, if there is one."""
    try:
        yield
    except TextRefused as refusal:
        block = "" if document is None or entry is None else document.block(name, entry)
        raise NotEdited(f"{file.path} {refusal.reason}", refusal.remedy, block) from refusal


def _edits(entry: dict[str, Any], served: Served, wanted: Served | None) -> str:
    """In which way an entry of ours is not what we wrote; empty where it is."""
    if wanted is not None and wanted != served:
        return f"it serves {served}, not {wanted}"
    added = sorted(entry.keys() - _KEYS)
    return f"somebody added {', '.join(added)} to it" if added else ""


def _is_untouched(client: Client, file: ConfigFile, document: Document, name: str) -> bool:
    """Whether the file is what our entry made of the copy, so that the copy is what it was before."""
    try:
        copy = read_config(file.backup)
        if copy.data is None or file.data is None:
            return False
        made = client.read(copy.text).put(name, document.servers[name])
    except (TextRefused, UsageError, AssertionError):  # the last: a value that we never write
        return False
    return copy.encoded(made.text) == file.data


def _described(entry: Any) -> str:
    if isinstance(entry, dict):
        words = [entry.get("command") or entry.get("url") or "", *(entry.get("args") or [])]
        text = " ".join(str(word) for word in words if word)
        if text:
            return text if len(text) <= 80 else text[:79] + "…"
    return "something that is no command"
