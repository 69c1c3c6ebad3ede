"""Running linters over the files of an index: only what they have not seen, and one bad file costs itself.

A linter reads the files from disk, so what it says counts only where they are, before and after, what is indexed.
"""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.errors import ProcessError, ToolError, UsageError
from holdfast.process import Completed, run
from holdfast.search.home import IndexHome
from holdfast.search.linting.findings import FindingsFile, configuration_digest
from holdfast.search.linting.linters import LINTERS, Finding, Linter, find_program
from holdfast.search.prepare import digest_of
from holdfast.search.private import private_files
from holdfast.search.repository import Repository, index_home
from holdfast.search.store.reader import FileRow, StoreReader

__all__ = ["LintReport", "check_linters", "lint_index"]

_BATCH = 100  # files per run of a linter
_SECONDS = 120.0  # for one run
_VERSION_SECONDS = 10.0
_OUTPUT = 32 << 20  # bytes
_POLL = 0.1  # seconds between two questions whether to stop
_SAID = (0, 1)  # exit codes of a linter that has done its work
_MOST_REMARKS = 20
_NUMBERS = re.compile(r"(?<!\d)\d+(?:\.\d+)+")

Progress = Callable[[str, int, int | None, str], None]
Stop = Callable[[], bool]


@dataclass(slots=True)
class LintReport:
    """What one linter did."""

    linter: str
    version: str = ""
    files: int = 0  # that are its business
    looked_at: int = 0  # now
    known: int = 0  # since an earlier look
    findings: int = 0  # in all of these
    remarks: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "linter": self.linter, "version": self.version, "files": self.files, "lookedAt": self.looked_at,
            "known": self.known, "findings": self.findings, "remarks": self.remarks[:_MOST_REMARKS],
        }  # fmt: skip


def check_linters(names: Sequence[str], allowed: Collection[str], root: Path) -> None:
    """Refuse linters that a client may not have run, and those that are not installed, before any work is done."""
    for linter in (LINTERS[name] for name in names):
        if linter.runs_code and linter.name not in allowed:
            message = f"{linter.name} runs code of the repository ({linter.runs_code}): not allowed here"
            hint = f"The operator of the server allows it with HOLDFAST_CODE_LINTERS={linter.name}."
            raise ToolError("FORBIDDEN", message, details={"linter": linter.name}, hint=hint)
    list(_chosen(names, root))


def lint_index(
    repository: Repository, cache_dir: Path, *, tools: Sequence[str] = (), progress: Progress, stop: Stop
) -> list[LintReport]:
    """Ask linters about the indexed files; `tools` are those that were named, by default all that run no code."""
    home = IndexHome(index_home(repository, cache_dir))
    build = home.current()
    if build is None:
        raise ToolError("NO_INDEX", "there is no index of this repository yet", hint="run `holdfast index build`")
    from holdfast.search.engine.tantivy_writer import committed_generation

    build.check()
    store = StoreReader(build.store, committed_generation(build.terms))
    try:
        files = list(store.files().values())
    finally:
        store.close()
    reports = []
    with private_files(), FindingsFile(build.lint) as kept:
        for linter, program in _chosen(tools, repository.root):
            reports.append(_Run(linter, program, repository.root, kept, progress, stop).over(files))
    return reports


def _chosen(tools: Sequence[str], root: Path) -> Iterator[tuple[Linter, str]]:
    for name in tools or [name for name, linter in LINTERS.items() if not linter.runs_code]:
        linter = LINTERS.get(name)
        if linter is None:
            raise UsageError(f"no linter is called {name}", remedy=f"use one of {', '.join(LINTERS)}")
        program = find_program(linter, root)
        if program is not None:
            yield linter, program
        elif tools:
            raise ToolError("CAPABILITY_MISSING", f"{name} is not installed", hint=f"install {name}, on the PATH")


class _Run:
    """One linter over the files of an index."""

    def __init__(
        self, linter: Linter, program: str, root: Path, kept: FindingsFile, progress: Progress, stop: Stop
    ) -> None:
        self._linter = linter
        self._program = program
        self._root = root
        self._kept = kept
        self._progress = progress
        self._stop = stop
        self._state = b""
        self.report = LintReport(linter.name)

    def over(self, files: Iterable[FileRow]) -> LintReport:
        every = list(files)
        own = [file for file in every if file.language in self._linter.languages]
        self.report.files = len(own)
        self.report.version = self._version()
        configuration = configuration_digest(self._linter, every)
        self._state = self._state_of(configuration)
        self._kept.note(self._linter.name, self.report.version, configuration)
        known = self._kept.known(self._linter.name, self._state)
        missing = [file for file in own if (file.path, file.digest) not in known]
        self.report.known = len(own) - len(missing)
        self.report.findings = sum(known.get((file.path, file.digest), 0) for file in own)
        if missing and not self.report.version:
            self.report.remarks.append(f"{self._linter.name} does not tell its version: it was not asked")
            return self.report
        for first in range(0, len(missing), _BATCH):
            self._progress("lint", first, len(missing), f"{self._linter.name} {missing[first].path}")
            batch = [file for file in missing[first : first + _BATCH] if self._is_as_indexed(file)]
            if not self._look_at(batch) and len(batch) > 1:
                self.report.remarks.append(f"{self._linter.name} fails on every file: it was given up")
                break
        return self.report

    def _look_at(self, batch: list[FileRow]) -> bool:
        """Lint some files; where that fails, each by itself, to know the culprit. False: all of them fail."""
        if not batch:
            return True
        ended = self._run([f"./{file.path}" for file in batch])
        found = self._parsed(ended)
        if found is not None:
            self._keep(batch, found)
            return True
        if len(batch) == 1:
            self.report.remarks.append(f"{batch[0].path}: {_last_line(ended)}")
            return False
        went_well = [self._look_at([file]) for file in batch[:2]]
        if not any(went_well):  # it is not one file that it stumbles over
            return False
        for file in batch[2:]:
            self._look_at([file])
        return True

    def _parsed(self, ended: Completed) -> dict[str, list[Finding]] | None:
        if ended.returncode not in _SAID or ended.timed_out or ended.stdout_truncated:
            return None
        found: dict[str, list[Finding]] = {}
        try:
            for path, finding in self._linter.parse(ended.stdout.encode()):
                found.setdefault(self._relative(path), []).append(finding)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        return found

    def _relative(self, path: str) -> str:
        absolute = Path(self._root, path)
        return absolute.relative_to(self._root).as_posix() if absolute.is_relative_to(self._root) else path

    def _keep(self, batch: list[FileRow], found: dict[str, list[Finding]]) -> None:
        seen = {(file.path, file.digest): found.get(file.path, []) for file in batch if self._is_as_indexed(file)}
        self._kept.keep(self._linter.name, self._state, seen)
        self.report.looked_at += len(seen)
        self.report.findings += sum(map(len, seen.values()))

    def _is_as_indexed(self, file: FileRow) -> bool:
        try:
            return digest_of(Path(self._root, file.path).read_bytes()) == file.digest
        except OSError:
            return False

    def _version(self) -> str:
        said = _NUMBERS.search(self._run([], ["--version"], seconds=_VERSION_SECONDS).stdout)
        return said[0] if said else ""

    def _state_of(self, configuration: bytes) -> bytes:
        """What decides what it says besides the file: its version, and its configuration, at the root also where
        that is not indexed."""
        state = hashlib.blake2b(self.report.version.encode() + configuration, digest_size=16)
        for entry in sorted(os.scandir(self._root), key=lambda entry: entry.name):
            if entry.name.startswith(self._linter.configuration) and entry.is_file():
                state.update(entry.name.encode("utf-8", "surrogateescape") + Path(entry.path).read_bytes())
        return state.digest()

    def _run(self, paths: Sequence[str], arguments: Sequence[str] = (), seconds: float = _SECONDS) -> Completed:
        command = [self._program, *arguments] if arguments else self._linter.command(self._program, paths)
        try:
            return asyncio.run(_until_stopped(command, self._root, seconds, self._stop))
        except ProcessError as error:
            raise ToolError("CAPABILITY_MISSING", f"{self._linter.name} cannot be run: {error}") from error


async def _until_stopped(command: list[str], root: Path, seconds: float, stop: Stop) -> Completed:
    work = asyncio.create_task(run(command, cwd=root, timeout=seconds, tail_bytes=_OUTPUT))
    while not (await asyncio.wait({work}, timeout=_POLL))[0]:
        if stop():
            work.cancel()
            await asyncio.wait({work})
            raise ToolError("CANCELLED", "linting was stopped; what was found so far is kept")
    return work.result()


def _last_line(ended: Completed) -> str:
    if ended.timed_out:
        return ended.describe()
    lines = [line.strip() for line in (ended.stderr or ended.stdout).splitlines() if line.strip()]
    return (lines[-1] if lines else ended.describe())[:300]
