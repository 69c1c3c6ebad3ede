"""W1, the scout: both repositories at their commits, and what there is in them.

Clones into the two work trees of the run, and writes repo_inventory.json, frontmatter_contract.json,
site_context.json and hugo_facts.json. Run again after any interruption, it comes to the same end.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.launch.documents import sha256
from holdfast.launch.scouting.cloning import bring_both, empty_repository, git_told, shown_address
from holdfast.launch.scouting.file_kinds import LARGE
from holdfast.launch.scouting.hugo_config import (
    HugoConfig,
    hugo_facts,
    is_hugo_config,
    read_hugo_config,
    section_roots,
)
from holdfast.launch.scouting.inventory import take_inventory
from holdfast.launch.scouting.objects import Entry, entries, read_blobs
from holdfast.launch.scouting.site_pages import Page, frontmatter_contract, is_page, listed_pages, page_of
from holdfast.launch.updating.record import is_record
from holdfast.launch.updating.site_records import records_of
from holdfast.launch.work import Workplace

__all__ = ["work"]

_STEPS = 4


def work(place: Workplace) -> None:
    """Clone, look, and write down what there is."""
    config = place.config
    with git_told():
        bring_both(place, _STEPS)
        place.progress(2, _STEPS, "looking at the product")
        place.write("repo_inventory.json", take_inventory(place.repo, config))
        place.progress(3, _STEPS, "looking at the site")
        _write_site(place)
    place.progress(_STEPS, _STEPS, "both repositories are known")


def _write_site(place: Workplace) -> None:
    config = place.config
    committed = entries(place.site, config["site_ref"])
    if not committed:
        raise empty_repository("site")
    files = _plain_files(committed)
    folder = config.get("hugo", {}).get("config_dir", "config").removeprefix("./").rstrip("/")
    settings = _contents(place.site, {path: file for path, file in files.items() if is_hugo_config(path, folder)})
    hugo = read_hugo_config(settings, folder)
    facts = hugo_facts(hugo)
    root = config["site_layout"]["content_root"]
    texts = _contents(place.site, {path: file for path, file in files.items() if is_page(path, root)})
    pages = [page_of(path, texts[path]) for path in sorted(texts)]
    # Pages that runs wrote teach nothing about the site, and would make the next version differ from the last.
    contents = _contents(place.site, {path: file for path, file in files.items() if is_record(path)})
    own = set(records_of(config, facts, contents.get).pages())
    address = shown_address(config["site_repo_url"])
    place.write(
        "frontmatter_contract.json",
        {
            "schema_version": "1.0",
            "site_repo_url": address,
            "site_sha": config["site_ref"],
            "sections": frontmatter_contract([page for page in pages if page.path not in own], config),
        },
    )
    place.write("site_context.json", _context(config, address, pages, hugo, facts, settings))
    place.write("hugo_facts.json", facts)


def _context(
    config: Mapping[str, Any],
    address: str,
    pages: list[Page],
    hugo: HugoConfig,
    facts: Mapping[str, Any],
    settings: Mapping[str, bytes],
) -> dict[str, Any]:
    workflows = config.get("workflows_repo_url")
    return {
        "schema_version": "1.0",
        "site": {
            "repo_url": address,
            "ref": config["site_ref"],
            "content_root": config["site_layout"]["content_root"].rstrip("/"),
            "page_count": len(pages),
            "pages": listed_pages(pages, config, facts),
        },
        "workflows": {"repo_url": shown_address(workflows), "ref": config["workflows_ref"]} if workflows else None,
        "hugo": {
            "config_root": hugo.root,
            "config_files": [{"path": path, "sha256": sha256(settings[path])} for path in hugo.files],
            "build_matrix": section_roots(config),
        },
    }


def _plain_files(committed: list[Entry]) -> dict[str, Entry]:
    """Files with a name and of a size that a site has; links are not followed."""
    found = {}
    for entry in committed:
        if entry.is_link or entry.is_submodule or entry.size > LARGE:
            continue
        path = entry.name.decode("utf-8", "replace")
        if "\ufffd" not in path and path.isprintable() and len(path) <= 1000:
            found[path] = entry
    return found


def _contents(root: Path, wanted: Mapping[str, Entry]) -> dict[str, bytes]:
    names = {entry: path for path, entry in wanted.items()}
    return {names[entry]: content for entry, content in read_blobs(root, wanted.values())}
