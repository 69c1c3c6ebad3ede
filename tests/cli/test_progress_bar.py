"""The bar on stderr: rare, short, gone at the end, and never the reason that work fails."""

import io

import pytest

from holdfast.cli.progress_bar import ProgressBar, length_of_time

CLEAR = "\r\x1b[K"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def drawn(steps: int, seconds: float, *, is_terminal: bool, total: int | None = 1000) -> list[str]:
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(stream, is_terminal=is_terminal, clock=clock) as bar:
        for done in range(steps):
            bar("index", done, total, f"src/file{done}.py")
            clock.now += seconds / steps
    return stream.getvalue().split(CLEAR if is_terminal else "\n")


def test_a_terminal_is_drawn_at_most_ten_times_a_second() -> None:
    assert 15 <= len(drawn(2000, 2.0, is_terminal=True)) <= 22


def test_work_that_is_over_in_a_moment_shows_nothing() -> None:
    assert drawn(50, 0.2, is_terminal=True) == [""]


def test_elsewhere_a_plain_line_is_written_every_few_seconds() -> None:
    lines = drawn(500, 16.0, is_terminal=False)

    assert len(lines) == 4
    assert "\x1b" not in "".join(lines)
    assert lines[0].startswith("Indexing 15")


def test_the_bar_says_how_far_how_fast_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = drawn(500, 10.0, is_terminal=True)

    assert shown[-1] == ""  # cleared
    assert "[#########...........] Indexing 49" in shown[-2]
    assert "/1,000  50 files/s  10 s left  src/file49" in shown[-2]


def test_work_without_a_known_end_has_no_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = drawn(500, 10.0, is_terminal=True, total=None)[-2]

    assert shown.startswith("Indexing 49")
    assert not any(word in shown for word in ("left", "/s", "["))


@pytest.mark.parametrize(
    ("total", "shown"), [(None, "Downloading 41.5 MB  words==1.0"), (83_000_000, "Downloading 41.5 MB of 83.0 MB")]
)
def test_what_is_fetched_is_counted_in_bytes(
    monkeypatch: pytest.MonkeyPatch, total: int | None, shown: str
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(stream, is_terminal=True, clock=clock) as bar:
        clock.now += 1
        bar("download", 41_500_000, total, "words==1.0")

    assert shown in stream.getvalue()


@pytest.mark.parametrize("columns", ["1", "2", "10", "30", "80"])
def test_the_bar_never_fills_a_line(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert all(len(line) < int(columns) for line in drawn(500, 10.0, is_terminal=True))


def test_a_new_stage_is_measured_from_its_own_beginning() -> None:
    clock, stream = Clock(), io.StringIO()
    bar = ProgressBar(stream, is_terminal=True, clock=clock)
    bar("index", 900, 1000, "")
    clock.now += 60
    bar("history", 0, 10, "")

    assert stream.getvalue() == f"{CLEAR}[....................] Reading history 0/10"


def test_the_name_of_a_file_cannot_move_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    clock, stream = Clock(), io.StringIO()
    bar = ProgressBar(stream, is_terminal=True, clock=clock)
    clock.now += 1
    bar("index", 1, 2, "a\x1b[2J\n.py")

    assert stream.getvalue().endswith("a\\u001b[2J\\u000a.py")


def test_a_stream_that_is_gone_does_not_end_the_work() -> None:
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(stream, is_terminal=True, clock=clock) as bar:
        stream.close()
        clock.now += 1
        bar("index", 1, 2, "")
        bar("index", 2, 2, "")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_note_is_a_line_of_its_own_at_once(is_terminal: bool) -> None:
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(stream, is_terminal=is_terminal, clock=clock) as bar:
        bar("note", 0, None, "the index is built\x1b anew")
        clock.now += 60
        bar("index", 1, 2, "")
        bar("note", 0, None, "again")
    bar_line = f"{CLEAR}[##########..........] Indexing 1/2{CLEAR}" if is_terminal else "Indexing 1/2\n"

    assert stream.getvalue() == f"note: the index is built\\u001b anew\n{bar_line}note: again\n"


def test_a_note_does_not_disturb_what_is_measured() -> None:
    clock, stream = Clock(), io.StringIO()
    bar = ProgressBar(stream, is_terminal=False, clock=clock)
    bar("index", 0, 100, "")
    bar("note", 0, None, "x")
    clock.now += 10
    bar("index", 50, 100, "")

    assert stream.getvalue().endswith("Indexing 50/100  5.0 files/s  10 s left\n")


def test_a_quiet_bar_says_nothing() -> None:
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(stream, is_quiet=True, is_terminal=True, clock=clock) as bar:
        clock.now += 60
        bar("index", 1, 2, "")
        bar("note", 0, None, "x")

    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"),
        (3.21, "3.2 s"),
        (41.4, "41 s"),
        (125, "2 min 5 s"),
        (3600, "1 h"),
        (4320, "1 h 12 min"),
        (273_600, "3 d 4 h"),
    ],
)
def test_a_length_of_time_is_said_in_two_units(seconds: float, text: str) -> None:
    assert length_of_time(seconds) == text


def test_a_walk_is_shown_with_what_it_has_found_and_its_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    clock, stream = Clock(), io.StringIO()
    bar = ProgressBar(stream, is_terminal=True, clock=clock)
    clock.now += 1
    bar("discover", 12345, None, "looking for files")

    assert stream.getvalue() == f"{CLEAR}Looking for files 12,345"
