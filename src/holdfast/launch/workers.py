"""The nine workers, and a tenth for pools: which module does the work, what it reads, how long it may take."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["WORKERS", "Worker", "inputs_of"]


@dataclass(frozen=True, slots=True)
class Worker:
    """One kind of work. `reads` are names of artifacts; one that ends with `*` means all that begin like it.

    Only who `signs_in` somewhere gets variables of the environment that hold secrets.
    """

    name: str
    module: str
    reads: tuple[str, ...]
    seconds: float
    signs_in: bool = False


_FACTS = ("product_facts.json", "evidence_map.json", "snippet_catalog.json")
_SITE = ("frontmatter_contract.json", "site_context.json", "hugo_facts.json")

WORKERS: Mapping[str, Worker] = {
    worker.name: worker
    for worker in (
        Worker("repo_scout", "holdfast.launch.scouting.repo_scout", (), 1800.0, signs_in=True),
        Worker("facts_builder", "holdfast.launch.facts.facts_builder", ("repo_inventory.json",), 900.0),
        Worker(
            "snippet_curator",
            "holdfast.launch.facts.snippet_curator",
            ("repo_inventory.json", "product_facts.json"),
            900.0,
        ),
        Worker(
            "ia_planner",
            "holdfast.launch.planning.ia_planner",
            (*_FACTS, *_SITE, "repo_inventory.json"),
            300.0,
        ),
        Worker(
            "section_writer",
            "holdfast.launch.writing.section_writer",
            ("page_plan.json", *_FACTS, *_SITE),
            3600.0,
            signs_in=True,
        ),
        Worker(
            "linker_patcher",
            "holdfast.launch.patching.linker_patcher",
            ("page_plan.json", "draft_manifest.*", "drafts/*", "evidence_map.json", *_SITE),
            600.0,
        ),
        Worker(
            "validator",
            "holdfast.launch.gates.validator",
            (
                *_FACTS, *_SITE, "repo_inventory.json", "page_plan.json", "draft_manifest.*", "patch_bundle.json",
                "patch_conflicts.json",
            ),
            1800.0,
        ),
        Worker(
            "fixer",
            "holdfast.launch.fixing.fixer",
            (*_FACTS, *_SITE, "page_plan.json", "patch_bundle.json", "validation_report.json", "drafts/*"),
            600.0,
        ),
        Worker(
            "pr_manager",
            "holdfast.launch.publishing.pr_manager",
            ("page_plan.json", *_FACTS, "patch_bundle.json", "update_report.json", "validation_report.json"),
            900.0,
            signs_in=True,
        ),
        # Brings both work trees to a machine that goes on with a run of another one.
        Worker(
            "tree_keeper", "holdfast.launch.patching.tree_keeper", ("patch_bundle.json",), 1800.0, signs_in=True
        ),
    )
}  # fmt: skip


def inputs_of(worker: str, names: Iterable[str]) -> list[str]:
    """Those of the names of artifacts that the worker reads, sorted."""
    reads = WORKERS[worker].reads
    whole = {name for name in reads if not name.endswith("*")}
    starts = tuple(name[:-1] for name in reads if name.endswith("*"))
    return sorted(name for name in names if name in whole or (starts and name.startswith(starts)))
