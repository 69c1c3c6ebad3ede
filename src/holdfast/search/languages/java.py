"""Java: its query and its rules."""

import re

from holdfast.search.languages.rules.language import DOC_COMMENTS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import split_list

__all__ = ["LANGUAGE"]

# `call.object` is what a method is called on, `declared.type` and behind it `declared.name` a variable whose type
# stands before its name, and `implied.public` shows that a member is public without saying so.
_QUERY = """
(class_declaration name: (_) @name body: (_) @body) @def.class
(record_declaration name: (_) @name parameters: (_) @params body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(enum_constant name: (_) @name body: (_) @body) @def.class
(object_creation_expression
  type: [(_) @base (generic_type . (_) @name) (type_identifier) @name
    (scoped_type_identifier (type_identifier) @name .)]
  (class_body) @body) @def.class
(object_creation_expression type: (_) @lent arguments: (_) @lent (class_body))
(method_declaration type: (_) @result name: (_) @name parameters: (_) @params [(block) ";"] @body) @def.method
(constructor_declaration name: (_) @name parameters: (_) @params body: (_) @body) @def.method
(compact_constructor_declaration name: (_) @name body: (_) @body) @def.method
(annotation_type_element_declaration type: (_) @result name: (_) @name ";" @body) @def.method

(field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (_) @name)) @def.variable
(field_declaration (modifiers "final" "static") declarator: (variable_declarator name: (_) @name)) @def.variable
(constant_declaration declarator: (variable_declarator name: (_) @name)) @def.variable
(field_declaration (modifiers ["public" "protected" "private"]? @modifier "static" @modifier "final" @modifier))
(field_declaration (modifiers ["public" "protected" "private"]? @modifier "final" @modifier "static" @modifier))
(field_declaration (modifiers [(annotation) (marker_annotation)] @decorator "static" "final"))
(field_declaration (modifiers [(annotation) (marker_annotation)] @decorator "final" "static"))

(superclass (_) @base)
[(super_interfaces (type_list (_) @base)) (extends_interfaces (type_list (_) @base))]
(throws (_) @throw)
(interface_body [(constant_declaration) (class_declaration) (interface_declaration) (enum_declaration)
  (record_declaration) (method_declaration !body) (method_declaration (modifiers "default"))
  (method_declaration (modifiers . "static" .))] @implied.public)
(annotation_type_body (annotation_type_element_declaration) @implied.public)
(enum_constant) @implied.public

(method_invocation name: (_) @call)
(method_invocation object: [(identifier) (field_access) (this) (super)] @call.object !type_arguments)
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
(object_creation_expression type: (generic_type . (_) @call))
(explicit_constructor_invocation constructor: (_) @call)
(argument_list) @arguments
(object_creation_expression type: (generic_type (type_arguments) @call.between))
(lambda_expression) @anonymous
(variable_declarator name: (identifier) @assign.target value: (_) @assign.value)
(variable_declarator name: (identifier) @local !value)
(resource name: (identifier) @assign.target value: (_) @assign.value)
(assignment_expression left: (_) @assign.target operator: "=" right: (_) @assign.value)
(assignment_expression left: (_) @update
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" ">>>="])
(update_expression (_) @update)
[(enhanced_for_statement name: (_) @bind) (catch_formal_parameter name: (_) @bind)]
(instanceof_expression name: (_) @bind)
[(type_pattern (identifier) @bind) (record_pattern_component (identifier) @bind)]
[(lambda_expression parameters: (identifier) @local) (inferred_parameters (identifier) @local)]
(lambda_expression parameters: (formal_parameters (formal_parameter name: (_) @local)))
(type_parameter . (type_identifier) @local)
(local_variable_declaration type: (_) @declared.type)
(field_declaration type: (_) @declared.type)
(constant_declaration type: (_) @declared.type)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @declared.name))
(field_declaration declarator: (variable_declarator name: (identifier) @declared.name))
(constant_declaration declarator: (variable_declarator name: (identifier) @declared.name))

(throw_statement (object_creation_expression type: (_) @throw))
(return_statement) @return
(return_statement (expression)) @return.value
[(if_statement) (ternary_expression) (catch_clause)] @branch
(switch_label "case") @branch
[(for_statement) (enhanced_for_statement) (while_statement) (do_statement)] @loop
(break_statement) @break
(continue_statement) @continue
["&&" "||"] @boolean

(import_declaration) @import
[(line_comment) (block_comment)] @comment
[(string_fragment) (multiline_string_fragment) (escape_sequence) (character_literal)] @opaque
(type_identifier) @type
((method_invocation object: (identifier) @type) (#match? @type "^[A-Z][A-Z0-9_]*[a-z]"))
(record_pattern . (identifier) @type)
(method_reference "::" (identifier) @label)
(field_access object: [(method_invocation) (parenthesized_expression) (array_access)] field: (_) @label)
(element_value_pair key: (_) @label)
(enum_constant name: (_) @label)
[(record_declaration "record" @label) (permits "permits" @label) (modifiers ["sealed" "non-sealed"] @label)]
[(guard "when" @label) (yield_statement "yield" @label)]
[(break_statement (identifier) @label) (continue_statement (identifier) @label)]
(labeled_statement . (identifier) @label)
[(package_declaration) (module_declaration)] @label
(ERROR) @error
(MISSING) @error
"""

# Modifiers and annotations count where a definition has them: those of locals and parameters would be its own.
_MODIFIED = """
class_declaration record_declaration interface_declaration annotation_type_declaration enum_declaration
enum_constant method_declaration constructor_declaration compact_constructor_declaration
annotation_type_element_declaration constant_declaration
"""
_MODIFIERS = """(modifiers ["public" "protected" "private" "abstract" "static" "final" "strictfp" "default"
  "synchronized" "native" "transient" "volatile" "sealed" "non-sealed"] @modifier)"""
_ANNOTATIONS = "(modifiers [(annotation) (marker_annotation)] @decorator)"
_OF_DEFINITIONS = "\n".join(
    f"({definition} {part})" for definition in _MODIFIED.split() for part in (_MODIFIERS, _ANNOTATIONS)
)

_FIELDS = every_field(
    "params", "param_types", "decorators", "modifiers", "extends", "return_types", "throws", "calls", "uses",
    "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("returns",),
)  # fmt: skip

_KEYWORDS = words("""
_ abstract assert boolean break byte case catch char class continue default do double else enum extends final
finally float for if implements import instanceof int interface long native new package private protected public
return short static strictfp switch synchronized throw throws transient try var void volatile while
true false null
""")

# Methods of the collections, of StringBuilder and of the atomic types.
_MUTATORS = words("""
add addAll addFirst addLast append clear compute computeIfAbsent computeIfPresent decrementAndGet delete
deleteCharAt getAndAdd getAndIncrement getAndSet incrementAndGet insert merge offer poll pollFirst pollLast pop
push put putAll putIfAbsent remove removeAll removeFirst removeIf removeLast replaceAll retainAll reverse set
setCharAt setLength sort
""")

_TYPES = {
    "hex_integer_literal": "int",
    "octal_integer_literal": "int",
    "binary_integer_literal": "int",
    "string_literal": "String",
    "character_literal": "char",
    "true": "boolean",
    "false": "boolean",
    "instanceof_expression": "boolean",
    "class_literal": "Class",
}

_ACCESS = words("public protected private")
_IMPORT = re.compile(r"import\s++(static\s++)?([\w.\s]*\w)\s*(\.\s*\*)?")
_ANNOTATION = re.compile(r"@[\w.]+\s*(?:\((?:[^()]|\([^()]*\))*\))?")
_PARAMETER = re.compile(r"(?:final\s+)?(\S.*?[\s.\]>])\s*([^\W\d]\w*)\s*((?:\[\s*\])*)\Z", re.DOTALL)
_MADE = re.compile(r"new\s+([\w.]+(?:<[^(){}]*>)?)\s*(\[[^{]*\])?")
_CAST = re.compile(r"\(\s*([\w.<>\[\], ?]+?)\s*\)")
_INSIDE = re.compile(r"\[[^\[\]]*\]")
_ANGLES = str.maketrans("<>", "()")


def _visibility(_name: str, modifiers: list[str]) -> str:
    # Only interfaces have methods that are `default`, and these are public without saying so.
    implied = "public" if "default" in modifiers else "internal"
    return next((modifier for modifier in modifiers if modifier in _ACCESS), implied)


def _parameters(text: str, blanked: str) -> list[Parameter]:
    # Commas between angle brackets separate types, not parameters.
    items = split_list(text[1:-1], blanked[1:-1].translate(_ANGLES))
    return [found for item in items if (found := _parameter(item)).name not in ("", "this")]


def _parameter(item: str) -> Parameter:
    named = _PARAMETER.match(_ANNOTATION.sub("", item).strip() if "@" in item else item)
    if named is None:
        return Parameter("")
    declared = named[1].strip().removeprefix("final ")
    return Parameter(named[2], declared + named[3])


def _imports(text: str) -> list[Import]:
    found = _IMPORT.match(text)
    if found is None:
        return []
    target = "".join(found[2].split())
    if found[3]:
        return [Import(target)]
    owner, _, name = target.rpartition(".")
    return [Import(owner if found[1] else target, ((name, target),))]


def _infer(kind: str, text: str, _callee: str) -> str:
    if kind in ("object_creation_expression", "array_creation_expression"):
        made = _MADE.match(text)
        return made[1].removesuffix("<>") + _INSIDE.sub("[]", made[2] or "") if made else ""
    if kind == "cast_expression":
        cast = _CAST.match(text)
        return cast[1] if cast else ""
    if kind == "decimal_integer_literal":
        return "long" if text[-1:] in "lL" else "int"
    if kind == "decimal_floating_point_literal":
        return "float" if text[-1:] in "fF" else "double"
    return _TYPES.get(kind, "")


LANGUAGE = Language(
    id="java",
    own_members=True,
    grammar="tree_sitter_java:language",
    query=_QUERY + _OF_DEFINITIONS,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    restart=re.compile(
        rb"^(?:@[^\n]*\n){0,9}(?:public|final|abstract|sealed|class|interface|enum|record|@interface) ",
        re.MULTILINE,
    ),
    receivers=frozenset({"this", "super"}),
    doc_signs=DOC_COMMENTS,
)
