"""Swift: its query and its rules."""

import re

from holdfast.search.languages.rules.definitions import access
from holdfast.search.languages.rules.language import DOC_COMMENTS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_list

__all__ = ["LANGUAGE"]

# The grammar takes `a[1]` for a call, and `defer { }` for one with a closure: both are left out here.
_QUERY = """
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @def.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @def.enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @def.impl
(protocol_declaration name: (_) @name body: (_) @body) @def.interface
(function_declaration name: _ @name) @def.function
(protocol_function_declaration name: (_) @name) @def.function
((protocol_declaration (modifiers (visibility_modifier) @_access) body: (protocol_body
  (protocol_function_declaration) @implied.public)) (#eq? @_access "public"))
(init_declaration "init" @name) @def.function
(deinit_declaration "deinit" @name) @def.function
(subscript_declaration "subscript" @name) @def.function
(subscript_declaration (computed_property) @body)
(function_body) @body
[(function_declaration "(" @params.open ")" @params.close) (init_declaration "(" @params.open ")" @params.close)
 (protocol_function_declaration "(" @params.open ")" @params.close)
 (subscript_declaration "(" @params.open ")" @params.close)]
[(function_declaration "->" . (_) @result) (protocol_function_declaration "->" . (_) @result)
 (subscript_declaration "->" . (_) @result)]
[(_ "func" "async" @flag.async) (_ "init" "async" @flag.async)]
(throws_clause type: (_) @throw)
(typealias_declaration name: (type_identifier) @name) @def.type
(source_file (property_declaration name: (_ bound_identifier: (_) @name)) @def.variable)
(property_declaration (modifiers (property_modifier "static")) . (value_binding_pattern mutability: "let")
  name: (_ bound_identifier: (_) @name)) @def.variable
(inheritance_specifier inherits_from: (_) @base)

(call_expression . [(simple_identifier) (navigation_expression)] @call (call_suffix (value_arguments "(")))
((call_expression . [(simple_identifier) (navigation_expression)] @call (call_suffix . (lambda_literal)))
  (#not-eq? @call "defer"))
(call_expression . (prefix_expression operation: "." target: [(simple_identifier) @call
  (navigation_expression suffix: (navigation_suffix suffix: (_) @call))]) (call_suffix (value_arguments "(")))
; The grammar takes `a + f(x)` for a call of `a + f`, and `-f(x)` for a call of `-f`.
(call_expression . [
  (additive_expression rhs: [(simple_identifier) (navigation_expression)] @call)
  (multiplicative_expression rhs: [(simple_identifier) (navigation_expression)] @call)
  (prefix_expression operation: ["-" "+" "~" "&" (bang)]
    target: [(simple_identifier) (navigation_expression)] @call)]
  (call_suffix (value_arguments "(")))
(constructor_expression constructed_type: (user_type (type_identifier) @call .))
(constructor_expression constructed_type: (user_type (type_identifier) @call . (type_arguments) @call.between))
(value_arguments "(") @arguments
[(lambda_literal) (willset_didset_block)] @anonymous
(property_declaration (computed_property) @anonymous)
(property_declaration name: (_ bound_identifier: (_) @assign.target) . "=" . value: (_) @assign.value)
(property_declaration name: (_ bound_identifier: (_) @bind) @unpack.target
  . (type_annotation) . "=" . value: (_) @unpack.value)
(property_declaration name: (pattern "(") @unpack.target . "=" . value: (_) @unpack.value)
(property_declaration name: (pattern "(" (pattern (simple_identifier) @bind)))
(property_declaration name: (_ bound_identifier: (_) @typed.target) . (type_annotation (_) @typed.type))
(property_declaration name: (_ bound_identifier: (_) @label))
(protocol_property_declaration name: (pattern bound_identifier: (_) @label @typed.target)
  (type_annotation (_) @typed.type))
(_ (value_binding_pattern) . bound_identifier: (_) @assign.target . "=" . (_) @assign.value)
(_ condition: (value_binding_pattern) . bound_identifier: (_) @bind)
(_ condition: (pattern . (simple_identifier) @bind .))
(pattern (value_binding_pattern) "." (pattern (simple_identifier) @bind))
(pattern (value_binding_pattern) (pattern bound_identifier: (_) @bind))
[(pattern (pattern (value_binding_pattern) bound_identifier: (_) @bind))
 (switch_pattern (pattern (value_binding_pattern) bound_identifier: (_) @bind))
 (catch_block (pattern (value_binding_pattern) bound_identifier: (_) @bind))
 (_ condition: (pattern (value_binding_pattern) bound_identifier: (_) @bind))]
(for_statement item: (pattern bound_identifier: (_) @bind))
(for_statement item: (pattern "(" (pattern (simple_identifier) @bind)))
(assignment target: (_) @assign.target operator: "=" result: (_) @assign.value)
(assignment target: (_) @update operator: ["+=" "-=" "*=" "/=" "%="])
(prefix_expression operation: "&" target: (_) @update)
(lambda_parameter name: (_) @local)
(type_parameter . (type_identifier) @local)

(await_expression expr: [(call_expression . [(simple_identifier) (navigation_expression)] @await)
  (simple_identifier) @await (navigation_expression) @await])
(control_transfer_statement (throw_keyword) .
  [(call_expression . [(simple_identifier) (navigation_expression)] @throw) (navigation_expression) @throw
   (simple_identifier) @throw (prefix_expression operation: "." target: (simple_identifier) @throw)])
(control_transfer_statement "return") @return
(control_transfer_statement "return" result: (_) @return.value)
(_ "->" (function_body (statements . (_) @return.value .)))
[(if_statement) (guard_statement) (catch_block) (ternary_expression)] @branch
(switch_entry "case") @branch
[(for_statement) (while_statement) (repeat_while_statement)] @loop
(control_transfer_statement "break") @break
(control_transfer_statement "continue") @continue
[(conjunction_expression) (disjunction_expression) (nil_coalescing_expression)] @boolean

(import_declaration) @import
[(comment) (multiline_comment)] @comment
[(line_str_text) (multi_line_str_text) (raw_str_part) (raw_str_end_part) (str_escaped_char)] @opaque
(line_string_literal "\\"" @opaque)
(user_type) @type
[(value_argument_label) (statement_label) (directive) (availability_condition) (operator_declaration)] @label
[(parameter external_name: (_) @label) (enum_entry name: (_) @label)
 (enum_type_parameters (simple_identifier) @label)]
(control_transfer_statement ["break" "continue"] result: (_) @label)
[(function_declaration name: _ @label) (protocol_function_declaration name: (_) @label)]
[(visibility_modifier) (inheritance_modifier) (member_modifier) (property_modifier) (mutation_modifier)
 (property_behavior_modifier) (ownership_modifier) (getter_specifier) (setter_specifier) (where_keyword)] @label
[(subscript_declaration "subscript" @label) (didset_clause "didSet" @label) (willset_clause "willSet" @label)]
[(attribute (simple_identifier) @label) (parameter_modifier) @label (call_suffix name: (_) @label)]
(associatedtype_declaration name: (_) @local)
(ERROR) @error
(MISSING) @error
"""

# Modifiers and attributes count where a definition has them: those of parameters and locals would be its own. What
# they stand before tells; to name each kind of definition instead would take a second to compile.
_HEADS = """["func" "class" "struct" "actor" "enum" "indirect" "extension" "protocol" "init" "subscript"
  "typealias"]"""
_MODIFIERS = """(modifiers [(visibility_modifier) (inheritance_modifier) (member_modifier) (property_modifier)
  (mutation_modifier) (property_behavior_modifier)] @modifier)"""
_DECORATORS = "(modifiers (attribute) @decorator)"
_OF_DEFINITIONS = f"""
(_ {_MODIFIERS} . {_HEADS})
(_ {_DECORATORS} . {_HEADS})
(source_file (_ {_MODIFIERS}))
(source_file (_ {_DECORATORS}))
"""
_CONSTANTS = "\n".join(
    f'(_ (modifiers {part}) . (value_binding_pattern mutability: "let"))'
    for part in (
        '(visibility_modifier)? @modifier (property_modifier "static") @modifier',
        '(property_modifier "static") (visibility_modifier) @modifier',
        '(attribute) @decorator (property_modifier "static")',
    )
)

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "modifiers", "extends", "return_types", "throws",
    "awaits", "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("async", "returns"),
)  # fmt: skip

_KEYWORDS = words("""
_ actor any as associatedtype async await break case catch class continue default defer deinit do else enum
extension fallthrough false fileprivate for func guard if import in indirect init inout internal is let nil private
protocol public repeat rethrows return self some static struct super switch throw throws true try typealias var
while
""")

# Methods of the collections and of strings.
_MUTATORS = words("""
append formUnion formIntersection formSymmetricDifference insert merge pop popFirst popLast push remove removeAll
removeFirst removeLast removeSubrange removeValue replaceSubrange reserveCapacity reverse shuffle sort subtract
swapAt toggle update updateValue
""")

_TYPES = {
    "integer_literal": "Int",
    "hex_literal": "Int",
    "oct_literal": "Int",
    "bin_literal": "Int",
    "real_literal": "Double",
    "line_string_literal": "String",
    "multi_line_string_literal": "String",
    "raw_string_literal": "String",
    "boolean_literal": "Bool",
    "array_literal": "Array",
    "dictionary_literal": "Dictionary",
    "comparison_expression": "Bool",
    "equality_expression": "Bool",
}
_IMPORT = re.compile(
    r"(?:@\w+\s+|\w+\s+)*?import\s+(?:(struct|class|enum|protocol|typealias|func|let|var|actor)\s+)?([\w.]+)"
)
_ATTRIBUTES = re.compile(r"(?:@\w+(?:\([^()]*\))?\s+|(?:inout|borrowing|consuming)\s+)+")
_CONSTRUCTED = re.compile(r"([\w.]+(?:<.*?>)?|\[[^()]*\])\(")
_AS = re.compile(r"\sas[?!]?\s")
_ANGLES = str.maketrans("<>", "()")


def _parameters(text: str, blanked: str) -> list[Parameter]:
    # Commas between angle brackets separate types, not parameters; an arrow is no bracket.
    items = split_list(text[1:-1], blanked[1:-1].replace("->", "  ").translate(_ANGLES))
    return [found for item in items if (found := _parameter(item)).name not in ("", "_")]


def _parameter(item: str) -> Parameter:
    """`to buyer: Buyer? = nil` is called `buyer` inside, whatever callers say."""
    item = _ATTRIBUTES.sub("", item, count=1) if item.startswith("@") else item
    equals = find_outside(item, "=")
    declared, default = (item[:equals], item[equals + 1 :]) if equals >= 0 else (item, "")
    names, _, declared_type = declared.partition(":")
    name = names.split()[-1] if names.split() else ""
    return Parameter(name.strip("`"), _ATTRIBUTES.sub("", declared_type.strip()), default.strip())


def _imports(text: str) -> list[Import]:
    found = _IMPORT.match(text)
    if found is None:
        return []
    target = found[2]
    return [Import(target, ((target.rpartition(".")[2], target),) if found[1] else ())]


def _infer(kind: str, text: str, callee: str) -> str:
    if callee:
        return callee if callee.rpartition(".")[2][:1].isupper() else ""
    if kind == "constructor_expression":
        made = _CONSTRUCTED.match(text)
        return made[1] if made and not made[1][0].islower() else ""
    if kind == "as_expression":
        return _AS.split(text)[-1].strip()
    return _TYPES.get(kind, "")


LANGUAGE = Language(
    id="swift",
    own_members=True,
    grammar="tree_sitter_swift:language",
    query=_QUERY + _OF_DEFINITIONS + "\n" + _CONSTANTS,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=access("internal"),
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    throwers=frozenset({"fatalError", "preconditionFailure"}),
    restart=re.compile(
        rb"^(?:@[^\n]*\n){0,9}(?:(?:public|private|fileprivate|internal|open|final|class|struct|enum|protocol"
        rb"|extension|actor|func|let|var|typealias)\b)",
        re.MULTILINE,
    ),
    receivers=frozenset({"self", "super", "Self"}),
    implied=frozenset({"$0", "$1", "$2", "newValue", "oldValue"}),
    naming=lambda written: written.replace("`", ""),
    doc_signs=DOC_COMMENTS,
)
