"""Examples beside the code: in the documentation of public names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.launch.code_fences import fences
from holdfast.launch.facts.code_texts import language_named
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.shown import Shown
from holdfast.launch.facts.titles import slug

__all__ = ["commented_examples"]

_LONGEST = 60
_MOST = 60
_ABOVE = 220  # lines that the documentation of a name may have
_SIGN = re.compile(r"^\s*(?:///?!?|/?\*+!?|//!)? ?")


def commented_examples(repository: Repository, facts: Mapping[str, Any], ecosystem: Ecosystem) -> Iterator[Shown]:
    """The code in the documentation of public names that is code for their users."""
    number = 0
    for symbol in facts["api_symbols"]:
        for fence in fences(symbol.get("documentation", "")):
            language = language_named(fence.language, fence.code, ecosystem.language)
            if not ecosystem.speaks(language) or fence.code.count("\n") >= _LONGEST or number >= _MOST:
                continue
            found = _located(repository, symbol, fence.code.split("\n"))
            if found:
                number += 1
                name = symbol["qualified_name"]
                title = name.removeprefix(symbol["module"]).lstrip(".:")
                tags = ("api", f"api:{name}"[:200], slug(name))
                yield Shown(
                    "docstring", symbol["path"], *found, language, fence.code, title[:300], symbol["summary"],
                    symbol["start_line"], tags,
                )  # fmt: skip


def _located(repository: Repository, symbol: Mapping[str, Any], code: Sequence[str]) -> tuple[int, int] | None:
    """The lines of the file that the code stands on; None where it is not found again."""
    text = repository.text(symbol["path"], LARGEST_CODE)
    lines = text.split("\n") if text else []
    wanted = [" ".join(line.split()) for line in code if line.strip()]
    if not wanted:
        return None
    first = max(1, symbol["start_line"] - _ABOVE)
    said = {
        at: " ".join(_SIGN.sub("", lines[at - 1]).split())
        for at in range(first, min(symbol["end_line"], len(lines)) + 1)
    }
    for start, line in said.items():
        if line == wanted[0] or (line and line.endswith(wanted[0])):
            end = next((at for at in range(start, start + len(code) + 30) if said.get(at) == wanted[-1]), 0)
            if end:
                return start, end
    return None
