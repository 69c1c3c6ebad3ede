"""What clients are told about us: entries whose program is gone, and a skill that leads nowhere."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.settings import Settings
from holdfast.setup.checks import Check, Finding
from holdfast.setup.client_places import CLIENTS, Client, Scope
from holdfast.setup.config_file import read_config
from holdfast.setup.our_command import served_by
from holdfast.setup.text_refused import TextRefused

__all__ = ["CLIENT_CHECKS"]


def _clients(_: Settings) -> Iterator[Finding]:
    seen: set[Path] = set()
    findings: list[Finding] = []
    for client in CLIENTS.values():
        for scope in client.files:
            path = client.file(scope)
            if path not in seen:
                seen.add(path)
                findings += _entries(client, scope, path)
    yield from findings
    if not findings:
        remedy = "holdfast install TARGET --client NAME"
        yield Finding("clients", "off", "no configuration of a client mentions holdfast", remedy)


def _entries(client: Client, scope: Scope, path: Path) -> Iterator[Finding]:
    try:
        file = read_config(path, Path.cwd() if scope == "project" else None)
        if file.data is None:
            return
        servers = client.read(file.text).servers
    except UsageError as error:
        yield Finding("clients", "warn", error.message, error.remedy)
        return
    except TextRefused as refusal:
        text = f"{path} {refusal.reason}, so {client.title} cannot read it either"
        yield Finding("clients", "warn", text, "correct it by hand")
        return
    for name, entry in servers.items():
        served = served_by(entry)
        if served is None:
            continue
        missing = _missing(entry)
        where = f"{client.title}: {name} in {path}"
        if missing:
            undo = f"holdfast install --client {client.key} --scope {scope} --name {name} --undo"
            remedy = f"install it again, or: {undo}"
            yield Finding("clients", "fail", f"{where} starts {missing}, which is not there", remedy)
        else:
            yield Finding("clients", "ok", f"{where} starts {entry['command']}")


def _missing(entry: dict[str, Any]) -> str:
    """The program, or the file that it serves, where that is gone; what a client fills in cannot be told."""
    command = entry["command"]
    if "${" not in command and shutil.which(command) is None:
        return str(command)
    words = [word.rpartition(":")[0] or word if ".py:" in word else word for word in entry.get("args", [])[:4]]
    files = [word for word in words if os.path.isabs(word) and word.endswith(".py")]
    return next((file for file in files if not os.path.isfile(file)), "")


def _skill(_: Settings) -> Iterator[Finding]:
    from holdfast.setup.skill import NAME, default_directories, problem_at

    try:
        places = [directory / NAME for directory in default_directories()]
    except UsageError as error:
        yield Finding("skill", "off", error.message)
        return
    there = [place for place in places if os.path.lexists(place)]
    for place in there:
        problem = problem_at(place)
        if problem is None:
            yield Finding("skill", "ok", f"{place} is installed")
        else:
            yield Finding("skill", "warn", problem.message, problem.remedy)
    if not there:
        yield Finding(
            "skill", "off", "not installed; it teaches an agent to write servers", "holdfast skill install"
        )


CLIENT_CHECKS: dict[str, Check] = {"clients": _clients, "skill": _skill}
