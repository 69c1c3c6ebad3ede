"""Notes keep their order, appear once and are capped."""

import pytest

from holdfast.present.notes import Notes


def test_notes_keep_the_order_in_which_they_were_first_made() -> None:
    assert Notes(["b", "a", "b ", " a"]).lines() == ["note: b", "note: a"]


def test_notes_that_differ_in_whitespace_only_are_one() -> None:
    notes = Notes(["index  is\nold", "index is old", "  "])
    assert len(notes) == 1
    assert notes.lines() == ["note: index is old"]


def test_notes_beyond_the_limit_are_counted() -> None:
    assert Notes(map(str, range(9)), limit=2).lines() == ["note: 0", "note: 1", "… 7 note(s) omitted"]


def test_a_note_stays_on_its_line() -> None:
    (line,) = Notes(["x\u2028y\x1b" + "z" * 500]).lines(width=40)
    assert len(line) == 40
    assert len(line.splitlines()) == 1


def test_a_limit_of_no_notes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Notes(limit=0)
