"""`holdfast launch`: runs that turn a product's repository into cited pages and a pull request on a website."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.groups import CommandGroup
from holdfast.cli.launch_batch import batch
from holdfast.cli.launch_changes import diff, preview
from holdfast.cli.launch_driving import drive, stopped_within, watched
from holdfast.cli.launch_model import answers, try_model
from holdfast.cli.launch_prune import prune
from holdfast.cli.launch_services import commit_service, telemetry_service
from holdfast.cli.launch_work import work
from holdfast.cli.launching import (
    AS_JSON,
    RUN,
    engine_options,
    open_service,
    permission_options,
    print_json,
    run_of,
    told,
    workspace_options,
)
from holdfast.cli.options import setting_options
from holdfast.errors import ToolError
from holdfast.launch.forge_places import AUTO, KINDS
from holdfast.launch.states import RESTING

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["command"]

_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


class _LaunchGroup(CommandGroup):
    """A group that lists its commands in the order in which a person needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.group(name="launch", cls=_LaunchGroup)
def command() -> None:
    """Turn a product's repository into cited pages on a Hugo site, checked by gates, as a pull request.

    A run is kept after every step: kill it anywhere, and `holdfast launch resume RUN` goes on. RUN is the id of a
    run, a part of it, or `last`.

    \b
    Examples:
      holdfast launch init ~/src/tablekit ~/src/site > run.yaml
      holdfast launch start run.yaml
      holdfast launch status last
      holdfast launch open-pr last
    """


@command.command(name="init")
@click.argument("product", metavar="PRODUCT_REPO")
@click.argument("site", metavar="SITE_REPO")
@click.option("--forge", type=click.Choice(KINDS), default=AUTO, show_default=True,
              help="What the site's host is, where its name does not tell.")  # fmt: skip
@setting_options("launch_tokens")
def init(product: str, site: str, forge: str, **options: Any) -> int:
    """Write a run configuration for two repositories, local or remote, to stdout.

    Both are pinned to the commit that they have now. On GitHub and Gitea the pull request will be opened with the
    token in GITHUB_TOKEN or GITEA_TOKEN; to another host than their own it goes only with --allow-tokens.

    \b
    Examples:
      holdfast launch init . ~/src/site > run.yaml
      holdfast launch init . https://github.com/acme/site > run.yaml
      holdfast launch init . https://git.example/acme/site.git --forge gitea --allow-tokens GITEA_TOKEN=git.example
    """
    from holdfast.launch.deriving import derive, render_yaml
    from holdfast.launch.token_grants import TokenGrants
    from holdfast.settings import load_configuration

    with told():
        grants = TokenGrants(load_configuration(options).settings.launch_tokens)
        print(render_yaml(derive(product, site, forge=forge, grants=grants)), end="")
    print("holdfast: read it through, then: holdfast launch start run.yaml", file=sys.stderr)
    return 0


@command.command(name="start")
@click.argument("file", metavar="RUN_YAML", type=click.Path(path_type=Path))
@click.option("--key", metavar="KEY", help="The same key and configuration always mean the same run.")
@click.option("--dry-run", is_flag=True, help="Show what the run would change, and keep nothing of it.")
@click.option("--auto-resume/--no-auto-resume", default=True, show_default=True,
              help="Also go on with other runs of this workspace that were interrupted.")  # fmt: skip
@AS_JSON
@_QUIET
@engine_options
def start(
    file: Path, key: str | None, dry_run: bool, auto_resume: bool, as_json: bool, quiet: bool, **options: Any
) -> int:
    """Start a run and watch it until it is ready for its pull request, or needs a fix.

    Prints the id of the run. Ctrl-C stops the work and keeps the run. A dry run goes as far, gates included, but
    in a temporary workspace: it prints the diff, and nothing of it is kept or told to anybody.

    \b
    Examples:
      holdfast launch start run.yaml
      holdfast launch start run.yaml --dry-run
      holdfast launch start run.yaml --key tablekit-1.4.2 --json
    """
    if dry_run:
        from holdfast.cli.launch_dry_run import dry_run_of

        return dry_run_of(file, key, as_json, quiet, options)
    from holdfast.launch.run_config import load_file

    with told(as_json=as_json), open_service(options) as service:
        run, _ = service.start(load_file(file), key, drive=False)
        if not quiet:
            print(f"holdfast: run {run.run_id}", file=sys.stderr)
        others = service.engine.adopt(leaving=run.run_id) if auto_resume else []
        if others and not quiet:
            print(f"holdfast: also going on with {', '.join(others)}", file=sys.stderr)
        drive(service, run.run_id, quiet=quiet)
        for other in others:
            drive(service, other, quiet=True)
        return _finish(service, run.run_id, as_json)


@command.command(name="status")
@RUN
@AS_JSON
@workspace_options
def status(run: str, as_json: bool, **options: Any) -> int:
    """Show where a run is: its state, its sections, open issues and artifacts.

    \b
    Examples:
      holdfast launch status last
      holdfast launch status r_2026-01-21T10-00-00Z_1f0e9a3c --json
    """
    from holdfast.cli.launch_text import describe_status

    with told(as_json=as_json), open_service(options, run=run) as service:
        found = service.status(run_of(service, run))
        failure, issues = service.run(found["run_id"]).failure, service.open_issues(found["run_id"])
        pause = service.pause(found["run_id"])
    if as_json:
        print_json({"ok": True, "run_id": found["run_id"], "status": found, "failure": failure, "pause": pause})
    else:
        print("\n".join(describe_status(found, issues, failure, pause)))
    return 0


@command.command(name="list")
@click.option("--product", metavar="SLUG", help="Only runs of this product.")
@click.option("--state", metavar="STATE", help="Only runs in this state.")
@AS_JSON
@workspace_options
def list_runs(product: str | None, state: str | None, as_json: bool, **options: Any) -> int:
    """List the runs, the newest first.

    \b
    Examples:
      holdfast launch list
      holdfast launch list --state READY_FOR_PR --json
    """
    from holdfast.cli.launch_text import describe_runs

    with told(as_json=as_json), open_service(options) as service:
        runs = service.runs(product_slug=product, state=state)
    if as_json:
        print_json({"ok": True, "runs": runs})
    else:
        print("\n".join(describe_runs(runs, is_all=product is None and state is None)))
    return 0


@command.command(name="artifact")
@RUN
@click.argument("name", metavar="[NAME]", required=False)
@workspace_options
def artifact(run: str, name: str | None, **options: Any) -> int:
    """Print one artifact of a run; without NAME, the names of all that it has.

    \b
    Examples:
      holdfast launch artifact last
      holdfast launch artifact last page_plan.json
      holdfast launch artifact last drafts/docs/installation.md
    """
    with told(), open_service(options, run=run) as service:
        found = run_of(service, run)
        if name is None:
            print("\n".join(sorted(service.store.artifacts(found))) or "no artifact yet")
            return 0
        service.artifact(found, name)  # says what is wrong with the name
        content = service.objects.read(service.store.artifacts(found)[name].sha256)
    sys.stdout.buffer.write(content)
    return 0


@command.command(name="events")
@RUN
@click.option("--follow", is_flag=True, help="Go on until the run rests, or until Ctrl-C.")
@AS_JSON
@workspace_options
def events(run: str, follow: bool, as_json: bool, **options: Any) -> int:
    """Show what happened in a run.

    \b
    Examples:
      holdfast launch events last
      holdfast launch events last --follow --json
    """
    from holdfast.cli.indexing import stop_on_interrupt

    with told(), open_service(options, run=run) as service, stop_on_interrupt() as stop:
        found, seen = run_of(service, run), 0
        while True:
            rests = service.run(found).holder is None and service.run(found).state in RESTING
            for event in service.store.events(found, after=seen):
                seen = event.seq
                _print_event(event.document(), as_json=as_json)
            if not follow or rests or stopped_within(stop, 0.2):
                return 0


@command.command(name="validate")
@RUN
@AS_JSON
@_QUIET
@engine_options
def validate(run: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Let every gate look at the work tree of a run, as it is now; exit code 1 when they find something.

    \b
    Examples:
      holdfast launch validate last
    """
    with told(as_json=as_json), open_service(options, run=run) as service:
        found = run_of(service, run)
        done = watched(service, found, quiet, lambda stop: service.validate(found, stop=stop))
        return _report(service, found, done, as_json)


@command.command(name="fix")
@RUN
@click.option("--all", "everything", is_flag=True, help="Go on until nothing is left that a rule can mend.")
@AS_JSON
@_QUIET
@engine_options
def fix(run: str, everything: bool, as_json: bool, quiet: bool, **options: Any) -> int:
    """Mend the next issue of a run, and validate again.

    \b
    Examples:
      holdfast launch fix last
      holdfast launch fix last --all
    """
    with told(as_json=as_json), open_service(options, run=run) as service:
        found = run_of(service, run)
        while True:
            try:
                done = watched(service, found, quiet, lambda stop: service.fix_next(found, stop=stop))
            except ToolError as error:
                if not everything or error.details.get("reason") != "fix_no_op":
                    raise
                print(f"holdfast: no rule mends {error.details['issue_id']}", file=sys.stderr)
                continue
            if done["validation_report"]["ok"] or not everything:
                return _report(service, found, done, as_json)
            print(f"holdfast: mended {done['fixed_issue_id']}", file=sys.stderr)


@command.command(name="resume")
@RUN
@AS_JSON
@_QUIET
@engine_options
def resume(run: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Go on with a run that was interrupted, until it rests.

    \b
    Examples:
      holdfast launch resume last
    """
    from holdfast.launch.engine.refusals import check_may_resume

    with told(as_json=as_json), open_service(options, run=run) as service:
        found = run_of(service, run)
        check_may_resume(service.run(found))
        drive(service, found, quiet=quiet)
        return _finish(service, found, as_json)


@command.command(name="cancel")
@RUN
@AS_JSON
@workspace_options
def cancel(run: str, as_json: bool, **options: Any) -> int:
    """End a run for good; its artifacts stay readable.

    \b
    Examples:
      holdfast launch cancel last
    """
    with told(as_json=as_json), open_service(options, run=run) as service:
        found = run_of(service, run)
        state = service.cancel(found)
    if as_json:
        print_json({"ok": True, "run_id": found, "cancelled": True, "state": state})
    else:
        print(f"{found} is {state}")
    return 0


@command.command(name="open-pr")
@RUN
@AS_JSON
@_QUIET
@workspace_options
@permission_options
def open_pr(run: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Open the pull request of a run whose last validation passed.

    \b
    Examples:
      holdfast launch open-pr last
    """
    with told(as_json=as_json), open_service(options, run=run) as service:
        found = run_of(service, run)
        done = watched(service, found, quiet, lambda stop: service.open_pr(found, stop=stop))
    if as_json:
        print_json({"ok": True, "run_id": found, **done})
    else:
        print(f"{done['pr_url']}\nbranch {done['branch']}\ncommit {done['commit_sha']}")
    return 0


@command.command(name="replay")
@RUN
@AS_JSON
@workspace_options
def replay(run: str, as_json: bool, **options: Any) -> int:
    """Prove that everything that is known of a run follows from its events, and that nobody changed anything.

    Compares the tables, the exported files and the content of every artifact with what the events say.

    \b
    Examples:
      holdfast launch replay last
    """
    with told(as_json=as_json), open_service(options, run=run) as service:
        found = run_of(service, run)
        events, differences = service.replay(found)
    if as_json:
        print_json({"ok": not differences, "run_id": found, "events": events, "differences": differences})
    else:
        print(f"{events} events, {'NOT what is stored:' if differences else 'all of it follows from them'}")
        for difference in differences:
            print(f"  {difference}")
    return 1 if differences else 0


# --- shared ------------------------------------------------------------------------------------------------------


def _finish(service: "RunService", run_id: str, as_json: bool) -> int:
    """Tell where the run has come to; 0 where it is ready or done."""
    from holdfast.cli.launch_text import describe_issues, next_words

    found = service.status(run_id)
    failure = service.run(run_id).failure
    is_empty = found["state"] == "READY_FOR_PR" and _changes_nothing(service, run_id)
    if as_json:
        told_more = {"status": found, "failure": failure, "changes": not is_empty}
        print_json({"ok": True, "run_id": run_id, **told_more})
    else:
        print(run_id)
        issues = service.open_issues(run_id)
        for line in describe_issues(issues) if issues else ():
            print(line, file=sys.stderr)
        if failure:
            print(f"holdfast: {failure['code']}: {failure['message']}", file=sys.stderr)
        for line in _updates(service, run_id):
            print(line, file=sys.stderr)
        if is_empty:
            print(
                "holdfast: nothing changes: the site has all of it, so there is no pull request to open",
                file=sys.stderr,
            )
        else:
            print(next_words(run_id, found["state"], issues=len(issues)), file=sys.stderr)
    return 0 if found["state"] in ("READY_FOR_PR", "PR_OPENED", "DONE") else 1


def _updates(service: "RunService", run_id: str) -> list[str]:
    from holdfast.cli.launch_text import describe_updates

    if "update_report.json" not in service.store.artifacts(run_id):
        return []
    return list(describe_updates(json.loads(service.artifact(run_id, "update_report.json")["content"])))


def _changes_nothing(service: "RunService", run_id: str) -> bool:
    bundle = json.loads(service.artifact(run_id, "patch_bundle.json")["content"])
    return not bundle["patches"]


def _report(service: "RunService", run_id: str, done: dict[str, Any], as_json: bool) -> int:
    from holdfast.cli.launch_text import describe_gates, describe_issues, next_words

    report = done["validation_report"]
    if as_json:
        print_json({"ok": True, "run_id": run_id, **done})
    else:
        print(describe_gates(report["gates"]))
        print("\n".join(describe_issues(report["issues"])))
        state = service.run(run_id).state
        print(next_words(run_id, state, issues=len(report["issues"])), file=sys.stderr)
    return 0 if report["ok"] else 1


def _print_event(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(document, ensure_ascii=False), flush=True)
    else:
        payload = json.dumps(document["payload"], ensure_ascii=False)
        shown = payload if len(payload) <= 160 else payload[:159] + "…"
        print(f"{document['seq']:>5}  {document['ts']}  {document['type']:<22} {shown}", flush=True)


command.add_command(try_model)
command.add_command(answers)
command.add_command(diff)
command.add_command(preview)
command.add_command(prune)
command.add_command(batch)
command.add_command(work)
command.add_command(commit_service)
command.add_command(telemetry_service)
