"""A place for the scout to work in, and what it has written there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.launch.products import make_repository, run_config

from holdfast.errors import ToolError
from holdfast.launch.run_config import checked
from holdfast.launch.scouting.inventory import take_inventory
from holdfast.launch.scouting.repo_scout import work
from holdfast.launch.work import Workplace

__all__ = ["inventory_at", "inventory_of", "refused", "scouted", "workplace"]


def workplace(root: Path, config: dict[str, Any]) -> Workplace:
    """A place in a fresh run below `root`."""
    (root / "out").mkdir(parents=True, exist_ok=True)
    return Workplace("r_scouting", "repo_scout", "run", 1, checked(config), root / "run", root / "out", {})


def scouted(root: Path, config: dict[str, Any]) -> dict[str, Any]:
    """All that the scout writes, by name."""
    place = workplace(root, config)
    work(place)
    return {name: json.loads(made.path.read_bytes()) for name, made in place.made.items()}


def inventory_of(root: Path, files: Mapping[str, bytes], **changes: Any) -> dict[str, Any]:
    """The inventory of a product with these files."""
    return inventory_at(root / "product", make_repository(root / "product", files), **changes)


def inventory_at(product: Path, sha: str, **changes: Any) -> dict[str, Any]:
    """The inventory of the product that is there."""
    return take_inventory(product, checked(run_config(product, sha, product, sha, **changes)))


def refused(root: Path, config: dict[str, Any]) -> ToolError:
    """The error with which the scout gives up."""
    try:
        work(workplace(root, config))
    except ToolError as error:
        return error
    raise AssertionError("the scout was content")
