"""Dockerfiles: their stages, called by their names or by what they are made from."""

from holdfast.search.languages.rules.definitions import definitions_only, packed
from holdfast.search.languages.rules.language import HASH_COMMENTS

__all__ = ["LANGUAGE"]

# What stands behind the first line of a stage, up to the next one, belongs to it.
_QUERY = """
(source_file (from_instruction as: (_) @name) @def.object)
(source_file (from_instruction (image_spec name: (_) @name) !as) @def.object)
(source_file (from_instruction) @_before . (_) @body)
(source_file (_) @rest)
(comment) @comment
"""

LANGUAGE = definitions_only(
    "dockerfile",
    packed("dockerfile"),
    _QUERY,
    root="source_file",
    comment_signs=HASH_COMMENTS,
    restart=rb"(?i)^from[ \t]",
    misleading=rb"\\\r\n",  # the grammar knows lines that go on with the line ends of one system only
)
