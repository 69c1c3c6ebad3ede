"""The light stemmer: the forms of a word meet, other words do not, and a stem is its own stem."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.stems import stem

FAMILIES = """
enforce enforced enforces enforcing
parse parsed parses parsing
retry retries retried retrying
try tries tried trying
cache caches cached caching
match matches matched matching
process processes processed processing
class classes
index indexes indexed indexing indices
queue queues queued queueing queuing
cookie cookies
map maps mapped mapping mappings
add adds added adding
embed embeds embedded embedding
alias aliases aliased aliasing
status statuses
use used uses using
reuse reused reuses reusing
close closed closes closing
base based bases
precede preceded precedes preceding
exceed exceeded exceeds exceeding
agree agreed agrees agreeing
echo echoes echoed
focus focused focusing
cancel cancels cancelled canceled cancelling canceling
diff diffs diffed diffing
call calls called calling
tie ties tied
toe toes
handle handles handled handling
id ids
substring substrings
""".strip().splitlines()
KEPT = "class process status bus pass less css dns os this string need speed is during https"
ENDINGS = re.compile(r"\w+").findall("s es ies ed ing e ie ied ss us ll pp string eed a t")


@each_row("family", FAMILIES)
def test_the_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


def test_no_two_of_these_words_share_a_stem() -> None:
    stems = [stem(family.split()[0]) for family in FAMILIES]
    assert len(set(stems)) == len(stems)


@pytest.mark.parametrize("word", KEPT.split())
def test_words_that_only_look_inflected_are_kept(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(("noun", "verb"), [("server", "serve"), ("parser", "parse"), ("handler", "handle")])
def test_a_noun_made_of_a_verb_stays_apart_from_it(noun: str, verb: str) -> None:
    assert stem(noun) != stem(verb)


@pytest.mark.parametrize("text", ["", "s", "naïves", "検索s", "sha256s", "ss" * 500_000, "ed" * 500_000])
def test_what_is_no_english_word_comes_back_as_it_is(text: str) -> None:
    assert stem(text) == text


_ENDINGS = st.lists(st.sampled_from(ENDINGS), max_size=5)


@given(st.text(alphabet="aeioubcdglmnprstyz", max_size=8), _ENDINGS)
def test_the_stem_of_a_stem_is_that_stem(start: str, endings: list[str]) -> None:
    once = stem(start + "".join(endings))
    assert stem(once) == once


@given(st.text(alphabet="aeioubcdglmnprstyz", max_size=8), _ENDINGS)
def test_a_stem_keeps_three_letters_and_the_first_of_them(start: str, endings: list[str]) -> None:
    word = start + "".join(endings)
    assert stem(word)[:1] == word[:1]
    assert len(stem(word)) >= min(len(word), 3) or word in {"ids", "ips", "dbs", "vms"}


def test_a_setting_is_not_what_is_set() -> None:
    assert stem("settings") == stem("setting") != stem("set")
