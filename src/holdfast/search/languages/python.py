"""Python: its query and its rules."""

import re

from holdfast.search.languages.rules.language import HASH_COMMENTS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_list
from holdfast.search.languages.rules.literals import type_of_literal

__all__ = ["LANGUAGE"]

_QUERY = """
(function_definition name: (_) @name parameters: (_) @params body: (_) @body) @def.function
(function_definition return_type: (_) @result)
(function_definition "async" @flag.async)
(class_definition name: (_) @name body: (_) @body) @def.class
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @base))
(type_alias_statement "type" @label) @def.type
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)]))
(module (expression_statement (assignment left: (identifier) @name)) @def.variable)
(decorated_definition definition: (_) @wrapped) @wrapper
(decorator) @decorator

(call function: [(identifier) (attribute)] @call)
(argument_list) @arguments
(lambda) @anonymous
(generator_expression) @arguments
(assignment left: (_) @assign.target right: (_) @assign.value)
(assignment left: (_) @typed.target type: (_) @typed.type)
(named_expression name: (_) @assign.target value: (_) @assign.value)
(augmented_assignment left: (_) @update)
(for_statement left: (_) @bind)
(as_pattern_target) @bind
(for_in_clause left: (_) @local)
(lambda_parameters) @local
(case_pattern (dotted_name . (identifier) @local .))
(_ type_parameters: (type_parameter (type (identifier) @local)))
(type_alias_statement left: (type (generic_type (type_parameter (type (identifier) @local)))))
(global_statement) @global
(nonlocal_statement) @global
(delete_statement (_) @delete)

(await [(call function: [(identifier) (attribute)] @await) (identifier) @await (attribute) @await])
(raise_statement . [(call function: [(identifier) (attribute)] @throw) (identifier) @throw (attribute) @throw])
(return_statement) @return
(return_statement (_) @return.value)
(yield) @flag.generator
[(if_statement) (elif_clause) (conditional_expression) (except_clause) (case_clause)] @branch
[(for_statement) (while_statement)] @loop
(break_statement) @break
(continue_statement) @continue
(boolean_operator) @boolean

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import

(comment) @comment
(module . (comment)* . (expression_statement . (string) @docstring .))
(function_definition body: (block . (comment)* . (expression_statement . (string) @docstring .)))
(class_definition body: (block . (comment)* . (expression_statement . (string) @docstring .)))
(string_content) @opaque
[(type_conversion) (format_specifier)] @label
(type) @type
(keyword_argument name: (_) @label)
(match_statement "match" @label)
(case_clause "case" @label)
(case_pattern "_" @label)
(keyword_pattern . (identifier) @label)
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "extends", "return_types", "throws", "awaits",
    "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
)  # fmt: skip

_KEYWORDS = words("""
False None True and as assert async await break class continue def del elif else except finally for from global
if import in is lambda nonlocal not or pass raise return try while with yield
""")

_MUTATORS = words("""
add append appendleft clear difference_update discard extend extendleft insert intersection_update move_to_end
pop popitem popleft remove reverse rotate setdefault sort symmetric_difference_update update
""")

_TYPES = {
    "integer": "int",
    "float": "float",
    "concatenated_string": "str",
    "true": "bool",
    "false": "bool",
    "not_operator": "bool",
    "list": "list",
    "list_comprehension": "list",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "set": "set",
    "set_comprehension": "set",
    "tuple": "tuple",
    "lambda": "Callable",
    "generator_expression": "Generator",
}

# Builtins that are called like constructors although they are written small.
_BUILTIN_TYPES = words("bool bytearray bytes complex dict float frozenset int list set str tuple")

_LITERALS = (
    (re.compile(r"-?\d[\d_]*\Z"), "int"),
    (re.compile(r"-?(?:\d[\d_]*)?\.\d[\d_]*(?:e-?\d+)?\Z|-?\d+\.?e-?\d+\Z"), "float"),
    (re.compile(r"True\Z|False\Z"), "bool"),
    (re.compile(r"[rRuUfF]{0,2}([\"'])(?:(?!\1).)*\1\Z"), "str"),
    (re.compile(r"[rR]?[bB][rR]?([\"'])(?:(?!\1).)*\1\Z"), "bytes"),
    (re.compile(r"\[[^\[\]]*\]\Z"), "list"),
    (re.compile(r"\{\}\Z"), "dict"),
    (re.compile(r"\(\)\Z|\([^()]*,[^()]*\)\Z"), "tuple"),
)

_ALL = re.compile(rb"^__all__\s*(?::[^=\n]+)?(?:\+?=\s*|\.extend\()[\[(]([^\])]*)[\])]", re.MULTILINE)
_QUOTED = re.compile(rb"[\"']([^\"'\n]+)[\"']")
_FROM = re.compile(r"from\s*([.\w\s]+?)\s*\bimport\b\s*(.*)\Z", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")


def _visibility(name: str, _modifiers: list[str]) -> str:
    if name.startswith("__"):
        return "dunder" if name.endswith("__") and len(name) > 4 else "private"
    return "protected" if name.startswith("_") else "public"


def _parameters(text: str, blanked: str) -> list[Parameter]:
    return [found for item in split_list(text[1:-1], blanked[1:-1]) if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    if item.isidentifier():
        return Parameter(item)
    equals = find_outside(item, "=")
    declared, default = (item[:equals], item[equals + 1 :]) if equals >= 0 else (item, "")
    name, _, declared_type = declared.partition(":")
    return Parameter(name.strip(" *\t\n/"), declared_type.strip(), default.strip())


def _imports(text: str) -> list[Import]:
    text = _COMMENT.sub("", text).replace("\\", " ")
    matched = _FROM.match(text)
    if matched is None:
        return [_import(item) for item in split_list(text.removeprefix("import"))]
    module = "".join(matched[1].split())
    prefix = module if module.endswith(".") else f"{module}."
    bound = [_bound(item) for item in split_list(matched[2].strip("() \t\r\n"))]
    return [Import(module, tuple((alias or name, prefix + name) for name, alias in bound))]


def _import(item: str) -> Import:
    name, alias = _bound(item)
    if alias:
        return Import(name, ((alias, name),))
    head = name.partition(".")[0]
    return Import(name, ((head, head),))


def _bound(item: str) -> tuple[str, str]:
    name, _, alias = item.partition(" as ")
    return "".join(name.split()), alias.strip()


def _exports(source: bytes, public: list[str]) -> list[str]:
    if b"__all__" not in source:
        return public
    lists = _ALL.findall(source)
    if not lists:
        return public
    return [name.decode("utf-8", "replace") for inside in lists for name in _QUOTED.findall(inside)]


def _infer(kind: str, text: str, callee: str) -> str:
    if callee:
        last = callee.rpartition(".")[2].lstrip("_")
        return callee if last[:1].isupper() or callee in _BUILTIN_TYPES else ""
    if kind == "string":
        return (
            "bytes" if "b" in text[: min(text.find(quote) for quote in "\"'" if quote in text)].lower() else "str"
        )
    if kind:
        return _TYPES.get(kind, "")
    return type_of_literal(_LITERALS, text)


LANGUAGE = Language(
    id="python",
    grammar="tree_sitter_python:language",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    exports=_exports,
    infer=_infer,
    mutators=_MUTATORS,
    receivers=frozenset({"self", "cls"}),
    restart=re.compile(rb"^(?:@|class |def |async def )", re.MULTILINE),
    comment_signs=HASH_COMMENTS,
    doc_comments=False,
)
