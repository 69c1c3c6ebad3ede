from hypothesis import given
from hypothesis import strategies as st

from holdfast.search.engine.vocabulary import Vocabulary

WORDS = st.lists(st.text(st.characters(blacklist_characters="\n"), min_size=1, max_size=8))


@given(WORDS, st.text(st.characters(blacklist_characters="\n"), min_size=1, max_size=3))
def test_containing_finds_exactly_the_values_with_the_needle_in_any_case(values: list[str], needle: str) -> None:
    expected = sorted({value for value in values if needle.lower() in value.lower()})
    assert Vocabulary(values).containing(needle) == expected


def test_a_needle_never_matches_across_two_values() -> None:
    assert Vocabulary(["ab", "cd"]).containing("bc") == []


def test_a_name_is_found_by_its_last_parts_and_never_by_half_of_one() -> None:
    vocabulary = Vocabulary(["subprocess.run", "run", "rerun", "loop.run_once"])
    assert vocabulary.named("run") == ["run", "subprocess.run"]
    assert vocabulary.named("subprocess.run()") == ["subprocess.run"]


def test_a_module_is_found_with_what_is_below_it() -> None:
    vocabulary = Vocabulary(["os", "os.path", "ossaudiodev", "./lib/a", "./lib"])
    assert vocabulary.module("os") == ["os", "os.path"]
    assert vocabulary.module("./lib") == ["./lib", "./lib/a"]


def test_an_exact_value_is_found_or_nothing() -> None:
    assert Vocabulary(["a", "b"]).same("b") == ["b"]
    assert Vocabulary(["a", "c"]).same("b") == []
    assert Vocabulary([]).same("b") == []


def test_a_name_is_the_end_of_longer_ones_however_a_language_writes_them() -> None:
    found = Vocabulary(["subprocess.run", "Shell::run", "shell->run", "log:run", "App\\Shell\\run", "rerun"])

    assert found.named("run()") == ["App\\Shell\\run", "Shell::run", "log:run", "shell->run", "subprocess.run"]
    assert found.named("Shell::run") == ["Shell::run"]
    assert Vocabulary(["App\\Models", "App\\Models\\User", "App\\ModelsOld"]).module("App\\Models") == [
        "App\\Models", "App\\Models\\User",
    ]  # fmt: skip
