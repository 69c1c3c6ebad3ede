"""What the launch commands share: the workspace, which run is meant, and how a refusal is told."""

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli.launch_text import next_command
from holdfast.cli.options import setting_options
from holdfast.errors import ToolError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.launch.service import RunService

__all__ = [
    "AS_JSON",
    "RUN",
    "engine_options",
    "open_service",
    "permission_options",
    "print_json",
    "run_of",
    "told",
    "workspace_options",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
RUN = click.argument("run", metavar="RUN")
NEGATIVE = 1
# A refusal speaks of the tools; whoever types knows them by other names.
_TOOL = re.compile(r"\blaunch_([a-z_]+)")
_COMMANDS = {"start_run": "start", "get_status": "status", "get_artifact": "artifact", "list_runs": "list",
             "fix_next": "fix", "open_pr": "open-pr"}  # fmt: skip


def workspace_options(function: Decorated) -> Decorated:
    """The options that say where runs are kept."""
    return setting_options("launch_dir", "state_dir", "launch_workers", "launch_engine")(function)


def engine_options(function: Decorated) -> Decorated:
    """The same, and how runs are executed."""
    return setting_options(
        "launch_dir",
        "state_dir",
        "launch_workers",
        "launch_offline_links",
    )(permission_options(function))


def permission_options(function: Decorated) -> Decorated:
    """The options by which the operator permits what a configuration alone may not."""
    return setting_options("launch_trusted_sites", "launch_tokens")(function)


@contextlib.contextmanager
def open_service(options: dict[str, Any], *, kept: bool = True, run: str | None = None) -> "Iterator[RunService]":
    """The service over the workspace that the options name; one that is not kept is all of it, without a pool.

    A command about a run looks for it and makes nothing: a directory that was mistyped stays what it is.
    """
    from dataclasses import replace

    from holdfast.process.privacy import hide_process
    from holdfast.settings import load_configuration

    hide_process()  # its environment may hold tokens, and a site that is trusted starts programs
    settings = load_configuration(options).settings
    try:
        from holdfast.launch.service import RunService
        from holdfast.launch.workspace import workspace_of
    except ModuleNotFoundError as error:
        raise UsageError(
            f"launch runs need {error.name}, which is not installed", remedy="pip install 'holdfast[launch]'"
        ) from error
    workspace = workspace_of(settings if kept else replace(settings, launch_store="", launch_engine="local"))
    if run is not None and not settings.launch_store and not (workspace.root / "runs.sqlite").exists():
        raise _no_runs()
    log = _logging_to(workspace.root / "launch.log")
    with log, RunService(workspace, workers=settings.launch_workers) as service:
        yield service


@contextlib.contextmanager
def _logging_to(path: "Path") -> Iterator[None]:
    """Tracebacks are for whoever looks for them, not for whoever waits."""
    import logging

    log = logging.getLogger("holdfast.launch")
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(name)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()


def run_of(service: "RunService", text: str) -> str:
    """The id of the run that is meant: written out, `last`, or any part that only one run has."""
    runs = service.store.runs(limit=100_000)
    if text == "last" and not runs:
        raise _no_runs()
    if text == "last":
        return runs[0].run_id
    matches = [run.run_id for run in runs if run.run_id == text] or [
        run.run_id for run in runs if len(text) >= 3 and text in run.run_id
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"{len(matches)} runs have {text!r} in their id", remedy="write more of it")
    raise UsageError(f"there is no run {text!r}", remedy="holdfast launch list")


def _no_runs() -> UsageError:
    return UsageError("there are no runs here yet", remedy="holdfast launch start run.yaml, or --launch-dir DIR")


def print_json(document: Any) -> None:
    """A result for a program."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


@contextlib.contextmanager
def told(*, as_json: bool = False) -> Iterator[None]:
    """Turn what a run refuses into words and exit code 1, or into the envelope of the tools."""
    try:
        yield
    except ToolError as error:
        if error.code == "CANCELLED" and error.details.get("scope") == "request":
            raise KeyboardInterrupt from error
        if as_json:
            body = {
                "code": error.code, "message": error.message, "retryable": bool(error.retryable),
                "details": error.details,
            }  # fmt: skip
            print_json({"ok": False, "error": body})
        else:
            _tell(error)
        raise click.exceptions.Exit(NEGATIVE) from error


def _tell(error: ToolError) -> None:
    print(f"holdfast: {error.code}: {error.message}", file=sys.stderr)
    for violation in error.details.get("violations", ())[:20]:
        print(f"  {violation.get('instancePath') or '/'}: {violation.get('message')}", file=sys.stderr)
    for tool in error.details.get("tools", ()):
        print(f"  {tool['name']}: needed {tool['required']}, found {tool['found'] or 'none'}", file=sys.stderr)
    if "pr_url" in error.details:
        print(f"  it is {error.details['pr_url']}", file=sys.stderr)
    hint = _TOOL.sub(lambda found: f"`holdfast launch {_COMMANDS.get(found[1], found[1])}`", error.hint or "")
    if not hint and "state" in error.details:
        hint = next_command(error.details["run_id"], error.details["state"])
    if hint:
        print(f"  try: {hint}", file=sys.stderr)
