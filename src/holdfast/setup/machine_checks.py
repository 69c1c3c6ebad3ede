"""What the machine offers: Python, this package and its extras, programs, the platform, limits, disks."""

import importlib.metadata
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from holdfast.settings import Settings
from holdfast.setup.checks import Check, Finding
from holdfast.version import __version__

__all__ = ["MACHINE_CHECKS", "nearest_directory"]

_PACKAGE = "holdfast"
_GIVES = {
    "sdk": "servers on the official SDK (--mcp-mode sdk)",
    "documents": "the text of PDF files in the code search",
    "languages": "definitions of 34 more languages in the code search",
    "vector": "search by meaning (holdfast index embed)",
    "launch": "launch runs: Hugo, a Markdown linter, a database",
    "postgres": "launch runs in a PostgreSQL database",
    "scale": "launch runs on many machines",
    "otel": "OpenTelemetry spans",
}
_PATIENCE = 1.0  # seconds for a program to tell its version
_MIB = 1024 * 1024
_LEAST_FILES, _FEW_FILES = 128, 1024
_LEAST_DISK, _LITTLE_DISK = 64 * _MIB, 1024 * _MIB
_PR_GET_CHILD_SUBREAPER = 37


def _python(_: Settings) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"{version} at {sys.executable}")


def _installation(_: Settings) -> Iterator[Finding]:
    from holdfast.setup.our_command import own_program

    package = Path(__file__).resolve().parents[1]
    how = "from a checkout" if _is_editable() else "installed"
    yield Finding("holdfast", "ok", f"{__version__}, {how} in {package}")
    ours, found = own_program(), shutil.which("holdfast")
    if found is not None and len(ours) == 1 and os.path.realpath(found) != os.path.realpath(ours[0]):
        message = f"`holdfast` on the search path is another one: {found}"
        yield Finding("holdfast", "warn", message, f"put {Path(ours[0]).parent} first in PATH")


def _is_editable() -> bool:
    try:
        told = json.loads(importlib.metadata.distribution(_PACKAGE).read_text("direct_url.json") or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return True  # run from where it lies
    return bool(told.get("dir_info", {}).get("editable"))


def _extras(_: Settings) -> Iterator[Finding]:
    """Read from what the package itself says that it can use."""
    needs: dict[str, list[str]] = {}
    try:
        required = importlib.metadata.requires(_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding("extras", "warn", "this package was never installed", "pip install it, also for a checkout")
        return
    for line in required:
        name, extra = re.match(r"[A-Za-z0-9._-]+", line), re.search(r"extra\s*==\s*['\"]([^'\"]+)", line)
        if name is not None and extra is not None:
            needs.setdefault(extra[1], []).append(name[0])
    for group, names in needs.items():
        missing = [name for name in names if not _is_installed(name)]
        gives = _GIVES.get(group, "")
        remedy = f"pip install 'holdfast[{group}]'"
        if not missing:
            yield Finding(f"extra {group}", "ok", f"installed: {gives}")
        elif len(missing) == len(names):
            yield Finding(f"extra {group}", "off", f"not installed; it gives {gives}", remedy)
        else:
            yield Finding(f"extra {group}", "warn", f"half installed: {', '.join(missing)} missing", remedy)


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _git(_: Settings) -> Iterator[Finding]:
    from holdfast.git.asking import Git, GitError

    found = shutil.which("git")
    if found is None:
        lost = "launch runs do not work, and the search knows no history"
        yield Finding("git", "warn", f"not found; without it {lost}", "install git")
        return
    try:
        printed = Git("/").whole("version", seconds=_PATIENCE).decode("utf-8", "replace")
    except GitError as error:
        yield Finding("git", "warn", f"{found} does not work: {error}", "git --version")
        return
    version = re.search(r"(?<![0-9])[0-9]+(?:\.[0-9]+)+", printed)
    yield Finding("git", "ok", f"{version[0] if version else 'unknown version'} at {found}")


def _node(_: Settings) -> Iterator[Finding]:
    """Looked for and not started: nothing of ours needs it."""
    node, npx = shutil.which("node"), shutil.which("npx")
    if npx is not None and node is not None:
        yield Finding("node", "ok", f"{node}, {npx}")
    elif node is not None or npx is not None:
        message = f"{node or npx} is there, and {'node' if node is None else 'npx'} is not"
        yield Finding("node", "warn", message, "install Node.js with npm")
    else:
        yield Finding("node", "off", "not found; only servers from npm need it (npx)", "install Node.js")


def _containers(_: Settings) -> Iterator[Finding]:
    found = next((path for name in ("docker", "podman") if (path := shutil.which(name))), None)
    if found is not None:
        yield Finding("containers", "ok", found)
    else:
        yield Finding("containers", "off", "neither docker nor podman; only servers in containers need one")


def _platform(_: Settings) -> Iterator[Finding]:
    if not hasattr(socket, "AF_UNIX"):
        message = "no local sockets: hosts cannot be asked (ps, status, stop)"
        yield Finding("platform", "warn", message, "use Linux or macOS, or WSL")
        return
    if sys.platform != "linux":
        yield Finding("platform", "ok", f"{sys.platform}: local sockets; processes are followed through ps")
        return
    missing = [name for name, works in _linux_features() if not works]
    if missing:
        message = f"missing: {', '.join(missing)}; what a server leaves behind may be found late or not at all"
        yield Finding("platform", "warn", message, "mount /proc, and allow prctl where a sandbox forbids it")
    else:
        yield Finding("platform", "ok", "linux: local sockets, adoption of orphans (subreaper), pidfd, /proc")


def _linux_features() -> Iterator[tuple[str, bool]]:
    yield "subreaper", _has_subreaper()
    yield "pidfd", _has_pidfd()
    yield "/proc", os.path.exists("/proc/self/stat")


def _has_subreaper() -> bool:
    try:
        import ctypes
    except ImportError:  # an interpreter that was built without libffi
        return False
    value = ctypes.c_int()
    return bool(ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(value), 0, 0, 0) == 0)


def _has_pidfd() -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def _open_files(_: Settings) -> Iterator[Finding]:
    if sys.platform == "win32":
        yield Finding("open files", "ok", "no limit to look at")
        return
    import resource

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    words = "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
    remedy = f"ulimit -n {_FEW_FILES * 4}"
    if soft != resource.RLIM_INFINITY and soft < _LEAST_FILES:
        yield Finding("open files", "fail", f"a process may open only {words} files", remedy)
    elif soft != resource.RLIM_INFINITY and soft < _FEW_FILES:
        yield Finding("open files", "warn", f"a process may open only {words} files", remedy)
    else:
        yield Finding("open files", "ok", f"{words} per process")


def _disks(settings: Settings) -> Iterator[Finding]:
    places = {"state": settings.state_path(), "cache": settings.cache_path()}
    told: set[int] = set()
    for name, path in places.items():
        place = nearest_directory(path)
        disk = os.stat(place).st_dev
        if disk in told:
            continue
        told.add(disk)
        free = shutil.disk_usage(place).free
        words = f"{free / _MIB / 1024:.1f} GiB free for {name if len(told) > 1 else 'state and cache'} ({place})"
        status = "fail" if free < _LEAST_DISK else "warn" if free < _LITTLE_DISK else "ok"
        remedy = "" if status == "ok" else "free some space; `holdfast index gc --yes` removes old indexes"
        yield Finding("disk", status, words, remedy)  # type: ignore[arg-type]


def nearest_directory(path: Path) -> Path:
    """The directory itself, or the nearest one above it that exists."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.is_dir())


MACHINE_CHECKS: dict[str, Check] = {
    "python": _python,
    "holdfast": _installation,
    "extras": _extras,
    "git": _git,
    "node": _node,
    "containers": _containers,
    "platform": _platform,
    "open files": _open_files,
    "disk": _disks,
}
