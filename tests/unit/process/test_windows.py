"""The parts of custody on Windows that call nothing of Windows; the rest cannot run on this machine."""

import ctypes

import pytest

from holdfast.process.windows import ExtendedLimits, outcome_of, taskkill_command


def test_the_tree_is_killed_by_force_through_taskkill() -> None:
    assert taskkill_command(4711) == ["taskkill", "/pid", "4711", "/T", "/F"]


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the layout of 64-bit Windows")
def test_the_limits_have_the_layout_that_windows_documents() -> None:
    limits = ExtendedLimits.kill_on_close()
    assert ctypes.sizeof(limits) == 144
    assert ExtendedLimits.io_counters.offset == 64
    assert bytes(limits)[16:20] == (0x2000).to_bytes(4, "little")


def test_a_forced_end_shows_as_its_exit_code_only() -> None:
    outcome = outcome_of(5, 0xC000013A, stopped=True, killed=True, survivors=(7,))
    assert (outcome.returncode, outcome.signal, outcome.survivors) == (0xC000013A, None, (7,))
    assert not outcome.ok
