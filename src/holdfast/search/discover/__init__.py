"""Discovery: which files of a repository are indexed, as what, and why the others are not.

Names are loaded when they are first used: a query needs the names of languages, and nothing that walks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.search.discover.found import Discovery, FoundFile, KnownFile, Limits, Skipped
    from holdfast.search.discover.kinds import language_ids
    from holdfast.search.discover.walk import DEFAULT_LIMITS, discover

__all__ = [
    "DEFAULT_LIMITS",
    "Discovery",
    "FoundFile",
    "KnownFile",
    "Limits",
    "Skipped",
    "discover",
    "language_ids",
]

_HOMES = {"DEFAULT_LIMITS": "walk", "discover": "walk", "language_ids": "kinds"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'found')}"), name)
