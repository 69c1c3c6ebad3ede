"""What the manifest of a package says, whatever the ecosystem: the shape that every reader of manifests fills.

Each entry knows its lines, because each becomes a claim.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Entry", "Manifest", "Reader"]


class Entry(NamedTuple):
    """A value of a manifest, and the lines on which it stands. `name` is what it is the value of."""

    name: str
    value: str
    start_line: int
    end_line: int
    path: str = ""  # where it is another file than that of the manifest


@dataclass(slots=True)
class Manifest:
    """One manifest. A value that cannot be known without running something is simply absent."""

    path: str
    method: str  # of installing: pip, npm, ...
    values: dict[str, Entry] = field(
        default_factory=dict
    )  # name version description requires license homepage documentation
    classifiers: list[Entry] = field(default_factory=list)
    dependencies: list[Entry] = field(default_factory=list)
    extras: dict[str, list[Entry]] = field(default_factory=dict)
    commands: list[Entry] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    without_dependencies: Entry | None = None  # the lines that show that there are none
    features: list[Entry] = field(
        default_factory=list
    )  # sentences in which {} is the product, each with its topic
    targets: list[Entry] = field(default_factory=list)  # platforms that it is built for
    entry_points: dict[str, list[str]] = field(default_factory=dict)  # files in which the interface begins
    is_group: bool = False  # it only holds others together

    def value(self, name: str) -> str:
        """A value, or nothing."""
        entry = self.values.get(name)
        return entry.value if entry else ""


Reader = Callable[[str, str], "Manifest | None"]
