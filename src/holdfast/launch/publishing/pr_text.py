"""The words of a commit and of a pull request: from templates, the plan, the facts and the report. Pure.

Templates are filled by plain replacement of a few known names: whatever else stands in braces stays as it is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.launch.publishing.update_text import code_span, update_lines

__all__ = ["changes_of", "filled", "pull_request_body", "rollback_steps"]

_NAME = re.compile(r"\{(product_slug|product_name|github_repo_url|github_ref|run_id)\}")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~@!])")
_LONGEST_BODY = 60_000
_MOST_ROWS = 150
_MOST_PATHS_TOLD = 20
_CHANGES = {"create_file": "created", "delete_file": "deleted"}


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its names replaced, each once: what is put in is not looked at again."""
    return _NAME.sub(lambda found: values[found[1]], template)


def changes_of(bundle: Mapping[str, Any], paths: Iterable[str]) -> dict[str, str]:
    """Whether each of the paths is created, updated or deleted."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for patch in bundle["patches"]:
        first.setdefault(patch["path"], patch["type"])
        last[patch["path"]] = patch["type"]

    def change(path: str) -> str:
        if last.get(path) == "delete_file":
            return "deleted"
        return "created" if first.get(path) == "create_file" else "updated"

    return {path: change(path) for path in paths}


def rollback_steps(branch: str, base_ref: str, commit_sha: str, paths: Sequence[str]) -> list[str]:
    """How to take the change back, before and after it was merged."""
    find = f"git log --oneline --merges --ancestry-path {commit_sha}..HEAD"
    return [
        f"Not merged yet: close the pull request and delete its branch: `git push origin --delete {branch}`.",
        f"Merged as it is: `git revert --no-edit {commit_sha}`; after a squash, the commit in its place.",
        f"Merged by a merge commit, the last line of `{find}`: `git revert --no-edit -m 1` with that commit.",
        f"Check: `git diff --stat {base_ref} HEAD` lists none of the affected files ({len(paths)}) any more.",
        "Build and publish the site again.",
    ]


def pull_request_body(
    values: Mapping[str, str],
    plan: Mapping[str, Any],
    facts: Mapping[str, Any],
    report: Mapping[str, Any],
    changes: Mapping[str, str],
    steps: Sequence[str],
    updates: Mapping[str, Any] | None = None,
) -> str:
    """The text of the pull request in Markdown: what, pages, people's edits, evidence, checks, the way back."""
    lines = [
        *_what(values, changes), "", "## Pages", "", *_pages(plan, changes), "",
        *update_lines(updates or {"pages": []}), "## Evidence", "",
        *_evidence(facts, values), "", "## Checks", "", *_checks(report), "", "## Taking it back", "",
        *(f"{number}. {step}" for number, step in enumerate(steps, 1)),
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    if len(text) <= _LONGEST_BODY:
        return text
    note = "\n(shortened: the rest is in the artifacts of the run)\n"
    return text[: _LONGEST_BODY - len(note)].rpartition("\n")[0] + note


def _what(values: Mapping[str, str], changes: Mapping[str, str]) -> list[str]:
    counted = Counter(changes.values())
    told = ", ".join(f"{counted[kind]} {kind}" for kind in ("created", "updated", "deleted") if counted[kind])
    source = f"{code_span(values['github_repo_url'])} at {code_span(values['github_ref'])}"
    return [
        f"Pages about **{_escaped(values['product_name'])}**, written from its repository {source}.",
        "",
        f"Files: {told}. Run: {code_span(values['run_id'])}.",
    ]


def _pages(plan: Mapping[str, Any], changes: Mapping[str, str]) -> list[str]:
    pages = [page for page in plan["pages"] if page["output_path"] in changes]
    rows = [
        (
            page["section"], _escaped(page["title"]), code_span(page["url_path"]), code_span(page["output_path"]),
            changes[page["output_path"]],
        )
        for page in sorted(pages, key=lambda page: (page["section"], page["output_path"]))
    ]  # fmt: skip
    planned = {page["output_path"] for page in pages}
    others = [path for path in sorted(changes) if path not in planned]
    lines = _table(("Section", "Page", "Address", "File", "Change"), rows)
    if others:
        lines += [
            "",
            "Other files:",
            "",
            *(f"- {code_span(path)}: {changes[path]}" for path in others[:_MOST_ROWS]),
        ]
        lines += [f"- and {len(others) - _MOST_ROWS} more"] if len(others) > _MOST_ROWS else []
    return lines


def _evidence(facts: Mapping[str, Any], values: Mapping[str, str]) -> list[str]:
    claims = facts["claims"]
    facts_told = sum(claim["truth_status"] == "fact" for claim in claims)
    guessed = len(claims) - facts_told
    kinds = Counter(claim["claim_kind"] for claim in claims)
    commit = code_span(values["github_ref"][:12])
    return [
        f"Claims found in the repository: {len(claims)} (facts: {facts_told}, inferences: {guessed}).",
        "Each factual line of the pages carries an invisible mark with its claims; from there the",
        f"`evidence_map.json` of the run leads to file and lines at {commit}.",
        "",
        *_table(("Kind of claim", "Claims"), [(kind, str(number)) for kind, number in sorted(kinds.items())]),
    ]


def _checks(report: Mapping[str, Any]) -> list[str]:
    counted = Counter(issue["severity"] for issue in report["issues"] if issue["status"] != "RESOLVED")
    told = ", ".join(f"{counted[kind]} {kind}" for kind in ("blocker", "error", "warn", "info") if counted[kind])
    rows = [
        (code_span(gate["name"]), gate["status"], _escaped(gate.get("reason", ""))) for gate in report["gates"]
    ]
    edited = report.get("manual_edited_files", [])
    lines = [f"Profile {code_span(report['profile'])}. Open findings: {told or 'none'}.", ""]
    lines += _table(("Gate", "Outcome", "Note"), rows)
    if edited:
        shown = ", ".join(code_span(path) for path in edited[:_MOST_PATHS_TOLD])
        lines += ["", f"Edited by hand: {shown}{' and more' if len(edited) > _MOST_PATHS_TOLD else ''}."]
    return lines


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return ["None."]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        lines += ["", f"And {len(rows) - _MOST_ROWS} more."]
    return lines


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
