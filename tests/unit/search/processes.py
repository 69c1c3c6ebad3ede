"""Which programs of ours are running."""

import psutil

__all__ = ["running_git"]


def running_git() -> list[psutil.Process]:
    """The git processes that this test process has started and that are not gone; parsers do not count."""
    return [child for child in psutil.Process().children() if "git" in _name(child)]


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""
