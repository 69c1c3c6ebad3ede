"""Opens the pull request: one commit out of the bundle of patches, published with the text that a reviewer needs.

Its keys follow from the run, so however often it is killed and started again, there is one commit and one pull
request.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.documents import sha256
from holdfast.launch.forge_places import AUTO
from holdfast.launch.gates.rollback import rollback_problems
from holdfast.launch.identifiers import request_key
from holdfast.launch.publishing.client import EMBEDDED, Commits, connect
from holdfast.launch.publishing.forge_choice import ForgeRule
from holdfast.launch.publishing.pr_text import changes_of, filled, pull_request_body, rollback_steps
from holdfast.launch.scouting.cloning import shown_address
from holdfast.launch.work import Workplace

__all__ = ["work"]

_LONGEST_SUBJECT = 2000
_LONGEST_BODY = 20_000
_LONGEST_TITLE = 300
_AUTHOR = ("Holdfast Launch", "launch@holdfast.invalid")


def work(place: Workplace) -> None:
    """Commit, open the pull request, write `pr.json`."""
    report = place.read("validation_report.json")
    if not report["ok"]:
        message = "the gates have found what keeps this run from being published"
        raise ToolError("ILLEGAL_STATE", message, details={"reason": "not_validated"}, retryable=False)
    bundle = place.read("patch_bundle.json")
    if not bundle["patches"]:
        raise _no_changes()
    commits = _connected(place)
    place.progress(0, 2, "committing")
    made = _committed(place, commits, bundle)
    place.progress(1, 2, "opening the pull request")
    document = _document(place, bundle, report, made)
    problems = rollback_problems(document)
    if problems:
        message = f"the commit could not be taken back: {problems[0]}"
        details = {"reason": "no_way_back", "problems": problems}
        raise ToolError("COMMIT_SERVICE_ERROR", message, details=details, retryable=False)
    opened = _opened(place, commits, document)
    document |= {"pr_url": opened["pr_url"], "pr_number": opened["pr_number"]}
    place.write("pr.json", document)
    place.progress(2, 2, "the pull request is open")


def _connected(place: Workplace) -> Commits:
    asked = place.config["commit_service"]
    root, variable = Path(place.about["service_root"]), asked["github_token_env"]
    if asked["endpoint_url"] == EMBEDDED:
        rule = ForgeRule(asked.get("forge", AUTO), variable, asked.get("forge_url", ""))
        return connect(EMBEDDED, root, forges=[rule])
    return connect(asked["endpoint_url"], root, token=os.environ.get(variable))


def _values(place: Workplace) -> dict[str, str]:
    values = {name: place.config[name] for name in ("product_slug", "product_name", "github_ref")}
    return {**values, "github_repo_url": shown_address(place.config["github_repo_url"]), "run_id": place.run_id}


def _branch(place: Workplace) -> str:
    return f"launch/{place.run_id}/{place.config['product_slug']}"


def _subject(place: Workplace) -> str:
    values = _values(place)
    subject = " ".join(filled(place.config["commit_service"]["commit_message_template"], values).split())
    return subject[:_LONGEST_SUBJECT] or f"Launch {values['product_name']}"


def _committed(place: Workplace, commits: Commits, bundle: Mapping[str, Any]) -> dict[str, Any]:
    asked = place.config["commit_service"]
    request = {
        "schema_version": "1.0",
        "run_id": place.run_id,
        "idempotency_key": request_key(place.run_id, "commit", place.given["patch_bundle.json"].sha256),
        "repo_url": place.config["site_repo_url"],
        "base_ref": place.config["site_ref"],
        "branch_name": _branch(place),
        "allowed_paths": list(place.config["allowed_paths"]),
        "commit_message": _subject(place),
        "commit_body": filled(asked["commit_body_template"], _values(place))[:_LONGEST_BODY],
        "patch_bundle": bundle,
        "author_name": asked.get("author_name", _AUTHOR[0]),
        "author_email": asked.get("author_email", _AUTHOR[1]),
        "created_at": place.about["started_at"],
    }
    try:
        return commits.commit(request)
    except ToolError as error:
        if error.details.get("code") == "NO_CHANGES":
            raise _no_changes() from error
        raise


def _document(
    place: Workplace, bundle: Mapping[str, Any], report: Mapping[str, Any], made: Mapping[str, Any]
) -> dict[str, Any]:
    """`pr.json` without what only the service knows."""
    sha, paths, base_ref = made["commit_sha"], made["affected_paths"], place.config["site_ref"]
    steps = rollback_steps(_branch(place), base_ref, sha, paths)
    plan, facts = place.read("page_plan.json"), place.read("product_facts.json")
    updates = place.read("update_report.json") if place.has("update_report.json") else None
    body = pull_request_body(_values(place), plan, facts, report, changes_of(bundle, paths), steps, updates)
    gates = report["gates"]
    return {
        "schema_version": "1.0",
        "run_id": place.run_id,
        "base_ref": base_ref,
        "branch_name": _branch(place),
        "commit_shas": [sha],
        "pr_title": _subject(place)[:_LONGEST_TITLE],
        "pr_body": body,
        "rollback_steps": steps,
        "affected_paths": paths,
        "validation_summary": {
            "ok": report["ok"],
            "profile": report["profile"],
            "gates_passed": sum(gate["status"] == "passed" for gate in gates),
            "gates_total": len(gates),
        },
    }


def _opened(place: Workplace, commits: Commits, document: Mapping[str, Any]) -> dict[str, Any]:
    sha = document["commit_shas"][0]
    request = {
        "schema_version": "1.0",
        "run_id": place.run_id,
        "idempotency_key": request_key(place.run_id, "open_pr", sha),
        "repo_url": place.config["site_repo_url"],
        "base_ref": document["base_ref"],
        "branch_name": document["branch_name"],
        "commit_sha": sha,
        "pr_title": document["pr_title"],
        "pr_body": document["pr_body"],
    }
    try:
        return commits.open_pr(request)
    except ToolError as error:
        if error.details.get("code") != "IDEMPOTENCY_KEY_REUSED":
            raise
        # It was opened before the run was validated once more, so only the text differs: the forge finds it.
        text = sha256(document["pr_body"].encode())
        return commits.open_pr(request | {"idempotency_key": request_key(place.run_id, "open_pr", sha, text)})


def _no_changes() -> ToolError:
    return ToolError(
        "ILLEGAL_STATE", "the site already has everything that this run would change",
        details={"reason": "no_changes"}, retryable=False,
    )  # fmt: skip
