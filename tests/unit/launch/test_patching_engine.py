import copy
import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.errors import ToolError
from holdfast.launch.documents import sha256, violations
from holdfast.launch.patching.engine import NO_FILE_HASH, Applied, apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.operations import MOST_BYTES

FENCE = Fence(["content/"])
PAGE = (
    b"---\n# kept\ntitle: One # why\ntags:\n  - a\nweight: 3\n---\n\n"
    b"Intro\n\n## A\n\ntext\n\n### A1\n\nmore\n\n## B\n\nlast\n"
)
Files = Mapping[str, bytes | None]


def bundle_of(*patches: Mapping[str, Any]) -> dict[str, Any]:
    made, _ = extended({"schema_version": "1.0", "base_ref": "0" * 40, "patches": []}, patches)
    return made


def apply(bundle: Mapping[str, Any], files: Files) -> Applied:
    return apply_bundle(bundle, files.get, FENCE, [path for path, content in files.items() if content is not None])


def patch(
    kind: str, after: bytes | None, before: bytes | None = None, path: str = "content/x.md", **more: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": kind,
        "path": path,
        "content_hash": NO_FILE_HASH if after is None else sha256(after),
    }
    if before is not None:
        made["expected_before_hash"] = sha256(before)
    return made | more


FIVE = [
    (patch("create_file", b"new\n", new_content="new\n"), None, b"new\n"),
    (
        patch("update_file_range", b"1\ntwo\n3\n", b"1\n2\n3\n", start_line=2, end_line=2, new_content="two\n"),
        b"1\n2\n3\n",
        b"1\ntwo\n3\n",
    ),
    (
        patch("update_file_range", b"0\n1\n", b"1\n", start_line=1, end_line=0, new_content="0\n"),
        b"1\n",
        b"0\n1\n",
    ),
    (patch("update_file_range", b"1\n2", b"1\n", start_line=2, end_line=1, new_content="2"), b"1\n", b"1\n2"),
    (
        patch(
            "update_by_anchor",
            b"# T\n\n## A\n\nnew\n\n## B\n",
            b"# T\n\n## A\n\nold\n\n### deep\n\n## B\n",
            anchor="## A",
            new_content="## A\n\nnew\n\n",
        ),
        b"# T\n\n## A\n\nold\n\n### deep\n\n## B\n",
        b"# T\n\n## A\n\nnew\n\n## B\n",
    ),
    (
        patch("update_by_anchor", b"- a\n- b\n", b"- a\n", anchor="- a", new_content="- a\n- b\n"),
        b"- a\n",
        b"- a\n- b\n",
    ),
    (
        patch(
            "update_by_anchor",
            b"```\n# A\n```\n# A\nz\n# x\n",
            b"```\n# A\n```\n# A\n# x\n",
            anchor="# A",
            new_content="# A\nz\n",
        ),
        b"```\n# A\n```\n# A\n# x\n",
        b"```\n# A\n```\n# A\nz\n# x\n",
    ),
    (patch("delete_file", None, b"x"), b"x", None),
]


@pytest.mark.parametrize(("change", "before", "after"), FIVE)
def test_each_type_of_patch_makes_the_file_that_it_promises(
    change: dict[str, Any], before: bytes | None, after: bytes | None
) -> None:
    applied = apply(bundle_of(change), {"content/x.md": before})
    assert applied.conflicts == []
    assert applied.files == {"content/x.md": after}
    assert applied.statuses == {"patch_001": "applied"}
    again = apply(bundle_of(change), {"content/x.md": after})
    assert again.files == {}
    assert again.statuses == {"patch_001": "already_applied"}


def test_keys_of_a_front_matter_change_and_every_other_byte_stays() -> None:
    after = PAGE.replace(b"weight: 3", b"weight: 4").replace(b"  - a", b"  - b\n  - c")
    updates = {"weight": 4, "tags": ["b", "c"]}
    made = patch("update_frontmatter_keys", after, PAGE, frontmatter_updates=updates)
    assert apply(bundle_of(made), {"content/x.md": PAGE}).files == {"content/x.md": after}


CONFLICTS = [
    (patch("create_file", b"new", new_content="new"), b"other", "file_exists"),
    (patch("create_file", b"promised", new_content="else"), None, "content_mismatch"),
    (patch("create_file", b"a\0b", new_content="a\0b"), None, "not_text"),
    (patch("create_file", b"", new_content="x" * (MOST_BYTES + 1)), None, "too_large"),
    (patch("update_file_range", b"y", b"x", start_line=1, end_line=1, new_content="y"), None, "file_missing"),
    (patch("update_file_range", b"y", b"x", start_line=1, end_line=1, new_content="y"), b"z", "content_mismatch"),
    (
        patch("update_file_range", b"y", b"x\n", start_line=2, end_line=2, new_content="y"),
        b"x\n",
        "range_out_of_bounds",
    ),
    (
        patch("update_file_range", b"y", b"x\n", start_line=3, end_line=2, new_content="y"),
        b"x\n",
        "range_out_of_bounds",
    ),
    (
        patch("update_file_range", b"y", b"a\nb\n", start_line=2, end_line=0, new_content="y"),
        b"a\nb\n",
        "range_out_of_bounds",
    ),
    (patch("update_file_range", b"y", b"\xff", start_line=1, end_line=1, new_content="y"), b"\xff", "not_text"),
    (patch("update_file_range", b"y", b"\0", start_line=1, end_line=1, new_content="y"), b"\0", "not_text"),
    (patch("update_by_anchor", b"y", b"x\n", anchor="## A", new_content="y"), b"x\n", "anchor_missing"),
    (patch("update_by_anchor", b"y", b"a\na\n", anchor="a", new_content="y"), b"a\na\n", "anchor_missing"),
    (
        patch("update_by_anchor", b"y", b"```\n## A\n```\n", anchor="## A", new_content="y"),
        b"```\n## A\n```\n",
        "anchor_missing",
    ),
    (patch("update_frontmatter_keys", b"y", b"no", frontmatter_updates={"a": 1}), b"no", "key_missing"),
    (patch("update_frontmatter_keys", b"y", PAGE, frontmatter_updates={"absent": None}), PAGE, "key_missing"),
    (
        patch("update_frontmatter_keys", b"y", b"---\na: [\n---\n", frontmatter_updates={"a": 1}),
        b"---\na: [\n---\n",
        "key_missing",
    ),
    (patch("delete_file", None, b"x"), b"y", "content_mismatch"),
    (patch("create_file", b"x", path="static/x.md", new_content="x"), None, "outside_fence"),
    (patch("create_file", b"x", path="content/../x.md", new_content="x"), None, "outside_fence"),
]


@each_row(("change", "before", "kind"), CONFLICTS)
def test_a_patch_that_does_not_fit_is_a_conflict_and_changes_nothing(
    change: dict[str, Any], before: bytes | None, kind: str
) -> None:
    applied = apply(bundle_of(change), {change["path"]: before})
    assert [item["kind"] for item in applied.conflicts] == [kind]
    assert applied.files == {}
    assert applied.statuses == {"patch_001": "conflict"}
    assert violations("patch_conflicts", {"schema_version": "1.0", "conflicts": applied.conflicts}) == []


def test_a_file_is_changed_by_all_of_its_patches_or_by_none() -> None:
    good, bad = changes("content/x.md", b"1\n", b"2\n")[0], patch("delete_file", None, b"other")
    applied = apply(bundle_of(good, bad, *changes("content/y.md", None, b"y")), {"content/x.md": b"1\n"})
    assert applied.files == {"content/y.md": b"y"}
    assert [item["patch_id"] for item in applied.conflicts] == ["patch_001", "patch_002"]
    assert "patch_002" in applied.conflicts[0]["message"]


def test_a_chain_of_patches_over_its_own_result_changes_nothing() -> None:
    states: list[bytes | None] = [None, b"a\n", b"b\n", None, b"", b"c\n"]
    chain = [
        each for before, after in itertools.pairwise(states) for each in changes("content/x.md", before, after)
    ]
    bundle = bundle_of(*chain)
    for state in (*states, b"c\n"):
        applied = apply(bundle, {"content/x.md": state})
        assert applied.conflicts == []
        assert applied.files == ({} if state == b"c\n" else {"content/x.md": b"c\n"})


def test_a_file_that_comes_back_to_what_it_was_is_no_change() -> None:
    there_and_back = [*changes("content/x.md", b"a", b"b"), *changes("content/x.md", b"b", b"a")]
    assert apply(bundle_of(*there_and_back), {"content/x.md": b"a"}).files == {}


def test_an_empty_file_is_not_taken_for_a_deleted_one() -> None:
    gone = apply(bundle_of(*changes("content/x.md", b"", None)), {"content/x.md": b""})
    assert gone.files == {"content/x.md": None}
    made = apply(bundle_of(*changes("content/x.md", None, b"")), {})
    assert made.files == {"content/x.md": b""}


def test_a_patch_id_twice_is_refused() -> None:
    bundle = bundle_of(*changes("content/x.md", None, b"x"), *changes("content/y.md", None, b"y"))
    bundle["patches"][1]["patch_id"] = "patch_001"
    with pytest.raises(ToolError) as caught:
        apply(bundle, {})
    assert caught.value.details["reason"] == "duplicate_patch_id"


@pytest.mark.parametrize(
    ("first", "second"),
    [("content/a.md", "content/A.md"), ("content/a", "content/a/b.md"), ("content/a/b.md", "content/a")],
)
def test_new_files_that_would_meet_on_some_disk_are_a_conflict(first: str, second: str) -> None:
    both = bundle_of(*changes(first, None, b"1"), *changes(second, None, b"2"))
    applied = apply(both, {})
    assert applied.files == {first: b"1"}
    assert [item["kind"] for item in applied.conflicts] == ["file_exists"]
    beside = apply(bundle_of(*changes(second, None, b"2")), {first: b"1"})
    assert beside.files == {}


def test_the_bundle_and_the_files_that_were_given_are_left_alone() -> None:
    bundle = bundle_of(*changes("content/x.md", PAGE, PAGE.replace(b"text", b"else")))
    kept = copy.deepcopy(bundle)
    apply(bundle, {"content/x.md": PAGE})
    assert bundle == kept
    assert violations("patch_bundle", bundle) == []


LINES = st.lists(
    st.sampled_from(["", "a", "b", "# H", "## A", "## B", "```", "- x", "é\r", "---", "k: 1", "k: v # c"]),
    max_size=12,
)
TEXTS = st.builds(lambda lines, end: ("\n".join(lines) + end).encode(), LINES, st.sampled_from(["", "\n"]))
CONTENTS = st.one_of(st.none(), TEXTS)
NAMES = ["content/a.md", "content/b.md", "content/sub/c.md", "content/sub/d.md"]
TREES = st.fixed_dictionaries(dict.fromkeys(NAMES, CONTENTS))


@given(TEXTS, TEXTS)
def test_the_patches_between_two_texts_lead_from_one_to_the_other(before: bytes, after: bytes) -> None:
    bundle = bundle_of(*changes("content/x.md", before, after))
    assert violations("patch_bundle", bundle) == []
    applied = apply(bundle, {"content/x.md": before})
    assert applied.conflicts == []
    assert applied.files.get("content/x.md", before) == after


@given(TREES, st.lists(TREES, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_random_bundles_are_idempotent_and_unrelated_order_does_not_matter(
    base: dict[str, bytes | None], steps: list[dict[str, bytes | None]], random: Any
) -> None:
    chains: dict[str, list[dict[str, Any]]] = {name: [] for name in NAMES}
    for before, after in zip([base, *steps], steps, strict=False):
        for name in NAMES:
            chains[name] += changes(name, before[name], after[name])
    bundle = bundle_of(*(each for name in NAMES for each in chains[name]))
    applied = apply(bundle, base)
    assert applied.conflicts == []
    result = {name: applied.files.get(name, base[name]) for name in NAMES}
    assert result == steps[-1]
    assert apply(bundle, result).files == {}
    names = random.sample(NAMES, len(NAMES))
    other = bundle_of(*(each for name in names for each in chains[name]))
    assert apply(other, base).files == applied.files


@given(TREES, TREES, st.data())
def test_a_conflict_never_changes_its_file_and_is_always_told(
    base: dict[str, bytes | None], wanted: dict[str, bytes | None], data: st.DataObject
) -> None:
    found = data.draw(TREES)  # other files than those that the patches were made for
    bundle = bundle_of(*(each for name in NAMES for each in changes(name, base[name], wanted[name])))
    applied = apply(bundle, found)
    for path, after in applied.files.items():
        assert after == wanted[path]
        assert path not in {item["path"] for item in applied.conflicts}
    told = {item["patch_id"] for item in applied.conflicts}
    assert told == {number for number, status in applied.statuses.items() if status == "conflict"}
