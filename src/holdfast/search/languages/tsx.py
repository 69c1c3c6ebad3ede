"""TSX: TypeScript with tags, which has a grammar of its own."""

from holdfast.search.languages.rules.ecmascript import JSX
from holdfast.search.languages.rules.ecmascript_rules import define_language
from holdfast.search.languages.typescript import TYPED_FACTS, typescript_query

__all__ = ["LANGUAGE"]

LANGUAGE = define_language(
    "tsx",
    "tree_sitter_typescript:language_tsx",
    typescript_query(JSX),
    *TYPED_FACTS,
)
