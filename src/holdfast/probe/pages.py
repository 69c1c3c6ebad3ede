"""The table of checks as a part of a documentation page, so that the page says what the code does."""

from collections.abc import Iterator

from holdfast.probe.table import CHECKS, GROUPS

__all__ = ["BEGIN", "END", "checks_as_markdown", "with_checks"]

BEGIN = "<!-- checks: begin; made from the table in holdfast.probe -->"
END = "<!-- checks: end -->"


def checks_as_markdown() -> str:
    """Every check: what it wants, how it is made, what it weighs and why it matters."""
    return "\n".join(_lines())


def with_checks(page: str) -> str:
    """A page with the part between the marks as the table says it now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{checks_as_markdown()}\n{END}{after}"


def _lines() -> Iterator[str]:
    for group, words in GROUPS.items():
        yield f"### {group}: {words if words[1].isupper() else words[0].lower() + words[1:]}"
        yield ""
        yield "| check | how it is made | weight | why it matters |"
        yield "| --- | --- | --- | --- |"
        for check in CHECKS:
            if check.group == group:
                only = "" if len(check.transports) > 1 or group == "http" else " (stdio only)"
                cells = (f"`{check.id}`{only}<br>{check.title}", check.how, str(check.weight), check.why)
                yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        yield ""
