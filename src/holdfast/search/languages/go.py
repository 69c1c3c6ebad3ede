"""Go: its query and its rules."""

import re

from holdfast.search.languages.rules.language import Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import split_list

__all__ = ["LANGUAGE"]

_QUERY = """
(function_declaration name: (_) @name parameters: (_) @params) @def.function
(function_declaration body: (_) @body)
(function_declaration result: (_) @result)
(method_declaration name: (_) @name parameters: (_) @params) @def.method
(method_declaration body: (_) @body)
(method_declaration result: (_) @result)
(function_declaration result: (parameter_list (parameter_declaration name: (_) @result.name)))
(method_declaration result: (parameter_list (parameter_declaration name: (_) @result.name)))
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (type_identifier) @owner)
  (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])])))

(type_declaration "type" . (type_spec name: (_) @name type: (struct_type (_ "{" @body)))) @def.struct
(type_declaration "(" (type_spec name: (_) @name type: (struct_type (_ "{" @body))) @def.struct)
(type_declaration "type" . (type_spec name: (_) @name type: (interface_type "{" @body))) @def.interface
(type_declaration "(" (type_spec name: (_) @name type: (interface_type "{" @body)) @def.interface)
(type_declaration "type" . [(type_spec name: (_) @name) (type_alias name: (_) @name)]) @def.type
(type_declaration "(" [(type_spec name: (_) @name) (type_alias name: (_) @name)] @def.type)
(field_declaration !name type: (_) @base)
(interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .))

(source_file (const_declaration "const" . (const_spec name: (identifier) @name)) @def.variable)
(source_file (const_declaration "(" (const_spec name: (identifier) @name) @def.variable))
(source_file (var_declaration "var" . (var_spec name: (identifier) @name)) @def.variable)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @def.variable)))

(call_expression function: [(identifier) (selector_expression)] @call)
(argument_list) @arguments
(call_expression type_arguments: (_) @call.between)
(func_literal) @anonymous
(short_var_declaration left: (_) @assign.target right: (_) @assign.value)
(assignment_statement left: (_) @assign.target operator: "=" right: (_) @assign.value)
(assignment_statement left: (_) @update
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "&^="])
(var_spec name: (_) @assign.target value: (_) @assign.value)
(const_spec name: (_) @assign.target value: (_) @assign.value)
(var_spec name: (_) @assign.more . "," value: (_))
(const_spec name: (_) @assign.more . "," value: (_))
(var_spec name: (_) @typed.target type: (_) @typed.type)
(const_spec name: (_) @typed.target type: (_) @typed.type)
(field_declaration name: (_) @typed.target type: (_) @typed.type)
(var_spec name: (_) @bind)
(const_spec name: (_) @bind)
[(inc_statement (_) @update) (dec_statement (_) @update)]
(range_clause left: (_) @bind)
(receive_statement left: (_) @bind)
(type_switch_statement alias: (_) @bind)
(type_parameter_declaration name: (_) @local)
[(parameter_declaration name: (_) @local) (variadic_parameter_declaration name: (_) @local)]

(return_statement) @return
(return_statement (expression_list) @return.value)
[(if_statement) (expression_case) (type_case) (communication_case)] @branch
(for_statement) @loop
(break_statement) @break
(continue_statement) @continue
["&&" "||"] @boolean

(import_declaration) @import
(comment) @comment
[(interpreted_string_literal_content) (raw_string_literal_content) (rune_literal)] @opaque
[(type_identifier) (qualified_type)] @type
(keyed_element key: (literal_element (identifier) @label))
(field_declaration name: (_) @label)
(method_elem name: (_) @label)
(label_name) @label
(package_clause) @label
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "params", "param_types", "extends", "return_types", "throws", "calls", "uses", "reads", "writes", "mutations",
    "aliases", "inferred_types",
    flags=("returns",),
)  # fmt: skip

_KEYWORDS = words("""
_ break case chan const continue default defer else fallthrough for func go goto if import interface map package
range return select struct switch type var nil true false iota
""")

_IMPORT = re.compile(r"(?:((?<![\w.])[\w.]+)\s+)?[\"`]([^\"`\n]+)[\"`]")
_VERSION = re.compile(r"v\d+\Z")
_NAMED = re.compile(r"([^\W\d]\w*)\s+(\S.*)\Z", re.DOTALL)
_NO_NAMES = words("func chan map struct interface")
_TYPES = (
    (re.compile(r"-?(?:\d[\d_]*|0[xXbBoO][\da-fA-F_]+)\Z"), "int"),
    (re.compile(r"-?(?<!\d)\d*\.\d*(?:[eE][-+]?\d+)?\Z|-?(?<!\d)\d+[eE][-+]?\d+\Z"), "float64"),
    (re.compile(r"\"(?:[^\"\\]|\\.)*\"\Z|`[^`]*`\Z"), "string"),
    (re.compile(r"'(?:[^'\\]|\\.[^']*)'\Z"), "rune"),
    (re.compile(r"(?:true|false)\Z"), "bool"),
)
# A composite literal, whose end is not seen where it is long: &http.Client{...}, map[string]int{...}
_COMPOSITE = re.compile(r"(&?)((?:\[[^\[\]]*\]|map\[[^\[\]]+\])*\*?[\w.]+(?:\[[\w., ]*\])?)\{")
_MADE = re.compile(r"(make|new)\(([^,()]+)")


def _visibility(name: str, _modifiers: list[str]) -> str:
    return "public" if name[:1].isupper() else "private"


def _parameters(text: str, blanked: str) -> list[Parameter]:
    """`a, b int` are two of one type; `int, error` are types without names."""
    found: list[Parameter] = []
    declared = ""
    for item in reversed(split_list(text[1:-1], blanked[1:-1])):
        named = _NAMED.match(item)
        if named and named[1] not in _NO_NAMES:
            declared = named[2].strip()
            found.append(Parameter(named[1], declared))
        elif declared and item.isidentifier():
            found.append(Parameter(item, declared))
    return found[::-1]


def _imports(text: str) -> list[Import]:
    return [_import(alias, path) for alias, path in _IMPORT.findall(text)]


def _import(alias: str, path: str) -> Import:
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and _VERSION.match(parts[-1]) else parts[-1]
    name = alias if alias not in ("", "import") else last.partition(".")[0]
    return Import(path, () if name in (".", "_") else ((name, path),))


def _infer(_kind: str, text: str, _callee: str) -> str:
    for pattern, found in _TYPES:
        if pattern.match(text):
            return found
    composite = _COMPOSITE.match(text)
    if composite and (text.endswith("}") or len(text) >= 200):
        return ("*" if composite[1] else "") + composite[2]
    made = _MADE.match(text)
    return ("*" if made[1] == "new" else "") + made[2].strip() if made else ""


LANGUAGE = Language(
    id="go",
    grammar="tree_sitter_go:language",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    restart=re.compile(rb"^(?:func|type|var|const) ", re.MULTILINE),
    throwers=frozenset({"panic"}),
)
