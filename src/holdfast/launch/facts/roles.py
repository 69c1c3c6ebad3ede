"""Roles, the named inline markup of Sphinx: of `:class:`~tablekit.Table`` a reader sees `Table`, as code."""

import re

__all__ = ["LOST", "REFERENCE", "role_text"]

LOST = "\ufffc"
"""Stands for words that only a build of the documentation would know; a sentence with it is no sentence."""

REFERENCE = "\ufffb"
"""Stands for a number in a tracker: nothing is lost with it at the end of a sentence, in the middle there is."""

_WORDS = frozenset(
    {"ref", "doc", "term", "any", "numref", "abbr", "dfn", "guilabel", "menuselection", "strong", "emphasis"}
)
_POINTERS = frozenset({"ref", "doc", "any", "numref"})
_TITLED = re.compile(r"(.*?)(?<!\s)\s*<([^<>]*)>", re.DOTALL)
_REFERENCES = frozenset(
    {"pr", "issue", "issues", "gh", "ghpr", "pull", "user", "commit", "cve", "contrib", "bug", "github"}
)
_NAMED = {"pep": "PEP ", "rfc": "RFC "}


def role_text(role: str, content: str) -> str:
    """What is left of a role: words, code, or nothing where it only points into a tracker."""
    name = role.rpartition(":")[2].lower()
    titled = _TITLED.fullmatch(content)
    if name in _REFERENCES:
        return REFERENCE
    if name in _NAMED:
        return titled[1] if titled else _NAMED[name] + content
    if name in _WORDS:
        return titled[1] if titled else LOST if name in _POINTERS else content
    if titled:
        return f"`{titled[1]}`"
    if content.startswith("~"):
        content = content[1:].rpartition(".")[2]
    return f"`{content.lstrip('!').removeprefix('.')}`"
