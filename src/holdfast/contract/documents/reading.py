"""What the sections of a tool say: names, versions, schemas, calls, error codes, the word on idempotency.

Each reader takes what people really write and never raises; what it cannot read is left out, and the rules
say what is missing.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.contract.documents.document import (
    CallExample,
    ErrorCode,
    IdempotencyStatement,
    IdempotencyWord,
    JsonFence,
    Section,
    VersionStatement,
)
from holdfast.contract.documents.fields import table_columns
from holdfast.contract.documents.inline import first_code, without_marks
from holdfast.contract.documents.jsonc import read_json
from holdfast.contract.documents.markdown import Block
from holdfast.contract.documents.statements import yes_or_no
from holdfast.present.schema_shape import ALL_TYPES
from holdfast.vocabulary.effects import EffectKind

__all__ = [
    "call_of",
    "error_codes",
    "idempotency_of",
    "invocation_name",
    "is_schema",
    "json_fences",
    "says_none",
    "version_of",
]

_JSON_INFOS = frozenset({"json", "jsonc", "json5", "javascript", "js"})
_SCHEMA_KEYS = frozenset(
    {"$schema", "$ref", "$defs", "properties", "anyOf", "oneOf", "allOf", "additionalProperties"}
)
# Behind a sentence only a whole version that ends one: "Needs Foo. Version: 3.11 of it" states none.
_BEHIND_A_SENTENCE = (
    r"[.;!?)][ \t]+(?=[*_]{0,3}Version[*_]{0,3}:[*_` \t]{0,5}v?\d+\.\d+\.\d++[\w+-]{0,40}[*_`]{0,3}"
    r"(?:[.;,)]|[ \t]{0,9}(?:\n|$)))"
)
_VERSION = re.compile(
    r"(?:^|[\n(|]|" + _BEHIND_A_SENTENCE + r")"
    r"[ \t]*+[-*+]?[ \t]*[*_]{0,3}(?:tool\s+)?version[*_]{0,3}[ \t]*[:=][ \t]*+[*_`]{0,3}[ \t]*v?"
    r"([^\s`*_|,;()]{1,80})",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Z][A-Z0-9]{2,63}|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*")
_CODE_SPAN = re.compile(r"`([^`\n]{1,80})`")
_NAME_IN_PROSE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+")
_STATED = re.compile(
    r"idempoten(?:t|cy|ce)[*_`]*\s*[:=?][\s*_`]*(yes|no|partially|partial|true|false)\b", re.IGNORECASE
)
_FIRST_WORD = re.compile(r"[\s*_`>-]*(yes|no|partially|partial|true|false)\b", re.IGNORECASE)
_NOT_IDEMPOTENT = re.compile(r"\b(?:not|non|isn't|never)[\s-]+(?:strictly\s+|fully\s+)?idempotent", re.IGNORECASE)
_PARTLY_IDEMPOTENT = re.compile(r"\b(?:partially|partly|conditionally)[\s-]+idempotent", re.IGNORECASE)
_IDEMPOTENT = re.compile(r"\b(?:is|are|fully|strictly)\s+idempotent", re.IGNORECASE)
_EFFECT = re.compile(r"\b(at_most_once|probe_required|deduplicated|replay_safe)\b")
_WORDS = {
    "yes": IdempotencyWord.YES,
    "true": IdempotencyWord.YES,
    "no": IdempotencyWord.NO,
    "false": IdempotencyWord.NO,
    "partially": IdempotencyWord.PARTIALLY,
    "partial": IdempotencyWord.PARTIALLY,
}
_NONE = re.compile(
    r"(?:this tool\s+)?(?:none|n/?a|not applicable|nothing|empty|"
    r"(?:there are |takes |has |accepts |requires |returns |expects |declares )?no "
    r"(?:parameters?|arguments?|inputs?|outputs?|fields?|return values?|errors?|specific errors?|error codes?|"
    r"errors? of its own|params)[^.\n]{0,60})[.!]?",
    re.IGNORECASE,
)
_ARGUMENT_KEYS = frozenset({"arguments", "parameters", "params", "input", "args"})
# The fields of an error, which are no codes.
_ENVELOPE_WORDS = frozenset(
    {"status", "error_type", "error_message", "error_details", "retryable", "details", "message", "error"}
)
_EFFECT_LINE = re.compile(r"(?im)^(?:[^\S\n]|[*_-])*+effect[*_]*\s*:.*$")
_LEFT_OVER = re.compile(r"(?i)[*_`]{2,}|\bexplanation\b\s*:?|^[\s*_`.:,;–—-]+")


def json_fences(section: Section) -> Iterator[tuple[str, JsonFence]]:
    """The fences that hold JSON or claim to, each with the words before it."""
    label = ""
    for block in section.blocks:
        if block.kind != "fence":
            label = block.text[-200:].lower() if block.kind != "html" else label
            continue
        language = block.info.split(" ")[0].strip("{}.")
        text = block.text.strip()
        if language in _JSON_INFOS or (not language and text[:1] in {"{", "["}):
            yield label, JsonFence(read_json(block.text), block.line + 1, block.text, section.kind)


def is_schema(value: Any, label: str) -> bool:
    """Whether a piece of JSON is a schema and not a value; the words before it count, then its keys."""
    if isinstance(value, bool):
        return "schema" in label
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    names_a_type = any(isinstance(one, str) and one in ALL_TYPES for one in kinds)
    return names_a_type or bool(_SCHEMA_KEYS & set(value)) or ("schema" in label and "example" not in label)


def call_of(fence: JsonFence) -> CallExample | None:
    """The call that a piece of JSON shows, or None where it is no call at all."""
    value = fence.value
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("params"), dict) and ("method" in value or "jsonrpc" in value):
        params = value["params"]
        return CallExample(_text(params.get("name")), params.get("arguments"), fence)
    name = next((value[key] for key in ("tool_name", "tool", "name") if key in value), None)
    if name is None and not _ARGUMENT_KEYS & set(value):
        return None
    is_canonical = "tool_name" in value or "name" in value
    return CallExample(_text(name) if is_canonical else None, value.get("arguments"), fence)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def invocation_name(section: Section) -> str:
    """The name that a section on the invocation name states, or no text."""
    for block in section.blocks:
        if block.kind in {"paragraph", "item"}:
            code = first_code(block.text)
            if code is not None:
                return _bare(code)
        elif block.kind == "fence" and len(block.text.split()) == 1:
            return _bare(block.text.strip())
    words = [word.strip(".,;:()") for word in without_marks(section.text[:400]).split()]
    return words[0] if len(words) == 1 else next((word for word in words if _NAME_IN_PROSE.fullmatch(word)), "")


def _bare(code: str) -> str:
    """A name without the brackets of a signature."""
    return code.partition("(")[0].strip() or code


def version_of(blocks: Iterable[Block]) -> VersionStatement | None:
    """The first version that the blocks state, such as `Version: 1.0.2`."""
    for block in blocks:
        if block.kind in {"paragraph", "item", "table"}:
            match = _VERSION.search(block.text)
            if match is not None:
                line = block.line + block.text.count("\n", 0, match.start(1))
                return VersionStatement(match[1].rstrip("."), line)
    return None


def error_codes(section: Section) -> tuple[ErrorCode, ...]:
    """The codes of a section: the rows of its table, else the codes that its list and prose name."""
    for block in section.blocks:
        if block.kind == "table" and block.rows:
            return tuple(_table_codes(block))
    found: list[ErrorCode] = []
    for block in section.blocks:
        if block.kind == "item":
            found += _item_code(block)
    if found:
        return tuple(found)
    named = {
        match[1]: ErrorCode(match[1], block.line + block.text.count("\n", 0, match.start()))
        for block in section.blocks
        if block.kind == "paragraph"
        for match in _CODE_SPAN.finditer(block.text)
        if _CODE.fullmatch(match[1]) and not match[1].islower()
    }
    return tuple(named.values())


def _table_codes(block: Block) -> Iterator[ErrorCode]:
    columns = table_columns(block)
    meaning = next((columns.index(word) for word in ("description", "condition") if word in columns), 1)
    for row in block.rows[1:]:
        code = first_code(row.cells[0]) or without_marks(row.cells[0])
        if _CODE.fullmatch(code):
            cells = dict(zip(columns, row.cells, strict=False))
            said = row.cells[meaning] if meaning < len(row.cells) else ""
            yield ErrorCode(code, row.line, said, cells.get("remedy", ""), yes_or_no(cells.get("retryable", "")))


def _item_code(block: Block) -> Iterator[ErrorCode]:
    head, _, rest = block.text.partition(":")
    code = first_code(head) or without_marks(head)
    if _CODE.fullmatch(code) and code.lower() not in _ENVELOPE_WORDS:
        yield ErrorCode(code, block.line, rest.strip())


def idempotency_of(section: Section) -> IdempotencyStatement:
    """What a section says about repeated calls."""
    text = section.text
    match = _STATED.search(text) or _FIRST_WORD.match(text)
    effect = _EFFECT.search(text)
    word = _WORDS[match[1].lower()] if match else _in_prose(text)
    explanation = text[: match.start()] + text[match.end() :] if match else text
    explanation = _EFFECT_LINE.sub("", explanation)
    line = section.blocks[0].line if section.blocks else section.line
    return IdempotencyStatement(
        word, _LEFT_OVER.sub("", explanation).strip(), line, EffectKind(effect[1]) if effect else None
    )


def _in_prose(text: str) -> IdempotencyWord | None:
    for pattern, word in (
        (_PARTLY_IDEMPOTENT, IdempotencyWord.PARTIALLY),
        (_NOT_IDEMPOTENT, IdempotencyWord.NO),
        (_IDEMPOTENT, IdempotencyWord.YES),
    ):
        if pattern.search(text):
            return word
    return None


def says_none(section: Section) -> bool:
    """Whether the section says in its first words that there is nothing."""
    for block in section.blocks:
        if block.kind in {"paragraph", "item"}:
            first = without_marks(block.text[:400]).split("\n")[0].strip().lstrip("-–— ")
            sentence = re.split(r"(?<=[.!])\s", first, maxsplit=1)[0]
            return _NONE.fullmatch(sentence) is not None
    return False
