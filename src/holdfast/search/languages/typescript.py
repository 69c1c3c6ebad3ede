"""TypeScript: types, interfaces, enums, namespaces and whatever else its grammar has beyond the shared query."""

from holdfast.search.languages.rules.ecmascript import shared_query
from holdfast.search.languages.rules.ecmascript_rules import define_language

__all__ = ["LANGUAGE", "TYPED_FACTS", "typescript_query"]

TYPED_FACTS = ("param_types", "return_types")

_TYPE_NAMES = "[(type_identifier) @base (nested_type_identifier) @base (generic_type name: (_) @base)]"
_HERITAGE = f"(class_heritage [(extends_clause value: (_) @base) (implements_clause {_TYPE_NAMES})])"
_SIGNATURE = """name: [(property_identifier) (private_property_identifier) (computed_property_name)] @name
  parameters: (_) @params return_type: (_)? @result"""

_EXTRA = f"""
(abstract_class_declaration "abstract" @modifier name: (_) @name body: (_) @body) @def.class
(abstract_class_declaration {_HERITAGE})
(abstract_class_declaration (decorator) @decorator)
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(extends_type_clause {_TYPE_NAMES})
(type_alias_declaration name: (_) @name) @def.type
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(enum_declaration "const" @modifier)
(internal_module name: (_) @name body: (_) @body) @def.namespace
(module name: [(identifier) (nested_identifier)] @name body: (_) @body) @def.namespace
(module name: (string (string_fragment) @name) body: (_) @body) @def.namespace
(function_signature name: (_) @name parameters: (_) @params return_type: (_)? @result) @def.function
(interface_body (method_signature {_SIGNATURE}) @def.method)
(class_body (method_signature {_SIGNATURE}) @def.method)
(type_alias_declaration value: (object_type (method_signature {_SIGNATURE}) @def.method))
(abstract_method_signature "abstract" @modifier {_SIGNATURE}) @def.method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name
  . $TYPE value: $VALUE) @def.method
(public_field_definition value: $PARTS)
(program (ambient_declaration (_ (variable_declarator name: (identifier) @name)) @def.variable))
(program (export_statement declaration: (ambient_declaration
  (_ (variable_declarator name: (identifier) @name)) @def.variable)))
(internal_module body: (statement_block (export_statement declaration: (_
  (variable_declarator name: (identifier) @name)) @def.variable)))
(internal_module body: (statement_block (export_statement declaration: (_
  (variable_declarator value: $VALUE) @beside))))

(ambient_declaration (_) @wrapped) @wrapper
(ambient_declaration "declare" @modifier)
(class_body (decorator) @wrapper @decorator
  . [(decorator) (method_definition) (method_signature) (abstract_method_signature)] @wrapped)
(method_definition [(accessibility_modifier) (override_modifier)] @modifier)
(method_signature [(accessibility_modifier) (override_modifier) "static"] @modifier)
(abstract_method_signature [(accessibility_modifier) (override_modifier)] @modifier)
(public_field_definition [(accessibility_modifier) (override_modifier) "static" "readonly"] @modifier
  value: [(arrow_function) (function_expression)])
(public_field_definition (decorator) @decorator value: [(arrow_function) (function_expression)])

(public_field_definition name: (property_identifier) @assign.target . $TYPE value: (_ !body) @assign.value)
(public_field_definition name: (_) @typed.target . type: (type_annotation (_) @typed.type))
(property_signature name: (_) @typed.target . type: (type_annotation (_) @typed.type))
(variable_declarator . name: (identifier) @typed.target . type: (type_annotation (_) @typed.type))
[(required_parameter pattern: (identifier) @local) (optional_parameter pattern: (identifier) @local)]
(type_parameter name: (_) @local)

(program (export_statement declaration: [
  (abstract_class_declaration name: (_) @export) (interface_declaration name: (_) @export)
  (type_alias_declaration name: (_) @export) (enum_declaration name: (_) @export)
  (internal_module name: (_) @export) (function_signature name: (_) @export) (import_alias . (identifier) @export)
  (ambient_declaration [
    (function_signature name: (_) @export) (class_declaration name: (_) @export)
    (abstract_class_declaration name: (_) @export) (enum_declaration name: (_) @export)
    (interface_declaration name: (_) @export) (type_alias_declaration name: (_) @export)
    (internal_module name: (_) @export) (module name: (identifier) @export)
    (_ (variable_declarator name: (identifier) @export))])]))
(export_statement "=" (identifier) @export)

[(call_expression "?." @call.between) (type_arguments) @call.between]

; The grammar takes `await f<T>(x)` for a call of `await f`.
(call_expression function: (await_expression [(identifier) (member_expression)] @call))

[(type_identifier) (nested_type_identifier) (type_query)] @type
[(predefined_type) (accessibility_modifier) (override_modifier)] @label
(public_field_definition name: (property_identifier) @label)
(property_signature name: (property_identifier) @label)
(method_signature name: (property_identifier) @label)
(index_signature name: (_) @label)
(enum_body (property_identifier) @label)
(enum_assignment name: (property_identifier) @label)
["abstract" "asserts" "declare" "global" "implements" "infer" "interface" "is" "keyof" "module" "namespace"
 "readonly" "satisfies" "type"] @label
"""


def typescript_query(extra: str = "") -> str:
    """The query for both grammars of TypeScript, with what only one of them has."""
    return shared_query(
        _EXTRA + extra,
        heritage=_HERITAGE,
        result="return_type: (_)? @result",
        type_of_a_variable="(type_annotation)? .",
    )


LANGUAGE = define_language(
    "typescript", "tree_sitter_typescript:language_typescript", typescript_query(), *TYPED_FACTS
)
