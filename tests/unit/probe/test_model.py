"""Scores, the table of checks and the bounds of a transcript."""

import re

import pytest

from holdfast.errors import UsageError
from holdfast.probe.model import Check, Finding, Report, Status, score
from holdfast.probe.table import CHECKS, GROUPS, chosen
from holdfast.probe.target import http_target
from holdfast.probe.transcript import MAX_HEAD, MAX_TAIL, Transcript


async def _nothing(_: object) -> None:
    return None


def _finding(weight: int, status: Status, group: str = "ids") -> Finding:
    return Finding(Check(f"{group}.x", "t", "w", "h", weight, _nothing), status)


def test_skipped_checks_count_on_neither_side_of_a_score() -> None:
    total = score([_finding(3, "pass"), _finding(1, "fail"), _finding(2, "skip")])
    assert (total.passed, total.judged, total.skipped, total.percent) == (3, 4, 1, 75.0)
    assert score([_finding(2, "skip")]).percent is None


def test_a_single_failure_is_never_rounded_up_to_a_hundred() -> None:
    many = [_finding(3, "pass") for _ in range(1000)]
    assert score([*many, _finding(1, "fail")]).percent == 99.9


def test_a_report_is_good_unless_something_failed() -> None:
    good = Report("t", "stdio", {}, (_finding(1, "pass"), _finding(1, "skip", "http")), 0.0)
    assert good.ok
    assert list(good.groups()) == ["ids", "http"]
    assert not Report("t", "stdio", {}, (_finding(1, "fail"),), 0.0).ok


def test_every_check_is_told_apart_and_explained() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert re.fullmatch(r"[a-z]+\.[a-z0-9-]+", check.id)
        assert check.group in GROUPS
        assert check.weight in {1, 2, 3}
        assert check.title
        assert check.why.endswith(".")
        assert check.how.endswith(".")
        assert set(check.transports) <= {"stdio", "http"}


def test_checks_are_chosen_by_id_and_by_group_in_the_order_of_the_table() -> None:
    found = chosen(["ids", "malformed.nan"])
    assert found[0].id == "malformed.nan"
    assert {check.group for check in found[1:]} == {"ids"}
    with pytest.raises(UsageError, match="no check 'idz'"):
        chosen(["idz"])


def test_a_transcript_keeps_its_ends_and_counts_what_is_between() -> None:
    transcript = Transcript()
    for number in range(1000):
        transcript.sent(b"%d" % number)
    lines = transcript.lines()
    assert len(lines) == MAX_HEAD + 1 + MAX_TAIL
    assert (lines[0].text, lines[-1].text) == ("0", "999")
    assert lines[MAX_HEAD].text == f"… {1000 - MAX_HEAD - MAX_TAIL} lines left out"


def test_a_transcript_cuts_long_lines_and_disguises_nothing() -> None:
    transcript = Transcript()
    transcript.received(b"\x1b[31m" + b"x" * 1_000_000)
    transcript.received(b"\xff\xfe\n")
    first, second = transcript.lines()
    assert first.text.startswith("\\u001b[31mxxx")
    assert first.text.endswith("(1000005 bytes)")
    assert len(first.text) < 500
    assert second.text == "\\xff\\xfe"


@pytest.mark.parametrize(
    "url", ["http://", "ftp://a/b", "http://a b/", "http://[::1/", "http://a:0/", "http://a/\n"]
)
def test_what_is_no_address_is_refused_with_a_remedy(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        http_target(url)
    assert caught.value.remedy


def test_the_label_of_an_address_has_no_secrets_in_it() -> None:
    target = http_target("https://user:secret@example.org:8443/mcp?token=abc", {"Authorization": "Bearer abc"})
    assert target.label == "https://example.org:8443/mcp"
    assert "abc" not in repr(target).replace("token=abc", "").replace("?", "")
    assert not target.is_local
