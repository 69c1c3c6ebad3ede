"""The report of a run as lines for a person: a table by groups, the failing exchanges, the score."""

from collections.abc import Iterator, Sequence

from holdfast.present.bounds import clean_line
from holdfast.probe.model import Check, Finding, Report, Score, score
from holdfast.probe.table import GROUPS

__all__ = ["checks_as_text", "report_as_text"]

MARKS = {"pass": "pass", "fail": "FAIL", "skip": "skip"}
MAX_LINE = 160  # characters of one line of an exchange


def report_as_text(report: Report) -> Iterator[str]:
    """The lines of the whole report."""
    server = report.server
    name = " ".join(str(word) for word in (server["name"], server["version"]) if word) or "a server without a name"
    yield f"{clean_line(report.target)}: {clean_line(name)}, {server['revision']}, over {report.transport}"
    for group, value in report.groups().items():
        yield ""
        yield f"{group}: {GROUPS[group]}  ({_percent(value)})"
        for finding in report.findings:
            if finding.check.group == group:
                yield from _row(finding)
    for finding in report.findings:
        if finding.status == "fail":
            yield from _exchange(finding)
    yield ""
    yield _summary(report)


def checks_as_text(checks: Sequence[Check]) -> Iterator[str]:
    """The table of checks, without a server."""
    width = max(len(check.id) for check in checks)
    for check in checks:
        only = "" if len(check.transports) > 1 else f" [{check.transports[0]} only]"
        yield f"{check.id:<{width}}  weight {check.weight}  {check.title}{only}"


def _row(finding: Finding) -> Iterator[str]:
    check = finding.check
    yield f"  {MARKS[finding.status]}  {check.id:<28} {check.title}  ({finding.seconds:.1f} s)"
    if finding.message:
        yield f"        {clean_line(finding.message)}"
    if finding.remedy:
        yield f"        try: {clean_line(finding.remedy)}"


def _exchange(finding: Finding) -> Iterator[str]:
    yield ""
    yield f"FAIL {finding.check.id}: {clean_line(finding.message)}"
    yield f"  why it matters: {finding.check.why}"
    for line in finding.exchange:
        text = line.text if len(line.text) <= MAX_LINE else f"{line.text[: MAX_LINE - 1]}…"
        yield f"  {line.at:7.3f} {line.mark} {clean_line(text)}"


def _summary(report: Report) -> str:
    total = score(report.findings)
    counts = {status: sum(item.status == status for item in report.findings) for status in MARKS}
    return (
        f"score {_percent(total)}: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped"
        f" ({total.passed} of {total.judged} points, {report.seconds:.1f} s)"
    )


def _percent(value: Score) -> str:
    return "nothing judged" if value.percent is None else f"{value.percent:g} %"
