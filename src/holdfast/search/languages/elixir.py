"""Elixir: its query and its rules.

Definitions are calls of macros in the eyes of its grammar, told apart by their names; each clause of a function is
a definition of its own. A function has no way to leave but its end, so nothing is said of returns.
"""

import re

from holdfast.search.languages.rules.language import Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import split_list
from holdfast.search.languages.rules.literals import type_of_literal

__all__ = ["LANGUAGE"]

_FUNCTIONS = '"def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"'

_QUERY = f"""
((call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body) @def.namespace
  (#eq? @_word "defmodule"))
((call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body) @def.interface
  (#eq? @_word "defprotocol"))
((call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body) @def.impl
  (#eq? @_word "defimpl"))
((call target: (identifier) @_word (arguments . [
    (identifier) @name
    (call target: (identifier) @name @uncalled (arguments)? @params @unwritten)
    (binary_operator left: [(identifier) @name
      (call target: (identifier) @name @uncalled (arguments)? @params @unwritten)] operator: "when")]))
  @def.function (#any-of? @_word {_FUNCTIONS}))
((call target: (identifier) @_word (arguments . (binary_operator left: (identifier) operator: _ @name
  right: (identifier)))) @def.function (#any-of? @_word "def" "defp") (#not-eq? @name "when"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments . (binary_operator
    left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))) @def.type
  (#any-of? @_word "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments . (binary_operator
    left: (call target: (identifier) @name) operator: "::")))) @def.function
  (#any-of? @_word "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @modifier)) (#eq? @modifier "typep"))
((call target: (identifier) @modifier (arguments)) (#any-of? @modifier "defp" "defmacrop" "defguardp"))
((call target: (identifier) @_word (do_block) @body) (#any-of? @_word {_FUNCTIONS}))
((call target: (identifier) @_word (arguments (_) . (keywords . (pair key: (keyword) @_do)) @body .))
  (#any-of? @_word {_FUNCTIONS}) (#match? @_do "^do:"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word)) @wrapper
  . [(call) (unary_operator)] @wrapped (#any-of? @_word "spec" "impl" "deprecated"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments . (keywords)))) @wrapper
  . [(call) (unary_operator)] @wrapped (#any-of? @_word "doc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments [
    (binary_operator operator: "::" right: (_) @result)
    (binary_operator left: (binary_operator operator: "::" right: (_) @result) operator: "when")])))
  (#any-of? @_word "spec" "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments (alias) @base)))
  (#eq? @_word "behaviour"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments) @type))
  (#any-of? @_word "spec" "type" "typep" "opaque" "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word)) @uncalled
  (#any-of? @_word "spec" "type" "typep" "opaque" "callback" "macrocallback" "impl"))
(unary_operator operator: "@" operand: (call target: (identifier) @uncalled))
(unary_operator operator: "@" operand: (call target: (identifier) @label))

(call target: (identifier) @call)
(call target: (dot left: (alias) right: (identifier)) @call)
(call target: (dot) @call (arguments))
(arguments) @arguments
(anonymous_function) @anonymous
(unary_operator operator: "&" operand: (binary_operator left: [(identifier) (call)] @type operator: "/"))
(binary_operator left: (identifier) @assign.target operator: "=" right: (_) @assign.value)
(binary_operator left: [(tuple) (list) (map) (bitstring) (binary_operator left: (string))]
  @bind.pattern @unpack.target operator: "=" right: (_) @unpack.value)
(binary_operator left: [(identifier) (tuple) (list) (map) (bitstring)
    (binary_operator left: [(string) (tuple) (list) (map)])]
  @bind.pattern @unpack.target operator: "<-" right: (_) @unpack.value)
(binary_operator left: (binary_operator
    left: [(identifier) (tuple) (list) (map)] @bind.pattern @unpack.target operator: "when")
  operator: "<-" right: (_) @unpack.value)
(stab_clause left: (arguments) @unwritten)
(stab_clause left: (arguments [(identifier) (tuple) (list) (map) (bitstring)
  (binary_operator operator: ["=" "<>"])] @local.pattern))
(stab_clause left: (binary_operator left: (arguments) @local.pattern @unwritten operator: "when"))
(rescue_block (stab_clause left: (arguments (binary_operator left: (identifier) @bind operator: "in"))))

((call target: (identifier) @_word (arguments . [(alias) (identifier) (atom)] @throw))
  (#any-of? @_word "raise" "reraise" "throw"))
((call target: (identifier) @_word) @branch (#any-of? @_word "if" "unless"))
[(do_block (stab_clause) @branch) (else_block (stab_clause) @branch) (rescue_block (stab_clause) @branch)
  (catch_block (stab_clause) @branch)]
((call target: (identifier) @_word) @loop (#eq? @_word "for"))
["&&" "||" "and" "or"] @boolean

((call target: (identifier) @_word (arguments . [(alias) (dot)])) @import
  (#any-of? @_word "alias" "import" "require" "use"))
(comment) @comment
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments [(string) (sigil)]))) @comment
  (#any-of? @_word "doc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word
    (arguments [(string) (sigil)] @docstring)))
  (#eq? @_word "moduledoc"))
(alias) @type
[(quoted_content) (escape_sequence) (atom) (quoted_atom) (char)] @opaque
[(keyword) (quoted_keyword) (sigil_name) (sigil_modifiers)] @label
(ERROR) @error
(MISSING) @error
"""


_FIELDS = every_field(
    "params", "param_types", "param_defaults", "modifiers", "extends", "return_types", "throws", "calls", "uses",
    "reads", "writes", "aliases", "inferred_types",
    flags=(),
) - {"returns", "breaks", "continues"}  # fmt: skip

_MACROS = words("""
alias case cond def defdelegate defexception defguard defguardp defimpl defmacro defmacrop defmodule defoverridable
defp defprotocol defstruct for if import quote raise receive require reraise throw try unless unquote
unquote_splicing use with
""")
_KEYWORDS = _MACROS | words("""
_ after and catch do else end false fn in nil not or rescue true when
__CALLER__ __DIR__ __ENV__ __MODULE__ __STACKTRACE__
""")

_SIGNS = re.compile(
    r"^[ \t]*(?:#+[ \t]?|@(?:type)?doc[ \t]+(?:~[sS])?\"{1,3})|^[ \t]+|\"{0,3}[ \t\r]*$", re.MULTILINE
)
_PRIVATE = frozenset({"defp", "defmacrop", "defguardp", "typep"})
_BOUND = re.compile(rb"(?<![\w:.@%^&\x80-\xff])[a-z_][\w\x80-\xff]*[?!]?(?![\w\x80-\xff.(]|:(?!:))")
_CALLEE = re.compile(r":?[^\W\d]\w*[?!]?(?:\.[^\W\d]\w*[?!]?)*\Z")
_SPACE = re.compile(r"\s+")
_NAMED = re.compile(r"(.*?)(?<!\s)\s*=\s*([a-z_]\w*[?!]?)\Z|([a-z_]\w*[?!]?)\s*=\s*(.*)\Z", re.DOTALL)
_STRUCT = re.compile(r"%([A-Z][\w.]*)\{")
_INSIDE = re.compile(r"(?<![\w:.@%^])([a-z_]\w*[?!]?)(?!\w|\(|:(?!:))")
_QUOTED = re.compile(r"\"[^\"]*\"")
_IMPORT = re.compile(r"(\w+)[\s(]+([A-Z][\w.]*?)(?:\.\{([^}]*)\})?\s*(?:,(.*))?\)?\Z", re.DOTALL)
_AS = re.compile(r"\bas:\s*([\w.]+)")
_ONLY = re.compile(r"\bonly:\s*\[([^\]]*+)\]")
_TYPES = {
    "integer": "integer",
    "float": "float",
    "string": "String",
    "boolean": "boolean",
    "atom": "atom",
    "list": "list",
    "tuple": "tuple",
    "anonymous_function": "function",
    "charlist": "charlist",
}
_LITERALS = (
    (re.compile(r"-?\d[\d_]*\Z"), "integer"),
    (re.compile(r"-?\d[\d_]*\.\d+\Z"), "float"),
    (re.compile(r"(?:true|false)\Z"), "boolean"),
    (re.compile(r"\"[^\"]*\"\Z"), "String"),
    (re.compile(r":\w+[?!]?\Z"), "atom"),
    (re.compile(r"\[.*\]\Z", re.DOTALL), "list"),
    (re.compile(r"%\{.*\}\Z", re.DOTALL), "map"),
)


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "public" if _PRIVATE.isdisjoint(modifiers) else "private"


def _parameters(text: str, blanked: str) -> list[Parameter]:
    """Patterns by the names inside, and by the one that is given to the whole."""
    bare = text.startswith("(")
    inside, hidden = (text[1:-1], blanked[1:-1]) if bare else (text, blanked)
    return [
        found for item in split_list(inside, hidden) for found in _parameter(item) if found.name not in _KEYWORDS
    ]


def _parameter(item: str) -> list[Parameter]:
    pattern, _, default = item.partition("\\\\")
    pattern, default = pattern.strip(), default.strip()
    named = _NAMED.match(pattern)
    whole = named[1] or named[4] if named else pattern
    struct = _STRUCT.match(whole)
    declared = struct[1] if struct else ""
    if pattern.rstrip("?!").isidentifier():
        return [Parameter(pattern, declared, default)]
    inside = [Parameter(name) for name in _INSIDE.findall(_QUOTED.sub("", whole)) if name not in _KEYWORDS]
    return [*inside, Parameter(named[2] or named[3], declared, default)] if named else inside


def _imports(text: str) -> list[Import]:
    found = _IMPORT.match(text)
    if found is None:
        return []
    word, module, group, options = found.groups()
    if group is not None:
        return [_alias(f"{module}.{name}", name) for name in split_list(group)]
    called = _AS.search(options or "")
    if called or word == "alias":
        return [_alias(module, called[1] if called else module)]
    only = _ONLY.search(options or "") if word == "import" else None
    names = [item.partition(":")[0].strip() for item in split_list(only[1])] if only else []
    return [Import(module, tuple((name, f"{module}.{name}") for name in names))]


def _alias(module: str, called: str) -> Import:
    return Import(module, ((called.rpartition(".")[2], module),))


def _callee(written: str) -> str:
    name = _SPACE.sub("", written).removesuffix(".")
    return name if _CALLEE.match(name) and name not in _KEYWORDS else ""


def _infer(kind: str, text: str, _callee: str) -> str:
    if kind == "map":
        struct = _STRUCT.match(text)
        return struct[1] if struct else "map"
    if kind:
        return _TYPES.get(kind, "")
    return type_of_literal(_LITERALS, text)


LANGUAGE = Language(
    id="elixir",
    grammar="tree_sitter_elixir:language",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    bound=_BOUND,
    signs_before="@",
    signs_behind="?!",
    callee=_callee,
    restart=re.compile(rb"^def(?:module|protocol|impl) ", re.MULTILINE),
    comment_signs=_SIGNS,
)
