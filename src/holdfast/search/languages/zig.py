"""Zig: its definitions. A container is whatever a constant is bound to."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]


def _container(words: str, kind: str) -> str:
    return f"""((Decl (VarDecl variable_type_function: (_) @name (ErrorUnionExpr (SuffixExpr
      (ContainerDecl) @body)))) @def.{kind} (#match? @body "^(?:extern |packed )?(?:{words})"))"""


_QUERY = f"""
{_container("struct|union|opaque", "struct")}
{_container("enum", "enum")}
(Decl (VarDecl variable_type_function: (_) @name (ErrorUnionExpr (SuffixExpr (ErrorSetDecl) @body)))) @def.enum
(source_file (Decl (VarDecl variable_type_function: (_) @name)) @def.variable)
(ContainerDecl (Decl (VarDecl "const" variable_type_function: (_) @name)) @def.variable)
(Decl (FnProto function: (_) @name)) @def.function
(Decl (FnProto) (Block) @body)
(TestDecl [(STRINGLITERALSINGLE) (IDENTIFIER)] @name (Block) @body) @def.function
(source_file "pub" @wrapper @modifier . (Decl) @wrapped)
(ContainerDecl "pub" @wrapper @modifier . (Decl) @wrapped)
(Decl ["export" "extern" "inline"] @modifier)
[(line_comment) (doc_comment) (container_doc_comment)] @comment
"""


def _visibility(_name: str, modifiers: list[str]) -> str:
    return "public" if "pub" in modifiers or "export" in modifiers else "private"


def _naming(written: str) -> str:
    return written.strip('"')


LANGUAGE = definitions_only(
    "zig",
    packed("zig"),
    _QUERY,
    root="source_file",
    fields="visibility modifiers",
    visibility=_visibility,
    naming=_naming,
    restart=rb"^(?:pub |export |extern |inline )?(?:fn|const|var|test) ",
)
