"""SQLite extensions: native code, so its source is named by the caller, or pinned here.

It is put where `verify_extensions` looks for it; it is not loaded here.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import storing
from holdfast.search.downloads.install import Wanted, install, mode_of, remarks, summary
from holdfast.search.downloads.known import EXTENSIONS, WHEEL_TAGS
from holdfast.search.downloads.placing import chosen_file, content_of_file, put_file
from holdfast.search.downloads.platforms import Machine, machine
from holdfast.search.downloads.shelf import Shelf, real_path
from holdfast.search.downloads.sources import Source, checked_sha256, parse_source

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["MANIFEST", "PROVIDER", "checked_provider", "download_extensions", "extension_path", "extensions_dir"]

PROVIDER = "sqlite-vec"
MANIFEST = "extensions.json"
_FILE = "vec0"
# How a library begins, by its ending: ELF, Mach-O (one machine or several), PE.
_BEGINNINGS = {
    ".so": (b"\x7fELF",),
    ".dylib": (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),
    ".dll": (b"MZ",),
}


def download_extensions(
    cache_dir: Path,
    *,
    provider: str | None = None,
    target: Path | None = None,
    url: str | None = None,
    sha256: str | None = None,
    out: Path | None = None,
    platform: str | None = None,
    arch: str | None = None,
    update: bool = False,
    force: bool = False,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Have the extension here for a machine; `out` chooses the file, `target` the directory of all of them."""
    name, made_for = checked_provider(provider), machine(platform, arch)
    directory = extensions_dir(cache_dir, target)
    path = extension_path(directory, name, made_for) if out is None else _checked_out(out)
    expected = checked_sha256(sha256)
    source, known = _chosen(name, made_for, url)
    wanted = Wanted(
        f"{name}/{made_for.key}" if out is None else str(path), path, source, expected or known,
        is_asked_for=url is not None or expected is not None,
        wheel_tag=None if made_for.is_this_one else WHEEL_TAGS.get((made_for.platform, made_for.arch)),
    )  # fmt: skip
    _refuse_unsafe(wanted)
    shelf = Shelf(directory, MANIFEST, is_own=target is None)
    with storing("the extension"), shelf.locked(stop):
        place = _Placing(made_for, stop)
        mode = mode_of(update=update, force=force)
        result = install(shelf, wanted, mode, place, content_of_file, progress, stop)
    return {
        "provider": name,
        "extensionPath": str(path),
        "platform": made_for.platform,
        "arch": made_for.arch,
        "bytes": result.content["bytes"],
        "sha256": result.entry.get("sha256"),
        "verified": bool(result.entry.get("verified")),
        "status": result.status,
        **summary([result]),
        "warnings": remarks([result]),
    }


def checked_provider(provider: str | None) -> str:
    """The provider, which is the one that there is."""
    if provider not in (None, PROVIDER):
        raise ToolError("INVALID_REQUEST", f"the provider {provider[:80]!r} is not known", hint=f"use {PROVIDER}")
    return PROVIDER


def extensions_dir(cache_dir: Path, target: Path | None) -> Path:
    """Where all extensions are."""
    return real_path(target or cache_dir / "extensions")


def extension_path(directory: Path, provider: str, made_for: Machine) -> Path:
    """Where the extension for a machine is."""
    return directory / provider / made_for.key / f"{_FILE}{made_for.suffix}"


def _checked_out(out: Path) -> Path:
    """A file that the caller chose; no other kind of file gets replaced, by mistake or by persuasion."""
    path = real_path(out.parent) / out.name
    if path.suffix not in _BEGINNINGS or path.is_dir():
        hint = f"end it in {', '.join(_BEGINNINGS)}"
        raise ToolError(
            "INVALID_REQUEST", "`out` is not the name of a library", details={"out": str(out)}, hint=hint
        )
    return path


def _chosen(provider: str, made_for: Machine, url: str | None) -> tuple[Source, str | None]:
    if url is not None:
        return parse_source(url), None
    found = EXTENSIONS.get((provider, made_for.platform, made_for.arch))
    if found is None:
        message = f"no source is known for {provider} on {made_for.key}"
        raise ToolError("CAPABILITY_MISSING", message, hint="give `url` with a source for it")
    return found


def _refuse_unsafe(wanted: Wanted) -> None:
    if wanted.sha256 is None and wanted.source.is_open_to_change:
        message = "native code is not fetched over plain http without a SHA-256 to verify it"
        raise ToolError("INVALID_REQUEST", message, hint="use https, or give `sha256`")


class _Placing:
    """Puts the library to its place."""

    def __init__(self, made_for: Machine, stop: "Stop") -> None:
        self._wanted_name = f"{_FILE}{made_for.suffix}"
        self._stop = stop

    def __call__(self, artifact: Path, wanted: Wanted) -> None:
        with chosen_file(artifact, wanted.source, self._fits, wanted.limits, self._stop) as path:
            _refuse_no_library(path, wanted)
            put_file(path, wanted.path, mode=0o700)

    def _fits(self, name: str) -> bool:
        return os.path.basename(name) == self._wanted_name


def _refuse_no_library(path: Path, wanted: Wanted) -> None:
    """Refuse a page that asks for a password, and whatever else is no library, before a good one is replaced."""
    beginnings = _BEGINNINGS[wanted.path.suffix]
    with path.open("rb") as file:
        if file.read(4).startswith(beginnings):
            return
    message = f"{wanted.source.shown} holds no library that {wanted.path.name} could be"
    raise ToolError("DOWNLOAD_VERIFY_FAILED", message, hint="correct the source; what was here is left as it is")
