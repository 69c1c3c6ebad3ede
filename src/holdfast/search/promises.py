"""What each tool of the search server promises beyond its types: effect, time, errors, security, examples.

The functions themselves are in `tools`, the words about their arguments in `arguments`; this is the small print.
"""

from typing import Any, NamedTuple

from holdfast.contract.model import ErrorSpec
from holdfast.search.arguments import TRUST
from holdfast.vocabulary.effects import Effect, at_most_once, replay_safe

__all__ = ["PROMISES", "Promise"]

MINUTES = 60.0
_BUSY = ErrorSpec(
    "QUEUE_OVERLOADED",
    "Another process is writing what this call needs; nothing was begun.",
    "Call again when it has finished.",
    retryable=True,
)
_READS = "Reads files of the repository and its index; writes nothing, runs nothing but git, no network."
_DOWNLOADS = (
    "Uses the network: fetches from the source that the caller names, that the configuration gives for a name "
    "which the caller spells out, or that is built in, and from no other; verifies SHA-256 where one is known; "
    "writes files below the cache directory, or where the caller says. A source that is a path is read with the "
    "rights of this process."
)


class Promise(NamedTuple):
    """The small print of one tool."""

    title: str
    security: str
    examples: tuple[dict[str, Any], ...]
    errors: tuple[str | ErrorSpec, ...] = ()
    effect: Effect = replay_safe()
    timeout: float | None = None  # of the server, 120 s
    read_only: bool = False
    isolate: bool = False  # in a process of its own, which can be killed at any moment
    aliases: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()
    version: str = "1.0.0"
    schema_version: int = 1

    def declared(self) -> dict[str, Any]:
        """As the registry takes it."""
        return self._asdict()


_REPO = {"repoPath": "."}

PROMISES: dict[str, Promise] = {
    "search": Promise(
        title="Search code",
        security=_READS,
        examples=(
            {"query": "where is the retry budget enforced"},
            {"query": "shell", "lang": "python", "top": 3},
            {"query": "retry budget", "workspacePath": ".pairofcleats-workspace.jsonc"},
        ),
        errors=("NO_INDEX", "NOT_FOUND", "CAPABILITY_MISSING"),
        read_only=True,
        version="1.2.0",
        schema_version=3,
    ),
    "show_file": Promise(
        title="Show a file",
        security="Reads one file inside the repository that repoPath names, which may be any directory that the "
        "user of the server can read; no link is followed out of it, nothing under .git or ignored is shown.",
        examples=({"path": "README.md", "startLine": 1, "endLine": 20},),
        errors=("NOT_FOUND", "FORBIDDEN"),
        read_only=True,
    ),
    "index_status": Promise(
        title="State of the index",
        security=_READS,
        examples=({}, _REPO),
        read_only=True,
        errors=("NOT_FOUND",),
        version="1.1.0",
        schema_version=2,
    ),
    "config_status": Promise(
        title="State of the configuration",
        security="Reads the configuration files of the repository, looks for optional programs, writes nothing.",
        examples=({},),
        read_only=True,
        errors=("NOT_FOUND",),
        version="1.1.0",
        schema_version=2,
    ),
    "check_status": Promise(
        title="Health check",
        security=_READS,
        examples=({},),
        read_only=True,
        errors=("NOT_FOUND",),
        version="1.1.0",
        schema_version=2,
    ),
    "workspace_status": Promise(
        title="State of a workspace",
        security="Reads a workspace file and the index of every repository in it; writes nothing.",
        examples=({"workspacePath": ".pairofcleats-workspace.jsonc"},),
        errors=("NOT_FOUND",),
        read_only=True,
        version="1.0.1",
    ),
    "report_artifacts": Promise(
        title="What is on disk",
        security="Reads names and sizes in the cache directory; writes nothing.",
        examples=({},),
        read_only=True,
        errors=("NOT_FOUND",),
        version="1.1.0",
        schema_version=2,
    ),
    "build_index": Promise(
        title="Build the index",
        security="Reads every file of the repository that is not ignored, runs git, writes below the cache "
        f"directory only; the index that is there stays in use until the new one is complete. {TRUST} Runs the "
        "linters that are named; one that runs code of the repository only if the operator allows it. Fetches "
        "nothing.",
        examples=({}, {"incremental": True}, {"incremental": True, "linters": ["ruff"]}),
        errors=(_BUSY, "NO_INDEX", "CAPABILITY_MISSING", "NOT_FOUND", "FORBIDDEN", "DOWNLOAD_VERIFY_FAILED",
                "ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE"),
        timeout=10 * MINUTES,
        isolate=True,
        aliases=("index_build",),
        version="1.1.0",
        schema_version=2,
    ),
    "build_sqlite_index": Promise(
        title="Build the portable index",
        security="Reads the index, writes one SQLite file below the cache directory or to the path that the "
        "caller names; replaces no file that is not such an index.",
        examples=({}, {"mode": "code", "incremental": True}),
        errors=("NOT_FOUND", _BUSY, "NO_INDEX", "FORBIDDEN", "CAPABILITY_MISSING"),
        timeout=10 * MINUTES,
        isolate=True,
        reserved=("codeDir", "proseDir"),
        version="1.1.0",
        schema_version=2,
    ),
    "compact_sqlite_index": Promise(
        title="Compact the portable index",
        security="Rewrites the SQLite file of the index below the cache directory.",
        examples=({"dryRun": True},),
        errors=("NOT_FOUND", _BUSY, "NO_INDEX", "CAPABILITY_MISSING"),
        isolate=True,
        version="1.1.0",
        schema_version=2,
    ),
    "download_models": Promise(
        title="Download a model",
        security=_DOWNLOADS,
        examples=({"model": "minilm", "url": "https://models.example/minilm.tar.gz"},),
        errors=("NOT_FOUND", "CAPABILITY_MISSING", "DOWNLOAD_VERIFY_FAILED", "ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE",
                "FORBIDDEN", _BUSY),
        timeout=10 * MINUTES,
        isolate=True,
    ),
    "download_dictionaries": Promise(
        title="Download dictionaries",
        security=_DOWNLOADS,
        examples=(
            {"lang": "en"},
            {"url": "de=https://words.example/de.txt"},
            {"url": ["de=https://words.example/de.txt"]},
        ),
        errors=("NOT_FOUND", "CAPABILITY_MISSING", "DOWNLOAD_VERIFY_FAILED", "ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE",
                "FORBIDDEN", _BUSY),
        timeout=10 * MINUTES,
        isolate=True,
        version="1.1.0",
        schema_version=2,
    ),
    "download_extensions": Promise(
        title="Download an extension of SQLite",
        security=_DOWNLOADS + " What is fetched is native code: it is loaded by verify_extensions only.",
        examples=({"provider": "sqlite-vec"},),
        errors=("NOT_FOUND", "CAPABILITY_MISSING", "DOWNLOAD_VERIFY_FAILED", "ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE",
                "FORBIDDEN", _BUSY),
        timeout=10 * MINUTES,
        isolate=True,
    ),
    "verify_extensions": Promise(
        title="Try an extension of SQLite",
        security="Reads the file of the extension in the cache directory and loads its native code, in a process "
        "of its own, only if the manifest of downloads has its SHA-256; tries it on a database in memory. Takes "
        "no path from a client.",
        examples=({}, {"load": False}),
        errors=("NOT_FOUND", "CAPABILITY_MISSING", "FORBIDDEN"),
        isolate=True,
        version="1.1.0",
        schema_version=2,
    ),
    "cache_gc": Promise(
        title="Clean the cache",
        security="Removes indexes below the cache directory that nobody uses; what is being read or written, and "
        "what is not ours, stays. Records of triage stay.",
        examples=({"dryRun": True}, {"maxAgeDays": 30}),
        errors=("NOT_FOUND", "FORBIDDEN", _BUSY),
        version="1.1.0",
        schema_version=2,
    ),
    "clean_artifacts": Promise(
        title="Remove an index",
        security="Removes indexes below the cache directory, of one repository or of all; records of triage stay.",
        examples=({"dryRun": True},),
        errors=("NOT_FOUND", "FORBIDDEN", _BUSY),
        version="1.1.0",
        schema_version=2,
    ),
    "bootstrap": Promise(
        title="Set a repository up",
        security="Reads the files of the repository, builds the index, fetches a dictionary over the network from "
        f"the source that is built in. Takes up an exported index only when skipArtifacts is false. {TRUST} "
        "Runs the package manager of the repository only when skipInstall is false: that executes what the "
        "repository names.",
        examples=({}, {"skipDicts": True, "withSqlite": True}),
        errors=(_BUSY, "NO_INDEX", "NOT_FOUND", "FORBIDDEN", "CAPABILITY_MISSING", "DOWNLOAD_VERIFY_FAILED",
                "ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE"),
        effect=at_most_once(),
        timeout=10 * MINUTES,
        isolate=True,
    ),
    "triage_ingest": Promise(
        title="Take in findings",
        security="Reads the file that the caller names, writes records below the cache directory.",
        examples=(
            {"source": "dependabot", "inputPath": "alerts.json"},
            {"source": "sarif", "inputPath": "results.sarif.gz"},
        ),
        errors=("NOT_FOUND", "FORBIDDEN", "CAPABILITY_MISSING", _BUSY),
        timeout=5 * MINUTES,
        isolate=True,
        reserved=("stubEmbeddings",),
        version="1.1.0",
        schema_version=2,
    ),
    "triage_decision": Promise(
        title="Decide about a finding",
        security="Writes one record below the cache directory.",
        examples=({"finding": "4f6cb9", "status": "accept", "justification": "not reachable"},),
        errors=("NOT_FOUND", "FORBIDDEN", "CAPABILITY_MISSING", _BUSY),
    ),
    "triage_context_pack": Promise(
        title="Gather evidence on a finding",
        security="Searches the index, writes one file below the cache directory or to the path that the caller "
        "names; replaces no file that is not such a pack.",
        examples=({"recordId": "4f6cb9"},),
        errors=("NOT_FOUND", "FORBIDDEN", "NO_INDEX", "CAPABILITY_MISSING", _BUSY),
        reserved=("stubEmbeddings",),
    ),
}  # fmt: skip
