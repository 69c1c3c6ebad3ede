"""A document without markers beside its server: what it states is compared by meaning, its prose is noted."""

import re
import time
from collections.abc import Iterator

import pytest
from tests.unit.contract.documents.surfaces import stock_room

from holdfast.contract.documents import Finding, generate_document, verify_document

TEXT = re.sub(r"<!-- holdfast:.*-->\n", "", generate_document(stock_room()))


def findings(old: str, new: str) -> list[Finding]:
    assert TEXT.count(old) == 1
    return verify_document(TEXT.replace(old, new), stock_room(), name="x.md")


def test_a_generated_document_without_its_markers_agrees() -> None:
    assert verify_document(TEXT, stock_room()) == []


PURPOSE = "- **Version**: 1.2.0\n- **Schema version**: 1\n- **Title**: Find articles\n- **Read-only**: Yes\n"


@pytest.mark.parametrize(
    ("old", "new", "rule", "words"),
    [
        (PURPOSE, PURPOSE.replace("Yes", "No"), "declaration-drift", "read-only is No, the server Yes"),
        (PURPOSE, PURPOSE.replace(": 1\n", ": 7\n"), "declaration-drift", "schema version is 7, the server 1"),
        (PURPOSE, PURPOSE.replace("1.2.0", "1.2.1"), "version-drift", "version 1.2.1, the server 1.2.0"),
        ("5000 ms", "99999 ms", "declaration-drift", "time limit is 99999 ms, the server 5000 ms"),
        ("5000 ms", "none", "declaration-drift", "time limit is none, the server 5000 ms"),
        (
            "surface version 1.3.0",
            "surface version 9.9.9",
            "version-drift",
            "surface version 9.9.9, the server 1.3.0",
        ),
        (
            "Server version 2.0.0",
            "Server version 2.0.1",
            "version-drift",
            "server version 2.0.1, the server 2.0.0",
        ),
        ("| Nothing matches. |", "| No such thing. |", "errors-drift", "NOTHING_THERE means 'No such thing.'"),
        ("| Wait. | Yes |", "| Wait. | No |", "errors-drift", "OUT_OF_STOCK is retryable: No, the server Yes"),
        ("Use fewer words.", "Delete all.", "errors-drift", "the remedy of NOTHING_THERE is 'Delete all.'"),
    ],
)
def test_a_falsified_statement_is_found_on_its_line(old: str, new: str, rule: str, words: str) -> None:
    [found] = findings(old, new)
    line = TEXT.replace(old, new).split("\n")[found.line - 1]

    assert found.rule == f"spec.{rule}"
    assert words in found.message
    assert found.severity == "error"
    assert line != TEXT.split("\n")[found.line - 1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- **Time limit**: 5000 ms", "- Timeout: 5 seconds per call"),
        ("- **Time limit**: 5000 ms", "- **Time limit**: depends on the weather"),
        ("- **Time limit**: 5000 ms\n", ""),
        (PURPOSE, PURPOSE.replace("**Read-only**: Yes", "*Read only* = `true`, it changes nothing")),
        (PURPOSE, PURPOSE.replace("- **Read-only**: Yes", "- Read-only: it depends")),
        ("| Nothing matches. |", "| nothing  *matches* |"),
        ("| Nothing matches. |", "| Nothing matches. It happens often. |"),
        ("Server version 2.0.0; surface version 1.3.0.", "Since server version 0.3 it is fast."),
        ("Server version 2.0.0; surface version 1.3.0.", "| Server version | 2.0.0 |"),
    ],
)
def test_the_same_in_other_words_is_no_difference(old: str, new: str) -> None:
    assert findings(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Finds articles by words of their name.\n\nUse it before reserving anything.", "Deletes all.", "purpose"),
        ("Reads the table of articles; no files, no network.", "Deletes all files.", "security"),
    ],
)
def test_prose_that_says_nothing_of_what_the_code_says_gets_a_note(old: str, new: str, words: str) -> None:
    [found] = findings(old, new)

    assert (found.rule, found.severity, found.tool) == ("spec.text-differs", "note", "find_articles")
    assert words in found.message


def test_prose_that_keeps_a_sentence_of_the_code_is_the_owners() -> None:
    assert findings("Use it before reserving anything.", "We use it daily.") == []


def mutants() -> Iterator[tuple[str, str]]:
    lines = TEXT.split("\n")
    for number, line in enumerate(lines):
        for word, other in (("Yes", "No"), ("No", "Yes"), ("ms", "s"), ("version**: 1", "version**: 4")):
            if line.startswith(("- **", "| `")) and re.search(rf"\b{re.escape(word)}", line):
                yield line, "\n".join([*lines[:number], line.replace(word, other, 1), *lines[number + 1 :]])


def test_every_stated_fact_that_is_turned_around_is_found() -> None:
    missed = [line for line, text in mutants() if not verify_document(text, stock_room())]

    assert len(list(mutants())) >= 12
    assert missed == []


def test_a_text_that_states_one_version_over_and_over_is_read_in_linear_time() -> None:
    started = time.process_time()
    found = verify_document("# x\n\n" + "Server version 9.0.0;\n" * 20_000, stock_room())

    assert len(found) > 20_000
    assert time.process_time() - started < 5
