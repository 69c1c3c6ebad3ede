"""The pages of the API reference: an overview of all modules, and pages that describe what is in one."""

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.launch.writing.blocks import Block, Code, Heading, Row, Sentence, Table, markdown
from holdfast.launch.writing.docstring_text import pieces
from holdfast.launch.writing.inline import as_sentence, code, sentences_of
from holdfast.launch.writing.known import Known, Symbol, Unit
from holdfast.launch.writing.labels import displayed
from holdfast.launch.writing.pages.parts import (
    bullets,
    lead,
    listed,
    main_modules,
    modules_title,
    paragraph,
    untold_limits,
)
from holdfast.launch.writing.signatures import wrapped
from holdfast.launch.writing.ways import Ways

__all__ = [
    "FULL",
    "LISTED",
    "SHORT",
    "api_module",
    "api_overview",
    "module_table",
    "symbol_rows",
    "unit_lines",
]

_GROUPS = (
    ("Classes", ("class",)), ("Interfaces", ("interface", "trait")), ("Types", ("struct", "enum", "type")),
    ("Functions", ("function",)), ("Exceptions", ("exception",)),
    ("Constants", ("constant",)), ("Members", ("method", "property")),
)  # fmt: skip
_MOST_PIECES = 6
_MOST_ROWS = 150
_MOST_MODULES = 80
_LONGEST_SUMMARY = 180
_FEW_NAMES = 4
_RETURNS = re.compile(r"Returns?\s+")
_ARTICLE = re.compile(r"(?:A|An|The|This|That|All|Each|Whether|One|Number)\b")
FULL, SHORT, LISTED = 2, 1, 0
"""How much is said of a name: everything; its signature and summary; a class without its members' signatures."""


def api_overview(ways: Ways) -> list[Block]:
    """All modules with what is in them; very many names are told by module only."""
    known = ways.known
    units = known.units
    made: list[Block] = [*lead(known, is_short=True)]
    if len(units) != 1 or not known.nouns[1]:  # one package is told below under its own name
        made += [Heading(2, modules_title(known)), *module_table(ways)]
    if sum(map(len, units.values())) <= _MOST_ROWS:
        for module, found in units.items():
            claims = known.cited(*(unit.symbol["claim_id"] for unit in found))[:1]
            made.append(Heading(2, code(module), _module_claim(known, module) or claims))
            rows = symbol_rows(ways, [unit.symbol for unit in found])
            made.append(Table(("Name", "Kind", "Summary"), tuple(_with_kind(rows, found))))
    made += untold_limits(ways)
    return [*made, *ways.onward("docs/getting-started", "docs/developer-guide", "kb/limitations")]


def api_module(ways: Ways, detail: int = FULL) -> list[Block]:
    """What there is in a module, or in the part of it that the plan put on this page."""
    page, known = ways.page, ways.known
    here = set(page["symbols"])
    units = [unit for unit in known.units.get(page["topic"], ()) if unit.symbol["qualified_name"] in here]
    made: list[Block] = []
    if page["topic"] in here:
        module = known.modules.get(page["topic"])
        made += _about(known, module) if module else []
    if len(units) == 1 and units[0].members:
        made += _class_page(known, units[0], detail)
    else:
        if len(units) > 1:
            rows = symbol_rows(ways, [unit.symbol for unit in units])
            made.append(Table(("Name", "Summary"), tuple(rows)))
        for title, kinds in _GROUPS:
            of_kind = [unit for unit in units if unit.symbol["kind"] in kinds]
            made += [Heading(2, title), *(block for unit in of_kind for block in _unit(known, unit, 3, detail))]
    others = [one["page_id"] for one in ways.pages("reference") if one.get("topic") == page["topic"]]
    return [*made, *ways.onward(*others[:6], "reference/index", title="See also")]


def unit_lines(known: Known, unit: Unit, detail: int) -> int:
    """How many lines the description of a name takes, with its line in the table at the top."""
    return markdown(_unit(known, unit, 3, detail)).count("\n") + 2


def symbol_rows(ways: Ways, symbols: Iterable[Symbol]) -> list[Row]:
    """Names with their summaries, linked to where they are described."""
    known = ways.known
    rows = []
    for symbol in symbols:
        name = displayed(symbol)
        heading = known.labels.get(symbol["qualified_name"], "")
        url = ways.symbol(symbol["qualified_name"], heading, symbol.get("parent", ""))
        shown = f"[{code(name)}]({url})" if url else code(name)
        rows.append(Row((shown, _summary(known, symbol)), known.cited(symbol["claim_id"])))
    return rows


def _module_claim(known: Known, module: str) -> tuple[str, ...]:
    symbol = known.modules.get(module)
    return known.cited(symbol["claim_id"]) if symbol else ()


def module_table(ways: Ways) -> list[Block]:
    """The modules that offer names, where any does: what others are for is in the developer guide."""
    known = ways.known
    every = list(known.modules.values())
    offering = [one for one in every if known.units.get(one["module"])]
    modules = main_modules(offering or every, _MOST_MODULES, known.packages)
    rows = zip(symbol_rows(ways, modules), modules, strict=True)
    title = modules_title(ways.known).removesuffix("s")
    return [Table((title, "Purpose"), tuple(_with_purpose(ways.known, row, one) for row, one in rows))]


def _with_purpose(known: Known, row: Row, module: Symbol) -> Row:
    """The row of a module; one that does not say what it is for is told by names that it has.

    Those that the examples of the project use most come first, and constants last: they are what it is there for.
    """
    units = known.units.get(module["module"], ())
    if row.cells[1] or not units:
        return row
    uses = known.shown_words
    chosen = sorted(
        (unit.symbol for unit in units), key=lambda one: (-uses[one["name"]], one["kind"] == "constant")
    )[:_FEW_NAMES]
    names = [code(displayed(symbol)) for symbol in chosen]
    told = ", ".join([*names, "and more"]) if len(units) > _FEW_NAMES else listed(names)
    claims = known.cited(*(symbol["claim_id"] for symbol in chosen))
    return Row((row.cells[0], f"{told}."), tuple(dict.fromkeys((*row.claims, *claims))))


def _with_kind(rows: Sequence[Row], units: Sequence[Unit]) -> Iterator[Row]:
    for row, unit in zip(rows, units, strict=True):
        name, summary = row.cells
        yield Row((name, unit.symbol["kind"].capitalize(), summary), row.claims)


def _class_page(known: Known, unit: Unit, detail: int) -> list[Block]:
    own = _described(known, unit.symbol, detail)
    made: list[Block] = own
    for title, kinds in (("Constructor", ()), ("Methods", ("method",)), ("Properties", ("property",))):
        found = [one for one in unit.members if one["kind"] in kinds and one["name"] != "__init__"]
        if not kinds:
            found = [one for one in unit.members if one["name"] == "__init__"]
        made += [Heading(2, title), *_members(known, found, 3, detail)]
    other = [one for one in unit.members if one["kind"] not in ("method", "property")]
    return [*made, Heading(2, "Other members"), *_members(known, other, 3, detail)]


def _unit(known: Known, unit: Unit, level: int, detail: int) -> list[Block]:
    claims = known.cited(unit.symbol["claim_id"])
    made: list[Block] = [
        Heading(level, known.labels[unit.symbol["qualified_name"]], claims),
        *_described(known, unit.symbol, detail),
    ]
    return made + _members(known, unit.members, level + 1, detail)


def _members(known: Known, members: Sequence[Symbol], level: int, detail: int) -> list[Block]:
    if detail == LISTED:
        rows = [Row((code(displayed(one)), _summary(known, one)), known.cited(one["claim_id"])) for one in members]
        return [Table(("Member", "Summary"), tuple(rows))]
    made: list[Block] = []
    for one in members:
        made.append(Heading(level, known.labels[one["qualified_name"]], known.cited(one["claim_id"])))
        made += _described(known, one, detail)
    return made


def _described(known: Known, symbol: Symbol, detail: int) -> list[Block]:
    """What is said of one name: the same on every page, and on every trial of a page."""
    key = symbol["qualified_name"], detail
    if key not in known.descriptions:
        known.descriptions[key] = _description(known, symbol, detail)
    return list(known.descriptions[key])


def _description(known: Known, symbol: Symbol, detail: int) -> list[Block]:
    """Signature, text, parameters, result and errors of one name."""
    claims = known.cited(symbol["claim_id"])
    made: list[Block] = []
    if symbol["signature"] and "{{" not in symbol["signature"]:
        made.append(Code(known.language, wrapped(symbol["signature"], known.language)))
    if detail == FULL:
        made += [*_about(known, symbol), _parameters(symbol, claims), *_result(symbol, claims)]
    else:
        made.append(paragraph(known.sentences(symbol["summary"], claims)))
    if symbol.get("deprecated"):
        made.append(paragraph([Sentence(f"Deprecated: {as_sentence(symbol['deprecated'], known.names)}", claims)]))
    return made


def _about(known: Known, symbol: Symbol) -> list[Block]:
    claims = known.cited(symbol["claim_id"])
    made: list[Block] = [paragraph(known.sentences(symbol["summary"], claims))]
    for piece in pieces(symbol.get("documentation", ""))[:_MOST_PIECES]:
        if piece.is_list:
            made.append(bullets(Sentence(as_sentence(item, known.names), claims) for item in piece.texts))
        else:
            made.append(paragraph(known.sentences(piece.texts[0], claims)))
    return made


def _parameters(symbol: Symbol, claims: tuple[str, ...]) -> Table:
    """Those of which something is said: names, types and defaults are in the signature right above."""
    told = ((one["name"], _told(one.get("description", ""))) for one in symbol.get("parameters") or ())
    rows = (Row((code(name), text), claims) for name, text in told if text)
    return Table(("Parameter", "Description"), tuple(rows))


def _result(symbol: Symbol, claims: tuple[str, ...]) -> list[Block]:
    made: list[Block] = []
    annotation = symbol.get("returns", "") if symbol["kind"] in ("function", "method") else ""
    told = symbol.get("returns_description", "")
    if told or annotation not in ("", "None"):
        parts = [code(annotation) if annotation not in ("", "None") else "", _told(told)]
        text = ": ".join(part for part in (parts[0], parts[1] if parts[0] else _continued(parts[1])) if part)
        made.append(paragraph([Sentence(f"Returns {text}".rstrip(".") + ".", claims)]))
    raised = symbol.get("raises") or ()
    rows = tuple(Row((code(one["name"]), _told(one.get("description", ""))), claims) for one in raised)
    return [*made, Table(("Exception", "When it occurs"), rows)]


def _continued(text: str) -> str:
    """A result as it stands behind `Returns`: `A table.` is `a table.`"""
    text = _RETURNS.sub("", text)
    return text[0].lower() + text[1:] if _ARTICLE.match(text) else text


def _told(text: str) -> str:
    return " ".join(as_sentence(one) for one in sentences_of(text)[:3])


def _summary(known: Known, symbol: Symbol) -> str:
    told = symbol.get("returns_description", "") if symbol["kind"] in ("function", "method") else ""
    found = sentences_of(symbol["summary"]) or sentences_of(f"Returns {_continued(told)}" if told else "")
    if not found:
        return ""
    short = found[0] if len(found[0]) <= _LONGEST_SUMMARY else found[0][:_LONGEST_SUMMARY].rsplit(" ", 1)[0] + "…"
    return as_sentence(short, known.names)
