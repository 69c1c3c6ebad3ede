"""The comments of Rust: Markdown, with examples whose hidden lines begin with `#`."""

import re

from holdfast.launch.facts.docstrings import Docstring
from holdfast.launch.facts.ecosystems.doc_text import read_text

__all__ = ["read_rustdoc"]

_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})([\w,\- ]*)$")
_HIDDEN = re.compile(r"^\s*#(?:\s.*)?$")
_BADGE = re.compile(r"\[!\[.*?\]\(?.*?\)?\](?:\([^)]*\)|\[[^\]]*\])?|\[!\[[^\]]*\]\]\([^)]*\)(?:&ensp;)?")
_TEST_WORDS = frozenset(
    {"", "rust", "no_run", "ignore", "should_panic", "compile_fail", "edition2018", "edition2021"}
)


def read_rustdoc(text: str) -> Docstring:
    """Take a comment apart."""
    made: list[str] = []
    language = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence and not language:
            words = {word.strip() for word in fence[3].split(",")}
            language = "rust" if words <= _TEST_WORDS else fence[3].strip()
            made.append(f"{fence[1]}{fence[2]}{language}")
        elif fence:
            language = ""
            made.append(line)
        elif language != "rust" or not _HIDDEN.match(line):
            made.append(re.sub(r"^(\s*)##", r"\1#", line) if language == "rust" else _BADGE.sub("", line))
    return read_text("\n".join(made), "rust")
