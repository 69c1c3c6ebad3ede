"""What `build_index` does: an index, perhaps on the base of an exported one, perhaps with the portable file."""

import contextlib
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import ToolError
from holdfast.present.counted import counted
from holdfast.search.exported import DIRECTORY, restore_index
from holdfast.search.home import IndexBusyError
from holdfast.search.library import build_index, open_index
from holdfast.search.linting.running import check_linters, lint_index
from holdfast.search.repository import Repository
from holdfast.search.request_schema import violation
from holdfast.search.trouble import trouble_with
from holdfast.search.vectors.making import embed_index, require_model

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["build", "refresh_index", "refuse_stubs"]

_MODES = {
    "all": ("code", "prose", "extracted-prose", "records"),
    "code": ("code",),
    "prose": ("prose",),
    "extracted-prose": ("extracted-prose",),
    "records": ("records",),
}
_PORTABLE = {"all": "all", "code": "code", "prose": "prose", "extracted-prose": "prose"}
_MOST_REMARKS = 20
PATIENCE = 600.0  # seconds that another writer is waited for; the call itself is bounded too


def build(
    repository: Repository,
    cache_dir: Path,
    *,
    mode: str,
    sqlite: bool,
    incremental: bool,
    use_artifacts: bool,
    artifacts_dir: str | None,
    vectors: bool = False,
    linters: Sequence[str] = (),
    code_linters: Collection[str] = (),
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Build the index and say what is in it; `mode` chooses what is told, and what goes into the portable file.

    `code_linters` are those that may run although they run code of the repository.
    """
    began = time.monotonic()
    warnings: list[dict[str, str]] = []
    if mode != "all":
        message = f"every mode was built: {mode} chooses what is counted here and what the portable file holds"
        warnings.append(_warning("mode", message))
    _check(mode, artifacts_dir, sqlite=sqlite, use_artifacts=use_artifacts)
    if linters:
        check_linters(linters, code_linters, repository.root)
    if vectors:
        require_model(repository, cache_dir)
    restored = use_artifacts and _restore(repository, cache_dir, artifacts_dir, warnings, stop)
    report = refresh_index(repository, cache_dir, full=not (incremental or restored), progress=progress, stop=stop)
    path = _portable(repository, cache_dir, mode, progress=progress, stop=stop) if sqlite else None
    if vectors:
        warnings.append(_embedded(repository, cache_dir, progress, stop))
    if linters:
        warnings += _linted(repository, cache_dir, linters, progress, stop)
    with open_index(repository, cache_dir) as index:
        status = index.status()
    return {
        "repoPath": repository.shown,
        "mode": mode,
        "sqlite": sqlite,
        "sqlitePath": path,
        "incremental": incremental,
        "restoredArtifacts": restored,
        "action": report["action"],
        "build": status["build"],
        "generation": status["generation"],
        "commit": status["commit"],
        "files": status["files"],
        "chunks": {name: status["chunks"].get(name, 0) for name in _MODES[mode]},
        "skipped": status["skipped"],
        "sourceBytes": status["sourceBytes"],
        "bytes": status["bytes"],
        "elapsedMs": round((time.monotonic() - began) * 1000),
        "warnings": warnings,
    }


def _embedded(repository: Repository, cache_dir: Path, progress: "Progress", stop: "Stop") -> dict[str, str]:
    made = embed_index(repository, cache_dir, progress=progress, stop=stop)
    figures = f"{made['embedded']:,} embedded, {made['adopted']:,} known already"
    return _warning("vectors", f"{made['vectors']:,} of {made['chunks']:,} chunks have vectors: {figures}")


def _linted(
    repository: Repository, cache_dir: Path, linters: Sequence[str], progress: "Progress", stop: "Stop"
) -> list[dict[str, str]]:
    remarks = []
    for report in lint_index(repository, cache_dir, tools=linters, progress=progress, stop=stop):
        looked = f"{counted(report.looked_at, 'file')} looked at, {report.known:,} known already"
        said = [f"{counted(report.findings, 'finding')}; {looked}", *report.remarks[:_MOST_REMARKS]]
        remarks += [_warning("linters", f"{report.linter} {report.version}: {line}") for line in said]
    return remarks


def refuse_stubs() -> NoReturn:
    """Refuse the reserved argument in the form of every violation."""
    message = "is reserved and must be false: vectors are made by a model, never stubbed"
    found = violation("/stubEmbeddings", "/properties/stubEmbeddings", "reserved", {}, message, in_schema=False)
    raise ToolError("INVALID_REQUEST", f"/stubEmbeddings: {message}", details={"violations": [found]})


def _check(mode: str, artifacts_dir: str | None, *, sqlite: bool, use_artifacts: bool) -> None:
    """Refuse what does not go together, before anything is touched."""
    problems = []
    if artifacts_dir is not None and not use_artifacts:
        problems.append("artifactsDir is given without useArtifacts: set useArtifacts to true")
    if sqlite and mode not in _PORTABLE:
        problems.append(f"a portable index of {mode} alone is not offered: use the mode all")
    if problems:
        raise ToolError("INVALID_REQUEST", "; ".join(problems), details={"problems": problems})


def refresh_index(
    repository: Repository, cache_dir: Path, *, full: bool, progress: "Progress", stop: "Stop"
) -> dict[str, Any]:
    """Build the index or bring it up to date; where somebody else writes it, say so and wait."""
    with _trouble_told(cache_dir):
        try:
            return build_index(repository, cache_dir, full=full, progress=progress, stop=stop)
        except IndexBusyError as busy:
            progress("wait", 0, None, f"waiting: {busy.message}")
        return build_index(repository, cache_dir, full=full, progress=progress, stop=stop, wait=PATIENCE)


@contextlib.contextmanager
def _trouble_told(cache_dir: Path) -> Iterator[None]:
    """A disk that is full or may not be written to is told as such: the old index is in use as before."""
    try:
        yield
    except ToolError:
        raise
    except Exception as error:
        trouble = trouble_with(error, cache_dir)
        if trouble is None:
            raise
        message = trouble.message.replace(str(cache_dir), "the cache directory")
        raise ToolError("CAPABILITY_MISSING", message, hint=trouble.remedy) from error


def _restore(
    repository: Repository, cache_dir: Path, given: str | None, warnings: list[dict[str, str]], stop: "Stop"
) -> bool:
    directory = repository.root / (given or DIRECTORY)
    if restore_index(repository, cache_dir, directory, stop=stop, wait=PATIENCE):
        return True
    warnings.append(_warning("artifacts", "there is no exported index of this format to take up; it was built"))
    return False


def _portable(
    repository: Repository, cache_dir: Path, mode: str, *, progress: "Progress", stop: "Stop"
) -> str | None:
    from holdfast.search.portable import build_portable

    made = build_portable(
        repository, cache_dir, mode=_PORTABLE[mode], incremental=True, progress=progress, stop=stop
    )
    path: str = made["path"]
    return path


def _warning(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}
