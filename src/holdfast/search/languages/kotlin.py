"""Kotlin: its query and its rules."""

import re

from holdfast.search.languages.rules.definitions import access
from holdfast.search.languages.rules.language import DOC_BLOCKS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_list

__all__ = ["LANGUAGE"]

# The grammar takes `break` and `continue` for names, `f<T>(x)` for two comparisons, `!f(x)` for a call of `!f`
# and `annotation class A` with nothing behind it for a call of `class`: put right here. A plain `return` in a
# lambda leaves the function around it, so lambdas are no functions of their own.
_ANNOTATION = "(annotated_expression (annotation [(user_type) (constructor_invocation)] @decorator))"
_ANNOTATED = (
    f"(source_file {_ANNOTATION})",
    f"(source_file (annotated_expression {_ANNOTATION}))",
    f"(source_file (annotated_expression (annotated_expression {_ANNOTATION})))",
)
_QUERY = """
(class_declaration "class" name: (_) @name (class_body) @body) @def.class
(class_declaration "class" name: (_) @name
  [(identifier) (type_parameters) (primary_constructor) (delegation_specifiers)] .) @def.class
(class_declaration "class" name: (_) @name .) @def.class
(class_declaration "interface" name: (_) @name) @def.interface
(class_declaration "interface" (class_body) @body)
(class_declaration name: (_) @name (enum_class_body) @body) @def.enum
(enum_entry (identifier) @name (class_body) @body) @def.class
((infix_expression . (identifier) @modifier @label . (identifier) @_class . (identifier) @name)
  @def.class @uncalled (#eq? @modifier "annotation") (#eq? @_class "class"))
(annotated_expression [(infix_expression) (annotated_expression)] @wrapped) @wrapper
$ANNOTATED
(object_declaration name: (_) @name) @def.object
(object_declaration (class_body) @body)
(object_literal (delegation_specifiers . (delegation_specifier
  [(user_type (identifier) @name) (constructor_invocation (user_type (identifier) @name))]))
  (class_body) @body) @def.class
(object_literal (delegation_specifiers) @lent (class_body))
(function_declaration name: (_) @name (function_value_parameters) @params) @def.function
(function_declaration (function_body) @body)
(function_declaration (function_value_parameters) . ":" . (_) @result)
(function_declaration [(user_type (identifier) @owner) (nullable_type (user_type (identifier) @owner))] . ".")
(secondary_constructor "constructor" @name (function_value_parameters) @params) @def.function
(secondary_constructor (block) @body)
(class_declaration (primary_constructor (class_parameters) @params))
(type_alias type: (_) @name) @def.type
(source_file (property_declaration (variable_declaration . (identifier) @name)) @def.variable)
(source_file (property_declaration
  [(user_type (identifier) @owner) (nullable_type (user_type (identifier) @owner))] . "."))
(class_body (property_declaration (modifiers (property_modifier "const"))
  (variable_declaration . (identifier) @name)) @def.variable)
(class_body (property_declaration (modifiers
  (visibility_modifier)? @modifier (property_modifier "const") @modifier)))
(class_body (property_declaration (modifiers
  (annotation [(user_type) (constructor_invocation)] @decorator) (property_modifier "const"))))

(delegation_specifier [(user_type) @base (constructor_invocation) @base (explicit_delegation . (_) @base)])
(delegation_specifier (constructor_invocation (user_type (identifier) @call .)))
(delegation_specifier (constructor_invocation (user_type (identifier) @call . (type_arguments) @call.between)))
(constructor_delegation_call ["this" "super"] @call)
(function_declaration (modifiers (function_modifier "suspend") @flag.async))
(primary_constructor (modifiers (annotation [(user_type) (constructor_invocation)] @decorator)))

(call_expression . [(identifier) (navigation_expression)] @call)
(call_expression . (unary_expression argument: (identifier) @call) [(value_arguments) (annotated_lambda)])
(value_arguments) @arguments
(call_expression (type_arguments) @call.between)
(binary_expression left: (binary_expression left: [(identifier) (navigation_expression)] @call
    operator: "<" @call.between right: (identifier) @call.between @type)
  operator: ">" @call.between right: (parenthesized_expression) @arguments)
(infix_expression . (_) . (identifier) @call)
[(anonymous_function) (getter) (setter)] @anonymous
(property_declaration (variable_declaration . (identifier) @assign.target .) "=" . (_) @assign.value)
(property_declaration (variable_declaration . (identifier) @bind . (_)) @unpack.target "=" . (_) @unpack.value)
(property_declaration (multi_variable_declaration) @unpack.target "=" . (_) @unpack.value)
(property_declaration (multi_variable_declaration (variable_declaration . (identifier) @bind)))
(property_declaration (variable_declaration . (identifier) @assign.target .) (property_delegate (_) @assign.value))
(property_declaration (variable_declaration . (identifier) @bind . (_)) @unpack.target
  (property_delegate (_) @unpack.value))
(property_declaration (variable_declaration . (identifier) @label @typed.target . (_) @typed.type))
(property_declaration (variable_declaration . (identifier) @label))
(when_subject (variable_declaration . (identifier) @assign.target) "=" . (_) @assign.value)
(assignment left: (_) @assign.target operator: "=" right: (_) @assign.value)
(assignment left: (_) @update operator: ["+=" "-=" "*=" "/=" "%="])
(unary_expression argument: (_) @update operator: ["++" "--"])
(for_statement (variable_declaration . (identifier) @bind))
(for_statement (multi_variable_declaration (variable_declaration . (identifier) @bind)))
(catch_block . (identifier) @bind)
(lambda_parameters (variable_declaration . (identifier) @local))
(lambda_parameters (multi_variable_declaration (variable_declaration . (identifier) @local)))
(anonymous_function (function_value_parameters (parameter . (identifier) @local)))
(setter (identifier) @local)
(type_parameter (identifier) @local)

(throw_expression [(call_expression . [(identifier) (navigation_expression)] @throw) (identifier) @throw])
(return_expression "return") @return
(return_expression "return" . (_) @return.value)
(function_declaration (function_body "=" . (_) @return.value))
[(if_expression) (catch_block)] @branch
(when_entry condition: (_)) @branch
[(for_statement) (while_statement) (do_while_statement)] @loop
([(block (identifier) @break) (if_expression (identifier) @break) (when_entry (identifier) @break)
  (binary_expression operator: "?:" right: (identifier) @break)] (#eq? @break "break"))
([(block (identifier) @continue) (if_expression (identifier) @continue) (when_entry (identifier) @continue)
  (binary_expression operator: "?:" right: (identifier) @continue)] (#eq? @continue "continue"))
((labeled_expression (label) @break (identifier) @label) (#eq? @break "break@"))
((labeled_expression (label) @continue (identifier) @label) (#eq? @continue "continue@"))
["&&" "||" "?:"] @boolean

(import) @import
[(line_comment) (block_comment)] @comment
[(string_content) (escape_sequence) (character_literal)] @opaque
[(string_literal "\\"" @opaque) (multiline_string_literal "\\"\\"\\"" @opaque)]
((string_content) @_sign . (string_content) @template (#eq? @_sign "$"))
(user_type) @type
(value_argument (identifier) @label "=")
[(enum_entry (identifier) @label) (companion_object name: (_) @label) (function_declaration name: (_) @label)]
(interpolation ["${" "$"] @label)
[(label) (package_header) (use_site_target)] @label
(return_expression label: (_) @label)
(modifiers [(visibility_modifier) (inheritance_modifier) (class_modifier) (function_modifier) (member_modifier)
  (property_modifier)] @label)
[(class_parameter (modifiers) @label) (parameter_modifiers) @label (type_parameter_modifiers) @label]
(navigation_expression "::" . (identifier) @label)
[(property_delegate "by" @label) (explicit_delegation "by" @label) (getter "get" @label) (setter "set" @label)
  (type_constraints "where" @label)]
(ERROR) @error
(MISSING) @error
""".replace("$ANNOTATED", "\n".join(_ANNOTATED))

# Modifiers and annotations count where a definition has them: those of parameters and locals would be its own.
_MODIFIED = "class_declaration object_declaration function_declaration secondary_constructor type_alias"
_MODIFIERS = """(modifiers [(visibility_modifier) (inheritance_modifier) (class_modifier) (function_modifier)
  (member_modifier) (property_modifier)] @modifier)"""
_ANNOTATIONS = "(modifiers (annotation [(user_type) (constructor_invocation)] @decorator))"
_OF_DEFINITIONS = "\n".join(
    form.format(part)
    for form in (*(f"({name} {{}})" for name in _MODIFIED.split()), "(source_file (property_declaration {}))")
    for part in (_MODIFIERS, _ANNOTATIONS)
)

# What an object has is there once, as constants are.
_OF_OBJECTS = "\n".join(
    f"({place} (class_body {part}))"
    for place in ("object_declaration", "companion_object")
    for part in (
        '(property_declaration "val" (variable_declaration . (identifier) @name)) @def.variable',
        f'(property_declaration {_MODIFIERS} "val")',
        f'(property_declaration {_ANNOTATIONS} "val")',
    )
)

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "modifiers", "extends", "return_types", "throws",
    "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("async", "returns"),
)  # fmt: skip

_KEYWORDS = words("""
_ as break catch class companion constructor continue do else false finally for fun if import in init interface is
null object package return super this throw true try typealias val var vararg when while
""")

# Methods of the collections, of StringBuilder and of the atomic types.
_MUTATORS = words("""
add addAll addFirst addLast append appendLine clear compute computeIfAbsent computeIfPresent decrementAndGet delete
getAndAdd getAndIncrement getAndSet getOrPut incrementAndGet insert merge offer poll pop push put putAll
putIfAbsent remove removeAll removeAt removeFirst removeIf removeLast replaceAll retainAll reverse set shuffle sort
sortBy sortByDescending sortWith
""")

_BUILT = {
    "arrayOf": "Array", "listOf": "List", "emptyList": "List", "mutableListOf": "MutableList",
    "arrayListOf": "ArrayList", "mapOf": "Map", "emptyMap": "Map", "mutableMapOf": "MutableMap",
    "linkedMapOf": "LinkedHashMap", "hashMapOf": "HashMap", "setOf": "Set", "emptySet": "Set",
    "mutableSetOf": "MutableSet", "hashSetOf": "HashSet", "sequenceOf": "Sequence",
}  # fmt: skip

_TYPES = {
    "string_literal": "String",
    "multiline_string_literal": "String",
    "character_literal": "Char",
    "is_expression": "Boolean",
    "in_expression": "Boolean",
}
_IMPORT = re.compile(r"import\s+([\w`]+(?:\s*\.\s*[\w`]+)*)(?:\s*\.\s*(\*)|\s+as\s+`?(\w+))?")
_LEADING = re.compile(
    r"(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s*"
    r"|(?:vararg|noinline|crossinline|val|var|public|private|protected|internal|override|open|final|lateinit)\s+)+"
)
_CALL = re.compile(r"((?:\w+\.)*\w+)(<[^()]*>)?\s*\(.*\)\Z", re.DOTALL)
_AS = re.compile(r"\sas\??\s")
# `class A { val b = 1 }`: the grammar wants a sign behind the last member of a body that ends on the same line.
# Not behind an arrow, as in `{ _ -> }`, nor in a template, `"${a }"`: there is nothing that a sign could end.
_BEFORE_BRACE = re.compile(rb"\$\{[^{}\n]*\}|(?<=[^{;\s])(?<!->)([ \t])(?=\})")
_ANGLES = str.maketrans("<>", "()")


def _parameters(text: str, blanked: str) -> list[Parameter]:
    # Commas between angle brackets separate types, not parameters; an arrow is no bracket.
    items = split_list(text[1:-1], blanked[1:-1].replace("->", "  ").translate(_ANGLES))
    return [found for item in items if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    item = _LEADING.sub("", item, count=1)
    equals = find_outside(item, "=")
    declared, default = (item[:equals], item[equals + 1 :]) if equals >= 0 else (item, "")
    name, _, declared_type = declared.partition(":")
    return Parameter(name.strip(" \t\r\n`"), declared_type.strip(), default.strip())


def _imports(text: str) -> list[Import]:
    found = _IMPORT.match(text)
    if found is None:
        return []
    target = "".join(found[1].split()).replace("`", "")
    if found[2]:
        return [Import(target)]
    return [Import(target, ((found[3] or target.rpartition(".")[2], target),))]


def _infer(kind: str, text: str, callee: str) -> str:
    if kind == "call_expression":
        called = _CALL.match(text) if not callee else None
        name = callee or (called[1] if called and called[2] else "")
        if name in _BUILT:
            return _BUILT[name]
        return name if name.rpartition(".")[2][:1].isupper() else ""
    if kind == "as_expression":
        return _AS.split(text)[-1].strip()
    if kind == "number_literal" or text[:1].isdigit():
        return _number(text.lower())
    return "Boolean" if text in ("true", "false") else _TYPES.get(kind, "")


def _number(text: str) -> str:
    if text.startswith(("0x", "0b")):
        return "Long" if text.endswith("l") else "Int"
    if text.endswith("f"):
        return "Float"
    return "Double" if "." in text or "e" in text else "Long" if text.endswith("l") else "Int"


LANGUAGE = Language(
    id="kotlin",
    own_members=True,
    grammar="tree_sitter_kotlin:language",
    query=_QUERY + _OF_DEFINITIONS + "\n" + _OF_OBJECTS,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=access("public"),
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    throwers=frozenset({"error", "TODO"}),
    guessed=lambda source: [found.span(1) for found in _BEFORE_BRACE.finditer(source) if found[1]],
    filler=b";",
    restart=re.compile(
        rb"^(?:@[^\n]*\n){0,9}(?:(?:public|private|internal|abstract|open|sealed|data|enum|class|interface|object"
        rb"|fun|suspend|val|var|const|typealias)\b)",
        re.MULTILINE,
    ),
    receivers=frozenset({"this", "super"}),
    implied=frozenset({"it", "field"}),
    naming=lambda written: written.replace("`", ""),
    doc_signs=DOC_BLOCKS,
)
