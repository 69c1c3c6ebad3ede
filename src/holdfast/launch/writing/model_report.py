"""What the model did in one section, for whoever reviews it: `reports/model_<section>.md`."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["report"]


def report(section: str, drafts: Sequence[Mapping[str, Any]], *, is_out_of_budget: bool) -> str:
    """How many sentences are whose, per page, and why the template's were kept."""
    lines = [f"# The model in the section {section}", ""]
    if is_out_of_budget:
        lines += ["The budget for the model was used up: the rest is in the words of the templates.", ""]
    asked = [draft for draft in drafts if "sentences" in draft]
    if not asked:
        return "\n".join([*lines, "No paragraph could be told in other words.", ""])
    lines += ["| page | sentences of the model | of the template |", "|---|---|---|"]
    lines += [
        f"| {draft['page_id']} | {draft['sentences']['model']} | {draft['sentences']['template']} |"
        for draft in asked
    ]
    refused = [(draft["page_id"], problem) for draft in asked for problem in draft.get("rejected", ())]
    if refused:
        lines += ["", "Why the words of the template were kept:", ""]
        lines += [f"- {page}: {problem}" for page, problem in refused]
    return "\n".join([*lines, ""])
