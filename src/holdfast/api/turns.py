"""Fair turns between connections: what a client sends ahead stays unparsed until what came before is answered.

The parser takes all that it is given, and one read can hold ten thousand requests. So it is given small pieces,
and none while a whole request waits for its answer. What is not parsed yet fills a small buffer, and a buffer that
is full pauses reading: the rest stays with the system, and with the client.
"""

from collections.abc import Callable, Iterator

from uvicorn.protocols.http.flow_control import FlowControl

__all__ = ["BUFFER", "PIECE", "BodyFlow", "Unparsed"]

BUFFER = 16 * 1024  # bytes of one connection that may wait to be parsed
PIECE = 512  # bytes that the parser gets at once; the shortest request has 18


class Unparsed:
    """The bytes of one connection that were read and not parsed, in a buffer that never grows."""

    def __init__(self) -> None:
        self._buffer = bytearray(BUFFER)
        self._view = memoryview(self._buffer)
        self._begin = 0
        self._end = 0

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self._begin < self._end

    @property
    def is_full(self) -> bool:
        """Whether no more can be read."""
        return self._end - self._begin == BUFFER

    def room(self) -> memoryview:
        """The place for the next read; not empty unless the buffer is full."""
        if self._begin:
            waiting = self._end - self._begin
            self._buffer[:waiting] = self._buffer[self._begin : self._end]
            self._begin, self._end = 0, waiting
        return self._view[self._end :]

    def add(self, count: int) -> None:
        """So many bytes were read into the room."""
        self._end += count

    def pieces(self, may_go_on: Callable[[], bool]) -> Iterator[bytes]:
        """Take pieces for the parser, for as long as it may go on."""
        while self and may_go_on():
            begin = self._begin
            self._begin = min(self._end, begin + PIECE)
            yield bytes(self._view[begin : self._begin])


class BodyFlow(FlowControl):
    """A request whose body nobody takes yet pauses parsing, which pauses reading once the buffer is full."""

    def __init__(self, transport: object, on_resume: Callable[[], object]) -> None:
        super().__init__(transport)  # type: ignore[arg-type]
        self._on_resume = on_resume

    def pause_reading(self) -> None:
        """Parse no more of the body."""
        self.read_paused = True

    def resume_reading(self) -> None:
        """Parse on."""
        if self.read_paused:
            self.read_paused = False
            self._on_resume()
