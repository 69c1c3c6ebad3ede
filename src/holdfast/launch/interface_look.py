"""Whether a product has a public interface, found as a run finds it, before there is a run.

A look that does not come to its end says yes: then the run tells what is wrong.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.facts.claims import Ledger
from holdfast.launch.facts.ecosystems import ecosystem_of
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.manifest_claims import gather_manifests
from holdfast.launch.facts.reading import Repository
from holdfast.launch.scouting.file_kinds import CODE, language_of
from holdfast.launch.scouting.inventory import take_inventory
from holdfast.launch.sources import Source

__all__ = ["has_interface"]

_MOST_CODE = 1_500  # files; a product of more has an interface, and the look would take long


def has_interface(source: Source, product: Mapping[str, Any]) -> bool:
    """Whether the product that is described so offers names to those who use it."""
    ecosystem = ecosystem_of(product["target_platform"])
    if ecosystem is None:
        return False
    if sum(language_of(path) in CODE for path in source.files) > _MOST_CODE:
        return True
    try:
        inventory = take_inventory(source.root, {**product, "ingestion": {"gitignore_mode": "ignore"}})
    except ToolError:
        return True
    with tempfile.TemporaryDirectory(prefix="holdfast-look-") as folder:
        try:
            _lay_out(source, inventory, Path(folder))
        except OSError:  # names that this machine cannot have
            return True
        name = product["product_name"]
        known = Gathered(Repository(Path(folder), inventory), Ledger(name), name, product["target_platform"])
        manifests = gather_manifests(known, ecosystem)
        names = [name, product["product_slug"], *(one.value("name") for one in manifests)]
        found = ecosystem.interface(known.repository, manifests, [one for one in names if one])
    return any(symbol.kind != "module" for symbol in found.symbols)


def _lay_out(source: Source, inventory: Mapping[str, Any], root: Path) -> None:
    """The texts of the commit as files; a tree that somebody made by hand may name what lies elsewhere."""
    texts = {str(one["path"]) for one in inventory["paths"] if one["kind"] == "text"}
    inside = {path for path in texts if {"", ".", ".."}.isdisjoint(path.split("/"))}
    for path, text in source.texts(lambda path: path in inside).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
