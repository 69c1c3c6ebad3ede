"""`holdfast launch start --dry-run`: a run that ends before its pull request, and leaves nothing behind."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.launch_changes import describe_stat, print_diff
from holdfast.cli.launch_driving import drive
from holdfast.cli.launching import open_service, print_json, told
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.launch.run_changes import RunChanges

__all__ = ["dry_run_of"]

_NO_REPORT: Mapping[str, Any] = {"pages": []}


def dry_run_of(file: Path, key: str | None, as_json: bool, quiet: bool, options: dict[str, Any]) -> int:
    """The whole way up to the pull request, in a place that is gone afterwards."""
    import tempfile

    from holdfast.launch.run_changes import changes_of_run
    from holdfast.launch.run_config import load_file

    if key is not None:
        raise UsageError(
            "a dry run is not kept, so no key can find it again", remedy="leave out --key or --dry-run"
        )
    with (
        told(as_json=as_json),
        tempfile.TemporaryDirectory(prefix="holdfast-dry-run-", ignore_cleanup_errors=True) as folder,
        open_service({**options, "launch_dir": Path(folder)}, kept=False) as service,
    ):
        run, _ = service.start(_untold(load_file(file)), drive=False)
        drive(service, run.run_id, quiet=quiet, kept=False)
        state, failure = service.run(run.run_id).state, service.run(run.run_id).failure
        issues = service.open_issues(run.run_id)
        artifacts = service.store.artifacts(run.run_id)
        changes = changes_of_run(service, run.run_id) if "patch_bundle.json" in artifacts else None
        report = _NO_REPORT
        if "update_report.json" in artifacts:
            report = json.loads(service.artifact(run.run_id, "update_report.json")["content"])
    if as_json:
        text = "".join(f"{line}\n" for line in changes.diff()) if changes else ""
        files = changes.stat() if changes else []
        print_json({"ok": True, "dry_run": True, "state": state, "failure": failure, "issues": issues,
                    "pages": report["pages"], "files": files, "diff": text})  # fmt: skip
    else:
        _tell(changes, report, issues, failure)
    return 0 if state == "READY_FOR_PR" else 1


def _tell(
    changes: "RunChanges | None",
    report: Mapping[str, Any],
    issues: Sequence[Mapping[str, Any]],
    failure: Mapping[str, Any] | None,
) -> None:
    from holdfast.cli.launch_text import describe_issues, describe_updates

    if changes:
        print_diff(changes)
        for line in describe_stat(changes.stat()):
            print(line, file=sys.stderr)
    for line in describe_updates(report):
        print(line, file=sys.stderr)
    for line in describe_issues(issues) if issues else ():
        print(line, file=sys.stderr)
    if failure:
        print(f"holdfast: {failure['code']}: {failure['message']}", file=sys.stderr)
    print("holdfast: dry run: nothing was kept", file=sys.stderr)


def _untold(config: Any) -> Any:
    """The configuration with services that end with this process: a dry run is nobody's business."""
    if not isinstance(config, dict) or not isinstance(config.get("telemetry"), dict):
        return config  # it will be refused, with all that is wrong with it
    return {**config, "telemetry": {**config["telemetry"], "endpoint_url": "embedded:"}}
