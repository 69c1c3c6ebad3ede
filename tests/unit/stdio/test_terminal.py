"""What a terminal is sent: everything can be read, and nothing of it is obeyed but what is ours."""

import io
import json
import os
import pty
import sys

import pytest

from holdfast.stdio import terminal
from holdfast.stdio.terminal import TerminalStream, coloured, guard_terminal, printable, printable_bytes


def test_a_text_keeps_its_lines_and_tabs_and_nothing_that_a_terminal_obeys() -> None:
    text = "a\tb\r\nc\n\x1b[2Jd\x9b2J\re\u202e\u200f\U000e0041 – ü 👍"
    shown = printable(text)
    assert shown == "a\tb\r\nc\n\\u001b[2Jd\\u009b2J\\u000de\\u202e\\u200f\\udb40\\udc41 – ü 👍"
    assert json.loads('"' + printable("\x1b\U000e0041") + '"') == "\x1b\U000e0041"


def test_our_own_colours_reach_a_terminal_and_those_of_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_guarded", ["stdout"])
    sent = io.BytesIO()
    stream = TerminalStream(sent, encoding="utf-8")
    stream.write(coloured("red \x1b[8mhidden", "31") + "\ue000" + "00" * 16 + "1b\ue001\n")
    stream.buffer.write("\u202e\x1b".encode() + b"\xff\n")
    stream.flush()
    forged = "\ue000" + "00" * 16 + "1b\ue001"
    assert sent.getvalue().decode() == f"\x1b[31mred \\u001b[8mhidden\x1b[0m{forged}\n\\u202e\\u001b\\xff\n"


def test_only_terminals_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_guarded", [])
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", closefd=False) as screen, open(os.devnull, "w") as file:
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", file)
        guard_terminal()
        assert (type(sys.stdout), sys.stderr) == (TerminalStream, file)
        assert printable_bytes(b"\x1b", slave) == b"\\u001b"
        assert printable_bytes(b"\x1b\xff", file.fileno()) == b"\x1b\xff"
    os.close(slave)
    os.close(master)
