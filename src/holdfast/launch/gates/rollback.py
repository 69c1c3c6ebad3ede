"""Gate: what is needed to take the change back is known. That it was written, is checked where it is written."""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import View

__all__ = ["GATE", "check", "rollback_problems"]

_SHA = re.compile(r"[0-9a-f]{40}")


def check(view: View) -> Checked:
    """Before there is a pull request: the commit to go back to, and the files that are touched."""
    if view.profile == "local":
        return Checked(skipped="not asked for in the profile local")
    found = []
    base = view.artifacts["patch_bundle.json"]["base_ref"]
    if base != view.config["site_ref"]:
        found.append(
            Finding(
                "ROLLBACK_BASE_UNKNOWN", "The changes were made for another commit of the site.", anchor="base_ref"
            )
        )
    if not view.files:
        found.append(
            Finding("ROLLBACK_NOTHING_CHANGED", "The run changes no file of the site.", anchor="no change")
        )
    return Checked(found, notes=[f"base: {base}", *(f"path: {path}" for path in view.files)])


def rollback_problems(pr: Mapping[str, Any]) -> list[str]:
    """What a record of a pull request lacks for somebody who has to take it back; nothing where it is complete."""
    problems = []
    if not _SHA.fullmatch(str(pr.get("base_ref", ""))):
        problems.append("base_ref is no commit")
    commits = pr.get("commit_shas") or []
    if not commits or not all(_SHA.fullmatch(str(commit)) for commit in commits):
        problems.append("commit_shas does not name the commits")
    if not pr.get("affected_paths"):
        problems.append("affected_paths is empty")
    if not pr.get("rollback_steps"):
        problems.append("rollback_steps is empty")
    if not pr.get("branch_name"):
        problems.append("branch_name is empty")
    if not pr.get("run_id"):
        problems.append("run_id is empty")
    return problems


GATE = Gate(
    "rollback",
    "rollback",
    check,
    everywhere(ROLLBACK_BASE_UNKNOWN="info warn blocker", ROLLBACK_NOTHING_CHANGED="info warn blocker"),
    seconds(10, 20),
    uses=("patch_bundle.json",),
)
