"""Vim script: its functions, commands and global variables."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(function_definition (function_declaration name: (_) @name)) @def.function
(function_definition (body) @body)
(command_statement name: (_) @name) @def.function
(script_file (let_statement . [(scoped_identifier) (identifier)] @name) @def.variable)
(comment) @comment
"""


def _visibility(name: str, _modifiers: list[str]) -> str:
    return "private" if name.startswith(("s:", "<SID>")) else "public"


LANGUAGE = definitions_only(
    "vim",
    packed("vim"),
    _QUERY,
    root="script_file",
    fields="visibility",
    visibility=_visibility,
    comment_signs=re.compile(r"^[ \t]*\"+[ \t]?|[ \t\r]+$", re.MULTILINE),
    restart=rb"^(?:function|fu)!? ",
)
