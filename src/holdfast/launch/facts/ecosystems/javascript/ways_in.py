"""The line by which a package of npm is imported: as the project shows it, with the names it shows most."""

import re
from collections.abc import Sequence

from holdfast.launch.facts.ecosystems.declared import Offered
from holdfast.launch.facts.interface import Import
from holdfast.launch.facts.usage import Usage

__all__ = ["is_shown", "way_in"]

_MOST_NAMES = 3
_NO_VALUES = ("type", "interface")
_CALLED = ("function", "class")


def way_in(usage: Usage, name: str, offered: Sequence[Offered], default: str, *, is_common: bool) -> Import | None:
    """How `name`, an entry point, is imported; None where it offers nothing that can be called."""
    source = _source(name)
    values = [one for one in offered if one.told[0].definition.kind not in _NO_VALUES]
    names = _main_names(usage, values, source)
    space = _space(usage, source)
    if default and any(one.name == default for one in offered):
        code = f"const {default} = require('{name}');" if is_common else f"import {default} from '{name}';"
        return Import(code, f"{name}.{default}")
    if space and usage.shows(rf"\*\s+as\s+{space}\s+{source}") >= usage.shows(rf"\}}\s*{source}"):
        return Import(f"import * as {space} from '{name}';", name)
    if not names:
        return None
    shown = ", ".join(names)
    code = f"const {{ {shown} }} = require('{name}');" if is_common else f"import {{ {shown} }} from '{name}';"
    return Import(code, f"{name}.{names[0]}")


def is_shown(usage: Usage, name: str) -> bool:
    """Whether somebody is shown how to import this."""
    return any(usage.shows(_source(name)))


def _source(name: str) -> str:
    return rf"(?:from|=\s*require\()\s*['\"]{re.escape(name)}['\"]"


def _main_names(usage: Usage, values: Sequence[Offered], source: str) -> list[str]:
    """Those that are shown; where none is, the first that can be called and are no errors."""
    imported = rf"\{{[^{{}}]*\bNAME\b[^{{}}]*\}}\s*{source}"
    called = [one.name for one in values if one.told[0].definition.kind in _CALLED]
    used = usage.ranked((one.name for one in values), imported)
    return (used or [one for one in called if not one.endswith("Error")] or called)[:_MOST_NAMES]


def _space(usage: Usage, source: str) -> str:
    """The name under which all of it is imported most."""
    names = usage.found(rf"\*\s+as\s+(\w+)\s+{source}")
    return max(sorted(set(names)), key=names.count, default="")
