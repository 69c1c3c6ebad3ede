"""The one way to a terminal: text that comes from elsewhere is shown, and never obeyed.

A terminal acts on control characters, escape sequences and marks of direction, so everything that is written to
one passes `printable`. Sequences of our own, colours and the like, are made by `control`, with a word that no
foreign text can know. What is not a terminal, a pipe or a file, gets every byte as it is.
"""

import io
import os
import re
import sys
from typing import Any

__all__ = [
    "CLEAR_LINE",
    "CLEAR_SCREEN",
    "TerminalStream",
    "coloured",
    "control",
    "guard_terminal",
    "printable",
    "printable_bytes",
    "write_stderr",
]

CLEAR_LINE = "\r\x1b[K"
CLEAR_SCREEN = "\x1b[H\x1b[2J"

# Controls but tabs and ends of lines, ends of lines of other kinds, marks of direction, half characters, tags.
_UNSAFE = (
    "(?![\t\n]|\r\n)"
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_WORD = os.urandom(16).hex()
_OURS = f"\ue000{_WORD}([0-9a-f]*)\ue001"
_guarded: list[str] = []  # the names of the streams that are


def printable(text: str) -> str:
    r"""Return the text with whatever a terminal would obey written as `\uXXXX`, which means the same in JSON."""
    return re.sub(_UNSAFE, _escape, text)


def printable_bytes(data: bytes, descriptor: int) -> bytes:
    """Return what to write to a descriptor: the bytes themselves, unless it is a terminal."""
    return printable(data.decode("utf-8", "backslashreplace")).encode() if os.isatty(descriptor) else data


def control(sequence: str) -> str:
    """Return a control sequence of ours, in the form that a guarded stream lets through."""
    return f"\ue000{_WORD}{sequence.encode().hex()}\ue001" if _guarded else sequence


def coloured(text: str, code: str) -> str:
    """Return the text in a colour, by its code in the standard."""
    return control(f"\x1b[{code}m") + text + control("\x1b[0m")


def write_stderr(text: str) -> None:
    """Write one line to the descriptor of stderr, whatever has become of `sys.stderr`."""
    os.write(2, printable_bytes(f"{text}\n".encode("utf-8", "backslashreplace"), 2))


def guard_terminal() -> None:
    """From here on, whatever is printed to stdout and stderr is printable, where they are terminals."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, TerminalStream) and stream.isatty():
            stream.flush()
            settings: dict[str, Any] = {"encoding": stream.encoding, "errors": stream.errors}
            setattr(sys, name, TerminalStream(stream.buffer, **settings, line_buffering=True))
            _guarded.append(name)


class TerminalStream(io.TextIOWrapper):
    """A text stream to a terminal; `buffer` takes bytes that are text as well."""

    def write(self, text: str, /) -> int:
        """Write the text, printable; sequences of `control` are sent as what they are."""
        parts = re.split(_OURS, text)
        parts[::2] = [printable(part) for part in parts[::2]]
        parts[1::2] = [bytes.fromhex(part).decode() for part in parts[1::2]]
        super().write("".join(parts))
        return len(text)

    @property
    def buffer(self) -> Any:
        """The stream for bytes."""
        return _TerminalBytes(self)


class _TerminalBytes:
    def __init__(self, stream: TerminalStream) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        self._stream.write(bytes(data).decode("utf-8", "backslashreplace"))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
