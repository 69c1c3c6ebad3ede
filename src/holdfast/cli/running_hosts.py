"""Which running host a command is about: by name, by process id, by the directory one is in, or the only one."""

import os
from collections.abc import Sequence
from typing import Any

from holdfast.cli.groups import meant
from holdfast.errors import UsageError
from holdfast.host.records import HostRecord, list_hosts
from holdfast.present.bounds import clean_line, truncate_chars
from holdfast.settings import Settings, load_configuration

__all__ = ["choose", "known_hosts", "label"]

_SHOWN = 10


def known_hosts(options: dict[str, Any]) -> tuple[Settings, list[HostRecord]]:
    """The settings that the options give, and every host that has a record there."""
    settings = load_configuration(options).settings
    return settings, list_hosts(settings)


def label(record: HostRecord) -> str:
    """A host in a sentence."""
    return f"{truncate_chars(clean_line(record.name), 80)} (pid {record.pid})"


def choose(hosts: Sequence[HostRecord], wanted: str | None, *, dead_too: bool = False) -> HostRecord:
    """The one host that is meant; UsageError lists what there is when that cannot be told."""
    living = [host for host in hosts if host.alive]
    if wanted is None:
        return _unnamed(living, [host for host in hosts if dead_too and not host.alive])
    found = _matching(living, wanted)
    if not found and (dead := _matching(hosts, wanted)):
        if dead_too:
            return dead[-1]
        raise UsageError(
            f"the host {label(dead[-1])} is dead", remedy=f"to clean up what it left: holdfast stop {wanted}"
        )
    if not found:
        text = f"there is no running host {wanted!r}{meant(wanted, [host.name for host in living])}"
        raise UsageError(text, remedy=_one_of(living))
    return found[0] if len(found) == 1 else _in_this_directory(found, f"{len(found)} hosts are called {wanted!r}")


def _matching(hosts: Sequence[HostRecord], wanted: str) -> list[HostRecord]:
    return [host for host in hosts if wanted in {str(host.pid), host.host}] or [
        host for host in hosts if host.name == wanted
    ]


def _unnamed(living: list[HostRecord], dead: list[HostRecord]) -> HostRecord:
    """The only one that runs; where none does, the only dead one whose leftovers could be meant."""
    candidates, are = (living, "are running") if living else (dead, "are dead")
    if not candidates:
        raise UsageError("no host is running", remedy="holdfast run -- COMMAND")
    if len(candidates) == 1:
        return candidates[0]
    return _in_this_directory(candidates, f"{len(candidates)} hosts {are}; which one?")


def _in_this_directory(candidates: list[HostRecord], complaint: str) -> HostRecord:
    here = [host for host in candidates if host.cwd == os.getcwd()]
    if len(here) != 1:
        raise UsageError(complaint, remedy=_one_of(candidates))
    return here[0]


def _one_of(hosts: Sequence[HostRecord]) -> str:
    if not hosts:
        return "holdfast ps"
    more = f" and {len(hosts) - _SHOWN} more (holdfast ps)" if len(hosts) > _SHOWN else ""
    return "one of: " + ", ".join(map(label, hosts[:_SHOWN])) + more
