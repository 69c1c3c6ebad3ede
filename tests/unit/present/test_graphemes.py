"""How wide a terminal shows a text."""

import pytest

from holdfast.present.graphemes import display_width, padded


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("naïve", 5),
        ("nai\u0308ve", 5),
        ("日本語", 6),
        ("ﾊﾝｶｸ", 4),
        ("한국", 4),
        ("\u1112\u1161\u11ab", 2),  # a syllable in its parts
        ("🚀", 2),
        ("👩\u200d👩\u200d👧", 2),
        ("👍\U0001f3fd", 2),
        ("❤\ufe0f", 2),
        ("❤", 1),
        ("🇩🇪🇫🇷", 4),
        ("a\u200bb", 2),
        ("…", 1),
    ],
)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text: str, width: int) -> None:
    assert display_width(text) == width
    assert padded(text, 8) == text + " " * (8 - width)
