"""Parameters and fields as people list them: from the columns of a table, or from the items of a list.

Reading only: whether rows agree with a schema is for the rules.
"""

import re

from holdfast.contract.documents.document import FieldRow, FieldTable, Section
from holdfast.contract.documents.inline import first_code, without_marks
from holdfast.contract.documents.markdown import Block
from holdfast.contract.documents.sections import plain_words
from holdfast.contract.documents.types import schema_of_type

__all__ = ["field_table", "table_columns"]

_COLUMNS = {
    "name": "parameter name|parameter|param|field name|field|argument|argument name|name|key|property|input|"
    "output",
    "type": "type|data type|json type|schema",
    "required": "required|mandatory|req",
    "optional": "optional",
    "description": "description|meaning|details|notes|purpose|explanation|desc",
    "example": "example value|example|examples|example values|sample|sample value",
    "default": "default|default value",
}
_COLUMN_OF = {words: column for column, synonyms in _COLUMNS.items() for words in synonyms.split("|")}
_YES = frozenset({"yes", "y", "true", "required", "always", "✓", "✔", "✅", "x", "mandatory"})
_NO = frozenset({"no", "n", "false", "optional", "-", "✗", "❌", "never", "", "conditional", "conditionally"})
_ITEM = re.compile(
    r"\s*(?:\*\*|__)?(?:`([^`]{1,200})`|([A-Za-z_][\w.-]{0,80})(?=\s*(?:\(|\*\*|__|:)))(?:\*\*|__)?(.*)",
    re.DOTALL,
)
_BRACKETS = re.compile(r"\s*[(\[]([^()]{0,200}(?:\([^()]{0,100}\)[^()]{0,100})?)[)\]]")
_DEFAULT = re.compile(r"default(?:s to)?\s*[:=]?\s*`?([^`,;)]{1,100})`?", re.IGNORECASE)
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "none"})


def table_columns(block: Block) -> tuple[str, ...]:
    """What the columns of a table hold, by their head; an unknown column has its own words."""
    return tuple(_COLUMN_OF.get(plain_words(head), plain_words(head)) for head in block.rows[0].cells)


def field_table(section: Section) -> FieldTable | None:
    """The parameters or fields that a section lists, or None where it lists none."""
    for block in section.blocks:
        if block.kind == "table":
            columns = table_columns(block)
            if "name" in columns or "type" in columns:
                return _from_table(block, columns)
    return _from_items(section)


def _from_table(block: Block, columns: tuple[str, ...]) -> FieldTable:
    named = columns if "name" in columns else ("name", *columns[1:])
    rows = []
    for row in block.rows[1:]:
        cells = dict(zip(named, row.cells, strict=False))
        code = first_code(cells.get("name", ""))
        name = without_marks(cells.get("name", "")) if code is None else code
        if code is not None or name.lower() not in _NOTHING:
            rows.append(_row(name, row.line, cells))
    return FieldTable(tuple(rows), block.line, frozenset(named))


def _row(name: str, line: int, cells: dict[str, str]) -> FieldRow:
    return FieldRow(
        name=name,
        line=line,
        type_text=cells.get("type", ""),
        required=_required(cells),
        description=_stated(cells.get("description")) or "",
        example=_stated(cells.get("example")),
        default=_stated(cells.get("default")),
    )


def _required(cells: dict[str, str]) -> bool | None:
    column = next((column for column in ("required", "optional") if column in cells), None)
    if column is None:
        return None
    word = without_marks(cells[column]).lower().rstrip(".!")
    first = re.split(r"[\s(,;]", word, maxsplit=1)[0]
    answer = True if first in _YES else False if first in _NO else None
    return answer if column == "required" or answer is None else not answer


def _stated(text: str | None) -> str | None:
    if text is None:
        return None
    code = first_code(text) if text.startswith("`") else None
    words = without_marks(text) if code is None else text.strip().strip("`").strip()
    return None if words.lower() in _NOTHING else words


def _from_items(section: Section) -> FieldTable | None:
    items = [block for block in section.blocks if block.kind == "item"]
    if not items:
        return None
    depth = min(block.depth for block in items)
    rows = [row for block in items if block.depth == depth and (row := _item(block)) is not None]
    return FieldTable(tuple(rows), items[0].line, frozenset({"name"})) if rows else None


def _item(block: Block) -> FieldRow | None:
    """A row such as "`limit` (integer, optional): how many"."""
    match = _ITEM.match(block.text)
    if match is None:
        return None
    rest = match[3]
    brackets = _BRACKETS.match(rest)
    notes = brackets[1] if brackets else ""
    description = (rest[brackets.end() :] if brackets else rest).lstrip(" :–—-*_").strip()
    type_text = re.split(r"[,;]\s*(?=required|optional|default)", notes, maxsplit=1, flags=re.IGNORECASE)[0]
    has_type = schema_of_type(type_text) is not None
    if not has_type and not description:
        return None
    words = {word.strip().lower() for word in re.split(r"[,;]", notes)}
    is_optional = "optional" in words or "default" in notes.lower()
    required = True if "required" in words else False if is_optional else None
    default = _DEFAULT.search(notes)
    return FieldRow(
        name=(match[1] or match[2]).strip(),
        line=block.line,
        type_text=type_text if has_type else "",
        required=required,
        description=description,
        default=default[1].strip() if default else None,
    )
