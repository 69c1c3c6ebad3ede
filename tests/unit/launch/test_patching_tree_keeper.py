"""Work trees that are brought to another machine are those of the first one, whatever is in their place there."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import make_product, make_site, run_config
from tests.launch.site_places import given_of

from holdfast.errors import ToolError
from holdfast.launch.documents import sha256
from holdfast.launch.engine.tree_mark import TreeMark
from holdfast.launch.patching.tree_keeper import work
from holdfast.launch.work import Workplace

PAGE = "content/docs/tablekit/a.md"
TEXT = "---\ntitle: A\n---\n\nText.\n"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    shas = make_product(tmp_path / "product"), make_site(tmp_path / "site")
    config = run_config(tmp_path / "product", shas[0], tmp_path / "site", shas[1])
    patch: dict[str, Any] = {
        "patch_id": "patch_001", "type": "create_file", "path": PAGE, "new_content": TEXT,
        "content_hash": sha256(TEXT.encode()),
    }  # fmt: skip
    bundle = {"schema_version": "1.0", "base_ref": shas[1], "patches": [patch]}
    (tmp_path / "out").mkdir()
    given = given_of(tmp_path, {"patch_bundle.json": bundle})
    return Workplace("r_elsewhere", "tree_keeper", "run", 1, config, tmp_path / "run", tmp_path / "out", given)


def status(root: Path) -> str:
    words = ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_both_trees_are_cloned_and_the_pages_of_the_run_are_in_the_site(place: Workplace) -> None:
    work(place)
    assert (place.site / PAGE).read_text() == TEXT
    assert (status(place.site), status(place.repo)) == (f"?? {PAGE}\n", "")
    assert place.made == {}


def test_what_an_earlier_turn_has_left_on_the_machine_is_replaced(place: Workplace) -> None:
    work(place)
    (place.site / PAGE).write_text("an older page")
    (place.site / "content/docs/tablekit/b.md").write_text("a page that is in the bundle no more")
    (place.repo / "README.md").unlink()
    work(place)
    assert (place.site / PAGE).read_text() == TEXT
    assert (status(place.site), status(place.repo)) == (f"?? {PAGE}\n", "")


def test_before_there_is_a_bundle_the_site_is_as_at_its_commit(place: Workplace) -> None:
    work(replace(place, given={}))
    assert status(place.site) == ""


def test_a_repository_that_this_machine_cannot_reach_is_told(place: Workplace) -> None:
    nowhere = {**place.config, "site_repo_url": "/nowhere/at/all"}
    with pytest.raises(ToolError, match="site repository all could not be cloned"):
        work(replace(place, config=nowhere))


def test_the_mark_of_trees_is_there_only_while_both_of_them_are(tmp_path: Path) -> None:
    mark = TreeMark(tmp_path)
    assert mark.read() is None
    for name in ("repo", "site"):
        (tmp_path / "work" / name).mkdir(parents=True)
    mark.write("")
    assert mark.read() == ""
    mark.write("a" * 64)
    assert TreeMark(tmp_path).read() == "a" * 64
    (tmp_path / "work" / "site").rmdir()
    assert mark.read() is None
    mark.clear()
    mark.clear()
    (tmp_path / "work" / "repo").rmdir()
    assert mark.read() is None
