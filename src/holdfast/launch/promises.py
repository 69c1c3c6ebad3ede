"""What each tool of the launch server promises beyond its types: effect, time, errors, security, examples."""

from typing import Any, NamedTuple

from holdfast.contract.model import ErrorSpec
from holdfast.vocabulary.effects import Effect, at_most_once, replay_safe

__all__ = ["PROMISES", "Promise"]

_READS = "Reads the store of runs; writes nothing but telemetry, no network."
_WRITES = (
    "Writes below the workspace of runs only; runs git, Hugo and a Markdown linter, never code of the product's "
    "repository."
)
_RUN = {"run_id": "r_2026-01-21T10-00-00Z_1f0e9a3c"}
_BUSY = ErrorSpec(
    "ILLEGAL_STATE",
    "The run is in a state in which this cannot be done, or somebody else executes it at this moment.",
    "Read details.state and details.reason; where retryable is true, call again later.",
)
_CANCELLED = ErrorSpec(
    "CANCELLED",
    "The run was cancelled (details.scope is run), or this request was (request); a request never cancels a run.",
    "Start another run.",
)


class Promise(NamedTuple):
    """The small print of one tool."""

    title: str
    security: str
    examples: tuple[dict[str, Any], ...]
    errors: tuple[str | ErrorSpec, ...]
    timeout: float
    effect: Effect = replay_safe()
    read_only: bool = False
    version: str = "1.0.0"
    schema_version: int = 1

    def declared(self) -> dict[str, Any]:
        """As the registry takes it."""
        return self._asdict()


PROMISES: dict[str, Promise] = {
    "launch_start_run": Promise(
        title="Start a run",
        security=f"{_WRITES} Fetches the two repositories that the configuration names, by git.",
        examples=({"run_config": {"schema_version": "1.0"}, "idempotency_key": "tablekit-1.4.2"},),
        errors=("SCHEMA_VALIDATION_FAILED", "INTERNAL"),
        timeout=300.0,
        # With a key a caller may repeat it; without one every call is another run.
        effect=at_most_once(),
    ),
    "launch_get_status": Promise(
        title="Status of a run",
        security=_READS,
        examples=(_RUN,),
        errors=("RUN_NOT_FOUND", "INTERNAL"),
        timeout=10.0,
        read_only=True,
    ),
    "launch_get_artifact": Promise(
        title="Read an artifact",
        security=f"{_READS} Serves what is in the index of the run, by name; a name is never used as a path.",
        examples=({**_RUN, "artifact_name": "page_plan.json"},),
        errors=("RUN_NOT_FOUND", "SCHEMA_VALIDATION_FAILED", "INTERNAL"),
        timeout=30.0,
        read_only=True,
    ),
    "launch_validate": Promise(
        title="Validate a run",
        security=_WRITES,
        examples=(_RUN,),
        errors=("RUN_NOT_FOUND", _BUSY, "TOOLCHAIN_MISSING", "SCHEMA_VALIDATION_FAILED", _CANCELLED, "INTERNAL"),
        timeout=600.0,
    ),
    "launch_fix_next": Promise(
        title="Fix the next issue",
        security=f"{_WRITES} Changes the work tree of the site inside of allowed_paths.",
        examples=(_RUN,),
        errors=("RUN_NOT_FOUND", _BUSY, "FIX_EXHAUSTED", "ALLOWED_PATHS_VIOLATION", "TOOLCHAIN_MISSING",
                "SCHEMA_VALIDATION_FAILED", _CANCELLED, "INTERNAL"),
        timeout=900.0,
        effect=at_most_once(),
    ),
    "launch_resume": Promise(
        title="Resume a run",
        security=_WRITES,
        examples=(_RUN,),
        errors=("RUN_NOT_FOUND", _BUSY, "TOOLCHAIN_MISSING", "SCHEMA_VALIDATION_FAILED", _CANCELLED, "INTERNAL"),
        timeout=900.0,
    ),
    "launch_cancel": Promise(
        title="Cancel a run",
        security="Ends a run for good; its artifacts stay readable.",
        examples=(_RUN,),
        errors=("RUN_NOT_FOUND", _BUSY, "INTERNAL"),
        timeout=30.0,
    ),
    "launch_open_pr": Promise(
        title="Open the pull request",
        security="Pushes one commit on a new branch, and a pull request, to the repository of the site, with the "
        "credentials of git or the token that the configuration names; nothing outside of allowed_paths.",
        examples=(_RUN,),
        errors=("RUN_NOT_FOUND", _BUSY, "COMMIT_SERVICE_ERROR", "ALLOWED_PATHS_VIOLATION",
                "SCHEMA_VALIDATION_FAILED", _CANCELLED, "INTERNAL"),
        timeout=600.0,
    ),
    "launch_list_runs": Promise(
        title="List runs",
        security=_READS,
        examples=({}, {"filter": {"state": "READY_FOR_PR"}}),
        errors=("INTERNAL",),
        timeout=30.0,
        read_only=True,
    ),
}  # fmt: skip
