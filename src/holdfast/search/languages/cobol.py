"""COBOL: its programs, sections and paragraphs, and the records that they work on."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

# A paragraph is a line in the eyes of the grammar; what stands behind it, up to the next one, belongs to it.
_QUERY = """
(program_definition (identification_division (program_name) @name)) @def.namespace
(program_definition (data_division) @body)
(program_definition (procedure_division) @body)
(procedure_division (section_header) @name @def.function)
(procedure_division (paragraph_header) @name @def.function)
(procedure_division (_) @rest)
((data_description (level_number) @_level . (entry_name) @name) @def.variable
  (#any-of? @_level "01" "1" "77" "78"))
((data_description (level_number) @_level) @rest (#not-any-of? @_level "01" "1" "77" "78"))
(comment) @comment
"""

# The numbers of the first six columns are no words, and neither is the star behind them.
_SIGNS = re.compile(r"^(?:\d{6}| {6})?[ \t]*\*>?[ \t]?|[ \t\r]+$", re.MULTILINE)


def _naming(written: str) -> str:
    """The header of a paragraph is its name, and a period; that of a section says so."""
    return written.split(maxsplit=1)[0].rstrip(".")


# Code begins behind six columns. At a last line that has no more, the grammar never comes to an end.
_TOO_SHORT = rb"(?m)^[^\n]{1,6}$"

LANGUAGE = definitions_only(
    "cobol",
    packed("cobol"),
    _QUERY,
    root="start",
    comment_signs=_SIGNS,
    misleading=_TOO_SHORT,
    naming=_naming,
)
