"""Gate: nothing that a template should have filled in is left in a page."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.launch.code_spans import replace_code_spans
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.schema import front_matter_for
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "check"]

_TOKEN = re.compile(r"__[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*__|\{\{(?![<%])[^{}]*\}\}")
_SHORTCODE = re.compile(r"\{\{[<%].*?[>%]\}\}")


def check(view: View) -> Checked:
    """Front matter and prose; what stands in code is what the code says."""
    return Checked([finding for page in view.pages for finding in _page(page, view)])


def _page(page: Page, view: View) -> Iterator[Finding]:
    front = page.file_lines[: page.offset]
    lines = [(number, line) for number, line in enumerate(front, 1) if number in page.touched] + page.prose
    planned = front_matter_for(page, view)
    for number, line in lines:
        shown = _SHORTCODE.sub(" ", replace_code_spans(line, " "))
        for token in dict.fromkeys(_TOKEN.findall(shown)):
            key = _key_of(page, token, planned) if number <= page.offset else None
            yield Finding(
                "TEMPLATE_TOKEN_LEFT",
                f"The page still holds {token}, which a template should have filled in.",
                page.path,
                number,
                anchor=f"{token} {page.line_text(number)}",
                suggested_fix="Put what it stands for in its place, or remove it.",
                fix_rule="remove_template_token" if key is None else "replace_frontmatter",
                data={"token": token, "line_text": page.line_text(number)}
                | ({} if key is None else {"key": key, "value": planned[key]}),
            )


def _key_of(page: Page, token: str, planned: Mapping[str, Any]) -> str | None:
    """The key of the front matter that holds the token, where the plan knows what its value should be."""
    data = page.front.data if page.problem is None else {}
    return next((key for key in planned if isinstance(data.get(key), str) and token in data[key]), None)


GATE = Gate(
    "template_tokens",
    "template_tokens",
    check,
    everywhere(TEMPLATE_TOKEN_LEFT="blocker"),  # noqa: S106 - a code, not a password
    seconds(30, 60),
)
