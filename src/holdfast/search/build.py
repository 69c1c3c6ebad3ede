"""A full build: a new index beside the old one, and the switch to it as the last step.

Killed, stopped or failed anywhere before that step, it leaves the old index serving, and a directory that the next
writer removes.
"""

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from holdfast.search.capabilities import reading_abilities
from holdfast.search.configuration import load_configuration
from holdfast.search.discover import Discovery, FoundFile, discover
from holdfast.search.filed import add_records
from holdfast.search.history_reading import HistoryReading
from holdfast.search.home import FORMAT, Build, IndexHome
from holdfast.search.index_writer import IndexWriter, Ingested, Progress, Stop, check_stop
from holdfast.search.pool import ParsePool
from holdfast.search.prepare import FileToPrepare
from holdfast.search.repository import Repository, head
from holdfast.search.stages import Stages, files_found

__all__ = ["PARSER", "checked_rules", "full_build", "own_rules", "parser_pool", "report", "tasks_for"]

PARSER = "holdfast.search.parsing_time:prepare_in_time"  # what a parser process runs


def full_build(repository: Repository, home: IndexHome, *, progress: Progress, stop: Stop) -> dict[str, Any]:
    """Build the index of a repository from nothing and make it the current one. Needs the writer's lock."""
    stages = Stages()
    indexing, rules = load_configuration(repository).indexing, checked_rules(repository)
    home.prune()
    build = home.new_build()
    try:
        with HistoryReading(repository, None, stop=stop) as history, IndexWriter(build, fresh=True) as writer:
            checked_at, (commit, branch) = time.time(), head(repository)
            with stages.measure("discover"):
                discovery = discover(
                    repository,
                    limits=indexing.limits,
                    ignore=indexing.ignore_file(),
                    on_progress=files_found(progress),
                    stop=stop,
                )
                add_records(discovery, build.records)
            with stages.measure("write"), parser_pool(len(discovery.files)) as pool:
                done = writer.ingest(tasks_for(repository, discovery.files), pool, progress, stop)
            progress("finish", 0, None, "reading the history")
            facts = {"build": build.name, "format": FORMAT, "commit": commit, "branch": branch}
            facts |= {"checked_at": checked_at, "rules": rules, "configuration": indexing.digest()}
            facts |= {"abilities": reading_abilities()}
            writer.note(discovery, done, history.result(), facts)
            check_stop(stop)
            progress("finish", 0, None, "writing the term index")
            with stages.measure("commit"):
                writer.commit()
        home.promote(build, repository.root)
    except BaseException:
        if home.current() != build:  # an interrupt may come right behind the switch
            shutil.rmtree(build.directory, ignore_errors=True)
        raise
    home.prune()
    stages.add_all(done.costs)
    return report("built", discovery, done, stages, build, 1)


def tasks_for(
    repository: Repository, files: Iterable[FoundFile], known: dict[str, bytes] | None = None
) -> list[FileToPrepare]:
    """What the parsers are told, in the order of the paths."""
    rules = own_rules(repository)
    digests = known or {}
    return [
        FileToPrepare(
            str(repository.root),
            f.path,
            f.mode,
            f.language,
            digests.get(f.path),
            str(rules) if rules else None,
            f.place,
        )
        for f in sorted(files, key=lambda file: file.path)
    ]


def own_rules(repository: Repository) -> Path | None:
    """The risk rules of the repository itself, if it has some."""
    path = repository.root / "holdfast-risk.toml"
    return path if path.is_file() else None


def checked_rules(repository: Repository) -> str:
    """A digest of all risk rules; a mistake in the repository's own is told before anything is built."""
    from holdfast.search.risk.loading import load_rules, rules_digest

    load_rules(own_rules(repository))
    return rules_digest(own_rules(repository))


def parser_pool(files: int) -> ParsePool:
    """Parser processes for this many files."""
    workers = max(1, min(os.cpu_count() or 1, 8, (files + 7) // 8))
    return ParsePool(workers, PARSER)


def report(
    action: str, discovery: Discovery, done: Ingested, stages: Stages, build: Build, generation: int
) -> dict[str, Any]:
    """What was done, for people and programs."""
    reasons: dict[str, int] = {}
    for reason in [skip.reason for skip in discovery.skipped] + [f.reason for f in done.failures.values()]:
        reasons[reason] = reasons.get(reason, 0) + 1
    return {
        "action": action,
        "files": len(discovery.files) - len(done.failures) - len(done.vanished),
        "chunks": done.chunks,
        "sourceBytes": sum(file.size for file in discovery.files),
        "skipped": dict(sorted(reasons.items())),
        "seconds": round(time.monotonic() - stages.started, 3),
        "stages": {stage: round(seconds, 3) for stage, seconds in stages.seconds.items()},
        "bytes": build.size(),
        "build": build.name,
        "generation": generation,
    }
