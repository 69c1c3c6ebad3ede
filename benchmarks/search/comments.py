"""Definitions of JavaScript, TypeScript, Go, Java and Rust and the documentation comments above them.

Read with tree-sitter, by a plain walk: the comments that stand directly above a definition are its documentation.
"""

import functools
import importlib
import re
from typing import TYPE_CHECKING

from benchmarks.search.model import Definition, Reading

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["LANGUAGES", "read_commented"]

LANGUAGES = {
    ".go": ("tree_sitter_go", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".js": ("tree_sitter_javascript", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
}
KINDS = {
    "abstract_class_declaration": "class",
    "class_declaration": "class",
    "constructor_declaration": "function",
    "enum_declaration": "enum",
    "enum_item": "enum",
    "function_declaration": "function",
    "function_item": "function",
    "generator_function_declaration": "function",
    "interface_declaration": "interface",
    "method_declaration": "function",
    "method_definition": "function",
    "struct_item": "struct",
    "trait_item": "trait",
    "type_spec": "struct",
}
FUNCTION_VALUES = {"arrow_function", "function_expression", "generator_function"}
WRAPPERS = {"export_statement", "lexical_declaration", "variable_declaration", "type_declaration"}
COMMENTS = {"comment", "line_comment", "block_comment"}
# What is documentation in each language; other comments above a definition stay where they are.
MARKS: dict[str, tuple[bytes, ...]] = {".go": (b"//", b"/*"), ".rs": (b"///", b"/**")}
DECORATION = re.compile(r"^\s*(?:/\*\*?|\*/|\*(?!/)|///?)\s?|\s*\*/\s*$")
INLINE_TAG = re.compile(r"\{@\w+\s+([^}]*)\}|</?\w+[^>]*>")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[(])")


def read_commented(source: bytes, suffix: str) -> Reading:
    """The definitions of a file with the first sentence of the comment above each."""
    tree = _parser(suffix).parse(source)
    reading = Reading([], [])
    waiting = [(tree.root_node, "")]
    while waiting:
        node, prefix = waiting.pop()
        named = _name_of(node)
        if named is not None:
            name = (named.text or b"").decode()
            prefix = f"{prefix}.{name}" if prefix else name
            outer = _outermost(node)
            comments = _documentation(outer, MARKS.get(suffix, (b"/**",)))
            summary = _summary([(comment.text or b"").decode() for comment in comments], name)
            kind = KINDS.get(node.type, "function")
            first, header, last = outer.start_point[0] + 1, named.start_point[0] + 1, outer.end_point[0] + 1
            reading.definitions.append(Definition(prefix, kind, first, header, last, summary))
            reading.documentation.extend(_removal(comment, source) for comment in comments)
        waiting.extend((child, prefix) for child in reversed(node.named_children))
    return reading


@functools.cache
def _parser(suffix: str) -> "Parser":
    from tree_sitter import Language, Parser

    module, function = LANGUAGES[suffix]
    return Parser(Language(getattr(importlib.import_module(module), function)()))


def _name_of(node: "Node") -> "Node | None":
    is_value = node.type == "variable_declarator"
    value = node.child_by_field_name("value") if is_value else None
    if node.type not in KINDS and not (value is not None and value.type in FUNCTION_VALUES):
        return None
    return node.child_by_field_name("name")


def _outermost(node: "Node") -> "Node":
    """The statement around a definition, when it holds nothing else: `export const f = () => 1`."""
    outer = node
    while outer.parent is not None and outer.parent.type in WRAPPERS and _holds_one(outer.parent):
        outer = outer.parent
    return outer


def _holds_one(node: "Node") -> bool:
    return sum(child.type not in COMMENTS for child in node.named_children) == 1


def _documentation(node: "Node", marks: tuple[bytes, ...]) -> list["Node"]:
    """The comments directly above a node, first one first; attributes and decorators in between are skipped."""
    found: list[Node] = []
    row = node.start_point[0]
    above = node.prev_named_sibling
    while above is not None and above.type in {*COMMENTS, "attribute_item", "decorator"}:
        if above.type in COMMENTS:
            text = above.text or b""
            # A line comment of Rust ends at the start of the next line.
            if not text.startswith(marks) or _last_row(above) < row - 1:
                break
            found.append(above)
        row = above.start_point[0]
        above = above.prev_named_sibling
    return found[::-1]


def _last_row(node: "Node") -> int:
    row, column = node.end_point
    return row - 1 if column == 0 else row


def _removal(comment: "Node", source: bytes) -> tuple[int, int, bytes]:
    """The bytes of a comment, with its whole lines when nothing else is on them."""
    start, end = comment.start_byte, comment.end_byte
    if source[start:end].endswith(b"\n"):
        end -= 1
    line = source.rfind(b"\n", 0, start) + 1
    after = source.find(b"\n", end)
    after = len(source) - 1 if after < 0 else after
    if source[line:start].strip() or source[end:after].strip():
        return start, end, b""
    return line, after + 1, b""


def _summary(comments: list[str], name: str) -> str:
    """The first sentence; a comment that begins with the name that it documents loses that word."""
    words: list[str] = []
    for line in "\n".join(comments).splitlines():
        text = INLINE_TAG.sub(r"\1", DECORATION.sub("", DECORATION.sub("", line))).strip()
        if text.startswith("@") or (not text and words):
            break
        words.extend(text.split())
    if words and words[0].strip("`") == name.rpartition(".")[2]:
        words = words[1:]
    return SENTENCE.split(" ".join(words))[0]
