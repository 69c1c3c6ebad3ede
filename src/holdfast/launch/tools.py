"""The nine tools of the launch server: its whole public face, as thin functions over the service.

The rest of what each promises is in `promises`, what it answers in `answers`. A run drives itself after its start,
in this process or in the one that owns the workspace; what is asked for here only waits for it.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field, JsonValue

from holdfast.launch import answers
from holdfast.launch.calls import ArgumentCheck, followed, recorded, service
from holdfast.launch.promises import PROMISES
from holdfast.launch.version import SCHEMA_VERSION
from holdfast.version import __version__
from holdfast.worker.context import SyncContext
from holdfast.worker.server import Server

__all__ = [
    "launch_cancel",
    "launch_fix_next",
    "launch_get_artifact",
    "launch_get_status",
    "launch_list_runs",
    "launch_open_pr",
    "launch_resume",
    "launch_start_run",
    "launch_validate",
    "server",
]

Function = TypeVar("Function", bound=Callable[..., Any])
RunConfig = Annotated[dict[str, JsonValue], Field(description="What to do; see run_config.schema.json.")]
Key = Annotated[
    str | None,
    Field(min_length=1, max_length=200, description="The same key and configuration always mean the same run."),
]
ArtifactName = Annotated[str, Field(min_length=1, max_length=500, description="As launch_get_status lists it.")]
Filter = Annotated[answers.RunFilter | None, Field(description="Which runs; all of them by default.")]
RunId = Annotated[str, Field(pattern="^[a-zA-Z0-9_-]{8,64}$", description="The id that launch_start_run gave.")]

server = Server(
    "launch",
    version=__version__,
    surface_version=SCHEMA_VERSION,
    dialect="launch",
    render="json",
    presentation="meta",
    instructions="Start a run with launch_start_run, follow it with launch_get_status until it is READY_FOR_PR or "
    "VALIDATING with open issues; mend those with launch_fix_next; then launch_open_pr. A run that is neither, "
    "and not executing, was interrupted: launch_resume.",
    logging=False,
)


def _tool(function: Function) -> Function:
    """Register a tool under its own name, with a telemetry record of every call."""
    server.tool(**PROMISES[function.__name__].declared())(recorded(function))
    registered = server.find_tool(function.__name__)
    assert registered is not None
    registered.arguments = ArgumentCheck(function.__name__, registered.contract.input_schema)
    return function


@_tool
def launch_start_run(
    run_config: RunConfig,
    ctx: SyncContext,  # noqa: ARG001 - who asks is part of the telemetry record
    idempotency_key: Key = None,
) -> answers.StartAnswer:
    """Start a run: two repositories become pages in the site's work tree, up to the point of a pull request."""
    run, _ = service().start(run_config, idempotency_key)
    return answers.StartAnswer(run_id=run.run_id, state=run.state)


@_tool
def launch_get_status(run_id: RunId, ctx: SyncContext) -> answers.StatusAnswer:  # noqa: ARG001
    """Tell where a run is: its state, its sections, what the gates found, which artifacts there are."""
    return answers.StatusAnswer.model_validate({"run_id": run_id, "status": service().status(run_id)})


@_tool
def launch_get_artifact(
    run_id: RunId,
    artifact_name: ArtifactName,
    ctx: SyncContext,  # noqa: ARG001
) -> answers.ArtifactAnswer:
    """Read one artifact of a run: the page plan, a draft, the evidence map, a report."""
    found = service().artifact(run_id, artifact_name)
    return answers.ArtifactAnswer.model_validate({"run_id": run_id, "artifact": found})


@_tool
def launch_validate(run_id: RunId, ctx: SyncContext) -> answers.ValidateAnswer:
    """Let every gate look at the work tree of a run, as it is now; whether they pass is in the report."""
    done = service().validate(run_id, stop=followed(ctx, run_id))
    return answers.ValidateAnswer.model_validate({"run_id": run_id, **done})


@_tool
def launch_fix_next(run_id: RunId, ctx: SyncContext) -> answers.FixAnswer:
    """Mend the first issue that a rule can mend, and validate again."""
    done = service().fix_next(run_id, stop=followed(ctx, run_id))
    return answers.FixAnswer.model_validate({"run_id": run_id, **done})


@_tool
def launch_resume(run_id: RunId, ctx: SyncContext) -> answers.StatusAnswer:
    """Go on with a run that was interrupted, until its next change of state."""
    status = service().resume(run_id, stop=followed(ctx, run_id))
    return answers.StatusAnswer.model_validate({"run_id": run_id, "status": status})


@_tool
def launch_cancel(run_id: RunId, ctx: SyncContext) -> answers.CancelAnswer:  # noqa: ARG001
    """End a run for good, whatever it is doing."""
    service().cancel(run_id)
    return answers.CancelAnswer(run_id=run_id, cancelled=True, state="CANCELLED")


@_tool
def launch_open_pr(run_id: RunId, ctx: SyncContext) -> answers.PullRequestAnswer:
    """Open the pull request of a run whose last validation passed."""
    done = service().open_pr(run_id, stop=followed(ctx, run_id))
    return answers.PullRequestAnswer.model_validate({"run_id": run_id, **done})


@_tool
def launch_list_runs(ctx: SyncContext, filter: Filter = None) -> answers.ListAnswer:  # noqa: A002, ARG001
    """List the runs of this workspace, the newest first."""
    wanted = filter or answers.RunFilter()
    runs = service().runs(product_slug=wanted.product_slug, state=wanted.state)
    return answers.ListAnswer.model_validate({"runs": runs})
