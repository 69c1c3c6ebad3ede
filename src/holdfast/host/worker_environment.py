"""The environment of workers: our own, or where they are not trusted some harmless names and what was allowed.

The list is that of the official SDKs of MCP, with language, time zone and the place for temporary files.
"""

import os
import sys
from collections.abc import Mapping, Sequence

from holdfast.errors import UsageError

__all__ = ["HARMLESS", "HOST_SECRETS", "worker_environment"]

HOST_SECRETS = ("HOLDFAST_HTTP_TOKEN",)  # which the host alone needs; no worker gets them
_POSIX = "HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
_WINDOWS = """APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE
SYSTEMROOT TEMP TMP USERNAME USERPROFILE"""
HARMLESS = frozenset(_WINDOWS.split() if sys.platform == "win32" else _POSIX.split())
_LOCALE = "LC_"
_FUNCTION = "()"  # how a value begins that old shells execute


def worker_environment(
    given: Sequence[str], *, untrusted: bool, environ: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """What workers get besides NAME and NAME=VALUE in `given`; None for all that we have ourselves.

    UsageError for a word that is neither, and for a NAME that is not set.
    """
    ours = {name: value for name, value in (environ or os.environ).items() if name not in HOST_SECRETS}
    allowed = dict(_variable(word, ours) for word in given)
    if not untrusted:
        return {**ours, **allowed} if allowed else None
    harmless = {name: value for name, value in ours.items() if _is_harmless(name, value)}
    return {**harmless, **allowed}


def _is_harmless(name: str, value: str) -> bool:
    return (name in HARMLESS or name.startswith(_LOCALE)) and not value.startswith(_FUNCTION)


def _variable(word: str, ours: Mapping[str, str]) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not word.isprintable() or " " in name:
        raise UsageError(f"--env: {name!r} is not the name of a variable", remedy="write NAME or NAME=VALUE")
    if equals:
        return name, value
    if name not in ours:
        raise UsageError(f"--env: {name} is not set", remedy=f"set it, or write {name}=VALUE")
    return name, ours[name]
