"""Launch runs in words: one run, a list of them, what the gates found, and what to type next."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "describe_gates",
    "describe_issues",
    "describe_runs",
    "describe_status",
    "describe_updates",
    "next_command",
    "next_words",
]

_MOST_ISSUES = 20
_OVER = ("DONE", "FAILED", "CANCELLED")
_LEFT = {
    "left_alone": "left alone", "deleted_by_people": "deleted by people", "not_planned": "no longer planned, kept",
}  # fmt: skip
_ONWARD = {"READY_FOR_PR": "open-pr", "VALIDATING": "fix"}


def describe_status(
    status: Mapping[str, Any],
    issues: Sequence[Mapping[str, Any]],
    failure: Mapping[str, Any] | None,
    pause: Mapping[str, Any] | None,
) -> Iterator[str]:
    """Where a run is, what the gates found in it, and why it failed or does not go on by itself."""
    yield f"run       {status['run_id']}"
    yield f"state     {status['state']}"
    if failure:
        yield f"failure   {failure['code']}: {failure['message']}"
    if pause:
        yield f"paused    {pause['code']}: {pause['message']}"
    for section, state in status["section_states"].items():
        yield f"  {section:<10} {state}"
    yield from describe_issues(issues)
    yield f"artifacts {len(status['artifacts'])}"
    for one in status["artifacts"]:
        yield f"  {one['name']}"


def describe_gates(gates: Sequence[dict[str, Any]]) -> str:
    """How many gates passed; one that was skipped has looked at nothing, and is not counted among them."""
    statuses = [gate["status"] for gate in gates]
    skipped = statuses.count("skipped")
    words = f"{statuses.count('passed')} of {len(statuses)} gates passed"
    return f"{words}, {skipped} skipped" if skipped else words


def describe_issues(issues: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the gates found, the worst first."""
    yield f"issues    {len(issues) or 'none'}"
    for issue in issues[:_MOST_ISSUES]:
        place = issue.get("location", {})
        where = f"{place['path']}:{place.get('line', 1)}: " if place else ""
        yield f"  {issue['severity']:<8} {issue['gate']:<15} {issue['issue_id']}  {where}{issue['message']}"
        if fix := issue.get("suggested_fix"):
            yield f"           try: {fix}"
    if len(issues) > _MOST_ISSUES:
        yield f"  … and {len(issues) - _MOST_ISSUES} more"


def describe_runs(runs: Sequence[Mapping[str, Any]], *, is_all: bool) -> Iterator[str]:
    """A table of runs: of all that there are, or of those that were asked for."""
    if not runs:
        begin = "no runs yet; begin with: holdfast launch init PRODUCT_REPO SITE_REPO > run.yaml"
        yield begin if is_all else "no such runs; all of them: holdfast launch list"
        return
    width = max(len(run["product_slug"]) for run in runs)
    for run in runs:
        yield f"{run['run_id']}  {run['product_slug']:<{width}}  {run['state']:<13}  {run['started_at']}"


def describe_updates(report: Mapping[str, Any]) -> Iterator[str]:
    """What people have made of pages of earlier runs, where this one does not follow its own text for it."""
    for page in report["pages"]:
        path, kept = page["path"], page["kept"]
        if kept:
            places = ", ".join(dict.fromkeys(one["where"] or "its beginning" for one in kept))
            yield f"  kept as people have it: {path}: {places}"
        if page["stale_marks"]:
            lines = ", ".join(str(mark["line"]) for mark in page["stale_marks"])
            yield f"  marks of claims that are gone: {path}: line {lines}"
        if page["status"] in _LEFT:
            yield f"  {_LEFT[page['status']]}: {path}"


def next_words(run_id: str, state: str, *, issues: int) -> str:
    """What a person would do next."""
    if state == "VALIDATING" and not issues:
        return f"next: holdfast launch resume {run_id}"
    return f"{'see' if state in _OVER else 'next'}: {next_command(run_id, state)}"


def next_command(run_id: str, state: str) -> str:
    """The command that goes on with a run which rests in this state."""
    if state in _OVER:
        return f"holdfast launch status {run_id}"
    return f"holdfast launch {_ONWARD.get(state, 'resume')} {run_id}"
