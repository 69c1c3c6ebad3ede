"""Pascal and Delphi: their definitions."""

import re

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_NAMED = "name: [(identifier) @name (genericDot lhs: (_) @owner rhs: (identifier) @name)]"

_QUERY = f"""
(unit (moduleName) @name (interface) @body) @def.namespace
(program (moduleName) @name) @def.namespace
(library (moduleName) @name) @def.namespace
(declConst name: (identifier) @name) @def.variable
(declType name: (identifier) @name type: (declClass [(kClass) (kObject)]) @body) @def.class
(declType name: (identifier) @name type: (declClass (kRecord)) @body) @def.struct
(declType name: (identifier) @name type: (declIntf) @body) @def.interface
(declType name: (identifier) @name type: (type (declEnum) @body)) @def.enum
(declType name: (identifier) @name) @def.type
(declClass parent: (typeref) @base)
(declIntf parent: (typeref) @base)
(interface (declProc {_NAMED}) @def.function)
(declSection (declProc {_NAMED}) @def.method)
(declClass (declProc {_NAMED}) @def.method)
(declIntf (declProc {_NAMED}) @def.method)
(defProc header: (declProc name: (identifier) @name)) @def.function
(defProc header: (declProc name: (genericDot lhs: (_) @owner rhs: (identifier) @name))) @def.method
(defProc local: (_) @body)
(defProc body: (_) @body)
(comment) @comment
"""

LANGUAGE = definitions_only(
    "pascal",
    packed("pascal"),
    _QUERY,
    root="root",
    fields="extends",
    comment_signs=re.compile(r"^[ \t]*(?://+|\{|\(\*+|\*)[ \t]?|[ \t]*+(?:\}|\*\))?[ \t\r]*+$", re.MULTILINE),
    restart=rb"(?i)^(?:function|procedure|constructor|destructor|implementation|type|const)\b",
)
