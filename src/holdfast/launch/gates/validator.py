"""W7, the validator: every gate over what the run has touched, and one report of what they found."""

import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch import toolchain
from holdfast.launch.documents import sha256
from holdfast.launch.gates.gate import Checked, Finding, Gate
from holdfast.launch.gates.manual_edits import adopted, adopted_files
from holdfast.launch.gates.table import GATES
from holdfast.launch.gates.view import Page, View
from holdfast.launch.issues import issue, ordered
from holdfast.launch.patching.engine import Applied, apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.tree import BaseTree, edited, pictured
from holdfast.launch.version import ARTIFACT_VERSION
from holdfast.launch.work import Workplace
from holdfast.process.apart import run_apart

__all__ = ["GATES", "is_ok", "work"]

_NEEDED = ("patch_bundle.json",)
_EMPTY_TRUTH = {
    "schema_version": ARTIFACT_VERSION, "ok": False, "pages": [], "unresolved_claim_ids": [],
    "inferred_claim_ids": [], "forbidden_inferred_claim_ids": [], "uncited_lines": [],
}  # fmt: skip


def work(place: Workplace, gates: Iterable[Gate] = GATES) -> None:
    """Run the gates and write the reports; ToolError TOOLCHAIN_MISSING, first of all, for a missing tool."""
    profile = place.config.get("validation_profile", "local")
    toolchain.ensure(toolchain.required(profile))
    with tempfile.TemporaryDirectory(prefix="gates-", dir=place.out) as scratch:
        view, edits = _viewed(place, profile, Path(scratch))
        passage = _Passage(place, view, Path(scratch))
        chosen = list(gates)
        for number, gate in enumerate(chosen):
            place.progress(number, len(chosen), gate.name)
            passage.through(gate)
    issues = ordered(passage.issues)
    ok = is_ok(issues, place.config)
    edits = sorted({*edits, *adopted_files(view.artifacts.get("patch_bundle.json"))})
    report: dict[str, Any] = {
        "schema_version": ARTIFACT_VERSION,
        "ok": ok,
        "profile": profile,
        "gates": passage.rows,
        "issues": issues,
        "manual_edits": bool(edits),
        "manual_edited_files": edits,
        "site_tree": _digest(place.config["site_ref"], view.files),
    }
    place.write("validation_report.json", report if ok else {**report, "error_code": "GATE_FAILED"})
    place.write("truth_lock_report.json", passage.documents.get("truth_lock_report.json", _EMPTY_TRUTH))


def is_ok(issues: Iterable[Mapping[str, Any]], config: Mapping[str, Any]) -> bool:
    """Whether nothing is open that counts: warnings count in `prod`, and in `ci` where it is strict."""
    profile = config.get("validation_profile", "local")
    strict = profile == "prod" or (profile == "ci" and config.get("ci_strictness", "relaxed") == "strict")
    counting = {"blocker", "error", "warn"} if strict else {"blocker", "error"}
    return not any(item["severity"] in counting and item["status"] == "OPEN" for item in issues)


class _Passage:
    """The way of one run through the gates: what they found, how each ended, and their logs."""

    def __init__(self, place: Workplace, view: View, scratch: Path) -> None:
        self._place = place
        self._view = view
        self._hidden = [(str(scratch), "<temp>"), (str(place.site), "<site>"), (str(place.root), "<run>")]
        self.issues: list[dict[str, Any]] = []
        self.rows: list[dict[str, Any]] = []
        self.documents: dict[str, Any] = {}

    def through(self, gate: Gate) -> None:
        """One gate, with its events, its log and its row in the report."""
        self._place.tell("GATE_RUN_STARTED", gate=gate.name)
        begun = time.monotonic()
        status, checked, failures = self._run(gate)
        profile = self._view.profile
        found = [gate.issue(finding, profile) for finding in checked.findings] + failures
        counting = [item for item in found if item["severity"] in ("blocker", "error")]
        if status == "passed" and counting:
            status = "failed"
        log_path = f"logs/gate_{gate.name}.log"
        row = {"name": gate.name, "ok": status in ("passed", "skipped"), "status": status, "log_path": log_path}
        self.rows.append(row | ({"reason": checked.skipped[:500]} if checked.skipped else {}))
        self._place.write_text(log_path, self._log(gate, status, checked, ordered(found)))
        self.issues += found
        self.documents |= checked.documents
        self._place.tell(
            "GATE_RUN_FINISHED",
            gate=gate.name,
            ok=row["ok"],
            status=status,
            duration_ms=round((time.monotonic() - begun) * 1000),
            issues=len(found),
        )

    def _run(self, gate: Gate) -> tuple[str, Checked, list[dict[str, Any]]]:
        missing = [name for name in gate.uses if name not in self._view.artifacts]
        if missing:
            return "skipped", Checked(skipped=f"{missing[0]} is missing or does not fit its schema"), []
        limit = gate.timeout[self._view.profile]
        outcome = run_apart(lambda: _told(gate.check(self._view)), limit)
        if outcome.status == "answer":
            checked = _from_told(outcome.answer)
            return ("skipped" if checked.skipped else "passed"), checked, []
        reason = self._scrubbed(outcome.reason)
        if outcome.status == "timeout":
            found = issue(
                gate.name, "GATE_TIMEOUT", "blocker", f"The gate {gate.name} was ended: {reason}",
                anchor="timeout", suggested_fix="Look for what makes it slow, then validate again.",
            )  # fmt: skip
            return "timeout", Checked(notes=[reason]), [found]
        found = issue(
            gate.name, "GATE_CRASHED", "blocker", f"The gate {gate.name} crashed: {reason}",
            anchor="crash", suggested_fix="Validate again; if it crashes again, report it with its log.",
        )  # fmt: skip
        return "failed", Checked(notes=[reason]), [found]

    def _log(self, gate: Gate, status: str, checked: Checked, found: list[dict[str, Any]]) -> str:
        lines = [f"gate {gate.name} ({self._view.profile}): {status}"]
        lines += [f"skipped: {checked.skipped}"] if checked.skipped else []
        lines += checked.notes
        for item in found:
            place = item.get("location", {})
            where = f"{place.get('path', '-')}:{place.get('line', 0)}"
            lines.append(f"{item['severity']} {item['error_code']} {where} {item['issue_id']} {item['message']}")
        return self._scrubbed("\n".join(lines) + "\n")

    def _scrubbed(self, text: str) -> str:
        """Without the places of this machine, so that the same findings are the same text everywhere."""
        for place, name in self._hidden:
            text = text.replace(place, name)
        return text


def _viewed(place: Workplace, profile: str, scratch: Path) -> tuple[View, list[str]]:
    """What the gates look at, and the files that somebody edited by hand."""
    artifacts, broken = _artifacts(place)
    site = place.site
    view = View(
        config=place.config, profile=profile, artifacts=artifacts, broken=broken, given=place.given, site=site,
        scratch=scratch, hugo=toolchain.hugo_executable(), links=place.about.get("links", {}),
        is_trusted=bool(place.about.get("site_is_trusted")),
    )  # fmt: skip
    if not site.is_dir():
        raise ToolError(
            "ILLEGAL_STATE",
            "the work tree of the site is not there",
            details={"reason": "missing", "missing": "worktree"},
        )
    if any(name not in artifacts for name in _NEEDED):
        return view, []
    view.tree = BaseTree(site, place.config["site_ref"])
    bundle = artifacts["patch_bundle.json"]
    applied = _applied(bundle, view.tree, place.config)
    edits = edited(site, place.config["site_ref"], pictured(bundle, applied, view.tree))
    if edits and place.config.get("allow_manual_edits", False):
        longer = adopted(bundle, edits, applied.files, view.tree, site, Fence(place.config["allowed_paths"]))
        if longer != bundle:
            place.write("patch_bundle.json", longer)
            artifacts["patch_bundle.json"] = bundle = longer
            applied = _applied(bundle, view.tree, place.config)
        view.edits = edited(site, place.config["site_ref"], pictured(bundle, applied, view.tree))
    else:
        view.edits = edits
    told = [*artifacts.get("patch_conflicts.json", {}).get("conflicts", []), *applied.conflicts]
    view.conflicts = list({(item["patch_id"], item["path"]): item for item in told}.values())
    view.files = dict(sorted(applied.files.items()))
    view.pages = _pages(view)
    return view, edits


def _applied(bundle: Mapping[str, Any], tree: BaseTree, config: Mapping[str, Any]) -> Applied:
    tree.load(patch["path"] for patch in bundle["patches"])
    return apply_bundle(bundle, tree.read, Fence(config["allowed_paths"]), tree.paths())


def _artifacts(place: Workplace) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The artifacts that fit their schemas, and what is wrong with the others."""
    artifacts: dict[str, Any] = {}
    broken: dict[str, list[str]] = {}
    for name in sorted(place.given):
        if not name.endswith(".json"):
            continue
        try:
            artifacts[name] = place.read(name)
        except ToolError as error:
            rows = error.details.get("violations") or [{"instancePath": "", "message": error.message}]
            broken[name] = [f"{row['instancePath'] or '/'}: {row['message']}" for row in rows]
    return artifacts, broken


def _pages(view: View) -> list[Page]:
    planned = {page["output_path"]: page for page in view.artifacts.get("page_plan.json", {}).get("pages", [])}
    root = view.config["site_layout"]["content_root"]
    return [
        Page(path, content, view.tree.read(path), planned.get(path))
        for path, content in view.files.items()
        if content is not None and view.is_page(path, root)
    ]


def _told(checked: Checked) -> dict[str, Any]:
    return {
        "findings": [finding.told() for finding in checked.findings],
        "notes": checked.notes,
        "documents": checked.documents,
        "skipped": checked.skipped,
    }


def _from_told(told: Mapping[str, Any]) -> Checked:
    findings = [Finding.from_told(item) for item in told["findings"]]
    return Checked(findings, told["notes"], told["documents"], told["skipped"])


def _digest(ref: str, files: Mapping[str, bytes | None]) -> str:
    """What the report is about: the commit and everything that the run makes of it."""
    rows = [
        ref,
        *(f"{path}\0{sha256(content) if content is not None else '-'}" for path, content in files.items()),
    ]
    return sha256("\n".join(rows).encode())
