"""Gate: every artifact fits its schema, and every page is text whose front matter can be read."""

from typing import Any

from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "check", "front_matter_for"]


def check(view: View) -> Checked:
    """Artifacts first, since the other gates cannot look without them."""
    found = [
        Finding(
            "ARTIFACT_INVALID",
            f"The artifact {name} does not fit its schema: {problem}",
            anchor=f"{name} {problem}",
            suggested_fix="Run the worker that writes it again.",
        )
        for name, problems in sorted(view.broken.items())
        for problem in problems
    ]
    for page in view.pages:
        found += _page(page, view)
    return Checked(found, notes=[f"artifacts: {len(view.artifacts)}, pages: {len(view.pages)}"])


def front_matter_for(page: Page, view: View) -> dict[str, Any]:
    """The least front matter that the page could have, from its plan and from what its section has by default."""
    if page.plan is None:
        return {}
    contract = (
        view.artifacts.get("frontmatter_contract.json", {}).get("sections", {}).get(page.plan["section"], {})
    )
    values = {"title": page.plan["title"], **contract.get("default_values", {})}
    known = {
        "title": page.plan["title"],
        "linkTitle": page.plan["title"],
        "description": page.plan.get("description") or page.plan["purpose"],
        "summary": page.plan.get("description") or page.plan["purpose"],
        "weight": page.plan["weight"],
        "url": page.plan["url_path"],
        "draft": False,
    }
    wanted = [key for key in contract.get("required_keys", []) if key in known]
    return values | {key: known[key] for key in ["title", *wanted]}


def _page(page: Page, view: View) -> list[Finding]:
    if not page.is_text:
        return [Finding("PAGE_NOT_TEXT", "The page is not UTF-8 text.", page.path, anchor="not text")]
    if page.problem is None:
        return []
    values = front_matter_for(page, view)
    return [
        Finding(
            "FRONT_MATTER_INVALID",
            f"The front matter cannot be read: {page.problem.message}",
            page.path,
            page.problem.line,
            anchor="front matter",
            suggested_fix="Replace the front matter by one that the site's other pages have.",
            fix_rule="replace_frontmatter" if values else "",
            data={"values": values, "format": _format(page, view)} if values else {},
        )
    ]


def _format(page: Page, view: View) -> str:
    assert page.plan is not None
    contract = (
        view.artifacts.get("frontmatter_contract.json", {}).get("sections", {}).get(page.plan["section"], {})
    )
    return str(contract.get("format", "yaml"))


GATE = Gate(
    "schema",
    "schema",
    check,
    everywhere(ARTIFACT_INVALID="blocker", PAGE_NOT_TEXT="blocker", FRONT_MATTER_INVALID="blocker"),
    seconds(30, 60),
)
