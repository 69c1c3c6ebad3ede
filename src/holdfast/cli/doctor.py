"""`holdfast doctor`: is everything here that Holdfast needs, and in order? One line each."""

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from holdfast.setup.checks import Finding

__all__ = ["command"]

_MARKS = {"ok": "ok", "off": "off", "warn": "warn", "fail": "FAIL"}


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> int:
    """Look at everything that Holdfast needs on this machine, and say what to do about what is wrong.

    `off` is something that is not there and need not be. The exit code is 0 when nothing fails, else 1.

    \b
    Examples:
      holdfast doctor
      holdfast doctor --json
    """
    from holdfast.setup.examination import examine

    findings = examine()
    fails = sum(finding.status == "fail" for finding in findings)
    warnings = sum(finding.status == "warn" for finding in findings)
    if as_json:
        from holdfast.version import __version__
        from holdfast.wire.codec import encode

        document = {
            "version": __version__,
            "ok": not fails,
            "failures": fails,
            "warnings": warnings,
            "findings": [finding.as_json() for finding in findings],
        }
        sys.stdout.write(encode(document).decode() + "\n")
    else:
        for finding in findings:
            sys.stdout.write(_line(finding) + "\n")
        print(f"{fails} failed, {warnings} to look at, {len(findings)} in all", file=sys.stderr)
    return 1 if fails else 0


def _line(finding: "Finding") -> str:
    from holdfast.present.bounds import clean_line

    remedy = f"; try: {finding.remedy}" if finding.remedy else ""
    return clean_line(f"{_MARKS[finding.status]:<4} {finding.check:<16} {finding.message}{remedy}")
