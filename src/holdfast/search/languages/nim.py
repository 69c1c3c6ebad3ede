"""Nim: its definitions."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

_ROUTINES = ("proc", "func", "iterator", "template", "macro", "method", "converter")
_NAMED = "name: (_) @name"
_TYPE = f"(type_symbol_declaration {_NAMED})"
_OF_ROUTINES = "\n".join(
    f"""({routine}_declaration {_NAMED}) @def.function
({routine}_declaration body: (_) @body)
({routine}_declaration name: (exported_symbol "*" @modifier))"""
    for routine in _ROUTINES
)
_VARIABLES = "\n".join(
    f"""(source_file ({section}_section
  (variable_declaration (symbol_declaration_list (symbol_declaration {_NAMED}))) @def.variable))
(source_file ({section}_section . (variable_declaration) @wrapped) @wrapper)"""
    for section in ("const", "let", "var")
)

_QUERY = f"""
{_OF_ROUTINES}
(type_declaration {_TYPE} (object_declaration)) @def.struct
(type_declaration {_TYPE} (ref_type (object_declaration))) @def.struct
(type_declaration {_TYPE} (enum_declaration)) @def.enum
(type_declaration {_TYPE}) @def.type
(object_declaration inherits: (_) @base)
(type_declaration (type_symbol_declaration name: (exported_symbol "*" @modifier)))
{_VARIABLES}
(type_section . (type_declaration) @wrapped) @wrapper
(symbol_declaration name: (exported_symbol "*" @modifier))
[(comment) (documentation_comment)] @comment
"""


def _naming(written: str) -> str:
    """What is exported has a star, and an operator is quoted."""
    return written.rstrip("* ").strip("`")


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "public" if "*" in modifiers else "private"


LANGUAGE = definitions_only(
    "nim",
    packed("nim"),
    _QUERY,
    root="source_file",
    fields="visibility modifiers extends",
    visibility=_visibility,
    naming=_naming,
    comment_signs=HASH_COMMENTS,
    restart=rb"^(?:proc|func|iterator|template|macro|method|converter|type|const|let|var)\b",
)
