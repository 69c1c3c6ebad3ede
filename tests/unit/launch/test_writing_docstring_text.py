"""The prose of docstrings: what a reader gets of the styles that there are, and no syntax of any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch.writing.docstring_text import Piece, pieces

SPHINX = """A serializer.

It signs data.
:param key: The key.
    Can be a list.
:returns: Nothing.

.. versionchanged:: 2.0
    Added support for rotation.

.. code-block:: python

    sign(x)

.. versionadded:: 1.1
"""
GOOGLE = """Format bytes.

Decimal suffixes are used.

Examples:
    ``pycon
    >>> size(3)
    '3'

    `

Args:
    value (int): Integer.

        More of it.

Note:
    Slow on large input.
"""
NUMPY = """Join tables.

Parameters
----------
left : Table
    The first.

Notes
-----
The order is kept.
"""


def texts(documentation: str) -> list[str]:
    return [text for piece in pieces(documentation) for text in piece.texts]


def test_fields_go_directives_of_versions_become_sentences_and_code_goes() -> None:
    said = ["Changed in version 2.0: Added support for rotation.", "Added in version 1.1."]
    assert texts(SPHINX) == ["A serializer.", "It signs data.", *said]


def test_sections_of_a_google_docstring_go_with_their_broken_fences_but_notes_stay() -> None:
    assert texts(GOOGLE) == ["Format bytes.", "Decimal suffixes are used.", "Slow on large input."]


def test_sections_of_a_numpy_docstring_go_but_notes_stay() -> None:
    assert texts(NUMPY) == ["Join tables.", "The order is kept."]


def test_a_list_is_one_piece_whose_items_keep_their_further_lines() -> None:
    found = pieces("Modes:\n\n- one\n  goes on\n- two\n\nThe end.")
    assert found == [Piece(("Modes:",)), Piece(("one goes on", "two"), is_list=True), Piece(("The end.",))]


@pytest.mark.parametrize(
    "code",
    [
        "::\n\n    run()", ":\n\n```\nrun()\n```", ":\n\n    run()\n    again()", ":\n\n>>> run()\n1",
        ":\n\n# >>> run()\n# 1",
    ],
)  # fmt: skip
def test_a_sentence_that_announces_code_goes_with_the_code(code: str) -> None:
    assert texts(f"It runs. Call it like this{code}\n\nDone.") == ["It runs.", "Done."]


def test_a_colon_before_a_list_or_prose_stays() -> None:
    assert texts("It has two modes:\n\nfast and slow.") == ["It has two modes:", "fast and slow."]


@given(st.text(alphabet="ab:.`>-* \n.=~\t1)", max_size=200))
def test_any_text_ends_in_pieces_without_line_breaks(text: str) -> None:
    assert all(one and "\n" not in one for one in texts(text))
