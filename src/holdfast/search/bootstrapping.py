"""The steps of `bootstrap`, each done as its own tool does it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.present.counted import counted
from holdfast.search.bootstrap import BootstrapSteps, bootstrap
from holdfast.search.repository import Repository

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["set_up"]

_PATIENCE = 600.0  # seconds that another writer is waited for, as when an index is built


def set_up(
    repository: Repository,
    cache_dir: Path,
    *,
    progress: "Progress",
    stop: "Stop",
    **wanted: bool,
) -> dict[str, Any]:
    """Set a repository up; `wanted` are the switches of `bootstrap`."""

    def dictionaries() -> str:
        from holdfast.search.downloads import download_dictionaries

        # Nobody named a word list, so the repository has no say in where it comes from.
        fetched = download_dictionaries(cache_dir, progress=progress, stop=stop)
        told: str = fetched["output"]
        return told

    def tooling() -> Sequence[Mapping[str, Any]]:
        from holdfast.search.checkup import check_status
        from holdfast.search.config_status import config_status

        status = config_status(repository, cache_dir)
        found = check_status(
            repository, cache_dir, capabilities=status["capabilities"], warnings=status["warnings"]
        )
        findings: list[dict[str, Any]] = found["findings"]
        return [finding for finding in findings if finding["area"] != "index"]  # which is built below

    def restore() -> bool:
        from holdfast.search.exported import DIRECTORY, restore_index

        return restore_index(repository, cache_dir, repository.root / DIRECTORY, stop=stop, wait=_PATIENCE)

    def index(full: bool) -> str:
        from holdfast.search.building import refresh_index

        report = refresh_index(repository, cache_dir, full=full, progress=progress, stop=stop)
        return f"{report['action']}: {counted(report['files'], 'file')}, {counted(report['chunks'], 'chunk')}"

    def sqlite() -> str:
        from holdfast.search.portable import build_portable

        made = build_portable(repository, cache_dir, incremental=True, progress=progress, stop=stop)
        return counted(made["bytes"], "byte")

    steps = BootstrapSteps(dictionaries, tooling, restore, index, sqlite)
    return bootstrap(repository, cache_dir, steps=steps, progress=progress, stop=stop, **wanted)
