"""The rules of JavaScript and TypeScript: parameters, imports, visibility and types as they are written.

They read short texts, not trees: the query has found the place, and a list of parameters is quickly read by hand.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.search.languages.rules.language import DOC_BLOCKS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.literals import type_of_literal

__all__ = ["define_language"]

_FACTS = (
    "params", "param_defaults", "decorators", "modifiers", "extends", "throws", "awaits", "calls", "uses", "reads",
    "writes", "mutations", "aliases", "inferred_types",
)  # fmt: skip

_KEYWORDS = words("""
await break case catch class const continue debugger default delete do else enum export extends false finally for
function if implements import in instanceof interface let new null private protected public return super switch
this throw true try typeof undefined var void while with yield
""")

_MUTATORS = words("""
add append appendChild clear copyWithin delete fill insertBefore pop prepend push removeChild reverse set
setAttribute shift sort splice unshift
""")

# Patterns inside of patterns are followed this far.
_MAX_DEPTH = 6

_NAME = re.compile(r"(?:[^\W\d]|\$)[\w$]*\Z")
_BEFORE_A_NAME = re.compile(
    r"(?:\s|\.\.\.|@[\w$.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|(?:public|private|protected|readonly|override)\b(?=\s+[\w$]))*"
)
_SIGNS = re.compile(r"=>|[=!<>]==?|[(\[{<>)\]},;=:]")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_TYPE_NAME = re.compile(r"[\w$.]+\Z")

_FROM = re.compile(r"import\b\s*(?:type\b(?!\s*(?:,|from\b))\s*)?(.*?)\s*\bfrom\s*([\"'])([^\"'\n]*)\2", re.DOTALL)
_SOURCE = re.compile(r"(?:import\s*)?([\"'])([^\"'\n]*)\1")
_LOADED = re.compile(r"(?:\b(?:require|import)\s*)?\(\s*([\"'])([^\"'\n]*)\1[^)]*\)+(?:\s*\.\s*([\w$]+))?")
_BOUND = re.compile(r"(?:import\s+)?(?:\{([^{}]*)\}|([\w$]+))\s*(?::[^=]*)?=", re.DOTALL)

_KINDS = {
    "string": "string",
    "template_string": "string",
    "number": "number",
    "true": "boolean",
    "false": "boolean",
    "array": "Array",
    "object": "Object",
    "regex": "RegExp",
}
_CONVERSIONS = {
    "Number": "number",
    "String": "string",
    "Boolean": "boolean",
    "BigInt": "bigint",
    "Symbol": "symbol",
}
_LITERALS = (
    (re.compile(r"-?(?:\d[\d_]*+\.?[\d_]*+(?:[eE][-+]?\d+)?|\.\d+|0[xXbBoO][\da-fA-F_]+)\Z"), "number"),
    (re.compile(r"-?\d[\d_]*n\Z"), "bigint"),
    (re.compile(r"(?:true|false)\Z|!"), "boolean"),
    (re.compile(r"([\"'`])(?:(?!\1).)*\1\Z|typeof\b"), "string"),
    (re.compile(r"\[[^\[\]]*\]\Z"), "Array"),
    (re.compile(r"\{[^{}]*\}\Z"), "Object"),
)
_MADE = re.compile(r"new\s+([\w$.]+)(?:<[^()]*>)?(?:\(.*)?\Z", re.DOTALL)
_RESTART = re.compile(
    rb"^(?:abstract|async|class|const|declare|enum|export|function|import|interface|let|namespace|type|var)\b",
    re.MULTILINE,
)
_TAG = re.compile(r"@(throws|returns?)[ \t]+\{((?:[^{}]|\{[^{}]*\})*)\}")
_CAST = re.compile(r".*\b(?:as|satisfies)\s+(.+)\Z", re.DOTALL)


def _visibility(name: str, modifiers: list[str]) -> str:
    """By the modifier, the sign of a private name, or the underscore that people agreed on."""
    for word in ("private", "protected"):
        if word in modifiers:
            return word
    if name.startswith("#"):
        return "private"
    return "protected" if name.startswith("_") and "public" not in modifiers else "public"


@dataclass(slots=True)
class _Item:
    """One item of a list, by offsets: `start [: colon] [= equals] end`; -1 where there is none."""

    start: int
    colon: int = -1
    equals: int = -1
    end: int = -1

    def first(self) -> int:
        """Where the name or the pattern ends."""
        return next(at for at in (self.colon, self.equals, self.end) if at >= 0)


def _items(text: str, start: int, end: int) -> Iterator[_Item]:
    """The items between two offsets that are separated by commas (or semicolons) outside of all brackets."""
    item, depth, angles = _Item(start), 0, 0
    for found in _SIGNS.finditer(text, start, end):
        sign, at = found[0], found.start()
        in_type = item.colon >= 0 > item.equals
        if sign in _DEPTH:
            depth += _DEPTH[sign]
        elif in_type and (sign == "<" or (sign == ">" and angles)):
            angles += 1 if sign == "<" else -1
        elif depth > 0 or angles > 0:
            continue
        elif sign in ",;":
            item.end = at
            yield item
            item = _Item(found.end())
        elif sign == "=" and item.equals < 0:
            item.equals = at
        elif sign == ":" and item.colon < 0 and item.equals < 0:
            item.colon = at
    item.end = end
    yield item


def _parameters(text: str, blanked: str) -> list[Parameter]:
    """The parameters of a list in brackets, or the only one of an arrow function; patterns by the names inside."""
    where = blanked if len(blanked) == len(text) else text
    if not text.startswith("("):
        return [Parameter(text)]
    found: list[Parameter] = []
    for item in _items(where, 1, len(text) - text.endswith(")")):
        start = _BEFORE_A_NAME.match(text, item.start, item.end).end()  # type: ignore[union-attr]
        default = text[item.equals + 1 : item.end].strip() if item.equals >= 0 else ""
        declared_end = item.equals if item.equals >= 0 else item.end
        declared = text[item.colon + 1 : declared_end].strip() if item.colon >= 0 else ""
        name = text[start : item.first()].rstrip(" \t\r\n?")
        if name[:1] in ("{", "["):
            found += _inside(text, where, (start + 1, start + len(name) - 1), declared)
        elif _NAME.match(name) and name != "this":
            found.append(Parameter(name, declared, default))
    return found


def _inside(text: str, where: str, span: tuple[int, int], declared: str) -> list[Parameter]:
    """The names in a pattern; those at its top have the types that the type of the whole gives them."""
    found: list[Parameter] = []
    types = _member_types(declared)
    pending = [(span, 0)]
    while pending:
        (start, end), depth = pending.pop(0)
        for item in _items(where, start, end):
            key = text[item.start : item.first()].strip()
            default = text[item.equals + 1 : item.end].strip() if item.equals >= 0 else ""
            target_end = item.equals if item.equals >= 0 else item.end
            target = text[item.colon + 1 : target_end].strip() if item.colon >= 0 else key
            if target[:1] in ("{", "[") and depth < _MAX_DEPTH:
                inner = text.index(target[0], item.colon + 1 if item.colon >= 0 else item.start)
                pending.append(((inner + 1, inner + len(target) - 1), depth + 1))
            elif _NAME.match(target.removeprefix("...")):
                known = "" if depth or target.startswith("...") else types.get(key, types.get("", ""))
                found.append(Parameter(target.removeprefix("..."), known.replace("*", key), default))
    return found


def _member_types(declared: str) -> dict[str, str]:
    """The types of the members of a type: written out, or `Props["name"]` for each (with * for the name)."""
    if _TYPE_NAME.match(declared):
        return {"": f'{declared}["*"]'}
    if not declared.startswith("{"):
        return {}
    found = {}
    for item in _items(declared, 1, len(declared) - 1):
        if item.colon >= 0:
            found[declared[item.start : item.colon].strip().rstrip("?")] = declared[
                item.colon + 1 : item.end
            ].strip()
    return found


def _imports(text: str) -> list[Import]:
    """What an import, a re-export, `require` or `import()` loads, and the names that it binds."""
    matched = _FROM.match(text)
    if matched:
        return [Import(matched[3], tuple(_clause(matched[1], _full(matched[3]))))]
    loaded = _LOADED.search(text)
    if loaded:
        return [Import(loaded[2], tuple(_loaded(text[: loaded.start()], _full(loaded[2]), loaded[3])))]
    source = _SOURCE.match(text)
    return [Import(source[2])] if source else []


def _full(module: str) -> str:
    return module.removeprefix("node:")


def _clause(clause: str, module: str) -> Iterator[tuple[str, str]]:
    """`all, { a, b as c }` or `* as all`; what is imported by default stands for the module."""
    outside, brace, inside = clause.partition("{")
    for item in outside.split(","):
        name = item.strip().removeprefix("*").strip().removeprefix("as ").strip()
        if name:
            yield name, module
    for item in inside.rpartition("}")[0].split(",") if brace else ():
        name, _, alias = item.strip().removeprefix("type ").strip().partition(" as ")
        if name:
            yield (alias or name).strip(), module if name == "default" else f"{module}.{name.strip()}"


def _loaded(before: str, module: str, member: str | None) -> Iterator[tuple[str, str]]:
    """What stands left of the sign: one name, or a pattern without patterns inside."""
    bound = _BOUND.match(before)
    if bound is None:
        return
    target = f"{module}.{member}" if member else module
    if bound[2]:
        yield bound[2], target
        return
    for item in bound[1].split(","):
        key, _, name = item.partition("=")[0].partition(":")
        if _NAME.match(key.strip()):
            yield (name or key).strip(), f"{target}.{key.strip()}"


def _infer(kind: str, text: str, callee: str) -> str:
    """The type that a literal, a constructor, a conversion or a cast gives away."""
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "new_expression":
        made = _MADE.match(text)
        return made[1] if made else ""
    if kind == "call_expression":
        return _CONVERSIONS.get(callee, "")
    if kind in ("as_expression", "satisfies_expression"):
        cast = _CAST.match(text)
        return cast[1] if cast and cast[1] != "const" else ""
    if kind in ("", "unary_expression"):
        return type_of_literal(_LITERALS, text)
    return ""


def _documented(doc: str) -> list[tuple[str, str]]:
    """What the tags of a documentation declare: `@throws {TypeError}`, `@returns {Promise<string>}`."""
    found = [
        ("throws" if tag.startswith("t") else "return_types", " ".join(declared.split()))
        for tag, declared in _TAG.findall(doc)
    ]
    return [(fact, text) for fact, text in found if text]


def _no_public_names(_source: bytes, _public: list[str]) -> list[str]:
    """Nothing is exported but what says so."""
    return []


def define_language(name: str, grammar: str, query: str, *typed_facts: str) -> Language:
    """One of the languages: they differ in their grammars, and in whether types are written down."""
    return Language(
        id=name,
        grammar=grammar,
        query=query,
        fields=every_field(*_FACTS, *typed_facts),
        keywords=_KEYWORDS,
        visibility=_visibility,
        parameters=_parameters,
        imports=_imports,
        exports=_no_public_names,
        infer=_infer,
        documented=_documented,
        mutators=_MUTATORS,
        receivers=frozenset({"this", "super", "arguments"}),
        restart=_RESTART,
        doc_signs=DOC_BLOCKS,
    )
