"""JavaScript with JSX: what its grammar has beyond the shared query."""

from holdfast.search.languages.rules.ecmascript import JSX, shared_query
from holdfast.search.languages.rules.ecmascript_rules import define_language

__all__ = ["LANGUAGE"]

_EXTRA = """
(field_definition property: [(property_identifier) (private_property_identifier)] @name
  . value: $VALUE) @def.method
(field_definition value: $PARTS)
(field_definition property: (property_identifier) @assign.target . value: (_ !body) @assign.value)
(field_definition property: (property_identifier) @label)
(field_definition "static" @modifier value: [(arrow_function) (function_expression)])
(field_definition (decorator) @decorator value: [(arrow_function) (function_expression)])
(method_definition (decorator) @decorator)
(formal_parameters (identifier) @local)
(html_comment) @comment
(call_expression (optional_chain) @call.between)
"""

LANGUAGE = define_language(
    "javascript",
    "tree_sitter_javascript:language",
    shared_query(
        _EXTRA + JSX,
        heritage="(class_heritage (_) @base)",
    ),
    "return_types",
)
