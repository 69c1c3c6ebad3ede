"""A wheel from the package index that this interpreter is set up for, fetched by its own pip.

So mirrors, proxies and credentials of the user count, and no index is named here. Pip gets a directory of its
own for everything that it writes, is watched while it works, and ends when the caller stops. Nothing is
installed, and no code of a package is run: only finished wheels are taken.
"""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING

from holdfast.errors import ToolError
from holdfast.interpreter import module_command
from holdfast.process.group import end_group
from holdfast.search.downloads.failures import cancelled, not_stored, too_large

if TYPE_CHECKING:
    import subprocess

    from holdfast.search.index_writer import Progress, Stop

__all__ = ["WORK_PREFIX", "downloaded_wheel"]

WORK_PREFIX = ".holdfast-wheel-"  # of the directory that pip works in; what a killed call left behind has it too
_POLL = 0.1
_LONGEST = 600.0
_LONGEST_LOG = 1 << 16
_SLACK = 3  # pip keeps copies of a wheel while it works
_SECRET = re.compile(r"(?<=://)[^/@\s]+@")


@contextmanager
def downloaded_wheel(
    requirement: str, beside: Path, *, tag: str | None, max_bytes: int, progress: "Progress", stop: "Stop"
) -> Iterator[Path]:
    """The wheel of NAME==VERSION, in a directory that goes with the context. `tag`: for another platform."""
    work = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=beside))
    try:
        for name in ("wheel", "tmp"):
            (work / name).mkdir()
        platform = [] if tag is None else ["--platform", tag]
        arguments = ["--dest", str(work / "wheel"), *platform, requirement]
        with tempfile.TemporaryFile() as log:  # elsewhere: on a full disk pip could not even say that it is full
            code = _run_pip(arguments, work, log, max_bytes, progress, stop)
            found = sorted((work / "wheel").glob("*.whl"))
            if code or len(found) != 1:
                raise _failure(requirement, _said(log))
        yield found[0]
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run_pip(
    arguments: list[str], work: Path, log: IO[bytes], max_bytes: int, progress: "Progress", stop: "Stop"
) -> int:
    import subprocess

    command = module_command(
        "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off",
        "--disable-pip-version-check", *arguments, user_code=True,
    )  # fmt: skip
    environment = os.environ | {"TMPDIR": str(work / "tmp"), "LC_ALL": "C"}
    process = subprocess.Popen(
        command, cwd=work, env=environment, process_group=0, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    try:
        return _watch(process, arguments[-1], work, max_bytes, progress, stop)
    finally:
        end_group(process)
        process.wait()


def _watch(
    process: "subprocess.Popen[bytes]", what: str, work: Path, max_bytes: int, progress: "Progress", stop: "Stop"
) -> int:
    import subprocess

    until = monotonic() + _LONGEST
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL)
        if stop():
            raise cancelled()
        size = _size_below(work)
        if size > max_bytes * _SLACK:
            raise too_large("the wheel", max_bytes)
        if monotonic() > until:
            raise ToolError(
                "CAPABILITY_MISSING", "the package index did not deliver in time", hint="try again later"
            )
        progress("download", size, None, what)


def _size_below(directory: Path) -> int:
    size = 0
    for root, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):  # pip removes its own files meanwhile
                size += os.lstat(os.path.join(root, name)).st_size
    return size


def _said(log: IO[bytes]) -> str:
    log.seek(max(0, log.seek(0, os.SEEK_END) - _LONGEST_LOG))
    return _SECRET.sub("", log.read().decode("utf-8", "replace"))


def _failure(requirement: str, log: str) -> ToolError:
    if "No module named pip" in log:
        message = "wheels are fetched with pip, and this Python has none"
        return ToolError(
            "CAPABILITY_MISSING", message, hint="run `python -m ensurepip`, or give a file as the source"
        )
    if os.strerror(errno.ENOSPC) in log:
        return not_stored(requirement, os.strerror(errno.ENOSPC))
    lines = log.splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")]
    # An index that cannot be reached is to pip one that has nothing; only its attempts tell the difference.
    unreached = [line for line in lines if "Retrying (" in line]
    details = {"pip": "\n".join([*unreached[:1], *(errors or lines[-3:])])[:1000]}
    if "No matching distribution" in log and not unreached:
        message = f"the package index has no wheel {requirement} for this platform"
        return ToolError("NOT_FOUND", message, details=details, hint="check the name and the version")
    message = f"pip could not fetch {requirement}"
    hint = "check the network and pip's settings (`pip config list`), or give a file as the source"
    return ToolError("CAPABILITY_MISSING", message, details=details, hint=hint)
