"""How much a run may change: files, writes and lines, as its configuration says."""

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.patching.diff_report import change_of
from holdfast.launch.updating.record import is_record

__all__ = ["check_budgets", "too_long"]


def check_budgets(
    budgets: Mapping[str, Any],
    files: Mapping[str, bytes | None],
    read_base: Callable[[str], bytes | None],
    writes: int,
) -> None:
    """ToolError INVALID_INPUT, reason `budget_exceeded`, where the changes are more than was allowed.

    The records of what was written come on top: they are as many as the folders, and no plan counts them.
    """
    pages = [path for path in files if not is_record(path)]
    _check("max_files_changed", budgets, len(pages), "files are changed")
    _check("max_file_writes", budgets, writes - (len(files) - len(pages)), "files are written")
    for path in sorted(pages):
        change = change_of(path, read_base(path), files[path])
        _check("max_lines_per_file", budgets, change.added + change.removed, f"lines of {path} are changed", path)


def too_long(budgets: Mapping[str, Any], path: str, before: bytes, after: bytes) -> str:
    """Why a page that is there may not become this; empty where it may."""
    most = int(budgets["max_lines_per_file"])
    change = change_of(path, before, after)
    if (changed := change.added + change.removed) > most:
        return f"{changed} lines of it would change, and the configuration allows {most} (max_lines_per_file)"
    lines = len(after.splitlines())
    if lines > max(most, len(before.splitlines())):
        return f"it would have {lines} lines, and the configuration allows {most} (max_lines_per_file)"
    return ""


def _check(name: str, budgets: Mapping[str, Any], used: int, what: str, path: str = "") -> None:
    if used <= budgets[name]:
        return
    details = {"reason": "budget_exceeded", "budget": name, "limit": budgets[name], "used": used}
    raise ToolError(
        "INVALID_INPUT",
        f"{used} {what}, and the configuration allows {budgets[name]} ({name})",
        details=details | ({"path": path} if path else {}),
        retryable=False,
    )
