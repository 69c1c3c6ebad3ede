"""What `index status` tells: what is in the index, how fresh it is, how large, and what was left out and why."""

from collections import Counter
from typing import Any

from holdfast.search.freshness import changed_files
from holdfast.search.home import Build
from holdfast.search.repository import Repository, head
from holdfast.search.shape import iso_time
from holdfast.search.store.reader import StoreReader
from holdfast.search.vectors.status import vector_status

__all__ = ["status_of"]


def status_of(repository: Repository, build: Build, store: StoreReader) -> dict[str, Any]:
    """The state of one index as plain values."""
    facts = store.facts()
    files = store.files().values()
    skipped = store.skipped()
    commit, branch = head(repository)
    summaries = store.summaries(row.id for row in files)
    return {
        "repository": repository.shown,
        "path": str(build.directory),
        "build": facts.build,
        "generation": facts.generation,
        "format": facts.values.get("format"),
        "builtAt": iso_time(facts.written_at),
        "commit": facts.commit,
        "branch": facts.branch,
        "headCommit": commit,
        "headBranch": branch,
        "changedFiles": changed_files(repository, store),
        "files": len(files),
        "lines": sum(row.lines for row in files),
        "sourceBytes": sum(row.size for row in files),
        "bytes": build.size(),
        "languages": dict(Counter(row.language for row in files).most_common()),
        "chunks": store.chunk_counts(),
        "skipped": dict(sorted(Counter(reason for _, reason, *_ in skipped).items())),
        "skippedFiles": [
            {"path": path, "reason": reason, "detail": detail} for path, reason, detail, *_ in skipped
        ],
        "vectors": vector_status(build, store),
        "remarks": [
            {"path": row.path, "remark": remark}
            for row in files
            for remark in summaries[row.id].get("remarks", [])
        ],
    }
