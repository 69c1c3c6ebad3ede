"""One run, executed by whoever holds it: step by step, each a transaction, until it rests.

The five things that can be asked for are methods: `drive`, `resume`, `validate`, `fix`, `open_pr`. Each returns
what the caller is told, or raises ToolError with a code of the contract.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.launch import states
from holdfast.launch.engine.labour import HandedOverError, Labour, Parts, WorkFailedError
from holdfast.launch.engine.refusals import (
    NO_MORE_FIXES,
    artifact_lost,
    check_may_fix,
    check_may_open_pr,
    check_may_resume,
    check_may_validate,
)
from holdfast.launch.issues import counted
from holdfast.launch.pipeline import WHOLE, Did, Move, Rest, Step, Work, is_done, next_step
from holdfast.launch.store.export import write_exports
from holdfast.launch.store.refusals import ObjectLost
from holdfast.launch.telemetry.records import commit_calls

if TYPE_CHECKING:
    from holdfast.launch.store.change import Change
    from holdfast.launch.store.records import Run

__all__ = ["Execution"]

_REPORT = "validation_report.json"
_CODES = frozenset(
    {
        "ALLOWED_PATHS_VIOLATION", "CANCELLED", "COMMIT_SERVICE_ERROR", "FIX_EXHAUSTED", "ILLEGAL_STATE",
        "INTERNAL", "SCHEMA_VALIDATION_FAILED", "TOOLCHAIN_MISSING",
    }
)  # fmt: skip
_MENDING = "mending "
_LOOKS = 3  # validations in a row, where each adopts what a person has edited meanwhile


class Execution:
    """Executes one run that was claimed with `token`."""

    def __init__(self, parts: Parts, run_id: str, token: int) -> None:
        self._parts = parts
        self._run_id = run_id
        self._token = token
        self._labour = Labour(parts, run_id, token)
        self._paused: WorkFailedError | None = None

    # --- what can be asked for -------------------------------------------------------------------------------

    async def drive(self) -> dict[str, Any]:
        """Go on until the run rests: before its pull request, at findings of the gates, or failed."""
        while await self._advance() is not None:
            if self._parts.is_leaving():
                raise HandedOverError("another process goes on with the run")
        return {"state": self._run().state}

    async def resume(self) -> dict[str, Any]:
        """Go on until the next change of state."""
        check_may_resume(self._run())
        before = self._run().state
        while self._run().state == before and await self._advance() is not None:
            pass
        if self._paused is not None:  # it is where it was, and whoever asked should know why
            raise _told(self._paused, self._run_id)
        return {"state": self._run().state}

    async def validate(self) -> dict[str, Any]:
        """Let the gates look at the work tree as it is, and go where their report leads."""
        # In a pool the work tree may be on another machine, and is brought here where it is needed.
        check_may_validate(self._run(), None if self._parts.is_pool else self._parts.workspace)
        await self._look_with_gates()
        self._follow_report()
        return {"validation_report": self._report()}

    async def fix(self) -> dict[str, Any]:
        """Mend the next issue that can be mended, and let the gates look again."""
        report = self._report()
        check_may_fix(self._run(), report)
        assert report is not None
        self._check_attempts()
        issue = self._choose(report)
        with self._change() as change:
            change.count_fix_attempt()
            change.move(states.FIXING, reason=_MENDING + issue["issue_id"])
        return await self._carry_out_fix(issue["issue_id"])

    async def finish_fix(self, attempts: int) -> dict[str, Any]:
        """The fix that another process had begun for the same caller, when there were so many attempts before."""
        if self._run().fix_attempts == attempts:
            return await self.fix()  # it was never begun
        begun = [
            event
            for event in self._parts.store.events(self._run_id)
            if event.type == "RUN_STATE_CHANGED" and event.payload["to"] == states.FIXING
        ][-1]
        issue_id = begun.payload["reason"].removeprefix(_MENDING)
        # What is mended already would seem to need no mending.
        is_made = any(
            (item.worker, item.scope, item.status) == ("fixer", issue_id, "finished") and item.seq > begun.seq
            for item in self._parts.store.items(self._run_id)
        )
        if self._run().state != states.FIXING:
            return self._fixed(issue_id)  # only the answer was lost
        return await self._carry_out_fix(issue_id, is_made=is_made)

    async def open_pr(self) -> dict[str, Any]:
        """Ask the commit service for the commit and the pull request."""
        check_may_open_pr(self._run(), self._report(), self._document("pr.json"))
        try:
            await self._labour.carry_out("pr_manager", WHOLE)
        except WorkFailedError as failure:
            raise _told(failure, self._run_id) from failure
        with self._change() as change:
            change.event("PR_OPENED", self._opened())
            change.move(states.PR_OPENED)
        self._move(states.DONE)
        return self._opened()

    async def finish_open_pr(self) -> dict[str, Any]:
        """The pull request that another process may have opened for the same caller."""
        if self._run().state == states.PR_OPENED:
            self._move(states.DONE)
        return self._opened() if self._run().state == states.DONE else await self.open_pr()

    def _opened(self) -> dict[str, Any]:
        request = self._document("pr.json")
        assert request is not None
        return {
            "pr_url": request["pr_url"],
            "branch": request["branch_name"],
            "commit_sha": request["commit_shas"][-1],
        }

    # --- steps -----------------------------------------------------------------------------------------------

    async def _advance(self) -> Step | None:
        """Do the next step; None where there is none."""
        step = self._next()
        if isinstance(step, Rest):
            return None
        if isinstance(step, Move):
            self._move(step.state)
            return step
        try:
            await self._work(step)
        except WorkFailedError as failure:
            self._settle(failure)
            return None
        return step

    def _next(self) -> Step:
        run = self._run()
        artifacts = {name: one.sha256 for name, one in self._parts.store.artifacts(self._run_id).items()}
        sections = run.config["required_sections"]
        ordered = [section for section in states.SECTIONS if section in sections]
        return next_step(run.state, ordered, artifacts, self._did(), self._report())

    def _did(self) -> list[Did]:
        items = self._parts.store.items(self._run_id)
        return [Did(item.worker, item.scope, item.status, item.inputs) for item in items]

    async def _work(self, step: Work) -> None:
        async def one(scope: str) -> None:
            await self._labour.carry_out(step.worker, scope)
            self._note(step.worker, scope)

        async with asyncio.TaskGroup() as group:  # one that fails ends the others
            tasks = [group.create_task(_kept(one(scope))) for scope in step.scopes]
        failures = [failure for task in tasks if (failure := task.result()) is not None]
        if failures:
            raise failures[0]

    def _note(self, worker: str, scope: str) -> None:
        """What the end of this work means for the run, beyond its artifacts."""
        if worker == "section_writer":
            with self._change() as change:
                change.event("SECTION_DRAFTED", {"section": scope})
        elif worker == "validator":
            report = self._report()
            assert report is not None
            with self._change() as change:
                change.issues([self._placed(issue, change.run) for issue in report["issues"]])

    def _placed(self, issue: Mapping[str, Any], run: "Run") -> dict[str, Any]:
        """The issue, with the section that its file belongs to."""
        path = issue.get("location", {}).get("path", "")
        roots = run.config["site_layout"]["subdomain_roots"]
        found = [name for name, root in roots.items() if path.startswith(root.rstrip("/") + "/")]
        return {**issue, "data": {**issue.get("data", {}), "section": found[0]}} if found else dict(issue)

    def _move(self, state: str) -> None:
        with self._change() as change:
            for kind, payload in self._said_on_entry(state, change):
                change.event(kind, payload)
            change.move(state)
            if state == states.DONE:
                self._tell_commit(change)
        self._export()

    def _tell_commit(self, change: "Change") -> None:
        """Telemetry is told which commit everything in this run led to."""
        request = self._document("pr.json")
        if request is not None:
            events = [event.document() for event in self._parts.store.events(self._run_id)]
            sha = request["commit_shas"][-1]
            for call in commit_calls(self._run_id, events, commit_hash=sha, source="ci"):
                change.telemetry(*call)

    def _said_on_entry(self, state: str, change: "Change") -> list[tuple[str, dict[str, Any]]]:
        config = change.run.config
        if state == states.CLONED_INPUTS:
            return [("INPUTS_CLONED", {"repo_sha": config["github_ref"], "site_sha": config["site_ref"]})]
        if state == states.PLAN_READY:
            plan = self._document("page_plan.json") or {"pages": []}
            planned = {page["section"] for page in plan["pages"]}
            return [("SECTIONS_PLANNED", {"sections": [name for name in states.SECTIONS if name in planned]})]
        if state == states.LINKING:
            bundle = self._document("patch_bundle.json") or {"patches": []}
            return [("PATCHES_APPLIED", {"patches": len(bundle["patches"])})]
        return []

    def _settle(self, failure: WorkFailedError) -> None:
        """What cannot be done ends the run; what might be done later leaves it where it is."""
        told = {"code": failure.code, "message": failure.message, "details": failure.details}
        if failure.retryable or failure.code == "TOOLCHAIN_MISSING":
            self._paused = failure
            with self._change() as change:
                change.event("RUN_PAUSED", told)
        elif self._run().state == states.FIXING:
            self._move(states.VALIDATING)
        else:
            self._fail(told)

    def _fail(self, told: Mapping[str, Any]) -> None:
        with self._change() as change:
            change.move(states.FAILED, reason=told["code"], failure=told)
        self._export()

    # --- validation and fixes --------------------------------------------------------------------------------

    async def _look_with_gates(self) -> None:
        try:
            for _ in range(_LOOKS):
                await self._labour.carry_out("validator", WHOLE)
                self._note("validator", WHOLE)
                if self._is_validated():
                    break
        except WorkFailedError as failure:
            raise _told(failure, self._run_id) from failure

    def _is_validated(self) -> bool:
        artifacts = {name: one.sha256 for name, one in self._parts.store.artifacts(self._run_id).items()}
        return is_done("validator", WHOLE, artifacts, self._did())

    def _follow_report(self) -> None:
        report = self._report()
        assert report is not None
        state = self._run().state
        if state in (states.LINKING, states.FIXING) or (state == states.READY_FOR_PR and not report["ok"]):
            self._move(states.VALIDATING)
        if self._run().state == states.VALIDATING and report["ok"]:
            self._move(states.READY_FOR_PR)
        self._export()

    def _check_attempts(self) -> None:
        run = self._run()
        most = run.config["max_fix_attempts"]
        if run.fix_attempts < most:
            return
        message = f"all {most} attempts to fix this run are used up"
        details = {"run_id": self._run_id, "attempts": run.fix_attempts, "max_fix_attempts": most}
        self._fail({"code": "FIX_EXHAUSTED", "message": message, "details": details})
        raise ToolError("FIX_EXHAUSTED", message, details=details, hint=NO_MORE_FIXES, retryable=False)

    def _choose(self, report: Mapping[str, Any]) -> dict[str, Any]:
        from holdfast.launch.fixing.rules import choose

        tried = self._tried(report)
        # To restore a file can be necessary again and again; it leaves the bundle as it is.
        open_ones = [
            issue
            for issue in report["issues"]
            if issue["issue_id"] not in tried or issue.get("fix_rule") == "restore_file"
        ]
        issue = choose(open_ones, ())
        if issue is None:
            left = [one["issue_id"] for one in counted(report["issues"])]
            raise ToolError(
                "FIX_EXHAUSTED",
                "no rule can mend what the gates found",
                details={"run_id": self._run_id, "reason": "no_fixable_issue", "issues": left[:50]},
                hint="edit the files in the work tree by hand, then validate again",
                retryable=False,
            )
        return dict(issue)

    def _tried(self, report: Mapping[str, Any]) -> set[str]:
        """The issues that a rule was tried on while their file was as it is now, by its patches."""
        paths = {issue["issue_id"]: issue.get("location", {}).get("path") for issue in report["issues"]}
        now = self._parts.store.artifacts(self._run_id)["patch_bundle.json"].sha256
        bundles: dict[str, list[dict[str, Any]]] = {}

        def patches(sha256: str, path: str | None) -> list[dict[str, Any]]:
            if sha256 not in bundles:
                bundles[sha256] = self._content("patch_bundle.json", sha256)["patches"]
            return [patch for patch in bundles[sha256] if patch["path"] == path]

        return {
            item.scope
            for item in self._parts.store.items(self._run_id)
            if item.worker == "fixer"
            and item.scope in paths
            and patches(item.inputs["patch_bundle.json"], paths[item.scope]) == patches(now, paths[item.scope])
        }

    async def _carry_out_fix(self, issue_id: str, *, is_made: bool = False) -> dict[str, Any]:
        try:
            if not is_made:
                await self._labour.carry_out("fixer", issue_id)
        except WorkFailedError as failure:
            self._move(states.VALIDATING)
            raise _told(failure, self._run_id) from failure
        if not self._fix_record(issue_id)["changed"]:
            self._move(states.VALIDATING)
        else:
            try:
                await self._look_with_gates()
            except ToolError:  # the fix is made; whether it helped is found out by the next validation
                self._move(states.VALIDATING)
                raise
            self._follow_report()
        return self._fixed(issue_id)

    def _fix_record(self, issue_id: str) -> dict[str, Any]:
        record = self._document(f"fixes/{issue_id}.json")
        assert record is not None
        return record

    def _fixed(self, issue_id: str) -> dict[str, Any]:
        """What whoever asked for a fix is told when it has come to its end."""
        record = self._fix_record(issue_id)
        if not record["changed"]:
            raise ToolError(
                "FIX_EXHAUSTED",
                "the rule for this issue found nothing to change",
                details={"run_id": self._run_id, "reason": "fix_no_op", "issue_id": issue_id},
                hint="call again for the next issue, or edit by hand and validate",
                retryable=False,
            )
        report = self._report()
        assert report is not None
        return {
            "fixed_issue_id": issue_id,
            "applied_patch_ids": record["patch_ids"],
            "remaining_blockers": sum(1 for issue in counted(report["issues"]) if issue["severity"] == "blocker"),
            "validation_report": report,
        }

    # --- reading ---------------------------------------------------------------------------------------------

    def _run(self) -> "Run":
        run = self._parts.store.run(self._run_id)
        assert run is not None
        return run

    def _change(self) -> Any:
        return self._parts.store.change(self._run_id, token=self._token)

    def _report(self) -> dict[str, Any] | None:
        return self._document(_REPORT)

    def _document(self, name: str) -> dict[str, Any] | None:
        kept = self._parts.store.artifacts(self._run_id).get(name)
        return None if kept is None else self._content(name, kept.sha256)

    def _content(self, name: str, sha256: str) -> dict[str, Any]:
        try:
            document: dict[str, Any] = json.loads(self._parts.objects.read(sha256))
        except ObjectLost as lost:
            raise artifact_lost(self._run_id, name, lost) from lost
        return document

    def _export(self) -> None:
        write_exports(self._parts.store, self._run_id, self._parts.workspace.run(self._run_id))


async def _kept(work: Any) -> WorkFailedError | None:
    """The failure as a value: what one section cannot do must not stop the others in their middle."""
    try:
        await work
    except WorkFailedError as failure:
        return failure
    return None


def _told(failure: WorkFailedError, run_id: str) -> ToolError:
    """The failure of a worker as the failure of a tool; a worker's own codes are nothing that a caller knows."""
    hint = failure.details.pop("hint", None)
    is_known = failure.code in _CODES
    return ToolError(
        failure.code if is_known else "INTERNAL",
        failure.message,
        details={"run_id": run_id, **({} if is_known else {"cause_class": failure.code}), **failure.details},
        hint=hint,
        retryable=failure.retryable,
    )
