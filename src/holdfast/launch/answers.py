"""What the launch tools answer, as types: the published output schemas are derived from them."""

from typing import Annotated, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict

from holdfast.launch.states import STATES

__all__ = [
    "Artifact",
    "ArtifactAnswer",
    "ArtifactName",
    "CancelAnswer",
    "FixAnswer",
    "GateResult",
    "Issue",
    "ListAnswer",
    "ListedRun",
    "Location",
    "OpenIssue",
    "PullRequestAnswer",
    "RunFilter",
    "RunStatus",
    "Severity",
    "StartAnswer",
    "State",
    "StatusAnswer",
    "ValidateAnswer",
    "ValidationReport",
]

State = Literal[*STATES]  # type: ignore[valid-type]  # the table of states is the one place that lists them
Severity = Literal["info", "warn", "error", "blocker"]
_CLOSED = ConfigDict(extra="forbid")


class _Answer(BaseModel):
    model_config = _CLOSED


class RunFilter(BaseModel):
    """Which runs are listed; all of them where nothing is said."""

    model_config = _CLOSED

    product_slug: str | None = Field(default=None, max_length=100, description="Only runs of this product.")
    state: State | None = Field(default=None, description="Only runs in this state.")


class StartAnswer(_Answer):
    """A run that was started, or the one that the same key had started."""

    run_id: str = Field(description="The id of the run.")
    state: State = Field(description="CREATED for a new run; for a repeated key the state of now.")


class OpenIssue(_Answer):
    """Something that a gate found and nobody has mended."""

    issue_id: str = Field(description="Stable over validations.")
    severity: Severity = Field(description="How bad it is; blocker and error keep a run from being ready.")
    gate: str = Field(description="The gate that found it.")
    title: str = Field(description="What it is, in one sentence.")


class ArtifactName(_Answer):
    """An artifact that can be read with launch_get_artifact."""

    name: str = Field(description="Its name.")
    sha256: str = Field(description="The digest of its content.")


class RunStatus(_Answer):
    """Where a run is."""

    run_id: str = Field(description="The run that this is about.")
    state: State = Field(description="Where the run is in its life.")
    executing: bool = Field(description="Whether a process works on the run at this moment.")
    section_states: dict[str, str] = Field(
        description="NOT_STARTED, OUTLINED, DRAFTED, MERGED_IN_WORKTREE, DONE or BLOCKED, for each section."
    )
    open_issues: list[OpenIssue] = Field(description="The worst first.")
    artifacts: list[ArtifactName] = Field(description="Sorted by name.")


class StatusAnswer(_Answer):
    """The status of one run."""

    run_id: str = Field(description="The run that this is about.")
    status: RunStatus = Field(description="Where the run is.")


class Artifact(_Answer):
    """The content of an artifact."""

    name: str = Field(description="Its name.")
    content_type: str = Field(description="Ends with ;base64 where the content is no text.")
    sha256: str = Field(description="The digest of its content.")
    content: str = Field(description="The text, or base64 where it is no text.")


class ArtifactAnswer(_Answer):
    """One artifact of a run."""

    run_id: str = Field(description="The run that this is about.")
    artifact: Artifact = Field(description="The artifact.")


# What is optional below is left out and never null, as in the artifact itself.


class GateResult(TypedDict):
    """How one gate ended."""

    __pydantic_config__ = _CLOSED  # type: ignore[misc]  # how pydantic is told

    name: Annotated[str, Field(description="The gate.")]
    ok: Annotated[bool, Field(description="Whether nothing of it keeps the run from being ready.")]
    status: Annotated[Literal["passed", "failed", "skipped", "timeout"], Field(description="How it ended.")]
    log_path: NotRequired[Annotated[str, Field(description="The artifact that holds its log.")]]
    reason: NotRequired[Annotated[str, Field(description="Why it was skipped.")]]


class Location(TypedDict):
    """A place in the site."""

    __pydantic_config__ = _CLOSED  # type: ignore[misc]

    path: Annotated[str, Field(description="Relative to the root of the site.")]
    line: NotRequired[Annotated[int, Field(description="The line, from 1.")]]


class Issue(TypedDict):
    """One thing that a gate found."""

    __pydantic_config__ = _CLOSED  # type: ignore[misc]

    issue_id: Annotated[str, Field(description="Stable over validations.")]
    gate: Annotated[str, Field(description="The gate that found it.")]
    severity: Annotated[
        Severity, Field(description="How bad it is; blocker and error keep a run from being ready.")
    ]
    error_code: Annotated[str, Field(description="What kind of finding it is.")]
    message: Annotated[str, Field(description="What was found.")]
    status: Annotated[Literal["OPEN", "IN_PROGRESS", "RESOLVED"], Field(description="OPEN until it is mended.")]
    files: NotRequired[Annotated[list[str], Field(description="The files that it is about.")]]
    location: NotRequired[Annotated[Location, Field(description="Where it is.")]]
    suggested_fix: NotRequired[Annotated[str, Field(description="What a person could do.")]]
    anchor: NotRequired[Annotated[str, Field(description="What it is about, wherever its line moves to.")]]
    fix_rule: NotRequired[Annotated[str, Field(description="The rule that launch_fix_next would use.")]]
    data: NotRequired[Annotated[dict[str, JsonValue], Field(description="What the rule needs to know.")]]


class ValidationReport(TypedDict):
    """What the gates found."""

    __pydantic_config__ = _CLOSED  # type: ignore[misc]

    schema_version: Annotated[str, Field(description="The version of the form of the report.")]
    ok: Annotated[bool, Field(description="Whether a pull request may be opened.")]
    profile: Annotated[Literal["local", "ci", "prod"], Field(description="How strict the gates were.")]
    gates: Annotated[list[GateResult], Field(description="How each gate ended, in their order.")]
    issues: Annotated[list[Issue], Field(description="The worst first.")]
    error_code: NotRequired[Annotated[Literal["GATE_FAILED"], Field(description="Where ok is false.")]]
    manual_edits: NotRequired[
        Annotated[bool, Field(description="Whether somebody has edited the work tree by hand.")]
    ]
    manual_edited_files: NotRequired[Annotated[list[str], Field(description="Which files were edited by hand.")]]
    site_tree: NotRequired[Annotated[str, Field(description="The digest of what was looked at.")]]


class ValidateAnswer(_Answer):
    """The report of a validation that was carried out, whatever it found."""

    run_id: str = Field(description="The run that this is about.")
    validation_report: ValidationReport = Field(description="What the gates found.")


class FixAnswer(_Answer):
    """One issue that was mended."""

    run_id: str = Field(description="The run that this is about.")
    fixed_issue_id: str = Field(description="The issue that was mended.")
    applied_patch_ids: list[str] = Field(description="The patches that mended it.")
    remaining_blockers: int = Field(description="Open issues of severity blocker in the new report.")
    validation_report: ValidationReport = Field(description="What the gates found.")


class CancelAnswer(_Answer):
    """A run that is cancelled."""

    run_id: str = Field(description="The run that this is about.")
    cancelled: Literal[True] = Field(description="Always true.")
    state: Literal["CANCELLED"] = Field(description="Where the run is in its life.")


class PullRequestAnswer(_Answer):
    """The pull request of a run."""

    run_id: str = Field(description="The run that this is about.")
    pr_url: str = Field(description="The address of the pull request.")
    branch: str = Field(description="The branch that holds the commit.")
    commit_sha: str = Field(description="The commit.")


class ListedRun(_Answer):
    """One line of the list of runs."""

    run_id: str = Field(description="The run that this is about.")
    product_slug: str = Field(description="The product of the run.")
    state: State = Field(description="Where the run is in its life.")
    started_at: str = Field(description="When it was started, in UTC.")
    finished_at: str | None = Field(description="null until the run is over.")


class ListAnswer(_Answer):
    """Runs, the newest first."""

    runs: list[ListedRun] = Field(description="The runs.")
