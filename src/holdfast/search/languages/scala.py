"""Scala: its query and its rules, for braces and for indentation."""

import re

from holdfast.search.languages.rules.definitions import access
from holdfast.search.languages.rules.language import DOC_BLOCKS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_list

__all__ = ["LANGUAGE"]

# Operators are methods, so `&&` and `+=` are known by their text only. A plain `return` in a lambda leaves the
# method around it, so lambdas are no functions of their own. `case x` binds x, and `case X` compares with it.
_QUERY = """
(class_definition name: (_) @name) @def.class
(class_definition body: (_) @body)
(object_definition name: (_) @name) @def.object
(object_definition body: (_) @body)
(package_object name: (_) @name body: (_) @body) @def.object
(trait_definition name: (_) @name) @def.trait
(trait_definition body: (_) @body)
(enum_definition name: (_) @name body: (_) @body) @def.enum
(function_definition name: (_) @name body: (_) @body) @def.function
(function_declaration name: (_) @name) @def.function
(type_definition name: (_) @name) @def.type
(given_definition name: (_) @name) @def.variable
(given_definition name: (_) @name body: (with_template_body) @body) @def.object
(extension_definition
  parameters: (parameters (parameter type: [(type_identifier) @name (generic_type type: (_) @name)]))
  body: (_) @body) @def.impl
(template_body
  [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @def.variable)
(compilation_unit
  [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @def.variable)
[(class_definition (class_parameters) @params) (enum_definition (class_parameters) @params)
 (trait_definition (class_parameters) @params) (function_definition (parameters) @params)
 (function_declaration (parameters) @params) (given_definition (parameters) @params)
 (extension_definition (parameters) @params)]
[(function_definition return_type: (_) @result) (function_declaration return_type: (_) @result)]
(given_definition return_type: [(type_identifier) (generic_type)] @base body: (with_template_body))
(class_definition "case" @modifier)
(object_definition "case" @modifier)
(type_definition (opaque_modifier) @modifier)

(call_expression function: [(identifier) (field_expression)] @call)
(call_expression function: (generic_function function: (_) @call type_arguments: (_) @call.between))
(infix_expression operator: (identifier) @call)
(instance_expression [(type_identifier) @call (stable_type_identifier) @call
  (generic_type type: (_) @call type_arguments: (_) @call.between)
  (compound_type base: (applied_constructor_type (type_identifier) @call))
  (compound_type base: (applied_constructor_type
    (generic_type type: (_) @call type_arguments: (_) @call.between)))])
(arguments) @arguments
[(val_definition pattern: (identifier) @assign.target !type value: (_) @assign.value)
 (var_definition pattern: (identifier) @assign.target !type value: (_) @assign.value)]
[(val_definition pattern: (identifier) @bind @unpack.target type: (_) value: (_) @unpack.value)
 (var_definition pattern: (identifier) @bind @unpack.target type: (_) value: (_) @unpack.value)]
[(val_definition pattern: (identifier) @typed.target type: (_) @typed.type)
 (var_definition pattern: (identifier) @typed.target type: (_) @typed.type)]
[(val_definition pattern: [(tuple_pattern) (case_class_pattern) (infix_pattern)] @unpack.target
   value: (_) @unpack.value)
 (var_definition pattern: (tuple_pattern) @unpack.target value: (_) @unpack.value)]
(assignment_expression left: (call_expression function: [(identifier) (field_expression)] @mutated))
((infix_expression left: [(identifier) (field_expression) (call_expression)] @update
    operator: (operator_identifier) @_sign)
  (#any-of? @_sign "+=" "-=" "*=" "/=" "%=" "++=" "--=" "::=" "|=" "&="))
(enumerator . (identifier) @bind)
(typed_pattern pattern: (identifier) @bind)
(capture_pattern name: (identifier) @bind)
([(tuple_pattern (identifier) @bind) (case_class_pattern (identifier) @bind)
  (infix_pattern left: (identifier) @bind) (infix_pattern right: (identifier) @bind)
  (case_clause pattern: (identifier) @bind)] (#match? @bind "^[a-z_]"))
(lambda_expression parameters: (identifier) @local)
(lambda_expression parameters: (bindings (binding name: (_) @local)))
(type_parameters name: (_) @local)

(throw_expression [(instance_expression [(type_identifier) @throw (stable_type_identifier) @throw
    (generic_type type: (_) @throw)])
  (call_expression function: [(identifier) (field_expression)] @throw) (identifier) @throw])
(return_expression) @return
(return_expression (_) @return.value)
((function_definition return_type: (_) @_result body: (_) @return.value) (#not-eq? @_result "Unit"))
(function_definition !return_type "=" body: (_) @return.value)
(if_expression) @branch
((case_clause pattern: (_) @_pattern) @branch (#not-eq? @_pattern "_"))
(case_clause (guard)) @branch
[(for_expression) (while_expression) (do_while_expression)] @loop
((operator_identifier) @boolean (#any-of? @boolean "&&" "||"))

(import_declaration) @import
[(comment) (block_comment)] @comment
[(string) (character_literal) (interpolated_string)] @opaque
(interpolation [(identifier) (block)] @template)
[(type_identifier) (stable_type_identifier)] @type
(arguments (assignment_expression left: (identifier) @label))
[(class_parameter name: (_) @label) (simple_enum_case name: (_) @label) (full_enum_case name: (_) @label)
 (interpolated_string_expression interpolator: (_) @label) (package_clause name: (_) @label)]
[(parameters "using" @label) (class_parameters "using" @label) (arguments "using" @label)
 (derives_clause "derives" @label) (extension_definition "extension" @label)]
[(end_marker) (access_qualifier) (modifiers) (opaque_modifier)] @label
(operator_identifier) @label
(ERROR) @error
(MISSING) @error
"""

# An assignment among arguments names one of them; everywhere else it is one.
_PLACES = """
block indented_block template_body compilation_unit case_clause if_expression while_expression do_while_expression
for_expression lambda_expression function_definition
"""
_ASSIGNED = "\n".join(
    f"({place} (assignment_expression\n"
    "  left: [(identifier) (field_expression)] @assign.target right: (_) @assign.value))"
    for place in _PLACES.split()
)
_MODIFIED = """
class_definition object_definition trait_definition enum_definition function_definition function_declaration
type_definition given_definition
"""
_MODIFIERS = """(modifiers [(access_modifier) "abstract" "final" "sealed" "implicit" "lazy" "override"
  (inline_modifier) (infix_modifier) (open_modifier) (transparent_modifier)] @modifier)"""
_VALUES = [
    f"({place} ({value} {{}}))"
    for place in ("template_body", "compilation_unit")
    for value in ("val_definition", "var_definition")
]
_OF_DEFINITIONS = "\n".join(
    form.format(part)
    for form in (*(f"({name} {{}})" for name in _MODIFIED.split()), *_VALUES)
    for part in (_MODIFIERS, "(annotation) @decorator")
)
# Cases of an enumeration extend it, but they are no definitions.
_BASES = "\n".join(
    f"({name} extend: (extends_clause {part}))"
    for name in ("class_definition", "object_definition", "trait_definition", "enum_definition")
    for part in (
        "[(type_identifier) (generic_type) (stable_type_identifier)] @base",
        "(type_identifier) @call . (arguments)",
        "(generic_type type: (_) @call type_arguments: (_) @call.between) . (arguments)",
    )
)

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "modifiers", "extends", "return_types", "throws",
    "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("returns",),
)  # fmt: skip

_KEYWORDS = words("""
_ abstract case catch class def do else enum export extends false final finally for given if implicit import lazy
match new null object override package private protected return sealed super then this throw trait true try type
val var while with yield
""")

# Methods of the mutable collections, of StringBuilder and of the atomic types.
_MUTATORS = words("""
add addAll addOne append appendAll clear decrementAndGet dequeue dropInPlace enqueue filterInPlace getAndIncrement
getAndSet getOrElseUpdate incrementAndGet insert insertAll mapInPlace pop prepend prependAll push put putIfAbsent
remove retain set sortInPlace subtractOne update updateWith
""")

_TYPES = {
    "string": "String",
    "interpolated_string_expression": "String",
    "character_literal": "Char",
    "boolean_literal": "Boolean",
}
_IMPORT = re.compile(r"\s*([\w.`$]+?)(?:\.\{(.*)\}|\.([_*]|given)|\s+as\s+(\w+))?\s*\Z", re.DOTALL)
_RENAMED = re.compile(r"\s*(?:=>|\sas\s)\s*")
_BEFORE = re.compile(
    r"(?:@[\w.]+(?:\([^()]*\))?\s*"
    r"|(?:using|implicit|val|var|inline|override|private|protected|final)(?:\[\w+\])?\s+)+"
)
_MADE = re.compile(r"new\s+([\w.]+(?:\[[^()]*\])?)")
_CALLED = re.compile(r"(?!\d)[\w$]+(?:\.(?!\d)[\w$]+)*")
_CAST = re.compile(r"asInstanceOf\[([^()]*)\]\Z")


def _visibility(_name: str, modifiers: list[str]) -> str:
    return access("public")("", [modifier.partition("[")[0] for modifier in modifiers])


def _parameters(text: str, blanked: str) -> list[Parameter]:
    return [found for item in split_list(text[1:-1], blanked[1:-1]) if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    """`using ctx: Ctx` is called `ctx`; a type alone, behind `using`, has no name."""
    plain = _BEFORE.sub("", item, count=1)
    equals = find_outside(plain.replace("=>", "  "), "=")
    declared, default = (plain[:equals], plain[equals + 1 :]) if equals >= 0 else (plain, "")
    name, colon, declared_type = declared.partition(":")
    return Parameter(name.strip(" \t\r\n`") if colon else "", declared_type.strip(), default.strip())


def _imports(text: str) -> list[Import]:
    items = split_list(text.strip().removeprefix("import"))
    return [found for item in items for found in _import(item)]


def _import(item: str) -> list[Import]:
    found = _IMPORT.match("".join(item.split()) if " as " not in item else item)
    if found is None:
        return []
    path, selectors, wildcard, alias = found[1].replace("`", ""), found[2], found[3], found[4]
    if wildcard:
        return [Import(path)]
    if selectors is None:
        return [Import(path, ((alias or path.rpartition(".")[2], path),))]
    renamed = [_RENAMED.split(name.strip()) for name in selectors.split(",")]
    bound = ((names[-1], f"{path}.{names[0]}") for names in renamed if names[0] not in ("_", "*", "given"))
    return [Import(path, tuple((name, target) for name, target in bound if name != "_"))]


def _callee(written: str) -> str:
    """What `_.close()` is called on has no name."""
    name = "".join(written.split()).removeprefix("_.")
    return name if _CALLED.fullmatch(name) else ""


def _infer(kind: str, text: str, callee: str) -> str:
    if kind == "integer_literal" or (not kind and text.isdigit()):
        return "Long" if text[-1:] in "lL" else "Int"
    if kind == "floating_point_literal":
        return "Float" if text[-1:] in "fF" else "Double"
    if kind == "instance_expression":
        made = _MADE.match(text)
        return made[1] if made else ""
    if kind == "generic_function":
        cast = _CAST.search(text)
        return cast[1] if cast else ""
    if callee:
        return callee if callee.rpartition(".")[2][:1].isupper() else ""
    return _TYPES.get(kind, "")


LANGUAGE = Language(
    id="scala",
    own_members=True,
    grammar="tree_sitter_scala:language",
    query=f"{_QUERY}\n{_ASSIGNED}\n{_OF_DEFINITIONS}\n{_BASES}",
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    callee=_callee,
    mutators=_MUTATORS,
    restart=re.compile(
        rb"^(?:@[^\n]*\n){0,9}(?:(?:private|protected|abstract|final|sealed|implicit|case|class|object|trait|enum"
        rb"|def|val|type|given|extension)\b)",
        re.MULTILINE,
    ),
    receivers=frozenset({"this", "super"}),
    trims=True,
    doc_signs=DOC_BLOCKS,
)
