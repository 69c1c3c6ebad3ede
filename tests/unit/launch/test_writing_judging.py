"""Which of a model's sentences may be printed: those that say the same as the template's, and no others."""

import pytest
from hypothesis import given, strategies

from holdfast.launch.claim_marks import mark
from holdfast.launch.writing.blocks import Sentence
from holdfast.launch.writing.judging import is_plain, judged

A, B, C = "clm_aaaaaaaaaaaaaaaa", "clm_bbbbbbbbbbbbbbbb", "clm_cccccccccccccccc"
READS = Sentence("`Table.read` opens a CSV file.", (A,))
CODED = Sentence("The encoding is not UTF-16.", (B,))
NEEDS = Sentence("A header row is required, and may be empty.", (C,))
GIVEN = (READS, CODED, NEEDS)
CLAIMS = {
    A: "Table.read opens CSV files with a header.",
    B: "The encoding is not UTF-16.",
    C: "A header is required.",
}


def answer(*lines: tuple[str, tuple[str, ...]]) -> str:
    return "\n".join(f"{text}{mark(claims)}" for text, claims in lines)


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ("With `Table.read` you open a CSV file.", ""),
        ("`Table.read` opens a CSV file with a header.", ""),
        ("To open a CSV file, use `Table.read`.", ""),
        ("", "no text"),
        ("`Table.read` opens two CSV files.", "no claim says: two"),
        ("`Table.read` opens 3 CSV files.", "no claim says: 3"),
        ("`Table.read` of version 1.2.3 opens a CSV file.", "no claim says: 1.2.3"),
        ("`Table.read` opens a CSV or JSON file.", "no claim says: json"),
        ("`Table.load` opens a CSV file.", "no claim says: table.load"),
        ("`Table.read` and `write` open a CSV file.", "no claim says: write"),
        ("`Table.read` opens a CSV file on Linux.", "no claim says: linux"),
        ("`Table.read` opens a CSV file for Pandas.", "no claim says: pandas"),
        ("Pandas and `Table.read` open a CSV file.", "no claim says: pandas"),
        ("`Table.read` encrypts and opens a CSV file.", "no claim says: encrypts"),
        ("`Table.read` opens a CSV file in a cloud of databases.", "no claim says: cloud, databases"),
        ("`Table.read` is fast and opens a CSV file.", "no claim says: fast"),
        ("`Table.read` opens a CSV file as read_mode.", "no claim says: mode, read_mode"),
        ("`Table.read` opens a CSV file with --fast-mode.", "no claim says"),
        ("`Table.read` does not open a CSV file.", "a negation"),
        ("`Table.read` can open a CSV file.", "how certain"),
        ("`Table.read` must open a CSV file.", "how certain"),
        ("`Table.read` always opens a CSV file.", "how certain"),
        ("It opens a CSV file.", "leaves out what the sentence said: table.read"),
        ("`Table.read` opens a file.", "leaves out what the sentence said: csv"),
        ("<b>`Table.read`</b> opens a CSV file.", "HTML"),
        ("`Table.read` opens a [CSV](x) file.", "HTML, a link"),
        ("`Table.read` opens a CSV file, see https://x.example.", "a link"),
        ("## `Table.read` opens a CSV file.", "structure"),
        ("--- `Table.read` opens a CSV file.", "structure"),
        ("{{< secret >}} `Table.read` opens a CSV file.", "structure"),
        ("`Table.read` opens a `CSV file.", "structure"),
        ("`Table.read` opens a CSV fi\u200ble.", "character"),
        ("`Tаble.read` opens a CSV file.", "character"),
        ("`Table.read` opens a CSV file \x1b[31m.", "character"),
        ("`Table.read` opens a CSV file" + " of the same" * 30 + ".", "much longer"),
    ],
)
def test_a_model_may_change_words_but_no_facts(told: str, problem: str) -> None:
    verdict = judged((READS,), answer((told, (A,))), CLAIMS)

    assert verdict.sentences == ((READS,) if problem else (Sentence(told, (A,)),))
    assert (verdict.taken, bool(verdict.refused)) == (int(not problem), bool(problem))
    assert problem in "; ".join(verdict.refused)


@pytest.mark.parametrize(
    ("own", "told", "is_taken"),
    [
        ("It reads CSV and writes JSON.", "It reads JSON and writes CSV.", False),
        ("It reads CSV and writes JSON.", "It writes CSV and reads JSON.", False),
        ("It reads CSV and writes JSON.", "It reads CSV, and it writes JSON.", True),
        ("Version 1.2 follows version 1.1.", "Version 1.1 follows version 1.2.", False),
        ("`load` replaces `read`.", "`read` replaces `load`.", False),
        ("Tables are not sorted, but filtered.", "Tables are sorted, but not filtered.", False),
        ("Tables are not sorted, but filtered.", "The tables are not sorted but are filtered.", True),
        ("`load` opens a CSV file.", "To open a CSV file, use `load`.", True),
        ("The client waits for the server.", "The server waits for the client.", False),
        ("The client waits for the server.", "Here, the client is waiting for the server.", True),
        ("Reading works, writing fails.", "Writing works, reading fails.", False),
        ("Keys are required, values may be empty.", "Values are required, keys may be empty.", False),
        ("It copies from disk to memory.", "It copies to disk from memory.", False),
        ("Files are read before a lock.", "Files are read after a lock.", False),
        ("The cache is on by default.", "The cache is off by default.", False),
        ("The cache is off by default.", "The cache is on by default.", False),
        ("The count goes up.", "The count goes down.", False),
        ("Files are moved in the folder.", "Files are moved out of the folder.", False),
        ("It retries because the server fails.", "It retries so the server fails.", False),
        ("It takes either a path or a file.", "It takes both a path and a file.", False),
    ],
)
def test_facts_that_could_be_mixed_up_stay_in_their_order(own: str, told: str, *, is_taken: bool) -> None:
    verdict = judged((Sentence(own, (A,)),), answer((told, (A,))), {A: own})

    assert verdict.taken == is_taken, verdict.refused
    assert bool(verdict.refused) != is_taken


@pytest.mark.parametrize(
    ("own", "told", "is_taken"),
    [
        ("TableKit reads csv files.", "With TableKit you read csv files.", True),
        ("TableKit reads csv files.", "TableKit reads CSV files.", True),
        ("TableKit reads csv files.", "Also, tableKit reads csv files.", False),
        ("TableKit reads csv files.", "TABLEKIT reads csv files.", False),
        ("Call Table.read for a file.", "For a file, call table.read.", False),
    ],
)
def test_a_name_is_spelled_as_the_product_spells_it(own: str, told: str, *, is_taken: bool) -> None:
    verdict = judged((Sentence(own, (A,)),), answer((told, (A,))), {A: own})

    assert verdict.taken == is_taken, verdict.refused


def test_one_bad_sentence_costs_only_itself() -> None:
    told = answer(
        ("With `Table.read` you open a CSV file.", (A,)),
        ("The encoding is UTF-16.", (B,)),
        ("A header row is required, but it may be empty.", (C,)),
    )
    verdict = judged(GIVEN, told, CLAIMS)

    assert [one.text for one in verdict.sentences] == [
        "With `Table.read` you open a CSV file.", CODED.text, "A header row is required, but it may be empty.",
    ]  # fmt: skip
    assert (verdict.taken, verdict.refused) == (2, ("a negation was lost or added",))


def test_two_sentences_may_become_one_with_both_marks() -> None:
    joined = "`Table.read` opens a CSV file whose encoding is not UTF-16."
    verdict = judged(GIVEN, answer((joined, (A, B)), (NEEDS.text, (C,))), CLAIMS)

    assert verdict.sentences == (Sentence(joined, (A, B)), NEEDS)
    assert (verdict.taken, verdict.refused) == (1, ())


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (answer((READS.text, (A,)), (CODED.text, (B,))), "a mark was lost"),
        (answer((CODED.text, (B,)), (READS.text, (A,)), (NEEDS.text, (C,))), "not where it was"),
        (answer((READS.text, (A, C)), (CODED.text, (B,)), (NEEDS.text, (C,))), "invented"),
        (answer((READS.text, ("clm_dddddddddddddddd",)), (CODED.text, (B,)), (NEEDS.text, (C,))), "invented"),
        (f"Here you are:\n{answer(*((one.text, one.claims) for one in GIVEN))}", "a line has no mark"),
        ("I am sorry, but I cannot help with that.", "a mark was lost"),
        ("<!-- claim: --> <!-- evil -->", "a line has no mark"),
    ],
)
def test_whatever_happens_to_the_marks_every_sentence_is_there_once_and_in_order(told: str, problem: str) -> None:
    verdict = judged(GIVEN, told, CLAIMS)

    assert verdict.sentences == GIVEN
    assert problem in "; ".join(verdict.refused)


@given(
    strategies.lists(
        strategies.sampled_from([*"ABC<>`\n \u202e", mark((A,)), mark((B,)), mark((A, C)), "CSV", "not"])
    )
)
def test_no_answer_loses_a_mark_or_brings_markup(parts: list[str]) -> None:
    verdict = judged(GIVEN, "".join(parts), CLAIMS)

    assert {claim for one in verdict.sentences for claim in one.claims} == {A, B, C}
    assert not any("<" in one.text or "\u202e" in one.text for one in verdict.sentences)


def test_what_holds_more_than_text_and_code_is_not_given_to_a_model() -> None:
    assert is_plain(READS)
    assert not is_plain(Sentence("It reads CSV files."))
    assert not is_plain(Sentence("See [the docs](/docs/).", (A,)))
