"""Clojure: its definitions. They are lists in the eyes of its grammar, told apart by their first word."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_KINDS = {
    "namespace": "ns",
    "function": "defn defn- defmacro defmulti defmethod deftest definline",
    "variable": "def defonce",
    "struct": "defrecord deftype defstruct",
    "interface": "defprotocol definterface",
}


def _defined(kind: str, words: str) -> str:
    listed = " ".join(f'"{word}"' for word in words.split())
    return f"""((list_lit . (sym_lit name: (_) @_word) . (sym_lit name: (_) @name)) @def.{kind}
      (#any-of? @_word {listed}))"""


_QUERY = (
    "\n".join(_defined(kind, words) for kind, words in _KINDS.items())
    + """
((list_lit . (sym_lit name: (_) @modifier) . (sym_lit)) (#any-of? @modifier "defn-" "defmacro"))
((list_lit . (sym_lit name: (_) @_word) . (sym_lit) . (str_lit) @docstring)
  (#any-of? @_word "defn" "defn-" "defmacro" "ns" "defprotocol"))
((list_lit . (sym_lit name: (_) @_word) . (sym_lit) (vec_lit) @_parameters . (_) @body)
  (#any-of? @_word "defn" "defn-" "defmacro"))
((list_lit . (sym_lit name: (_) @_word) . (sym_lit)
  (list_lit . (sym_lit name: (_) @name) . (vec_lit)) @def.function)
  (#any-of? @_word "defprotocol" "defrecord" "deftype" "definterface"))
(comment) @comment
"""
)


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "private" if "defn-" in modifiers else "public"


LANGUAGE = definitions_only(
    "clojure",
    packed("clojure"),
    _QUERY,
    root="source",
    fields="visibility modifiers",
    visibility=_visibility,
    comment_signs=re.compile(r"^[ \t]*;+[ \t]?|[ \t\r]+$", re.MULTILINE),
    restart=rb"^\(def",
)
