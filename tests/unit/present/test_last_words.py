"""What is told of a program's stderr when it ends."""

import pytest

from holdfast.present.last_words import last_words, own_complaint


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        ("", ""),
        ("\n \n", ""),
        ("loading\nError: no key\n\n", "Error: no key"),
        ("loading\nholdfast: s.py: SyntaxError\n  try: correct it\n", "s.py: SyntaxError; try: correct it"),
        ("  try: this is all there is\n", "try: this is all there is"),
        ("a\x1b[31m\u2028b", "b"),
        ("red \x1b[31m", "red \\u001b[31m"),
    ],
)  # fmt: skip
def test_the_reason_is_told_and_the_remedy_below_it(stderr: str, told: str) -> None:
    assert last_words(stderr) == told


def test_however_much_was_said_it_is_one_bounded_line() -> None:
    assert len(last_words("x" * 100_000)) == 300
    assert len(last_words(f"{'x' * 100_000}\ntry: {'y' * 100_000}")) == 300


@pytest.mark.parametrize(
    ("stderr", "complaint"),
    [
        ("loading\nholdfast: there is no a.py\n  try: check the path\n", ("there is no a.py", "check the path")),
        ("holdfast: there is no file a.py\n", None),
        ("there is no file a.py\n  try: check the path\n", None),
        ("holdfast: stopped\n  try: again\nKilled\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_what_our_own_programs_complain_of_is_told_from_what_others_say(
    stderr: str, complaint: tuple[str, str] | None
) -> None:
    assert own_complaint(stderr) == complaint
