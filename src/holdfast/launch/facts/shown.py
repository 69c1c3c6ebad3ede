"""A piece of code that the repository shows, before it is checked and becomes a snippet."""

from typing import NamedTuple

__all__ = ["Shown"]


class Shown(NamedTuple):
    """Code that the repository shows, and what stands around it."""

    origin: str
    path: str
    start_line: int
    end_line: int
    language: str
    code: str
    title: str
    introduction: str
    introduction_line: int
    tags: tuple[str, ...]
