"""Verilog and SystemVerilog: modules, interfaces, packages, classes, their functions and tasks."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(module_declaration (module_header (simple_identifier) @name)) @def.class
(module_declaration . (module_header) . (_) . (_) @body)
(interface_declaration (interface_ansi_header (interface_identifier) @name)) @def.interface
(interface_declaration (interface_nonansi_header (interface_identifier) @name)) @def.interface
(interface_declaration . (_) . (_) @body)
(package_declaration . (package_identifier) @name . (_) @body) @def.namespace
(class_declaration . (class_identifier) @name) @def.class
(class_declaration (class_type) @base)
(class_declaration (class_item) @body)
(function_declaration (function_body_declaration . (_)? . (function_identifier) @name)) @def.function
(class_constructor_declaration "new" @name) @def.function
(task_declaration (task_body_declaration (task_identifier) @name)) @def.function
(function_body_declaration (function_statement_or_null) @body)
(task_body_declaration (statement_or_null) @body)
(type_declaration (simple_identifier) @name .) @def.type
(text_macro_definition (text_macro_name (text_macro_identifier) @name)) @def.variable
(comment) @comment
"""

LANGUAGE = definitions_only(
    "verilog",
    packed("verilog"),
    _QUERY,
    root="source_file",
    fields="extends",
    restart=rb"^(?:module|interface|package|class|program) ",
)
