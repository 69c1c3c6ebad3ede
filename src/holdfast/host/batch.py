"""A batch of requests, whose answers leave together: each is its own request up to the moment of its answer."""

from holdfast.vocabulary.ids import RequestId

__all__ = ["Batch"]


class Batch:
    """Collects the answers of one batch; `size` is how many bytes of them it holds."""

    def __init__(self, max_bytes: int) -> None:
        self.owed: set[RequestId] = set()
        self.size = 0
        self._answers: list[bytes] = []
        self._max_bytes = max_bytes

    @property
    def is_complete(self) -> bool:
        """Whether every request has its answer, or none to expect."""
        return not self.owed

    def add(self, payload: bytes) -> None:
        """Keep an answer."""
        self._answers.append(payload)
        self.size += len(payload)

    def arrays(self) -> list[bytes]:
        """The answers so far as JSON arrays that each fit into a message, one as a rule; they are kept no more."""
        arrays: list[bytes] = []
        part: list[bytes] = []
        size = 2
        answers, self._answers, self.size = self._answers, [], 0
        for answer in answers:
            if part and size + len(answer) + 1 > self._max_bytes:
                arrays.append(b"[" + b",".join(part) + b"]")
                part, size = [], 2
            part.append(answer)
            size += len(answer) + 1
        if part:
            arrays.append(b"[" + b",".join(part) + b"]")
        return arrays
