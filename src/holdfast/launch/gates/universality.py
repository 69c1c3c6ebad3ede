"""Gate: what holds for every product: limitations are told, installing works as the facts say, tiers are kept."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.claim_marks import mark
from holdfast.launch.code_spans import code_spans
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.snippets import Known, is_install_command, language_of
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "check"]

_LIMITATION = re.compile(r"limit|not supported|caveat", re.IGNORECASE)
_PLACES = ("docs", "products", "kb", "reference", "blog")


def check(view: View) -> Checked:
    """The three rules, over all touched pages together."""
    found = [*_limitations(view), *_install_commands(view), *_tier(view.artifacts["page_plan.json"])]
    return Checked(found, notes=[f"tier: {view.artifacts['page_plan.json']['launch_tier']}"])


def _limitations(view: View) -> Iterator[Finding]:
    facts = view.artifacts["product_facts.json"]
    wanted = list(dict.fromkeys([*facts.get("limitations", []), *facts["claim_groups"]["limitations"]]))
    pages = [page for page in view.pages if page.plan is not None]
    if not wanted or not pages:
        return
    every = [*pages, *_untouched(view)]
    if not _unread_claims(view).isdisjoint(wanted):
        return
    told = any(_LIMITATION.search(heading.text) for page in every for heading in page.headings)
    cited = {claim for page in every for claim in page.claim_ids}
    if told and not cited.isdisjoint(wanted):
        return
    page = min(pages, key=_rank)
    texts = {claim["claim_id"]: " ".join(claim["claim_text"].split()) for claim in facts["claims"]}
    lines = [f"- {texts[claim]}{mark([claim])}" for claim in wanted if claim in texts]
    yield Finding(
        "LIMITATIONS_MISSING",
        "The product has known limitations, and no page has a section that tells them.",
        page.path,
        anchor="limitations",
        suggested_fix="Add a section `Limitations` with what is known.",
        fix_rule="insert_required_heading" if lines else "",
        data={"heading": "Limitations", "level": 2, "lines": lines, "after": ""},
    )


def _untouched(view: View) -> Iterator[Page]:
    """The planned pages that are on the site already, and that the run leaves as they are."""
    for plan, content in _left(view):
        if content is not None:
            yield Page(plan["output_path"], content, content, plan)


def _unread_claims(view: View) -> set[str]:
    """The claims that belong on pages which people have made too large to be read: they may well be there."""
    return {claim for plan, content in _left(view) if content is None for claim in plan["required_claim_ids"]}


def _left(view: View) -> Iterator[tuple[Mapping[str, Any], bytes | None]]:
    """The planned pages that the run leaves as they are, with what is in them; None where it cannot be read."""
    for plan in view.artifacts["page_plan.json"]["pages"]:
        path = plan["output_path"]
        if path not in view.files and path in view.existing:
            try:
                content = view.tree.read(path)
            except ToolError:
                content = None
            yield plan, content


def _rank(page: Page) -> tuple[bool, int, str]:
    """The page that limitations belong on, if they are on none: the first of the docs that is no list."""
    assert page.plan is not None
    return (page.role == "toc", _PLACES.index(page.plan["section"]), page.path)


def _install_commands(view: View) -> Iterator[Finding]:
    known = Known(view.artifacts["product_facts.json"], view.artifacts["snippet_catalog.json"])
    for page in view.pages:
        for number, command in _commands(page):
            plain = " ".join(re.sub(r"^(?:\$|>)\s+", "", command).split())
            if known.is_shell(plain) or known.snippet(command) is not None:
                continue
            expected = _expected(plain, known.install_commands)
            yield Finding(
                "INSTALL_COMMAND_WRONG",
                f"The page says to install with `{plain}`, of which the facts know nothing.",
                page.path,
                number,
                anchor=plain,
                suggested_fix=f"Use `{expected}`." if expected else "Take the command out.",
                fix_rule="replace_install_command" if expected else "",
                data={"found": command.strip(), "expected": expected} if expected else {},
            )


def _commands(page: Page) -> Iterator[tuple[int, str]]:
    for block in page.blocks:
        if language_of(block.language) not in ("bash", "text"):
            continue
        for number, line in enumerate(block.code.split("\n"), block.line + 1):
            if is_install_command(line):
                yield number, line
    for number, line in page.prose:
        for span in code_spans(line):
            if is_install_command(span.code):
                yield number, span.code.strip()


def _expected(found: str, commands: list[str]) -> str:
    """The command that was meant: the first one of the same tool, or the only one there is."""
    tool = found.split(maxsplit=1)[0]
    same = [command for command in commands if command.split(maxsplit=1)[0] == tool]
    return (same or commands or [""])[0] if same or len(commands) == 1 else ""


def _tier(plan: Mapping[str, Any]) -> Iterator[Finding]:
    for section, quota in sorted(plan.get("effective_quotas", {}).items()):
        if not quota["min"] <= quota["planned"] <= quota["max"]:
            yield Finding(
                "TIER_QUOTA_MISSED",
                f"{section} has {quota['planned']} pages; the tier asks for {quota['min']} to {quota['max']}.",
                anchor=section,
                suggested_fix="Plan the section again.",
            )


GATE = Gate(
    "universality",
    "universality",
    check,
    everywhere(LIMITATIONS_MISSING="error", INSTALL_COMMAND_WRONG="error", TIER_QUOTA_MISSED="warn"),
    seconds(60, 120),
    uses=("product_facts.json", "snippet_catalog.json", "page_plan.json"),
)
