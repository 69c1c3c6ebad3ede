"""Which tool may be used in which state of a run, and what is said where it may not."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import ToolError, UsageError
from holdfast.launch import states
from holdfast.launch.store.refusals import StoreError
from holdfast.launch.workspace import Workspace

if TYPE_CHECKING:
    from holdfast.launch.store.records import Run
    from holdfast.launch.store.refusals import ObjectLost

__all__ = [
    "NO_MORE_FIXES",
    "artifact_lost",
    "busy",
    "check_may_cancel",
    "check_may_fix",
    "check_may_open_pr",
    "check_may_resume",
    "check_may_validate",
    "store_unusable",
]

NO_MORE_FIXES = "the run has ended: start another one with a higher max_fix_attempts (launch_start_run)"
_GO_ON = "if nobody is at work on it (the fix was interrupted), launch_resume carries it to its end"
_CAN_BE_VALIDATED = frozenset({states.LINKING, states.VALIDATING, states.READY_FOR_PR})


def check_may_validate(run: "Run", workspace: Workspace | None) -> None:
    """The drafts must be in a work tree; one of this workspace has to be there."""
    _refuse_cancelled(run)
    if run.state == states.FIXING:
        _refuse(run, "a fix is being made; validation follows it", retryable=True, reason="fixing", hint=_GO_ON)
    if run.state not in _CAN_BE_VALIDATED:
        _refuse(run, "there is nothing to validate in this state", needs=sorted(_CAN_BE_VALIDATED))
    if workspace is not None and not (workspace.run(run.run_id) / "work" / "site").is_dir():
        _refuse(run, "the work tree of the site is gone", missing="worktree")


def check_may_fix(run: "Run", report: Mapping[str, Any] | None) -> None:
    """The gates must have found something that nobody is mending."""
    _refuse_cancelled(run)
    if run.state == states.FAILED and (run.failure or {}).get("code") == "FIX_EXHAUSTED":
        failure = run.failure or {}
        raise ToolError(
            "FIX_EXHAUSTED",
            failure["message"],
            details={"run_id": run.run_id, **failure.get("details", {})},
            hint=NO_MORE_FIXES,
            retryable=False,
        )
    if run.state == states.FIXING:
        _refuse(run, "another fix is being made", retryable=True, reason="fixing", hint=_GO_ON)
    if run.state != states.VALIDATING:
        _refuse(run, "there is nothing to fix in this state", needs=[states.VALIDATING])
    if report is None or report["ok"]:
        _refuse(run, "the last validation found nothing to fix", reason="report_ok")


def check_may_resume(run: "Run") -> None:
    """The run must not be over."""
    _refuse_cancelled(run)
    if run.state in states.TERMINAL:
        _refuse(run, "the run is over")


def check_may_cancel(run: "Run") -> None:
    """A run that has ended otherwise cannot be cancelled any more; one that is cancelled can be, again."""
    if run.state in (states.DONE, states.FAILED):
        _refuse(run, "the run is over")


def check_may_open_pr(run: "Run", report: Mapping[str, Any] | None, opened: Mapping[str, Any] | None) -> None:
    """The run must be ready, and its last validation must say so."""
    _refuse_cancelled(run)
    if run.state in (states.PR_OPENED, states.DONE) and opened is not None:
        _refuse(
            run,
            "the pull request was opened",
            pr_url=opened["pr_url"],
            branch=opened["branch_name"],
            commit_sha=opened["commit_shas"][-1],
        )
    if run.state != states.READY_FOR_PR:
        _refuse(run, "the run is not ready for a pull request", needs=[states.READY_FOR_PR])
    if report is None or not report["ok"]:
        _refuse(run, "the last validation did not pass", reason="report_not_ok")


def busy(run_id: str) -> ToolError:
    """Somebody else executes the run at this moment."""
    return ToolError(
        "ILLEGAL_STATE",
        "the run is being executed at this moment",
        details={"run_id": run_id, "reason": "busy"},
        hint="wait until it rests (launch_get_status), or cancel it",
        retryable=True,
    )


def artifact_lost(run_id: str, name: str, lost: "ObjectLost") -> ToolError:
    """What the run has made is not there any more as it was made; nobody can go on from it."""
    return ToolError(
        "SCHEMA_VALIDATION_FAILED",
        f"the artifact {name} {lost.why}",
        details={"run_id": run_id, "artifact": name, "reason": "artifact_changed"},
        hint="restore the file of the artifact, or start another run",
        retryable=False,
    )


def store_unusable(trouble: StoreError | UsageError, **details: Any) -> ToolError:
    """The run store cannot be used, or cannot even be opened; no place on this machine is told."""
    cause = trouble if isinstance(trouble, StoreError) else trouble.__cause__
    kind, is_passing = ("StoreError", cause.retryable) if isinstance(cause, StoreError) else ("UsageError", False)
    reason = f"store_{cause.reason}" if isinstance(cause, StoreError) else "store_refused"
    return ToolError(
        "INTERNAL",
        "the run store could not be used",
        details={**details, "cause_class": kind, "reason": reason},
        hint=trouble.remedy or None,
        retryable=is_passing,
    )


def _refuse_cancelled(run: "Run") -> None:
    if run.state == states.CANCELLED:
        raise ToolError(
            "CANCELLED",
            "the run was cancelled",
            details={"run_id": run.run_id, "scope": "run", "state": run.state},
            retryable=False,
        )


def _refuse(
    run: "Run", message: str, *, retryable: bool = False, hint: str | None = None, **details: Any
) -> NoReturn:
    why = ""
    if run.state == states.FAILED and run.failure:  # nothing else tells a client over MCP
        why = f" ({run.failure['code']}: {run.failure['message']})"
        details["failure"] = {name: run.failure[name] for name in ("code", "message")}
    raise ToolError(
        "ILLEGAL_STATE",
        f"{message}: it is {run.state}{why}",
        details={"run_id": run.run_id, "state": run.state, **details},
        hint=hint,
        retryable=retryable,
    )
