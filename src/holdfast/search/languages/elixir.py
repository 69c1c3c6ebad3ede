"""Elixir: its definitions. They are calls of macros in the eyes of its grammar, told apart by their names."""

import re

from holdfast.search.languages.definitions import definitions_only

__all__ = ["LANGUAGE"]

_QUERY = """
((call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body) @def.namespace
  (#eq? @_word "defmodule"))
((call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body) @def.interface
  (#eq? @_word "defprotocol"))
((call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body) @def.impl
  (#eq? @_word "defimpl"))
((call target: (identifier) @_word
  (arguments . [(identifier) @name (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")]))
  @def.function
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"))
((call target: (identifier) @modifier (arguments)) (#any-of? @modifier "defp" "defmacrop" "defguardp"))
((call target: (identifier) @_word (do_block) @body)
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word)) @wrapper
  . [(call) (unary_operator)] @wrapped (#any-of? @_word "spec" "impl"))

(comment) @comment
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments (string)))) @comment
  (#any-of? @_word "doc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word (arguments (string) @docstring)))
  (#eq? @_word "moduledoc"))
"""

_SIGNS = re.compile(
    r"^[ \t]*(?:#+[ \t]?|@(?:type)?doc[ \t]+(?:~[sS])?\"{1,3})|^[ \t]+|\"{0,3}[ \t\r]*$", re.MULTILINE
)
_PRIVATE = frozenset({"defp", "defmacrop", "defguardp"})


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "public" if _PRIVATE.isdisjoint(modifiers) else "private"


LANGUAGE = definitions_only(
    "elixir",
    "tree_sitter_elixir:language",
    _QUERY,
    root="source",
    fields="visibility modifiers",
    visibility=_visibility,
    comment_signs=_SIGNS,
    restart=rb"^def(?:module|protocol|impl) ",
)
