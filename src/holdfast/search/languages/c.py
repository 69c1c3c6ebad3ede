"""C: its query and its rules. Prototypes and macros are definitions too, because headers have little else."""

import re

from holdfast.search.languages.rules.clike import (
    ACTIONS,
    CHOSEN,
    DEFINITIONS,
    MACRO_BEFORE_A_TYPE,
    WORDS,
    at_places,
    declared,
    imports,
    naming,
    parameters,
)
from holdfast.search.languages.rules.conditionals import hidden_branches
from holdfast.search.languages.rules.language import DOXYGEN, Language, every_field
from holdfast.search.languages.rules.macros import macros_of_heads

__all__ = ["LANGUAGE"]

_FUNCTION = declared("(function_declarator declarator: (identifier) @name @result.before parameters: (_) @params)")
_STRUCTS = at_places(
    """[(struct_specifier name: (_) @name body: (_) @body) (union_specifier name: (_) @name body: (_) @body)]
    @def.struct""",
    ("declaration", "field_declaration", "compound_statement"),
)

_QUERY = f"""
(function_definition declarator: {_FUNCTION}) @def.function
(function_definition declarator: {CHOSEN}) @def.function
(declaration declarator: {_FUNCTION})
{_STRUCTS}
(call_expression function: [(identifier) (field_expression)] @call)
["&&" "||"] @boolean
(field_designator) @label
"""

_FIELDS = every_field(
    "params", "param_types", "decorators", "modifiers", "return_types", "calls", "uses", "reads", "writes",
    "mutations", "aliases", "inferred_types",
    flags=("returns",),
)  # fmt: skip

_CAST = re.compile(r"\(\s*([^()]+?)\s*\)")


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "static" in modifiers else "public"


def _infer(kind: str, text: str, _callee: str) -> str:
    """Every variable has a declared type; a cast says more where that is `void *`."""
    cast = _CAST.match(text) if kind == "cast_expression" else None
    return cast[1] if cast else ""


LANGUAGE = Language(
    id="c",
    grammar="tree_sitter_c:language",
    query=_QUERY + DEFINITIONS + ACTIONS,
    fields=_FIELDS,
    keywords=WORDS,
    visibility=_visibility,
    naming=naming,
    parameters=parameters,
    imports=imports,
    infer=_infer,
    separators=(".", "->"),
    misleading=re.compile(MACRO_BEFORE_A_TYPE),
    hidden=hidden_branches,
    guessed=macros_of_heads,
    # Not at the parameters of a function of the first C, which stand between its head and its body.
    restart=re.compile(
        rb"^(?!(?:[^;{}\n]*;[^\n]*\n){1,16}\{)"
        rb"(?:#define |(?:static|extern|inline|struct|enum|union|typedef|const|void|int|char|[a-z]\w*_t)\b)",
        re.MULTILINE,
    ),
    doc_signs=DOXYGEN,
)
