"""A place for the workers that gather facts: a repository with given files, its inventory, and what they make."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.launch.products import commit_all, make_repository

from holdfast.launch.documents import decode, encode, sha256
from holdfast.launch.facts import facts_builder, snippet_curator
from holdfast.launch.scouting.inventory import take_inventory
from holdfast.launch.work import Given, Workplace

__all__ = ["PYPROJECT", "built", "claims_by_text", "place_of"]

PYPROJECT = b"""\
[project]
name = "tablekit"
version = "1.4.2"
description = "A small table library"
requires-python = ">=3.9"
license = "MIT"
dependencies = []
"""


def place_of(
    root: Path, files: Mapping[str, bytes], links: Mapping[str, str] | None = None, **changes: Any
) -> Workplace:
    """A workplace whose product has these files, and links by the path of each; `changes` configure it."""
    repo = root / "work" / "repo"
    repo.parent.mkdir(parents=True)
    sha = make_repository(repo, files)
    for path, target in (links or {}).items():
        (repo / path).symlink_to(target)
        sha = commit_all(repo)
    config = {
        "github_repo_url": "https://example.com/tablekit.git",
        "github_ref": sha,
        "product_name": "tablekit",
        "product_slug": "tablekit",
        "target_platform": "python",
    } | changes
    (root / "out").mkdir()
    inventory = encode("repo_inventory", take_inventory(repo, config))
    (root / "inventory").write_bytes(inventory)
    given = {"repo_inventory.json": Given(root / "inventory", sha256(inventory), "repo_inventory")}
    return Workplace("r_test_0001", "facts_builder", "run", 1, config, root, root / "out", given)


def built(place: Workplace) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Run both workers: facts, evidence, snippets."""
    facts_builder.work(place)
    made = {name: Given(item.path, item.sha256, item.schema_id) for name, item in place.made.items()}
    place.given = {**place.given, **made}
    snippet_curator.work(place)
    names = ("product_facts", "evidence_map", "snippet_catalog")
    facts, evidence, catalog = (decode(name, place.made[f"{name}.json"].path.read_bytes()) for name in names)
    return facts, evidence, catalog


def claims_by_text(facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The claims by what they say."""
    return {claim["claim_text"]: claim for claim in facts["claims"]}
