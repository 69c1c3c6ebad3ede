"""The query that JavaScript, TypeScript and TSX have in common, and what differs between their grammars.

A function without a name of its own is called by what it is bound to: a variable, a property, a field, or the word
`default`. Functions that are passed on at once have no name, and belong to the definition around them.

A pattern that waits for a later child of a node stays open while everything before that child is visited, and many
open patterns cost quadratic time in long files. Patterns are therefore anchored (`.`) wherever they can be, and
signs and lists are captured by themselves.
"""

__all__ = ["JSX", "shared_query"]

_TARGET = "[(identifier) (subscript_expression) (member_expression)]"

_KEY = "[(property_identifier) @name (private_property_identifier) @name (string (string_fragment) @name)]"

# A function or a class as a value: which nodes, and the parts that its definition is asked for.
_VALUE = "[(arrow_function) (function_expression) (generator_function)]"
_FUNCTION = "(variable_declarator . name: (identifier) @name . $TYPE value: $VALUE)"
_PARTS = """[
  (arrow_function "async"? @flag.async parameters: (_) @params $RESULT body: (_) @body)
  (function_expression "async"? @flag.async parameters: (_) @params $RESULT body: (_) @body)
  (generator_function "async"? @flag.async parameters: (_) @params $RESULT body: (_) @body)
  (arrow_function "async"? @flag.async parameter: (_) @params body: (_) @body)
  (arrow_function body: (expression) @return.value)
  (generator_function "*" @flag.generator)
  (class body: (_) @body)
  (class $HERITAGE)
]"""

_DEFINITIONS = """
(function_declaration "async"? @flag.async name: (_) @name parameters: (_) @params $RESULT
  body: (_) @body) @def.function
(generator_function_declaration "async"? @flag.async "*" @flag.generator name: (_) @name parameters: (_) @params
  $RESULT body: (_) @body) @def.function
(class_declaration name: (_) @name body: (_) @body) @def.class
(class_declaration $HERITAGE)
(method_definition "async"? @flag.async
  name: [(property_identifier) @name (private_property_identifier) @name (computed_property_name) @name
    (number) @name (string (string_fragment) @name)]
  parameters: (_) @params $RESULT body: (_) @body) @def.method
(method_definition "*" @flag.generator)
(method_definition ["static" "get" "set"] @modifier)

(variable_declarator . name: (identifier) . $TYPE value: $PARTS)
[(lexical_declaration . $FUNCTION .) (variable_declaration . $FUNCTION .)] @def.function
[(lexical_declaration $FUNCTION @def.function . ",")
 (variable_declaration $FUNCTION @def.function . ",")]
[(lexical_declaration "," $FUNCTION @def.function)
 (variable_declaration "," $FUNCTION @def.function)]
[(lexical_declaration . (variable_declarator . name: (identifier) @name . value: (class)) .)
 (variable_declaration . (variable_declarator . name: (identifier) @name . value: (class)) .)] @def.class

(expression_statement . (assignment_expression . left: [(identifier) (member_expression)] . right: $PARTS))
(expression_statement . (assignment_expression . left: (identifier) @name . right: $VALUE)) @def.function
(expression_statement . (assignment_expression . left: (member_expression
  . object: [(this) (member_expression property: (_) @_prototype)] . property: (_) @name) . right: $VALUE)
  (#eq? @_prototype "prototype")) @def.method
(expression_statement . (assignment_expression . left: (member_expression
  . object: (member_expression . object: (_) @owner . property: (_) @_prototype)) . right: $VALUE)
  (#eq? @_prototype "prototype"))
(expression_statement . (assignment_expression . left: (member_expression . object: (_) @_owner
  . property: (_) @name) . right: $VALUE) (#not-match? @_owner "^(module|this)$|[.]prototype$")) @def.function
(expression_statement . (assignment_expression . left: (member_expression . object: (_) @owner)
  . right: $VALUE) (#not-match? @owner "^(this|module|(module[.])?exports)$|[.]prototype$|[^\\\\w.$]"))
(expression_statement . (assignment_expression . left: (member_expression property: (_) @name)
  . right: (class)) (#not-eq? @name "exports")) @def.class
(expression_statement . (assignment_expression . left: (member_expression) @_exports . right: [
    (function_expression name: (_) @name) (generator_function name: (_) @name)])
  (#eq? @_exports "module.exports")) @def.function
(expression_statement . (assignment_expression . left: (member_expression) @name . right: [
    (arrow_function) (function_expression !name) (generator_function !name)])
  (#eq? @name "module.exports")) @def.function
(expression_statement . (assignment_expression . left: (member_expression) @_exports
  . right: (class name: (_) @name)) (#eq? @_exports "module.exports")) @def.class

(export_statement value: $PARTS)
(export_statement . "export" . "default" @name . value: $VALUE) @def.function
(export_statement . "export" . "default" @name . value: (class)) @def.class
(export_statement . "export" . "default" @name
  . value: [(object) (array) (call_expression) (new_expression)]) @def.variable

(pair . key: [(property_identifier) (private_property_identifier) (string)] . value: $PARTS)
(pair . key: $KEY . value: $VALUE) @def.method
(pair . key: $KEY . value: (class)) @def.class

(program [(lexical_declaration $VARIABLES) (variable_declaration $VARIABLES)] @def.variable
  (#not-eq? @_callee "require"))
(program (export_statement declaration: [(lexical_declaration $VARIABLES) (variable_declaration $VARIABLES)]
  @def.variable))
(program [(lexical_declaration (variable_declarator value: $VALUE) @beside)
  (variable_declaration (variable_declarator value: $VALUE) @beside)])
(program (export_statement declaration: (_ (variable_declarator value: $VALUE) @beside)))
(program (export_statement declaration: (_
  (variable_declarator . name: (object_pattern (shorthand_property_identifier_pattern) @name))) @def.variable))

(export_statement declaration: (_) @wrapped) @wrapper
(export_statement "export" @modifier . declaration: (_))
(export_statement "export" @modifier . "default" @modifier)
[(class_declaration (decorator) @decorator) (export_statement (decorator) @decorator)]
"""

# `const x = require("x")` is an import, and no variable that anybody looks for.
_VARIABLES = """[
  (variable_declarator !value name: (identifier) @name)
  (variable_declarator . name: (identifier) @name . $TYPE value: (_ !function))
  (variable_declarator . name: (identifier) @name . $TYPE value: (call_expression . function: (_) @_callee))
]"""

_ACTIONS = """
(call_expression function: [(identifier) (member_expression) (super)] @call)
(new_expression constructor: [(identifier) (member_expression)] @call)
[(arguments) (template_string)] @arguments
[(arrow_function) (function_expression) (generator_function)] @anonymous

(variable_declarator . name: (identifier) @assign.target . $TYPE value: (_ !body) @assign.value)
(variable_declarator . name: [(object_pattern) (array_pattern)] @unpack.target . $TYPE value: (_) @unpack.value)
(assignment_expression . left: [(object_pattern) (array_pattern)] @unpack.target . right: (_) @unpack.value)
(assignment_expression . left: $TARGET @assign.target . right: (_ !body) @assign.value)
(augmented_assignment_expression left: $TARGET @update)
(update_expression argument: $TARGET @update)
(unary_expression operator: "delete" argument: [(subscript_expression) (member_expression)] @delete)

(variable_declarator !value name: (identifier) @local)
(variable_declarator name: (object_pattern $IN_OBJECT))
(variable_declarator name: (array_pattern $IN_ARRAY))
(assignment_expression left: (object_pattern $IN_OBJECT))
(assignment_expression left: (array_pattern $IN_ARRAY))
(for_in_statement left: (identifier) @bind)
(for_in_statement left: (object_pattern $IN_OBJECT))
(for_in_statement left: (array_pattern $IN_ARRAY))
(catch_clause parameter: (identifier) @bind)
(shorthand_property_identifier_pattern) @local
(pair_pattern value: (identifier) @local)
(assignment_pattern left: (identifier) @local)
(array_pattern (identifier) @local)
(rest_pattern (identifier) @local)
(arrow_function parameter: (identifier) @local)
[(function_expression name: (_) @local) (generator_function name: (_) @local)]

(await_expression [(identifier) (member_expression)] @await)
(await_expression (call_expression function: [(identifier) (member_expression)] @await))
(await_expression (new_expression constructor: [(identifier) (member_expression)] @await))
(for_in_statement "await" right: [(identifier) (member_expression)] @await)
(for_in_statement "await" right: (call_expression function: [(identifier) (member_expression)] @await))
(throw_statement [(identifier) (member_expression)] @throw)
(throw_statement (new_expression constructor: [(identifier) (member_expression)] @throw))
(throw_statement (call_expression function: [(identifier) (member_expression)] @throw))
(return_statement) @return
(return_statement [(expression) (sequence_expression)] @return.value)
[(if_statement) (ternary_expression) (switch_case) (catch_clause)] @branch
[(for_statement) (for_in_statement) (while_statement) (do_statement)] @loop
(break_statement) @break
(continue_statement) @continue
["&&" "||" "??" "&&=" "||=" "??="] @boolean
"""

# One level of a pattern in an assignment; what stands deeper is bound, but not worth a fact.
_IN_OBJECT = """[
  (shorthand_property_identifier_pattern) @bind (object_assignment_pattern left: (_) @bind)
  (pair_pattern value: (identifier) @bind) (pair_pattern value: (assignment_pattern left: (identifier) @bind))
  (rest_pattern (identifier) @bind)
]"""
_IN_ARRAY = """[
  (identifier) @bind (subscript_expression) @bind (member_expression) @bind
  (assignment_pattern left: (identifier) @bind) (rest_pattern (identifier) @bind)
]"""

_FILE = """
(import_statement) @import
(export_statement source: (_) @import)
(call_expression . function: (import) . arguments: (arguments . (string)) @import)
(call_expression . function: (identifier) @_require . arguments: (arguments . (string) .) @import
  (#eq? @_require "require"))
(variable_declarator name: (_) . $TYPE value: (await_expression . (call_expression . function: (import)
  . arguments: (arguments . (string))))) @import
(variable_declarator name: (_) . $TYPE value: (call_expression . function: (identifier) @_require
  . arguments: (arguments . (string) .)) (#eq? @_require "require")) @import
(variable_declarator name: (_) . $TYPE value: (member_expression . object: (call_expression
  . function: (identifier) @_require . arguments: (arguments . (string) .))) (#eq? @_require "require")) @import

(program (export_statement declaration: [
  (function_declaration name: (_) @export) (generator_function_declaration name: (_) @export)
  (class_declaration name: (_) @export)
  (_ (variable_declarator name: [
    (identifier) @export (object_pattern (shorthand_property_identifier_pattern) @export)]))]))
(program (export_statement "default" @export))
(export_specifier !alias name: _ @export)
(export_specifier alias: _ @export)
(namespace_export (identifier) @export)
(assignment_expression left: (member_expression object: [(identifier) (member_expression)] @_exports
  property: (property_identifier) @export) (#match? @_exports "^(module[.])?exports$"))
(assignment_expression . left: (member_expression) @_exports . right: [
  (identifier) @export (function_expression name: (_) @export) (class name: (_) @export)
  (object [(shorthand_property_identifier) @export (pair key: (property_identifier) @export)
    (method_definition name: (property_identifier) @export)])] (#eq? @_exports "module.exports"))

(comment) @comment
[(string_fragment) (escape_sequence) (regex_pattern) (hash_bang_line)] @opaque
[(regex_flags) (statement_identifier)] @label
(pair key: (property_identifier) @label)
(pair_pattern key: (property_identifier) @label)
(export_specifier alias: (_) @label)
["get" "set" "static" "async" "of" "as" "from" "${"] @label
(ERROR) @error
(MISSING) @error
"""

# Tags of components are names that are used; tags of the page itself (`div`) are not.
JSX = """
(jsx_opening_element name: (_) @type (#match? @type "^[A-Z_]|[.]"))
(jsx_self_closing_element name: (_) @type (#match? @type "^[A-Z_]|[.]"))
(jsx_opening_element name: (identifier) @label (#match? @label "^[a-z]"))
(jsx_self_closing_element name: (identifier) @label (#match? @label "^[a-z]"))
(jsx_closing_element name: (_) @label)
(jsx_attribute (property_identifier) @label)
(jsx_namespace_name) @label
[(jsx_text) (html_character_reference)] @opaque
"""


def shared_query(extra: str, *, heritage: str, result: str = "", type_of_a_variable: str = "") -> str:
    """The shared query and `extra`, with what the grammar has for base classes and for results."""
    pieces = {
        "$VARIABLES": _VARIABLES,
        "$FUNCTION": _FUNCTION,
        "$PARTS": _PARTS,
        "$HERITAGE": heritage,
        "$RESULT": result,
        "$VALUE": _VALUE,
        "$TYPE": type_of_a_variable,
        "$KEY": _KEY,
        "$IN_OBJECT": _IN_OBJECT,
        "$IN_ARRAY": _IN_ARRAY,
        "$TARGET": _TARGET,
    }
    query = _DEFINITIONS + _ACTIONS + _FILE + extra
    for mark, text in pieces.items():
        query = query.replace(mark, text)
    return query
