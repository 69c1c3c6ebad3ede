"""Fortran: its definitions, as they are written from Fortran 90 on."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(module (module_statement (_) @name)) @def.namespace
(submodule (submodule_statement (name) @name)) @def.namespace
(program (program_statement (_) @name)) @def.function
(function (function_statement name: (_) @name)) @def.function
(subroutine (subroutine_statement name: (_) @name)) @def.function
(module_procedure (module_procedure_statement name: (_) @name)) @def.function
(function . (function_statement) . (_) @body)
(subroutine . (subroutine_statement) . (_) @body)
(program . (program_statement) . (_) @body)
(module . (module_statement) . (_) @body)
(derived_type_definition (derived_type_statement (type_name) @name)) @def.struct
(derived_type_definition . (derived_type_statement) . (_) @body)
(derived_type_statement base: (base_type_specifier (identifier) @base))
(interface (interface_statement (_) @name)) @def.interface
(module (variable_declaration attribute: (type_qualifier) @_attribute
  declarator: (init_declarator left: (identifier) @name)) @def.variable (#match? @_attribute "(?i)parameter"))
(comment) @comment
"""

LANGUAGE = definitions_only(
    "fortran",
    packed("fortran"),
    _QUERY,
    root="translation_unit",
    fields="extends",
    comment_signs=re.compile(r"^[ \t]*(?:!+|[cC*])[<>]?[ \t]?|[ \t\r]+$", re.MULTILINE),
    restart=rb"(?i)^[ \t]*(?:(?:pure|elemental|recursive|integer|real|logical) +)?"
    rb"(?:module|program|function|subroutine) +\w+",
)
