"""How far a version must move: the order of the four bumps, and the floors that the effect on a set demands.

Input is what callers send, so losing values breaks them; output is what they read, so new values do. What is not
proven harmless counts as breaking.
"""

from enum import Enum

from holdfast.contract.inclusion.model import Effect

__all__ = ["Bump", "floors_of"]

_ORDER = ("none", "patch", "minor", "major")


class Bump(Enum):
    """Which part of a version must move at least; ordered."""

    NONE = "none"
    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"

    def __lt__(self, other: "Bump") -> bool:
        return _ORDER.index(self.value) < _ORDER.index(other.value)

    def __le__(self, other: "Bump") -> bool:
        return _ORDER.index(self.value) <= _ORDER.index(other.value)

    def __gt__(self, other: "Bump") -> bool:
        return _ORDER.index(self.value) > _ORDER.index(other.value)

    def __ge__(self, other: "Bump") -> bool:
        return _ORDER.index(self.value) >= _ORDER.index(other.value)


_FLOORS: dict[Effect, tuple[Bump, Bump]] = {
    Effect.EQUAL: (Bump.NONE, Bump.NONE),
    Effect.WIDENS: (Bump.MINOR, Bump.MAJOR),
    Effect.NARROWS: (Bump.MAJOR, Bump.MINOR),
    Effect.INCOMPARABLE: (Bump.MAJOR, Bump.MAJOR),
    Effect.UNKNOWN: (Bump.MAJOR, Bump.MAJOR),
}


def floors_of(effect: Effect) -> tuple[Bump, Bump]:
    """The least bumps for a schema of an input and for one of an output whose set of values changed so."""
    return _FLOORS[effect]
