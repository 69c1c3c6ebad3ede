"""Shell scripts, read as bash: their functions, the variables of the script itself, and what they run.

Every command is a call. Variables are told without their sign, as they are written to; a function has no
parameters that it could declare, and nothing is private.
"""

import re

from holdfast.search.languages.rules.definitions import no_visibility
from holdfast.search.languages.rules.language import Import, Language, Parameter, every_field, words

__all__ = ["LANGUAGE"]

_QUERY = """
(function_definition name: (_) @name body: (_) @body) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (variable_assignments (variable_assignment name: (variable_name) @name) @def.variable))
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)
(program (list . (variable_assignment name: (variable_name) @name) @def.variable))

(command name: (command_name (word)) @call) @call.whole
(unset_command "unset" @call)
(variable_assignment name: [(variable_name) (subscript)] @assign.target "=" value: (_) @assign.value)
(variable_assignment name: (variable_name) @bind !value)
(variable_assignment name: (_) @mutated "+=")
(variable_assignment name: (variable_name) @local "+=")
(declaration_command (variable_name) @local)
(for_statement variable: (_) @bind)
(c_style_for_statement update: (_ (word) @update))
(postfix_expression (variable_name) @update)

((command name: (command_name (word) @_word)) @return (#eq? @_word "return"))
((command name: (command_name (word) @_word) argument: (_) @return.value) (#eq? @_word "return"))
((command name: (command_name (word) @break)) (#eq? @break "break"))
((command name: (command_name (word) @continue)) (#eq? @continue "continue"))
[(if_statement) (elif_clause) (case_item)] @branch
[(for_statement) (c_style_for_statement) (while_statement)] @loop
["&&" "||"] @boolean
(binary_expression ["-a" "-o"] @boolean)

((command name: (command_name (word) @_word) . argument: (_)) @import (#any-of? @_word "source" "."))
((declaration_command "export" (variable_assignment name: (variable_name) @export)))
((declaration_command "export" (variable_name) @export))
(comment) @comment
[(word) (string_content) (raw_string) (ansi_c_string) (heredoc_body) (heredoc_start) (heredoc_end) (regex)
  (extglob_pattern) (test_operator) (file_descriptor) (special_variable_name) (number)] @opaque
(heredoc_body [(simple_expansion (variable_name) @template) (expansion (variable_name) @template)])
(expansion (concatenation . (variable_name) @opaque))
(simple_expansion "$" @label)
["${" "$(" "$((" "((" "[[" "[" "]" "]]"] @label
(unset_command (variable_name) @label)
(declaration_command ["local" "declare" "typeset" "export" "readonly"] @label)
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("returns",),
) - {"visibility"}  # fmt: skip

_KEYWORDS = words("""
if then else elif fi for while until do done case esac in select function time
""")

_NOT_CALLED = words(": break continue return true false [ . source")
# The line that names the interpreter says nothing about the script.
_SIGNS = re.compile(r"\A#![^\n]*\n?|^[ \t]*#+[ \t]?|[ \t\r]+$", re.MULTILINE)
_COMMAND = re.compile(r"[\w./+:@%-]+\Z")
_SOURCED = re.compile(r"(?:source|\.)\s+(.+)\Z", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?\Z")
_TYPES = {"array": "array"}


def _no_parameters(_text: str, _blanked: str) -> list[Parameter]:
    return []


def _imports(text: str) -> list[Import]:
    found = _SOURCED.match(text)
    return [Import(found[1].strip().strip("\"'"))] if found else []


def _no_public_names(_source: bytes, _public: list[str]) -> list[str]:
    """Nothing is exported but what says so."""
    return []


def _callee(written: str) -> str:
    return written if _COMMAND.match(written) and written not in _NOT_CALLED else ""


def _infer(kind: str, text: str, _callee: str) -> str:
    return "number" if _NUMBER.match(text) else _TYPES.get(kind, "")


LANGUAGE = Language(
    id="shell",
    grammar="tree_sitter_bash:language",
    query=_QUERY,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=no_visibility,
    parameters=_no_parameters,
    imports=_imports,
    exports=_no_public_names,
    infer=_infer,
    separators=(),
    signs_before="$",
    silent_sign="$",
    callee=_callee,
    restart=re.compile(rb"^(?:function\s+[\w:.-]+|[\w:.-]+[ \t]*\(\))", re.MULTILINE),
    comment_signs=_SIGNS,
)
