"""Brings both work trees of a run to this machine: the clones at their commits, and the bundle in the site.

What a work tree holds follows from the configuration and the bundle alone, so nothing is copied between machines.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.tree import BaseTree, materialise, pictured
from holdfast.launch.scouting.cloning import bring_both, git_told
from holdfast.launch.work import Workplace

__all__ = ["put_pages_in", "work"]


def work(place: Workplace) -> None:
    """Make both work trees as they are for the run at this moment."""
    with git_told():
        bring_both(place, 2)
        if place.has("patch_bundle.json"):
            put_pages_in(place.site, place.read("patch_bundle.json"), place.config)
    place.progress(2, 2, "both work trees are here")


def put_pages_in(site: Path, bundle: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Make a clean work tree of the site what the bundle says."""
    tree = BaseTree(site, config["site_ref"])
    tree.load(patch["path"] for patch in bundle["patches"])
    applied = apply_bundle(bundle, tree.read, Fence(config["allowed_paths"]), tree.paths())
    materialise(site, pictured(bundle, applied, tree))
