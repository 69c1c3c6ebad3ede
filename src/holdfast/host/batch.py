"""A batch of requests, whose answers leave together: each is its own request up to the moment of its answer."""

from holdfast.vocabulary.ids import RequestId

__all__ = ["Batch"]


class Batch:
    """Collects the answers of one batch; `complete` once nothing is owed any more."""

    def __init__(self, max_bytes: int) -> None:
        self.owed: set[RequestId] = set()
        self._answers: list[bytes] = []
        self._max_bytes = max_bytes

    @property
    def is_complete(self) -> bool:
        """Whether every request has its answer, or none to expect."""
        return not self.owed

    def add(self, payload: bytes) -> None:
        """Keep an answer."""
        self._answers.append(payload)

    def arrays(self) -> list[bytes]:
        """The answers as JSON arrays that each fit into a message; one, as a rule."""
        arrays: list[bytes] = []
        part: list[bytes] = []
        size = 2
        for answer in self._answers:
            if part and size + len(answer) + 1 > self._max_bytes:
                arrays.append(b"[" + b",".join(part) + b"]")
                part, size = [], 2
            part.append(answer)
            size += len(answer) + 1
        if part:
            arrays.append(b"[" + b",".join(part) + b"]")
        return arrays
