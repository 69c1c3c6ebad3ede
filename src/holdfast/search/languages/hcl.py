"""HCL, the language of Terraform and its kin: the blocks of a file, called by their labels."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

_QUERY = """
(config_file (body (block . (identifier) @name . (block_start) @body) @def.object))
((config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name) . (block_start) @body)
  @def.object)) (#not-eq? @_word "variable"))
((config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name)) @def.variable))
  (#eq? @_word "variable"))
(config_file (body (block . (identifier) . (string_lit (template_literal) @owner)
  . (string_lit (template_literal) @name) . (block_start) @body) @def.object))
((config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name)) @def.function))
  (#eq? @_word "function"))
(config_file (body (attribute . (identifier) @name) @def.variable))
((config_file (body (block . (identifier) @_word
  (body (attribute . (identifier) @name) @def.variable)))) (#eq? @_word "locals"))
(comment) @comment
"""

LANGUAGE = definitions_only(
    "hcl",
    packed("hcl"),
    _QUERY,
    root="config_file",
    comment_signs=HASH_COMMENTS,
    restart=rb"^(?:resource|data|variable|output|module|provider|locals|terraform|job)\b",
)
