import pytest

from holdfast.search.kinship import nearest
from holdfast.search.stems import stem


@pytest.mark.parametrize(
    ("named", "asked", "near"),
    [
        ("retry", "retry", 1.0),
        ("conf", "configuration", 0.7),
        ("configuration", "conf", 0.7),
        ("get", "returns", 0.35),
        ("is", "whether", 0.35),
        ("id", "identity", 0.0),  # two letters may stand for anything
        ("retry", "budget", 0.0),
        ("car", "cat", 0.0),
    ],
)
def test_a_word_of_a_name_is_near_to_what_people_say_for_it(named: str, asked: str, near: float) -> None:
    assert nearest(stem(named), [stem(asked)])[0] == near


def test_the_nearest_word_counts() -> None:
    assert nearest("get", ["return", "get", "getter"]) == (1.0, "get")
    assert nearest("get", []) == (0.0, "")
