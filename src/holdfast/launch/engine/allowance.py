"""What a run may still do by the budgets of its configuration: how often it may try to change pages of the site.

Counted from the work that the store knows, so that it is the same after a crash and on another machine. Work that
was interrupted came to no end, and counts nothing.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.present.counted import counted

if TYPE_CHECKING:
    from holdfast.launch.store.records import WorkItem

__all__ = ["exceeded", "late"]

_PATCHING = frozenset({"linker_patcher", "fixer"})
_BUDGET = "max_patch_attempts"


def exceeded(worker: str, items: Sequence["WorkItem"], budgets: Mapping[str, Any]) -> dict[str, Any] | None:
    """The failure of work that would go beyond the budget; None where it may begin."""
    if worker not in _PATCHING:
        return None
    used = sum(one.worker in _PATCHING and _came_to_an_end(one) for one in items)
    limit = budgets[_BUDGET]
    if used < limit:
        return None
    tried = f"{counted(used, 'attempt')} at changing pages"
    return {
        "code": "FIX_EXHAUSTED" if worker == "fixer" else "INVALID_INPUT",
        "message": f"{tried}, and the configuration allows {limit} ({_BUDGET})",
        "details": {"reason": "budget_exceeded", "budget": _BUDGET, "limit": limit, "used": used},
    }


def late(worker: str, seconds: float, budgets: Mapping[str, Any]) -> dict[str, Any]:
    """The failure of work that took longer than it may, and what says how long that is."""
    by_budget = " (max_runtime_s)" if seconds >= budgets["max_runtime_s"] else ""
    return {
        "code": "TOOL_TIMEOUT",
        "message": f"{worker} did not finish within {seconds:g} seconds{by_budget}",
        "details": {"seconds": seconds},
    }


def _came_to_an_end(item: "WorkItem") -> bool:
    return item.status in ("finished", "failed") and (item.error or {}).get("code") not in (
        "INTERRUPTED",
        "CANCELLED",
    )
