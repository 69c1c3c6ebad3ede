"""Docstrings of three styles, and of none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.docstring import parse_docstring

GOOGLE = """Find an article.

    It looks everywhere.

    Args:
        sku (str): The number of the article,
            as printed.
        limit (dict[str, int], optional): At most so many: no more.
        **rest: Ignored.

    Returns:
        The article: always one.

    Raises:
        KeyError: never.

    Example:
        find("A-1")
    """

NUMPY = """
    Find an article.

    Parameters
    ----------
    sku : str
        The number of the article,
        as printed.
    limit, offset : int, optional
        At most so many: no more.

    Returns
    -------
    Article
        The article.

    Notes
    -----
    Slow.
    """

REST = """Find an article.

    :param str sku: The number of the article,
        as printed.
    :param limit: At most so many: no more.
    :type limit: int
    :returns: The article.
    :raises KeyError: never.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_every_style_tells_what_a_parameter_means(text: str) -> None:
    found = parse_docstring(text)
    assert found.parameters["sku"] == "The number of the article, as printed."
    assert found.parameters["limit"] == "At most so many: no more."
    assert found.description.startswith("Find an article.")
    assert "The article" not in found.description
    assert "KeyError" not in found.description


def test_sections_that_are_not_about_the_signature_stay_in_the_description() -> None:
    assert parse_docstring(GOOGLE).description == (
        'Find an article.\n\nIt looks everywhere.\n\nExample:\n    find("A-1")'
    )
    assert parse_docstring(NUMPY).description == "Find an article.\n\nNotes\n-----\nSlow."


def test_parameters_that_share_a_line_share_their_description() -> None:
    assert parse_docstring(NUMPY).parameters["offset"] == "At most so many: no more."


@pytest.mark.parametrize("text", [None, "", "   \n\n  "])
def test_no_text_is_no_description(text: str | None) -> None:
    assert parse_docstring(text).description == ""


def test_prose_with_a_colon_is_not_a_section() -> None:
    text = "Note: this is prose.\nArgs are not described here:\nreally."
    assert parse_docstring(text).description == text


@given(st.lists(st.sampled_from([*GOOGLE.splitlines(), *NUMPY.splitlines(), *REST.splitlines(), ":", "---"])))
def test_no_mixture_of_styles_breaks_the_parser(lines: list[str]) -> None:
    found = parse_docstring("\n".join(lines))
    assert all(isinstance(text, str) for text in found.parameters.values())
