"""Platforms and processors as clients name them, which is how Node does: linux-x64, darwin-arm64."""

import platform as running
import sys
from dataclasses import dataclass

from holdfast.errors import ToolError

__all__ = ["Machine", "machine"]

_PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "win32", "macos": "darwin", "windows": "win32"}
_ARCHS = {"x64": "x64", "x86_64": "x64", "amd64": "x64", "arm64": "arm64", "aarch64": "arm64"}
_SUFFIXES = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}


@dataclass(frozen=True, slots=True)
class Machine:
    """What native code is made for."""

    platform: str
    arch: str

    @property
    def key(self) -> str:
        """The name of a directory for it."""
        return f"{self.platform}-{self.arch}"

    @property
    def suffix(self) -> str:
        """How its libraries end."""
        return _SUFFIXES[self.platform]

    @property
    def is_this_one(self) -> bool:
        """Whether what is made for it can be loaded here."""
        return self == Machine(_here_platform(), _here_arch())


def machine(platform: str | None = None, arch: str | None = None) -> Machine:
    """A machine by its names, by default the one that this runs on."""
    return Machine(
        _known(platform or _here_platform(), _PLATFORMS, "platform"), _known(arch or _here_arch(), _ARCHS, "arch")
    )


def _here_platform() -> str:
    return sys.platform


def _here_arch() -> str:
    name = running.machine().lower()
    return _ARCHS.get(name, name)


def _known(name: str, names: dict[str, str], what: str) -> str:
    known = names.get(name.lower())
    if known is None:
        values = sorted(set(names.values()))
        raise ToolError(
            "INVALID_REQUEST", f"the {what} {name[:40]!r} is not known", hint=f"use {', '.join(values)}"
        )
    return known
