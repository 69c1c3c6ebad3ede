"""Brings both work trees of a run to this machine: the clones at their commits, and the bundle in the site.

What a work tree holds follows from the configuration and the bundle alone, so nothing is copied between machines.
"""

from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.tree import BaseTree, materialise, pictured
from holdfast.launch.scouting.cloning import bring_both, git_told
from holdfast.launch.work import Workplace

__all__ = ["work"]


def work(place: Workplace) -> None:
    """Make both work trees as they are for the run at this moment."""
    with git_told():
        bring_both(place, 2)
        if place.has("patch_bundle.json"):
            _put_pages_in(place)
    place.progress(2, 2, "both work trees are here")


def _put_pages_in(place: Workplace) -> None:
    bundle = place.read("patch_bundle.json")
    tree = BaseTree(place.site, place.config["site_ref"])
    tree.load(patch["path"] for patch in bundle["patches"])
    applied = apply_bundle(bundle, tree.read, Fence(place.config["allowed_paths"]), tree.paths())
    materialise(place.site, pictured(bundle, applied, tree))
