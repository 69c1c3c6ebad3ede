"""What a server sends that is no message: counted, so that it can be told, and bounded, so that it ends."""

__all__ = ["MAX_NOISE", "Noise"]

MAX_NOISE = 1000
SHOWN = 120  # characters of the first line


class Noise:
    """Lines on a server's stdout that are not MCP, and answers that nobody waits for."""

    def __init__(self) -> None:
        self.lines = 0
        self.stray = 0
        self.first = ""
        self.is_told = False  # the session ended for it, and said so

    def add(self, line: bytes) -> None:
        """Count one line."""
        self.lines += 1
        if self.lines == 1:
            self.first = line[: 4 * SHOWN].decode(errors="replace")[:SHOWN]

    @property
    def is_too_much(self) -> bool:
        """Whether this is no longer a server that prints now and then."""
        return self.lines > MAX_NOISE

    def describe(self) -> str:
        """The noise in words; empty when there was none."""
        if not self.lines:
            return ""
        if self.lines == 1:
            return f"1 line on its stdout that is no MCP message: {self.first!r}"
        return f"{self.lines} lines on its stdout that are no MCP messages, the first: {self.first!r}"
