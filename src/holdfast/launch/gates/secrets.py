"""Gate: nothing that the run writes holds what looks like a credential.

Everything that a run reads of the product is redacted when it is read, so a finding is text that came in another
way: a model, somebody's edit, or artifacts of an older version. No finding repeats what it found.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.launch.claim_marks import without_marks
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View
from holdfast.launch.secret_scan import find_secrets, redact_secrets

__all__ = ["GATE", "check"]

_IN_PAGE, _IN_ARTIFACT = "SECRET_IN_PAGE", "SECRET_IN_ARTIFACT"
_ARTIFACTS = ("product_facts.json", "evidence_map.json", "snippet_catalog.json", "repo_inventory.json")


def check(view: View) -> Checked:
    """Touched lines of pages, the other files of the run, and the artifacts that pages are made of."""
    pages = {page.path for page in view.pages}
    others = {path: content for path, content in view.files.items() if content is not None and path not in pages}
    found = [finding for page in view.pages for finding in _page(page)]
    found += [
        _finding(_IN_PAGE, secret.kind, path, secret.line, f"line {secret.line}")
        for path, content in others.items()
        for secret in find_secrets(content.decode("utf-8", "replace"), is_excerpt=True)
    ]
    found += [
        _finding(_IN_ARTIFACT, kind, "", 0, f"the artifact {name}")
        for name in _ARTIFACTS
        for kind in sorted(_kinds(view.artifacts.get(name)))
    ]
    redacted = view.artifacts.get("repo_inventory.json", {}).get("redacted", [])
    notes = [f"redacted in the product: {one['path']}:{one['line']}: {one['kind']}" for one in redacted]
    return Checked(found, notes=notes)


def _page(page: Page) -> Iterator[Finding]:
    found = [secret for secret in find_secrets(page.text) if secret.line in page.touched]
    lines = redact_secrets(page.text).split("\n") if found else []
    for secret in found:
        text = without_marks(lines[secret.line - 1]).strip()
        yield _finding(_IN_PAGE, secret.kind, page.path, secret.line, text, line_text=text)


def _finding(code: str, kind: str, path: str, line: int, anchor: str, **data: Any) -> Finding:
    is_artifact = code == _IN_ARTIFACT
    return Finding(
        code,
        f"{anchor.capitalize() if is_artifact else 'The line'} holds what looks like a secret: {kind}.",
        path,
        line,
        anchor=f"{kind} {anchor}",
        suggested_fix=(
            "Start a new run, which redacts it." if is_artifact else "Take it out, and revoke it if it is real."
        ),
        fix_rule="redact_secret" if data else "",
        data=data,
    )


def _kinds(value: Any) -> set[str]:
    """The kinds of secrets in any text of a document; each text is a piece of something larger."""
    if isinstance(value, str):
        return {secret.kind for secret in find_secrets(value, is_excerpt=True)}
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return {kind for one in parts for kind in _kinds(one)}


GATE = Gate(
    "secrets",
    "secrets",
    check,
    everywhere(**{_IN_PAGE: "blocker", _IN_ARTIFACT: "blocker"}),
    seconds(10, 15),
)
