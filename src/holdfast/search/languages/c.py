"""C: its definitions, with prototypes and macros, because headers have little else."""

from holdfast.search.languages.definitions import definitions_only

__all__ = ["C_QUERY", "LANGUAGE", "at_places", "declared"]

# Where a declaration stands in a file and not in a function.
_AT_THE_TOP = (
    "translation_unit",
    "declaration_list",
    "preproc_if",
    "preproc_ifdef",
    "preproc_elif",
    "preproc_else",
)

# What is written around a name that is declared: `*f()`, `**f()`, `a[]`.
_AROUND_NAMES = (
    "{}",
    "(pointer_declarator declarator: {})",
    "(pointer_declarator declarator: (pointer_declarator declarator: {}))",
    "(array_declarator declarator: {})",
    "(parenthesized_declarator (pointer_declarator declarator: {}))",
)


def declared(pattern: str, around: tuple[str, ...] = _AROUND_NAMES) -> str:
    """This declarator, by itself or with a star or brackets around it."""
    return "[" + " ".join(shape.format(pattern) for shape in around) + "]"


def at_places(pattern: str, more: tuple[str, ...] = ()) -> str:
    """This pattern at the top level of a file, or in one of the other nodes given."""
    return "[" + "\n".join(f"({place} {pattern})" for place in (*_AT_THE_TOP, *more)) + "]"


_FUNCTION = declared("(function_declarator declarator: (identifier) @name)")
_CHOOSER = "(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: {})))"
_STRUCTS = at_places(
    """[(struct_specifier name: (_) @name body: (_) @body) (union_specifier name: (_) @name body: (_) @body)]
    @def.struct""",
    ("declaration", "field_declaration", "compound_statement"),
)
_ENUMS = at_places(
    "(enum_specifier name: (_) @name body: (_) @body) @def.enum",
    ("declaration", "field_declaration", "compound_statement"),
)
_VARIABLES = at_places(
    f"(declaration declarator: (init_declarator declarator: {declared('(identifier) @name')})) @def.variable"
)
# Their names are found apart: one pattern for both would take long to compile.
_PROTOTYPES = at_places(
    """(declaration declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator)))]) @def.function"""
)

# What C and C++ have in common.
C_QUERY = f"""
(function_definition body: (_) @body)
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)]
  declarator: {declared("(type_identifier) @name")}) @def.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @def.enum
(type_definition declarator: {declared("(type_identifier) @name")}) @def.type
(type_definition declarator: {_CHOOSER.format("(type_identifier) @name")}) @def.type
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @def.type
{_VARIABLES}
{_ENUMS}
{_PROTOTYPES}
(preproc_def name: (_) @name value: (_)) @def.variable
(preproc_function_def name: (_) @name value: (_) @body) @def.function
(comment) @comment
"""

_MODIFIERS = at_places(
    "(declaration (storage_class_specifier) @modifier declarator: [(init_declarator) (function_declarator)])"
)

_QUERY = f"""
(function_definition declarator: {_FUNCTION}) @def.function
(function_definition declarator: {_CHOOSER.format("(function_declarator declarator: (_) @name)")}) @def.function
(declaration declarator: {_FUNCTION})
{_STRUCTS}
(function_definition (storage_class_specifier) @modifier)
{_MODIFIERS}
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "static" in modifiers else "public"


LANGUAGE = definitions_only(
    "c",
    "tree_sitter_c:language",
    _QUERY + C_QUERY,
    root="translation_unit",
    fields="visibility modifiers",
    visibility=_visibility,
    restart=rb"^(?:#define |(?:static|extern|inline|struct|enum|union|typedef|const|void|int|char|[a-z]\w*_t)\b)",
)
