"""Lua: its query and its rules. What a file returns is what it exports, besides its globals."""

import re

from holdfast.search.languages.rules.language import Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import split_list
from holdfast.search.languages.rules.literals import type_of_literal

__all__ = ["LANGUAGE"]

_QUERY = """
(function_declaration name: (identifier) @name parameters: (_) @params) @def.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name)
  parameters: (_) @params) @def.function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name)
  parameters: (_) @params) @def.method
(function_declaration body: (_) @body)
(function_declaration "end" @body)
(function_declaration "local" @modifier)
(assignment_statement (variable_list . name: [(identifier) @name
  (dot_index_expression table: (_) @owner field: (_) @name)] .)
  (expression_list . value: (function_definition parameters: (_) @params))) @def.function
(assignment_statement (expression_list . value: (function_definition body: (_) @body)))
(field name: (identifier) @name value: (function_definition parameters: (_) @params)) @def.function
(field value: (function_definition body: (_) @body))
(variable_declaration (assignment_statement) @wrapped) @wrapper
(chunk (variable_declaration "local" @modifier (assignment_statement)))
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @def.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @def.variable)
(chunk ((assignment_statement (variable_list . name: (dot_index_expression table: (identifier) @owner
  field: (_) @name) .) (expression_list . value: (_ !parameters))) @def.variable (#not-match? @name "^__")))

(function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @call)
(arguments) @arguments
(function_definition) @anonymous
(assignment_statement (variable_list . name: (_) @assign.target . (attribute)? .)
  (expression_list . value: (_ !parameters) @assign.value))
(assignment_statement (variable_list name: (_) . "," . name: (_)) @assign.target (expression_list) @assign.value)
(variable_declaration (variable_list name: (identifier) @local))
((function_call name: (dot_index_expression) @_word arguments: (arguments . [(identifier) (dot_index_expression)]
  @mutated)) (#any-of? @_word "table.insert" "table.remove" "table.sort"))
(for_numeric_clause name: (_) @bind)
(for_generic_clause (variable_list name: (_) @bind))
(function_definition parameters: (parameters name: (_) @local))

(return_statement) @return
(return_statement (expression_list)) @return.value
((function_call name: (dot_index_expression) @flag.generator) (#eq? @flag.generator "coroutine.yield"))
[(if_statement) (elseif_statement)] @branch
[(for_statement) (while_statement) (repeat_statement)] @loop
(break_statement) @break
["and" "or"] @boolean

((variable_declaration (assignment_statement (expression_list . value: (function_call name: (identifier) @_word))))
  @import (#eq? @_word "require"))
((variable_declaration (assignment_statement (expression_list . value: (dot_index_expression
  table: (function_call name: (identifier) @_word))))) @import (#eq? @_word "require"))
((function_call name: (identifier) @_word arguments: (arguments . (string) .)) @import (#eq? @_word "require"))
(chunk (return_statement (expression_list (table_constructor (field name: (identifier) @export)))))
(comment) @comment
[(string_content) (escape_sequence)] @opaque
(field name: (identifier) @label)
(function_declaration name: (_) @label)
(assignment_statement (variable_list) @label (expression_list . value: (function_definition)))
(goto_statement (identifier) @label)
(label_statement (identifier) @label)
(attribute) @label
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "params", "modifiers", "throws", "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("generator", "returns"),
)  # fmt: skip

_KEYWORDS = words("""
and break do else elseif end false for function goto if in local nil not or repeat return then true until while
""")

_SIGNS = re.compile(r"^[ \t]*--+(?:\[=*\[)?[ \t]?|(?:\]=*\])?[ \t\r]*$", re.MULTILINE)
_CALLEE = re.compile(r"[^\W\d]\w*(?:[.:][^\W\d]\w*)*\Z")
_SPACE = re.compile(r"\s+")
_REQUIRED = re.compile(r"require[\s(]*([\"'])([^\"'\n]+)\1[\s)]*((?:\.\w+)?)\s*\Z")
_BOUND = re.compile(r"local\s+(\w+)[^=]*=\s*")
_RETURNED = re.compile(rb"^return\s+([A-Za-z_]\w*)\s*+;?\s*\Z", re.MULTILINE)
_LITERALS = (
    (re.compile(r"-?(?:\d++\.?\d*+(?:[eE][-+]?\d+)?|0[xX][\da-fA-F]+)\Z"), "number"),
    (re.compile(r"(?:true|false)\Z"), "boolean"),
)
_TYPES = {
    "string": "string",
    "number": "number",
    "true": "boolean",
    "false": "boolean",
    "table_constructor": "table",
    "function_definition": "function",
}


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "local" in modifiers else "public"


def _parameters(text: str, blanked: str) -> list[Parameter]:
    return [Parameter(item) for item in split_list(text[1:-1], blanked[1:-1]) if item != "..."]


def _imports(text: str) -> list[Import]:
    bound = _BOUND.match(text)
    found = _REQUIRED.search(text, bound.end() if bound else 0)
    if found is None:
        return []
    return [Import(found[2], ((bound[1], found[2] + found[3]),) if bound else ())]


def _exports(source: bytes, public: list[str]) -> list[str]:
    """The globals, and what was put into the table that the file returns."""
    returned = _RETURNED.search(source)
    if returned is None:
        return public
    member = re.compile(rb"^(?:function\s+)?" + returned[1] + rb"[.:]([A-Za-z_]\w*)\s*[=(]", re.MULTILINE)
    return [*public, *(name.decode() for name in member.findall(source))]


def _callee(written: str) -> str:
    name = _SPACE.sub("", written)
    return name if _CALLEE.match(name) else ""


def _infer(kind: str, text: str, _callee: str) -> str:
    if kind in ("", "unary_expression"):
        return type_of_literal(_LITERALS, text)
    return _TYPES.get(kind, "")


LANGUAGE = Language(
    id="lua",
    grammar="tree_sitter_lua:language",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    exports=_exports,
    infer=_infer,
    mutators=words("add append clear insert pop push put remove set"),
    libraries=frozenset({"table"}),
    throwers=frozenset({"error", "assert"}),
    separators=(".", ":"),
    callee=_callee,
    receivers=frozenset({"self"}),
    restart=re.compile(rb"^(?:local function|function|local \w+ *=) ?", re.MULTILINE),
    comment_signs=_SIGNS,
)
