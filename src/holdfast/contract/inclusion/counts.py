"""How long a string is, how many items an array has and how many properties an object: what the three share."""

from dataclasses import dataclass

from holdfast.contract.inclusion.nodes import AtLeast, AtMost

__all__ = ["Counted"]


@dataclass
class Counted:
    """Something of which there are at least and at most so many."""

    least: int = 0
    most: int | None = None

    def bound(self, node: AtLeast | AtMost, sign: bool) -> None:
        """Take over what a bound says, or what its negation says."""
        if isinstance(node, AtLeast) is sign:
            self.least = max(self.least, node.count if sign else node.count + 1)
        else:
            most = node.count if sign else node.count - 1
            self.most = most if self.most is None else min(most, self.most)
