"""How much work something is, counted and not timed, so that a busy machine does not matter."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["calls_made", "grows_evenly"]


def calls_made(action: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called in the course of an action."""
    made = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return made


def grows_evenly(action: Callable[[int], object], size: int) -> bool:
    """Whether four times the size is about four times the work; where work is squared, it is sixteen times."""
    action(size // 2)  # what is only done once, is done now
    small = calls_made(lambda: action(size))
    return calls_made(lambda: action(4 * size)) < 7 * small + 200
