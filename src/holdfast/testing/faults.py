"""What goes wrong on the way to the server, written down beforehand so that a failure can be repeated.

A plan changes the bytes of a client on their way through a memory pipe: split, garbled, doubled, dropped, cut.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["FaultPlan"]


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Faults of one direction of a pipe. Messages are counted from 0; bytes count from the first one sent.

    `split_every` delivers pieces of that many bytes; `garbage` puts bytes in front of a message; `duplicate` and
    `drop` name messages; `cut_after` ends the pipe after that many bytes, in the middle of a message if need be.
    """

    split_every: int | None = None
    garbage: Mapping[int, bytes] = field(default_factory=dict)
    duplicate: frozenset[int] = frozenset()
    drop: frozenset[int] = frozenset()
    cut_after: int | None = None

    def pieces(self, number: int, framed: bytes) -> Iterator[bytes]:
        """The bytes that message `number` becomes, in the pieces in which they arrive."""
        if number in self.drop:
            return
        data = self.garbage.get(number, b"") + framed * (2 if number in self.duplicate else 1)
        step = self.split_every or len(data) or 1
        for start in range(0, len(data), step):
            yield data[start : start + step]
