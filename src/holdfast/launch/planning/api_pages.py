"""How the interface is divided into pages: one per module, and where that is too long, one per class."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.launch.module_names import depth, within
from holdfast.launch.writing.inline import slug
from holdfast.launch.writing.known import Known, Unit
from holdfast.launch.writing.labels import displayed
from holdfast.launch.writing.pages.api import FULL, SHORT, unit_lines

__all__ = ["ApiPart", "module_pages"]

_HEAD = 45
"""Lines that a page has besides what it describes."""
_LONGEST = 700
"""More than this nobody reads on one page, whatever the budget is."""
_OFFERS, _DEEP = 10, 2
"""A package that offers so many names itself need not be explained by modules of modules."""
_MOST_PARTS = 8
"""A module of more pages than this is told in short."""
_OWN_PAGE = 6
"""A class that takes more than this part of a page gets its own."""

Sized = tuple[Unit, int]


class ApiPart(NamedTuple):
    """A page of the reference: its title, and the full names of what it describes."""

    module: str
    title: str
    slug: str
    names: tuple[str, ...]


def module_pages(known: Known, most_lines: int) -> list[ApiPart]:
    """The pages of all modules in the order of their names; those of a module follow each other."""
    room = min(most_lines, _LONGEST) - _HEAD
    sized = {
        module: _sized(known, units, room) for module, units in known.units.items() if _is_published(known, module)
    }
    made = [part for module, units in sized.items() for part in _parts(known, module, units, room)]
    unique: dict[str, ApiPart] = {}
    for part in made:
        name = part.slug
        while name in unique or name == "index":
            name += "-module"
        unique[name] = part._replace(slug=name)
    return list(unique.values())


def _sized(known: Known, units: list[Unit], room: int) -> list[Sized]:
    """The length of each description; where that is too many pages, of the short ones."""
    full = [(unit, unit_lines(known, unit, FULL)) for unit in units]
    if sum(size for _, size in full) <= _MOST_PARTS * room:
        return full
    return [(unit, unit_lines(known, unit, SHORT)) for unit in units]


def _is_published(known: Known, module: str) -> bool:
    """Where the package itself offers an interface, a module deep inside is told only if it is spoken of."""
    top = within(module, known.packages) or module.partition(".")[0]
    offered = len(known.units.get(top, ()))
    return offered < _OFFERS or depth(module, known.packages) < _DEEP or module in known.spoken_of


def _parts(known: Known, module: str, units: Sequence[Sized], room: int) -> Iterator[ApiPart]:
    if not units:
        return
    title = _title(known, module)
    if sum(size for _, size in units) <= room:
        yield ApiPart(module, title, slug(module), (module, *_names(unit for unit, _ in units)))
        return
    classes = [unit for unit, size in units if unit.members and size > room // _OWN_PAGE]
    rest = [(unit, size) for unit, size in units if unit not in classes]
    for number, names in enumerate(_packed(rest, room)):
        part = f", part {number + 1}" if number else ""
        here = (module, *names) if not number else names
        yield ApiPart(module, title + part, slug(module + part), here)
    for unit in classes:
        name = _unit_title(known, unit)
        first = () if rest or unit is not classes[0] else (module,)
        full = unit.symbol["qualified_name"]
        yield ApiPart(module, name, slug(full), (*first, full))


def _title(known: Known, module: str) -> str:
    """A package often has the name of the product, which is the title of another page."""
    outer, inner = known.nouns
    noun = outer if module in known.packages or not within(module, known.packages) else inner
    if not inner:  # only packages are called something
        return module if "." in module else f"{module} {outer}"
    return f"{module} {noun}"


def _unit_title(known: Known, unit: Unit) -> str:
    """A class by its full name, or by its own and what it is, where full names are long."""
    symbol = unit.symbol
    return symbol["qualified_name"] if not known.nouns[1] else f"{displayed(symbol)} {symbol['kind']}"


def _packed(units: Sequence[Sized], room: int) -> Iterator[tuple[str, ...]]:
    """As few pages as they fit on, each of them about as long as the others."""
    whole = sum(size for _, size in units)
    share = whole // max(1, -(-whole // room)) + 1
    page: list[Unit] = []
    used = 0
    for unit, size in units:
        if page and (used + size > room or used + size // 2 > share):
            yield _names(page)
            page, used = [], 0
        page.append(unit)
        used += size
    if page:
        yield _names(page)


def _names(units: Iterable[Unit]) -> tuple[str, ...]:
    return tuple(unit.symbol["qualified_name"] for unit in units)
