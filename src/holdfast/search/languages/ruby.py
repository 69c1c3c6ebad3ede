"""Ruby: its query and its rules.

Whatever stands behind a dot is called, with brackets or without; so is a plain name that is no local. Blocks are
part of the method around them: what they return and yield is returned and yielded by the method.
"""

import re

from holdfast.search.languages.rules.language import HASH_COMMENTS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import split_list
from holdfast.search.languages.rules.literals import type_of_literal

__all__ = ["LANGUAGE"]

_QUERY = """
(class name: [(constant) @name (scope_resolution scope: (_) @owner name: (_) @name)]) @def.class
(class body: (_) @body)
(class superclass: (superclass (_) @base))
(module name: [(constant) @name (scope_resolution scope: (_) @owner name: (_) @name)]) @def.namespace
(module body: (_) @body)
(method name: (_) @name) @def.function
(method body: (_) @body)
(method "=" @body)
(method parameters: (_) @params)
(singleton_method name: (_) @name) @def.function
(singleton_method object: (self) @modifier)
(singleton_method body: (_) @body)
(singleton_method "=" @body)
(singleton_method parameters: (_) @params)
(module body: (body_statement [(method) (singleton_method)] @def.method))
(assignment left: (constant) @name) @def.variable
(heredoc_body) @rest
((call !receiver method: (identifier) @_word arguments: (argument_list [(constant) (scope_resolution)] @base))
  (#any-of? @_word "include" "extend" "prepend"))

[(class) (module) (method) (singleton_method) (assignment left: (constant))] @access.public
(body_statement (identifier) @section.public (#eq? @section.public "public"))
(body_statement (identifier) @section.protected (#eq? @section.protected "protected"))
(body_statement (identifier) @section.private (#eq? @section.private "private"))
(singleton_class "class" @section.public)
(singleton_class "end" @section.public)
((call !receiver method: (identifier) @_word arguments: (argument_list (simple_symbol) @named.private))
  (#any-of? @_word "private" "private_class_method" "private_constant"))
((call !receiver method: (identifier) @_word arguments: (argument_list (simple_symbol) @named.protected))
  (#eq? @_word "protected"))
((call !receiver method: (identifier) @_word arguments: (argument_list (simple_symbol) @named.public))
  (#any-of? @_word "public" "public_class_method"))
(singleton_method object: (self) @label)
((call !receiver method: (identifier) @modifier
  arguments: (argument_list [(method) (singleton_method)] @wrapped)) @wrapper
  (#any-of? @modifier "private" "protected" "public" "private_class_method"))

(call method: _ @call)
(super) @call
(call receiver: [(identifier) (constant) (instance_variable) (class_variable) (global_variable) (self)
  (scope_resolution)] @call.object)
(argument_list) @arguments
(lambda) @anonymous
(assignment left: (_) @assign.target right: (_) @assign.value)
(operator_assignment left: (_) @update)
[(assignment left: (call) @uncalled) (operator_assignment left: (call) @uncalled)]
(binary left: [(identifier) (instance_variable) (class_variable)] @mutated operator: "<<")
(for pattern: (_) @bind)
(exception_variable (_) @bind)
[(block_parameters) (lambda_parameters)] @local
(as_pattern name: (_) @bind)
(keyword_pattern value: (identifier) @bind)
(keyword_pattern key: (_) @bind !value)
(array_pattern (identifier) @bind)
(in_clause pattern: (identifier) @bind)

((call !receiver method: (identifier) @_word arguments: (argument_list . [
  (constant) @throw (scope_resolution) @throw (simple_symbol) @throw (identifier) @throw
  (call receiver: [(constant) (scope_resolution)] @throw)]))
  (#any-of? @_word "raise" "throw"))
(yield) @flag.generator
(return) @return
(return (argument_list)) @return.value
(method body: (_ (_) @return.value .))
(method "=" body: (_) @return.value)
(singleton_method body: (_ (_) @return.value .))
(singleton_method "=" body: (_) @return.value)
[(if) (elsif) (unless) (if_modifier) (unless_modifier) (conditional) (when) (in_clause) (rescue)
  (rescue_modifier)] @branch
[(while) (until) (for) (while_modifier) (until_modifier)] @loop
(break) @break
[(next) (redo)] @continue
["&&" "||" "and" "or" "&&=" "||="] @boolean

((call !receiver method: (identifier) @_word arguments: (argument_list . (string) .)) @import
  (#any-of? @_word "require" "require_relative" "load" "autoload"))
(comment) @comment
[(string_content) (heredoc_content) (heredoc_beginning) (heredoc_end) (escape_sequence) (character)] @opaque
[(simple_symbol) (delimited_symbol) (symbol_array) (uninterpreted)] @opaque
(hash_key_symbol) @label
((call receiver: (constant) @type) (#match? @type "^[A-Z]+[a-z]"))
(alias) @label
(undef) @label
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "params", "param_defaults", "modifiers", "extends", "throws", "calls", "uses", "reads", "writes", "mutations",
    "aliases", "inferred_types",
    flags=("generator", "returns"),
)  # fmt: skip

_KEYWORDS = words("""
BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in module next nil not
or private protected public raise redo rescue retry return self super then throw true undef unless until when while
yield module_function __FILE__ __LINE__ __method__ __dir__
""")

_MUTATORS = words("""
<< add add? append clear compact! concat delete delete_at delete_if downcase! filter! flatten! gsub! insert keep_if
map! merge! pop prepend push reject! replace reverse! select! shift shuffle! sort! sort_by! store strip! sub!
uniq! unshift upcase! update
""")

_CALLEE = re.compile(r"(?:@@?|\$)?[^\W\d]\w*[?!]?(?:(?:\.|&\.|::)[^\W\d]\w*[?!]?)*\Z")
_SPACE = re.compile(r"\s+")
_PARAMETER = re.compile(r"(?:\*\*?|&)?([^\W\d]\w*)\s*(:(?!:)|=)?\s*(.*)\Z", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
_REQUIRED = re.compile(r"(require_relative|require|load|autoload)\b[\s(]*[\"']([^\"'\n]+)[\"']")
_MADE = re.compile(r"([A-Z]\w*(?:::[A-Z]\w*)*)\.new\b")
_LITERALS = (
    (re.compile(r"-?\d[\d_]*\Z"), "Integer"),
    (re.compile(r"-?\d[\d_]*\.\d+\Z"), "Float"),
    (re.compile(r"(?:true|false)\Z"), "Boolean"),
    (re.compile(r"([\"'])(?:(?!\1).)*\1\Z"), "String"),
    (re.compile(r":\w+\Z"), "Symbol"),
    (re.compile(r"\[[^\[\]]*\]\Z"), "Array"),
    (re.compile(r"\{[^{}]*\}\Z"), "Hash"),
)
_TYPES = {
    "integer": "Integer",
    "float": "Float",
    "string": "String",
    "heredoc_beginning": "String",
    "simple_symbol": "Symbol",
    "delimited_symbol": "Symbol",
    "array": "Array",
    "string_array": "Array",
    "symbol_array": "Array",
    "hash": "Hash",
    "true": "Boolean",
    "false": "Boolean",
    "lambda": "Proc",
    "regex": "Regexp",
    "range": "Range",
}


def _visibility(_name: str, modifiers: list[str]) -> str:
    """By the word in front of it; sections do not concern methods of the class itself."""
    if "private_class_method" in modifiers:
        return "private"
    said = next((word for word in reversed(modifiers) if word in ("private", "protected", "public")), "")
    return said or ("public" if "self" in modifiers else "")


def _parameters(text: str, blanked: str) -> list[Parameter]:
    """`(a, (b, c), d: 1)`: what is taken apart is told by the names inside."""
    inside, hidden = (text[1:-1], blanked[1:-1]) if text.startswith("(") else (text, blanked)
    found = [_parameter(item) for item in split_list(inside, hidden) if not item.startswith("(")]
    apart = [
        Parameter(name) for item in split_list(inside, hidden) if item[0] == "(" for name in _NAME.findall(item)
    ]
    return [one for one in (*found, *apart) if one.name and one.name not in _KEYWORDS]


def _parameter(item: str) -> Parameter:
    named = _PARAMETER.match(item)
    return Parameter(named[1], "", named[3].strip() if named[2] else "") if named else Parameter("")


def _imports(text: str) -> list[Import]:
    found = _REQUIRED.match(text)
    if found is None:
        return []
    return [Import(f"./{found[2].removeprefix('./')}" if found[1] == "require_relative" else found[2])]


def _callee(written: str) -> str:
    name = _SPACE.sub("", written).removeprefix("::")
    return name if _CALLEE.match(name) and name not in _KEYWORDS - {"super"} else ""


def _infer(kind: str, text: str, _callee: str) -> str:
    if kind == "call":
        made = _MADE.match(text)
        return made[1] if made else ""
    if kind:
        return _TYPES.get(kind, "")
    return type_of_literal(_LITERALS, text)


LANGUAGE = Language(
    id="ruby",
    grammar="tree_sitter_ruby:language",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    separators=(".", "&.", "::"),
    signs_before="@$",
    signs_behind="?!",
    callee=_callee,
    calls_by_name=True,
    receivers=frozenset({"self", "super"}),
    restart=re.compile(rb"^(?:class|module|def) ", re.MULTILINE),
    comment_signs=HASH_COMMENTS,
)
