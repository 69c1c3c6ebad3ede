"""Text to terms: what a name falls into, what phrases see, and that no text is too strange."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.search import tokens as module
from holdfast.search.tokens import body_streams, exact_words, terms_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HTTPServerError", "http server error"),
        ("parseHTML2Text", "parse html 2 text"),
        ("getURLs", "get url"),
        ("retry_budget", "retry budget"),
        ("$window", "window"),
        ("MAX_RETRIES", "max retry"),
        ("ABC", "abc"),
        ("aB", "a b"),
        ("ÉcoleSupérieure", "école supérieure"),
    ],
)
def test_a_name_falls_into_its_words(name: str, words: str) -> None:
    assert body_streams(name)[0] == words


@pytest.mark.parametrize("text", ["retry budget", "retry_budget", "retryBudget", "RETRY-BUDGET", "Retry.budgets"])
def test_every_spelling_of_a_phrase_gives_the_same_positions(text: str) -> None:
    assert body_streams(text)[0] == "retry budget"


@pytest.mark.parametrize(("code", "prose"), [("utf8", "UTF-8"), ("sha256", "SHA-256"), ("python3", "Python 3")])
def test_code_and_prose_write_the_same_words_before_a_number(code: str, prose: str) -> None:
    assert body_streams(code)[0] == body_streams(prose)[0]
    assert body_streams(code)[1] == code


def test_identifiers_are_what_the_words_alone_would_not_tell() -> None:
    text = "def __init__(self, plain): self.retryBudget = subprocess.run(args)"
    assert body_streams(text)[1] == "__init__ self.retrybudget retrybudget subprocess.run"


def test_a_dotted_name_of_more_than_four_parts_is_only_its_parts() -> None:
    assert body_streams("a.b.c.d")[1] == "a.b.c.d"
    assert body_streams("a.b.c.d.e") == ("a b c d e", "")


def test_a_word_of_a_query_is_looked_up_as_the_index_holds_it() -> None:
    assert terms_of("subprocess.run") == (("subprocess", "run"), ("subprocess.run",))
    assert terms_of("enforced") == (("enforc",), ())
    assert terms_of("!?") == ((), ())


def test_a_hash_is_one_word_and_encoded_data_is_none() -> None:
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert body_streams(digest) == (digest, "")
    assert body_streams(digest * 2) == ("", "")
    assert body_streams("A1b2" * 60 + " after") == ("after", "")


def test_a_long_name_that_is_a_sentence_keeps_its_words() -> None:
    name = "test_" + "_".join(["that", "the", "server"] * 6)
    assert body_streams(name) == (name.replace("_", " "), name)


def test_text_without_spaces_is_found_by_pairs_of_characters() -> None:
    assert body_streams("検索エンジン")[0] == "検索 索エ エン ンジ ジン"
    assert set(terms_of("検索").subwords) <= set(body_streams("高速検索")[0].split())
    assert body_streams("字") == ("字", "")


def test_hundreds_of_thousands_of_characters_without_a_space_are_read_in_one_go() -> None:
    assert body_streams("a" * 200_000) == ("", "")
    assert body_streams("é" * 200_000) == ("", "")
    assert len(body_streams("字" * 20_000)[0].split()) == 19_999
    assert body_streams("a." * 100_000)[1] == ""


def test_composed_and_decomposed_text_are_the_same() -> None:
    text = "Café naïve ﬁle Ｆｕｌｌ"
    assert body_streams(unicodedata.normalize("NFD", text)) == body_streams(text)
    assert body_streams("ﬁle")[0] == body_streams("file")[0]


def test_words_are_kept_as_written_for_a_search_that_respects_case() -> None:
    words = exact_words("raise HTTPServerError(self.retryBudget)")
    assert {"raise", "HTTPServerError", "Server", "self.retryBudget", "retryBudget", "Budget"} <= words
    assert words.isdisjoint({"httpservererror", "server", "budget"})


def test_what_is_remembered_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 10)
    memory = module._Remembered(lambda run: [run.upper()])
    names = [f"name{number % 30}" for number in range(100)]
    assert [memory[name] for name in names] == [name.upper() for name in names]
    assert len(memory) <= 10
    assert memory["x" * 201] == "X" * 201
    assert "x" * 201 not in memory


@given(st.text(max_size=200))
def test_no_text_breaks_the_streams_and_no_term_holds_white_space(text: str) -> None:
    for stream in body_streams(text):
        assert stream == " ".join(stream.split())
        assert not any(term.isupper() and term.isascii() for term in stream.split())
    assert isinstance(exact_words(text), set)


@given(st.lists(st.text(alphabet="abcXYZ_09é字", min_size=1, max_size=12), max_size=8))
def test_the_streams_of_a_text_are_those_of_its_words_in_order(words: list[str]) -> None:
    together = body_streams(" ".join(words))
    apart = [body_streams(word) for word in words]
    assert together[0].split() == [term for subwords, _ in apart for term in subwords.split()]
    assert together[1].split() == [term for _, names in apart for term in names.split()]


@given(st.text(alphabet="abcXYZ_09. éß", max_size=40))
def test_a_query_finds_the_text_that_it_was_copied_from(text: str) -> None:
    terms = terms_of(text)
    assert " ".join(terms.subwords) == body_streams(text)[0]
    assert " ".join(terms.identifiers) == body_streams(text)[1]
