"""Which findings can be mended, and how: one rule for each `fix_rule` that a gate names.

A rule gets the text of the page and the issue, and gives the mended text; the same text where it cannot. It takes
away, or adds what the issue brings along; it never makes up a sentence.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.launch.fixing import line_rules, page_rules
from holdfast.launch.issues import counted

__all__ = ["RESTORE", "RULES", "Rule", "choose", "fixable"]

RESTORE = "restore_file"


class Rule(NamedTuple):
    """How one kind of finding is mended. `needs`: what the issue must bring, and of what type."""

    needs: Mapping[str, type]
    mend: Callable[[str, Mapping[str, Any]], str]


def _unchanged(text: str, issue: Mapping[str, Any]) -> str:
    """Restoring is no change of the text: the work tree is made to be what the run says that it is."""
    del issue
    return text


_LINE: Mapping[str, type] = {"line_text": str}
RULES: Mapping[str, Rule] = {
    "complete_frontmatter": Rule({"key": str, "value": object}, page_rules.complete_frontmatter),
    "drop_duplicate_claim": Rule({**_LINE, "claim_id": str}, line_rules.drop_duplicate_claim),
    "drop_snippet": Rule({"code_sha256": str}, page_rules.drop_snippet),
    "drop_uncited_line": Rule(_LINE, line_rules.drop_uncited_line),
    "drop_unknown_mark": Rule({**_LINE, "claim_id": str}, line_rules.drop_unknown_mark),
    "insert_required_heading": Rule(
        {"heading": str, "level": int, "lines": list}, page_rules.insert_required_heading
    ),
    "lint_fix": Rule({"rule_id": str}, page_rules.lint_fix),
    "mark_line": Rule({**_LINE, "claim_ids": list}, line_rules.mark_line),
    "redact_secret": Rule(_LINE, line_rules.redact_secret),
    "remove_dead_link": Rule({**_LINE, "target": str}, line_rules.remove_dead_link),
    "remove_template_token": Rule({**_LINE, "token": str}, line_rules.remove_template_token),
    "repair_anchor": Rule({**_LINE, "target": str, "replacement": str}, line_rules.repair_anchor),
    "replace_frontmatter": Rule({}, page_rules.replace_frontmatter),
    "replace_install_command": Rule({"found": str, "expected": str}, page_rules.replace_install_command),
    RESTORE: Rule({"path": str}, _unchanged),
    "set_fence_language": Rule({"code_sha256": str, "language": str}, page_rules.set_fence_language),
}


def fixable(issue: Mapping[str, Any]) -> bool:
    """Whether there is a rule for the issue, and the issue brings what the rule needs."""
    rule = RULES.get(issue.get("fix_rule", ""))
    data = issue.get("data", {})
    if rule is None or not issue.get("location", {}).get("path"):
        return False
    if issue["fix_rule"] == "replace_frontmatter" and not isinstance(data.get("values"), dict):
        return isinstance(data.get("key"), str) and "value" in data
    return all(isinstance(data.get(key), kind) and key in data for key, kind in rule.needs.items())


def choose(issues: Sequence[Mapping[str, Any]], tried: Collection[tuple[str, str]]) -> dict[str, Any] | None:
    """The first issue that counts, can be mended, and was not tried on the same content; None where none is left.

    `tried` holds ids of issues with the digest of the file as it was, which an issue may bring as `file_sha256`.
    """
    for issue in counted(issues):
        known = issue.get("data", {}).get("file_sha256", "")
        if fixable(issue) and (issue["issue_id"], known) not in tried:
            return issue
    return None
