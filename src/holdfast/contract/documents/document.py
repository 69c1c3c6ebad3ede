"""A parsed specification: its tools, their eight sections, and what stands in each, with source lines everywhere.

Data only. A document says what was written, not whether it is right: that is for the rules.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.json_lines import key_lines
from holdfast.contract.documents.jsonc import JsonText
from holdfast.contract.documents.markdown import Block, Source
from holdfast.contract.documents.sections import SectionKind
from holdfast.vocabulary.effects import EffectKind

__all__ = [
    "CallExample",
    "Document",
    "ErrorCode",
    "FieldRow",
    "FieldTable",
    "IdempotencyStatement",
    "IdempotencyWord",
    "JsonFence",
    "Origin",
    "Section",
    "ToolSection",
    "VersionStatement",
]

Origin = Literal["heading", "implied", "row"]


class IdempotencyWord(Enum):
    """What a specification says about repeated calls."""

    YES = "Yes"
    NO = "No"
    PARTIALLY = "Partially"

    @property
    def effects(self) -> frozenset[EffectKind]:
        """The effects that agree with the word."""
        return _EFFECTS[self]


_EFFECTS = {
    IdempotencyWord.YES: frozenset({EffectKind.REPLAY_SAFE, EffectKind.DEDUPLICATED}),
    IdempotencyWord.NO: frozenset({EffectKind.AT_MOST_ONCE}),
    IdempotencyWord.PARTIALLY: frozenset({EffectKind.PROBE_REQUIRED, EffectKind.AT_MOST_ONCE}),
}


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a tool: the heading as written, the lines of heading and content, and the blocks in it.

    `label` is set where a bold line or a list item opened the section instead of a heading; its own text then
    begins on the line of the label.
    """

    kind: SectionKind | None
    heading: str
    line: int
    end_line: int
    level: int
    blocks: tuple[Block, ...] = ()
    label: bool = False

    @property
    def text(self) -> str:
        """The prose of the section: paragraphs and list items, without tables, fences and HTML."""
        return "\n".join(block.text for block in self.blocks if block.kind in {"paragraph", "item"})


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One parameter or field as a table or list describes it; what was not said is None."""

    name: str
    line: int
    type_text: str = ""
    required: bool | None = None
    description: str = ""
    example: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The parameters or fields of a section, from a table or from a list."""

    rows: tuple[FieldRow, ...]
    line: int
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JsonFence:
    """A fenced piece of JSON: what it is, and on which line its text begins."""

    json: JsonText
    line: int
    text: str = ""
    section: SectionKind | None = None

    @property
    def value(self) -> Any:
        """The value, or None where there is none."""
        return self.json.value

    def line_of(self, pointer: str) -> int:
        """The line of a member, or of the nearest member around it that is there."""
        lines = key_lines(self.text)
        while pointer and pointer not in lines:
            pointer = pointer.rpartition("/")[0]
        return self.line + lines.get(pointer, 0)


@dataclass(frozen=True, slots=True)
class CallExample:
    """An example of a call; `tool_name` or `arguments` is None where the example does not have it."""

    tool_name: str | None
    arguments: Any
    fence: JsonFence

    @property
    def line(self) -> int:
        """The line on which the JSON begins."""
        return self.fence.line


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One error code and what is said about it; what was not said is empty or None."""

    code: str
    line: int
    meaning: str = ""
    remedy: str = ""
    retryable: bool | None = None


@dataclass(frozen=True, slots=True)
class IdempotencyStatement:
    """The word on repeated calls, its explanation, and the effect where the section names one."""

    word: IdempotencyWord | None
    explanation: str
    line: int
    effect: EffectKind | None = None


@dataclass(frozen=True, slots=True)
class VersionStatement:
    """The version that a tool states."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class ToolSection:
    """One tool of a document. `origin` says how it was found: by a heading, by sections alone, in a table."""

    heading: str
    name: str
    line: int
    end_line: int
    level: int = 2
    origin: Origin = "heading"
    heading_name: str = ""
    preamble: tuple[Block, ...] = ()
    sections: dict[SectionKind, Section] = field(default_factory=dict)
    order: tuple[Section, ...] = ()
    input_table: FieldTable | None = None
    input_schema: JsonFence | None = None
    input_none: bool = False
    output_table: FieldTable | None = None
    output_schema: JsonFence | None = None
    output_none: bool = False
    errors: tuple[ErrorCode, ...] = ()
    errors_none: bool = False
    idempotency: IdempotencyStatement | None = None
    examples: tuple[CallExample, ...] = ()
    results: tuple[JsonFence, ...] = ()
    fences: tuple[JsonFence, ...] = ()
    security: str = ""
    version: VersionStatement | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its tools, what was odd about it, and the source that everything points into."""

    name: str
    source: Source
    blocks: tuple[Block, ...] = ()
    title: str = ""
    tools: tuple[ToolSection, ...] = ()
    findings: tuple[Finding, ...] = ()
    says_no_tools: bool = False

    def tool(self, name: str) -> ToolSection | None:
        """The tool of this invocation name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def blocks_between(self, first: int, last: int) -> tuple[Block, ...]:
        """The blocks that begin on the lines from `first` to `last`."""
        start = bisect_left(self.blocks, first, key=_first_line)
        return self.blocks[start : bisect_right(self.blocks, last, key=_first_line)]


def _first_line(block: Block) -> int:
    return block.line
