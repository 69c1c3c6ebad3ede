"""PHP: its query and its rules.

Namespaces are left out of the names of definitions, as packages are in other languages. Facts tell variables
without their dollar sign, and everything else as it is written: `this->items`, `Cart::open`.
"""

import re

from holdfast.search.languages.rules.definitions import access
from holdfast.search.languages.rules.language import DOC_BLOCKS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_list
from holdfast.search.languages.rules.literals import type_of_literal

__all__ = ["LANGUAGE"]

_QUERY = """
(class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(trait_declaration name: (_) @name body: (_) @body) @def.trait
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(function_definition name: (_) @name parameters: (_) @params body: (_) @body) @def.function
(function_definition return_type: (_) @result)
(method_declaration name: (_) @name parameters: (_) @params) @def.method
(method_declaration [body: (_) ";"] @body)
(method_declaration return_type: (_) @result)
(const_declaration (const_element . (name) @name)) @def.variable

(base_clause [(name) (qualified_name)] @base)
(class_interface_clause [(name) (qualified_name)] @base)
(use_declaration [(name) (qualified_name)] @base)
(method_declaration [(visibility_modifier) (static_modifier) (abstract_modifier) (final_modifier)] @modifier)
(class_declaration [(abstract_modifier) (final_modifier) (readonly_modifier)] @modifier)
(const_declaration [(visibility_modifier) (final_modifier)] @modifier)
(class_declaration attributes: (attribute_list (attribute_group (attribute) @decorator)))
(interface_declaration attributes: (attribute_list (attribute_group (attribute) @decorator)))
(enum_declaration attributes: (attribute_list (attribute_group (attribute) @decorator)))
(function_definition attributes: (attribute_list (attribute_group (attribute) @decorator)))
(method_declaration attributes: (attribute_list (attribute_group (attribute) @decorator)))

(function_call_expression function: [(name) (qualified_name) (variable_name)] @call)
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(member_call_expression object: [(variable_name) (member_access_expression)
  (scoped_property_access_expression)] @call.object)
(nullsafe_member_call_expression object: [(variable_name) (member_access_expression)] @call.object)
(scoped_call_expression scope: (_) @call.object)
(object_creation_expression [(name) (qualified_name)] @call)
(arguments) @arguments
[(anonymous_function) (arrow_function)] @anonymous

(assignment_expression left: [(variable_name) (member_access_expression) (subscript_expression)
  (scoped_property_access_expression)] @assign.target right: (_) @assign.value)
(assignment_expression left: (list_literal) @unpack.target right: (_) @unpack.value)
(assignment_expression left: (list_literal [(variable_name) (member_access_expression)] @bind))
(reference_assignment_expression left: (_) @assign.target right: (_) @assign.value)
(augmented_assignment_expression left: (_) @update)
(update_expression argument: (_) @update)
(foreach_statement "as" . [(variable_name) @bind (by_ref (variable_name) @bind)
  (pair (variable_name) @bind) (list_literal (variable_name) @bind)])
(catch_clause name: (_) @bind)
(static_variable_declaration name: (_) @assign.target value: (_) @assign.value)
(static_variable_declaration name: (_) @local)
(property_element name: (_) @assign.target default_value: (_) @assign.value)
(property_element name: (_) @local)
(property_declaration type: (_) @declared.type)
(property_declaration (property_element name: (variable_name (name) @declared.name)))
(anonymous_function parameters: (formal_parameters (_ name: (_) @local)))
(arrow_function parameters: (formal_parameters (_ name: (_) @local)))
(global_declaration (variable_name) @global)
(unset_statement (_) @delete)

(throw_expression (object_creation_expression [(name) (qualified_name)] @throw))
(throw_expression (variable_name) @throw)
(throw_expression [(scoped_call_expression scope: (_) @throw) (function_call_expression function: (_) @throw)])
(yield_expression) @flag.generator
(return_statement) @return
(return_statement (_)) @return.value
[(if_statement) (else_if_clause) (conditional_expression) (case_statement) (match_conditional_expression)
  (catch_clause)] @branch
[(for_statement) (foreach_statement) (while_statement) (do_statement)] @loop
(break_statement) @break
(continue_statement) @continue
["&&" "||" "and" "or" "xor" "??"] @boolean
(augmented_assignment_expression operator: "??=") @boolean

[(namespace_use_declaration) (include_expression) (include_once_expression) (require_expression)
  (require_once_expression)] @import
(comment) @comment
[(string_content) (escape_sequence) (text) (php_tag) (nowdoc_string) (heredoc_start) (heredoc_end)] @opaque
[(named_type) (primitive_type) (cast_type)] @type
[(class_constant_access_expression . (name) @type) (scoped_property_access_expression scope: (name) @type)]
("instanceof" . [(name) (qualified_name)] @type)
(argument name: (name) @label)
[(member_access_expression "->" @label name: (variable_name))
  (member_call_expression "->" @label name: (variable_name))]
(qualified_name . "\\\\" @label)
(namespace_definition) @label
(property_declaration (property_element) @label)
(enum_case) @label
(attribute) @label
(const_element . (name) @label)
(goto_statement (name) @label)
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "modifiers", "extends", "return_types", "throws",
    "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("generator", "returns"),
)  # fmt: skip

_WORDS = """
abstract and array as bool break callable case catch class clone const continue declare default do echo else elseif
empty enddeclare endfor endforeach endif endswitch endwhile enum extends false final finally float fn for foreach
from function global goto if implements include include_once instanceof insteadof int interface isset iterable list
match mixed namespace never new null object or parent print private protected public readonly require require_once
return self static string switch throw trait true try unset use var void while xor yield
"""
_KEYWORDS = words(_WORDS) | {"TRUE", "FALSE", "NULL", "True", "False", "Null", "strict_types"}

_CALLEE = re.compile(r"\\?\$?[^\W\d]\w*(?:(?:\\|::|\?->|->)\$?[^\W\d]\w*)*\Z")
_SPACE = re.compile(r"\s+")
_ATTRIBUTE = re.compile(r"#\[[^\]]*\]\s*")
_PARAMETER = re.compile(
    r"(?:(?:public|protected|private|readonly)\s+)*([^$&]*?)\s*&?\s*(?:\.\.\.)?\s*(\$\w+)\s*\Z", re.DOTALL
)
_USED = re.compile(r"use\s+(?:(?:function|const)\s+)?(.*?);?\s*\Z", re.DOTALL)
_INCLUDED = re.compile(r"(?:include|require)(?:_once)?\b.*?[\"']([^\"'\n]+)[\"']", re.DOTALL)
_MADE = re.compile(r"new\s+\\?([\w\\]+)")
_CAST = re.compile(r"\(\s*(\w+)\s*\)")
_TYPES = {
    "integer": "int",
    "float": "float",
    "boolean": "bool",
    "string": "string",
    "encapsed_string": "string",
    "heredoc": "string",
    "nowdoc": "string",
    "array_creation_expression": "array",
    "anonymous_function": "Closure",
    "arrow_function": "Closure",
}
_LITERALS = (
    (re.compile(r"-?\d[\d_]*\Z"), "int"),
    (re.compile(r"-?\d[\d_]*\.\d+\Z"), "float"),
    (re.compile(r"(?:true|false)\Z", re.IGNORECASE), "bool"),
    (re.compile(r"([\"'])(?:(?!\1).)*\1\Z"), "string"),
    (re.compile(r"\[.*\]\Z", re.DOTALL), "array"),
)
_TAG = re.compile(r"@(throws|return)[ \t]+([^\s*]+(?:<[^>\n]*>)?)")


def _parameters(text: str, blanked: str) -> list[Parameter]:
    return [found for item in split_list(text[1:-1], blanked[1:-1]) if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    bare = _ATTRIBUTE.sub("", item)
    equals = find_outside(bare, "=")
    declared, default = (bare[:equals], bare[equals + 1 :]) if equals >= 0 else (bare, "")
    named = _PARAMETER.match(declared.strip())
    return Parameter(named[2], named[1].strip(), default.strip()) if named else Parameter("")


def _imports(text: str) -> list[Import]:
    used = _USED.match(text)
    if used is None:
        included = _INCLUDED.match(text)
        return [Import(included[1])] if included else []
    prefix, brace, group = used[1].partition("{")
    items = group.rpartition("}")[0] if brace else used[1]
    return [_import(item, prefix.strip() if brace else "") for item in split_list(items)]


def _import(item: str, prefix: str) -> Import:
    bare = item.removeprefix("function ").removeprefix("const ")
    name, _, alias = bare.partition(" as ")
    full = f"{prefix}{name.strip()}".lstrip("\\")
    return Import(full, ((alias.strip() or full.rpartition("\\")[2], full),))


def _callee(written: str) -> str:
    name = _SPACE.sub("", written)
    return name.lstrip("\\") if _CALLEE.match(name) and name not in _KEYWORDS else ""


def _infer(kind: str, text: str, _callee: str) -> str:
    if kind == "object_creation_expression":
        made = _MADE.match(text)
        return made[1] if made and made[1] != "class" else ""
    if kind == "cast_expression":
        cast = _CAST.match(text)
        return cast[1] if cast else ""
    if kind:
        return _TYPES.get(kind, "")
    return type_of_literal(_LITERALS, text)


def _documented(doc: str) -> list[tuple[str, str]]:
    """What the tags of a documentation declare: `@throws CardRefused|Timeout`, `@return array<string>`."""
    found = _TAG.findall(doc)
    thrown = [name.lstrip("\\") for tag, declared in found if tag == "throws" for name in declared.split("|")]
    results = [("return_types", declared) for tag, declared in found if tag == "return"]
    return [*(("throws", name) for name in thrown if name), *results]


# A file that is cut into pieces needs its opening tag again, which only the first piece has: so it never is.
LANGUAGE = Language(
    id="php",
    grammar="tree_sitter_php:language_php",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=access("public"),
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    documented=_documented,
    mutators=words("add append attach clear detach offsetSet offsetUnset pop push put remove set shift unshift"),
    separators=("?->", "->", "::", "\\"),
    signs_before="$",
    silent_sign="$",
    callee=_callee,
    receivers=frozenset({"$this", "self", "static", "parent"}),
    doc_signs=DOC_BLOCKS,
)
