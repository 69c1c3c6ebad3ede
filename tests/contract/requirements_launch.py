"""The rules of the launch contract: nine tools, their states and their errors, in our own words."""

from collections.abc import Mapping

__all__ = ["LAUNCH_RULES"]

LAUNCH_RULES: Mapping[str, tuple[str, str]] = {
    "S4-conventions-ok": ("conventions", "Every answer says ok, true or false."),
    "S4-conventions-run-id": ("conventions", "The answer of a tool that is about one run names the run."),
    "S4-conventions-error": (
        "conventions",
        "A failure carries an error with code, message, retryable and details.",
    ),
    "S4-conventions-telemetry": ("conventions", "Every call of a tool leaves a telemetry record."),
    "S4-conventions-work-events": (
        "conventions",
        "Work that a tool causes is told as started, finished or failed.",
    ),
    "S4-errors-INVALID_INPUT": ("errors", "Missing, wrong or unknown fields are INVALID_INPUT."),
    "S4-errors-SCHEMA_VALIDATION_FAILED": (
        "errors",
        "A configuration or artifact that does not fit its schema is SCHEMA_VALIDATION_FAILED.",
    ),
    "S4-errors-RUN_NOT_FOUND": ("errors", "An unknown run is RUN_NOT_FOUND."),
    "S4-errors-ILLEGAL_STATE": ("errors", "A tool that cannot run in the state of the run is ILLEGAL_STATE."),
    "S4-errors-TOOLCHAIN_MISSING": (
        "errors",
        "A validator that is not there is TOOLCHAIN_MISSING, before any gate has run.",
    ),
    "S4-errors-GATE_FAILED": ("errors", "Gates that found something are told in the report, on success."),
    "S4-errors-FIX_EXHAUSTED": ("errors", "No attempts left is FIX_EXHAUSTED."),
    "S4-errors-ALLOWED_PATHS_VIOLATION": ("errors", "A write outside of the fence is ALLOWED_PATHS_VIOLATION."),
    "S4-errors-COMMIT_SERVICE_ERROR": ("errors", "A commit service that refuses or fails is told as such."),
    "S4-errors-CANCELLED": ("errors", "What is asked of a cancelled run is answered CANCELLED."),
    "S4-errors-INTERNAL": ("errors", "An unexpected error is INTERNAL and names the class of its cause."),
    "S4-types-status": ("types", "A status has state, sections, open issues and artifacts with their digests."),
    "S4-types-artifact": ("types", "An artifact has name, content type, digest and content."),
    "S4-types-artifact-base64": ("types", "Content that is no text is base64, and its content type says so."),
    "S4-launch_start_run-works": (
        "launch_start_run",
        "A valid configuration starts a run, which is answered CREATED.",
    ),
    "S4-launch_start_run-idempotent": (
        "launch_start_run",
        "The same key and the same configuration give the same run.",
    ),
    "S4-launch_validate-state": ("launch_validate", "Only a run that is at least LINKING is validated."),
    "S4-launch_validate-worktree": (
        "launch_validate",
        "Only a run whose work tree of the site is there is validated.",
    ),
    "S4-launch_validate-report": (
        "launch_validate",
        "ok says that gates ran; whether they passed is in the report.",
    ),
    "S4-launch_fix_next-state": ("launch_fix_next", "Only a run in VALIDATING is fixed."),
    "S4-launch_fix_next-report": ("launch_fix_next", "Only a run whose last report is not ok is fixed."),
    "S4-launch_fix_next-order": ("launch_fix_next", "Which issue is next follows from the report alone."),
    "S4-launch_fix_next-answer": (
        "launch_fix_next",
        "A fix tells issue, patches, blockers that are left, and the new report.",
    ),
    "S4-launch_fix_next-exhausted": (
        "launch_fix_next",
        "After the last allowed attempt the answer is FIX_EXHAUSTED.",
    ),
    "S4-launch_resume-works": ("launch_resume", "An interrupted run goes on until its next change of state."),
    "S4-launch_cancel-works": ("launch_cancel", "A cancelled run is CANCELLED, and says so."),
    "S4-launch_open_pr-state": ("launch_open_pr", "Only a run in READY_FOR_PR gets a pull request."),
    "S4-launch_open_pr-report": ("launch_open_pr", "Only a run whose last report is ok gets a pull request."),
    "S4-launch_open_pr-answer": (
        "launch_open_pr",
        "A pull request has its address, the branch of the run, a commit.",
    ),
    "S4-launch_list_runs-works": ("launch_list_runs", "Runs are listed with product, state, start and end."),
    "S4-launch_list_runs-filter": ("launch_list_runs", "The list can be narrowed to a product and to a state."),
    "S4-acceptance-described": ("acceptance", "A client needs nothing but the published schemas."),
    "S4-acceptance-retryable": (
        "acceptance",
        "retryable is true where the same call can succeed later, and only there.",
    ),
    "S4-acceptance-traced": (
        "acceptance",
        "A call can be followed by run and trace through events and telemetry.",
    ),
}
