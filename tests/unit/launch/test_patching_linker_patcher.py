import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import commit_all
from tests.launch.site_places import CLAIM, given_of, page_of, place_on
from tests.launch.tablekit_facts import hugo_facts, tablekit_documents

from holdfast.errors import ToolError
from holdfast.launch.documents import decode, sha256
from holdfast.launch.patching.linker_patcher import work
from holdfast.launch.patching.operations import MOST_BYTES
from holdfast.launch.updating.page_parts import parts_of
from holdfast.launch.updating.record import PageRecord, Records
from holdfast.launch.work import Workplace

MARK = f" <!-- claim:{CLAIM} -->"
SITE = {"content/docs/_index.md": b"---\ntitle: Docs\n---\n", "README.md": b"# Site\n"}
OURS = f"---\ntitle: Old # by hand\nweight: 3\n---\n\nIntro.{MARK}\n\n## A\n\nOld text.{MARK}\n\n## B\n\nKept.\n"
INDEX = "content/docs/tablekit/_index.md"
RECORD = "content/docs/tablekit/.holdfast-launch.json"


def placed(tmp_path: Path, files: Mapping[str, bytes], drafts: Mapping[str, str], **changes: Any) -> Workplace:
    """`drafts` maps `section/name path` to text."""
    pages = [page_of(*key.split(" ")) for key in drafts]
    artifacts: dict[str, Any] = {
        "page_plan.json": plan(pages),
        "evidence_map.json": tablekit_documents()["evidence_map.json"],
        "hugo_facts.json": hugo_facts(),
    }
    sections = changes.setdefault("required_sections", ["docs", "blog"])
    for section in sections:
        rows = []
        for page, text in zip(pages, drafts.values(), strict=True):
            if page["section"] == section:
                name = f"drafts/{page['page_id']}.md"
                artifacts[name] = text
                rows.append(
                    {
                        "page_id": page["page_id"],
                        "output_path": page["output_path"],
                        "artifact": name,
                        "sha256": sha256(text.encode()),
                        "claim_ids": [],
                        "snippet_ids": [],
                        "writer": "template",
                    }
                )
        artifacts[f"draft_manifest.{section}.json"] = {"schema_version": "1.0", "section": section, "drafts": rows}
    place = place_on(tmp_path, SITE | dict(files), **changes)
    place.given = given_of(tmp_path, artifacts)
    return place


def recorded(pages: Mapping[str, str]) -> dict[str, bytes]:
    """The pages as files, and the record of a run that wrote them."""
    records = Records({})
    for path, text in pages.items():
        records.put(path, PageRecord.of(parts_of(text)))
    files = {path: content for path, content in records.files().items() if content is not None}
    return {path: text.encode() for path, text in pages.items()} | files


def plan(pages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"schema_version": "1.0", "product_slug": "tablekit", "launch_tier": "standard", "pages": pages}


def made(place: Workplace, name: str) -> Any:
    return decode(name.removesuffix(".json"), place.made[name].path.read_bytes())


def events(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, dict[str, Any]]]:
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [(item["event"], item["payload"]) for item in said if "event" in item]


def test_new_pages_are_created_in_the_order_of_sections_and_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = {
        "blog/news content/blog/tablekit/news.md": "news\n",
        "docs/z content/docs/tablekit/z.md": "z\n",
        f"docs/index {INDEX}": "index\n",
    }
    place = placed(tmp_path, {}, drafts)
    work(place)
    patches = made(place, "patch_bundle.json")["patches"]
    assert [(each["patch_id"], each["type"], each["path"]) for each in patches] == [
        ("patch_001", "create_file", INDEX),
        ("patch_002", "create_file", "content/docs/tablekit/z.md"),
        ("patch_003", "create_file", "content/blog/tablekit/news.md"),
        ("patch_004", "create_file", "content/blog/tablekit/.holdfast-launch.json"),
        ("patch_005", "create_file", RECORD),
    ]
    assert (place.site / INDEX).read_bytes() == b"index\n"
    assert made(place, "patch_conflicts.json")["conflicts"] == []
    told = events(capsys)
    assert [name for name, _ in told] == ["PATCH_APPLIED"] * 5
    assert told[0][1] == {"patch_id": "patch_001", "path": INDEX, "type": "create_file"}


def test_a_page_of_ours_is_updated_in_small_pieces_and_an_equal_one_not_at_all(tmp_path: Path) -> None:
    new = OURS.replace("Old text", "New text").replace("weight: 3", "weight: 4")
    drafts = {f"docs/index {INDEX}": new, "docs/same content/docs/tablekit/same.md": "same\n"}
    place = placed(tmp_path, recorded({INDEX: OURS, "content/docs/tablekit/same.md": "same\n"}), drafts)
    work(place)
    patches = made(place, "patch_bundle.json")["patches"]
    assert [each["type"] for each in patches[:2]] == ["update_frontmatter_keys", "update_by_anchor"]
    assert {each["path"] for each in patches[2:]} == {RECORD}
    assert patches[0]["frontmatter_updates"] == {"weight": 4}
    assert patches[1]["anchor"] == "## A"
    assert (place.site / INDEX).read_text() == new
    report = place.made["reports/diff_report.md"].path.read_text()
    assert f"| `{INDEX}` | changed | 2 | 2 |" in report
    assert f"-Old text.{MARK}\n+New text.{MARK}" in report


def test_a_page_that_somebody_else_wrote_is_a_conflict_and_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = {f"docs/index {INDEX}": "ours\n", "docs/z content/docs/tablekit/z.md": "z\n"}
    place = placed(tmp_path, {INDEX: b"theirs\n"}, drafts)
    work(place)
    conflicts = made(place, "patch_conflicts.json")["conflicts"]
    assert [(each["patch_id"], each["path"], each["kind"]) for each in conflicts] == [
        ("unapplied_001", INDEX, "file_exists")
    ]
    paths = [each["path"] for each in made(place, "patch_bundle.json")["patches"]]
    assert paths == ["content/docs/tablekit/z.md", RECORD]
    assert (place.site / INDEX).read_bytes() == b"theirs\n"
    assert ("PATCH_CONFLICT_DETECTED", conflicts[0]) in events(capsys)


def test_two_pages_for_one_path_and_a_binary_page_are_conflicts(tmp_path: Path) -> None:
    path = "content/docs/tablekit/b.md"
    drafts = {f"docs/one {INDEX}": "1\n", f"docs/two {INDEX}": "2\n", f"docs/b {path}": "text\n"}
    place = placed(tmp_path, {path: b"\xff\xfe"}, drafts)
    work(place)
    assert {each["kind"] for each in made(place, "patch_conflicts.json")["conflicts"]} == {
        "file_exists",
        "not_text",
    }
    assert (place.site / path).read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize(
    "path",
    [
        "content/docs/other/x.md",
        "content/docs/tablekit/../../x.md",
        "/etc/x.md",
        "content/docs/tablekit/link/x.md",
        "content/docs/tablekit/l.md",
        "content/docs/tablekit/UP.md",
        "content/docs/tablekit/.git/x.md",
        "content/docs/tablekit-2/x.md",
    ],
)
def test_a_page_outside_of_the_fence_stops_the_work_and_nothing_is_written(tmp_path: Path, path: str) -> None:
    place = placed(
        tmp_path, {"content/docs/tablekit/up.md": b"up\n"}, {f"docs/a {INDEX}": "a\n", f"docs/b {path}": "b\n"}
    )
    folder = place.site / "content/docs/tablekit"
    (folder / "link").symlink_to("/tmp")
    (folder / "l.md").symlink_to("../../../../outside.md")
    place.config = {**place.config, "site_ref": commit_all(place.site)}
    with pytest.raises(ToolError) as caught:
        work(place)
    assert caught.value.code == "ALLOWED_PATHS_VIOLATION"
    assert place.made == {}
    assert not (place.site / INDEX).exists()


def test_a_link_that_appeared_in_the_work_tree_is_not_followed(tmp_path: Path) -> None:
    place = placed(tmp_path, {}, {f"docs/a {INDEX}": "a\n"})
    (place.site / "content/docs/tablekit").symlink_to(tmp_path)
    with pytest.raises(ToolError) as caught:
        work(place)
    assert caught.value.code == "ALLOWED_PATHS_VIOLATION"
    assert not (tmp_path / "_index.md").exists()


@pytest.mark.parametrize(
    ("budget", "limit"), [("max_files_changed", 1), ("max_file_writes", 1), ("max_lines_per_file", 2)]
)
def test_more_than_the_budgets_allow_is_invalid_input_and_nothing_is_written(
    tmp_path: Path, budget: str, limit: int
) -> None:
    place = placed(tmp_path, {}, {f"docs/a {INDEX}": "1\n2\n3\n", "docs/b content/docs/tablekit/b.md": "b\n"})
    place.config["budgets"][budget] = limit
    with pytest.raises(ToolError) as caught:
        work(place)
    assert caught.value.code == "INVALID_INPUT"
    assert caught.value.details["reason"] == "budget_exceeded"
    assert caught.value.details["budget"] == budget
    assert place.made == {}
    assert not (place.site / INDEX).exists()


def test_a_draft_that_was_not_planned_is_refused(tmp_path: Path) -> None:
    place = placed(tmp_path, {}, {f"docs/a {INDEX}": "a\n"})
    pages = [page_of("docs/a", "content/docs/tablekit/other.md")]
    place.given = {**place.given, **given_of(tmp_path / "out", {"page_plan.json": plan(pages)})}
    with pytest.raises(ToolError) as caught:
        work(place)
    assert caught.value.details["reason"] == "draft_mismatch"


def test_the_list_of_a_section_gets_the_new_page_only_inside_of_the_fence(tmp_path: Path) -> None:
    listing = b"---\ntitle: Docs\n---\n\nAll:\n\n* [Inkpot](/docs/inkpot/)\n* [Away](https://example.com/docs/x/)\n\nEnd.\n"
    for number, allowed in enumerate((["content/docs/"], ["content/docs/tablekit"])):
        (tmp_path / str(number)).mkdir()
        drafts = {f"docs/index {INDEX}": "a\n", "docs/deep content/docs/tablekit/deep.md": "b\n"}
        place = placed(tmp_path / str(number), {"content/docs/_index.md": listing}, drafts, allowed_paths=allowed)
        work(place)
        text = (place.site / "content/docs/_index.md").read_bytes()
        new = b"* [Inkpot](/docs/inkpot/)\n* [Tablekit](/docs/tablekit/)\n"
        assert text == (listing if number else listing.replace(b"* [Inkpot](/docs/inkpot/)\n", new))
        kinds = [each["type"] for each in made(place, "patch_bundle.json")["patches"]]
        assert kinds == ["create_file"] * 2 + ([] if number else ["update_by_anchor"]) + ["create_file"]


def test_no_drafts_make_an_empty_bundle(tmp_path: Path) -> None:
    place = placed(tmp_path, {INDEX: b"same\n"}, {f"docs/a {INDEX}": "same\n"})
    work(place)
    assert made(place, "patch_bundle.json")["patches"] == []
    assert "Nothing changes." in place.made["reports/diff_report.md"].path.read_text()


RUN = """
import json, sys
from pathlib import Path
from holdfast.launch.patching.linker_patcher import work
from holdfast.launch.patching.operations import MOST_BYTES
from holdfast.launch.work import Given, Workplace
told = json.loads(Path(sys.argv[1]).read_text())
given = {name: Given(Path(path), digest, schema) for name, (path, digest, schema) in told["given"].items()}
root, out = Path(told["root"]), Path(told["out"])
place = Workplace("r_2026-01-21T10-00-00Z_abcd", "linker_patcher", "run", 1, told["config"], root, out, given)
work(place)
print(json.dumps({name: each.sha256 for name, each in sorted(place.made.items())}), file=sys.stderr)
"""


def test_the_same_drafts_make_the_same_bytes_in_any_process_and_over_a_half_done_work_tree(tmp_path: Path) -> None:
    new = OURS.replace("Old text", "New text").replace("Kept", "Changed")
    drafts = {f"docs/index {INDEX}": new, "docs/z content/docs/tablekit/z.md": "z\n"}
    place = placed(tmp_path, recorded({INDEX: OURS}), drafts)
    given = {name: (str(each.path), each.sha256, each.schema_id) for name, each in place.given.items()}
    told = {"given": given, "config": place.config, "root": str(tmp_path), "out": str(place.out)}
    (tmp_path / "told.json").write_text(json.dumps(told))
    answers = []
    for seed in ("0", "7"):
        (place.site / INDEX).write_bytes(b"half")  # as if the one before had been killed
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(tmp_path / "told.json")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        answers.append(done.stderr)
        assert (place.site / INDEX).read_text() == new
    assert answers[0] == answers[1]


# --- pages that are there already ------------------------------------------------------------------------------


def told(place: Workplace) -> dict[str, dict[str, Any]]:
    return {page["path"]: page for page in made(place, "update_report.json")["pages"]}


def test_a_page_of_ours_that_no_record_names_is_left_alone_and_recorded_for_the_next_version(
    tmp_path: Path,
) -> None:
    place = placed(tmp_path, {INDEX: OURS.encode()}, {f"docs/index {INDEX}": OURS.replace("Old", "New")})
    work(place)
    assert (place.site / INDEX).read_text() == OURS
    assert told(place)[INDEX]["status"] == "left_alone"
    assert [each["path"] for each in made(place, "patch_bundle.json")["patches"]] == [RECORD]
    assert made(place, "update_report.json")["changes"] is True
    records = Records({RECORD: (place.site / RECORD).read_bytes()})
    assert records.get(INDEX) == PageRecord.of(parts_of(OURS.replace("Old", "New")))


@pytest.mark.parametrize("broken", ["---\ntitle: [\n---\nText.\n", "---\nno end\n"])
def test_a_page_that_cannot_be_read_is_left_alone(tmp_path: Path, broken: str) -> None:
    place = placed(
        tmp_path, recorded({INDEX: OURS}) | {INDEX: broken.encode()}, {f"docs/index {INDEX}": OURS + "\nNew.\n"}
    )
    work(place)
    assert (place.site / INDEX).read_text() == broken
    assert told(place)[INDEX]["status"] == "left_alone"
    assert made(place, "patch_bundle.json")["patches"] == []


@pytest.mark.parametrize("record", [b"{", b"\xff\xfe", b"<<<<<<< ours\n"])
def test_a_record_that_cannot_be_read_makes_every_page_peoples(tmp_path: Path, record: bytes) -> None:
    drafts = {f"docs/index {INDEX}": OURS.replace("Old", "New"), "docs/z content/docs/tablekit/z.md": "z\n"}
    place = placed(tmp_path, {INDEX: OURS.encode(), RECORD: record}, drafts)
    work(place)
    assert (place.site / INDEX).read_text() == OURS
    assert made(place, "update_report.json")["unreadable_records"] == [RECORD]
    is_mended = Records({RECORD: (place.site / RECORD).read_bytes()}).broken == []
    assert is_mended is (record != b"\xff\xfe")  # no patch can be made of what is no text


@pytest.mark.parametrize("is_edited", [False, True])
@pytest.mark.parametrize("may_go", [False, True])
def test_a_page_that_is_no_longer_planned_goes_only_where_that_was_asked_and_nobody_edited_it(
    tmp_path: Path, may_go: bool, is_edited: bool
) -> None:
    old = "content/docs/tablekit/old.md"
    files = recorded({INDEX: OURS, old: "Old page.\n"}) | ({old: b"Old page, ours now.\n"} if is_edited else {})
    drafts = {f"docs/index {INDEX}": OURS.replace("Old text", "New text")}
    place = placed(tmp_path, files, drafts, updates={"delete_unplanned_pages": may_go})
    work(place)
    is_gone = may_go and not is_edited
    assert (place.site / old).exists() is not is_gone
    assert told(place)[old]["status"] == ("deleted" if is_gone else "not_planned")
    assert (Records({RECORD: (place.site / RECORD).read_bytes()}).get(old) is None) is is_gone


def test_the_post_of_an_earlier_version_is_neither_listed_nor_deleted(tmp_path: Path) -> None:
    post = "content/blog/tablekit/announcing-1-3-0.en.md"
    drafts = {f"docs/index {INDEX}": OURS.replace("Old text", "New text")}
    place = placed(
        tmp_path, recorded({INDEX: OURS, post: "News.\n"}), drafts, updates={"delete_unplanned_pages": True}
    )
    work(place)

    assert (place.site / post).read_text() == "News.\n"
    assert post not in told(place)


def test_a_page_that_people_deleted_is_listed_and_its_record_stays(tmp_path: Path) -> None:
    gone = "content/docs/tablekit/gone.md"
    files = {path: content for path, content in recorded({INDEX: OURS, gone: "x\n"}).items() if path != gone}
    place = placed(tmp_path, files, {f"docs/index {INDEX}": OURS.replace("Old text", "New text")})
    work(place)
    assert told(place)[gone]["status"] == "deleted_by_people"
    assert Records({RECORD: (place.site / RECORD).read_bytes()}).get(gone) is not None


def test_edits_that_leave_nothing_to_change_make_no_patch_and_are_told(tmp_path: Path) -> None:
    ours = OURS.replace("Old text", "Old text of people")
    drafts = {f"docs/index {INDEX}": OURS.replace("Old text", "New text")}
    place = placed(tmp_path, recorded({INDEX: OURS}) | {INDEX: ours.encode()}, drafts)
    work(place)
    assert made(place, "patch_bundle.json")["patches"] == []
    assert made(place, "update_report.json")["changes"] is False
    (kept,) = told(place)[INDEX]["kept"]
    assert kept["yours"].startswith("Old text of people.")
    assert kept["new"].startswith("New text.")
    assert [mark["claim_id"] for mark in told(place)[INDEX]["stale_marks"]] == [CLAIM, CLAIM]


def test_a_recorded_page_that_people_made_a_link_is_theirs(tmp_path: Path) -> None:
    old = "content/docs/tablekit/old.md"
    drafts = {f"docs/index {INDEX}": OURS.replace("Old text", "New text")}
    place = placed(tmp_path, recorded({INDEX: OURS, old: "x\n"}), drafts, updates={"delete_unplanned_pages": True})
    (place.site / old).unlink()
    (place.site / old).symlink_to("/etc/hostname")
    place.config = {**place.config, "site_ref": commit_all(place.site)}
    work(place)
    assert told(place)[old]["status"] == "not_planned"
    assert (place.site / old).is_symlink()


def test_a_page_that_people_made_too_large_is_left_alone_and_the_others_are_updated(tmp_path: Path) -> None:
    large = "content/docs/tablekit/large.md"
    drafts = {
        f"docs/index {INDEX}": OURS.replace("Old text", "New text"),
        f"docs/large {large}": OURS.replace("Old text", "New text"),
    }
    files = recorded({INDEX: OURS, large: OURS}) | {large: OURS.encode() + b"x" * (MOST_BYTES + 1)}
    place = placed(tmp_path, files, drafts)
    work(place)
    assert told(place)[large]["status"] == "left_alone"
    assert "too large to be updated" in told(place)[large]["reason"]
    assert told(place)[INDEX]["status"] == "updated"
    assert {each["path"] for each in made(place, "patch_bundle.json")["patches"]} == {INDEX, RECORD}
    records = Records({RECORD: (place.site / RECORD).read_bytes()})
    assert records.get(large) == PageRecord.of(parts_of(OURS))


def test_a_page_of_more_lines_than_the_budget_is_left_alone_and_the_others_are_updated(tmp_path: Path) -> None:
    long = "content/docs/tablekit/long.md"
    many = "".join(f"\n## More {number}\n\nText {number}.\n" for number in range(30))
    drafts = {
        f"docs/index {INDEX}": OURS.replace("Old text", "New text"),
        f"docs/long {long}": OURS.replace("Old text", "New text") + many,
    }
    place = placed(tmp_path, recorded({INDEX: OURS, long: OURS}), drafts)
    place.config["budgets"]["max_lines_per_file"] = 40
    work(place)
    assert told(place)[long]["status"] == "left_alone"
    assert told(place)[long]["reason"].endswith("the configuration allows 40 (max_lines_per_file)")
    assert told(place)[INDEX]["status"] == "updated"
    assert (place.site / long).read_text() == OURS


def test_a_page_that_people_made_a_folder_of_is_updated_there_and_not_deleted(tmp_path: Path) -> None:
    old, new = "content/docs/tablekit/x.md", "content/docs/tablekit/x/index.md"
    files = {path: content for path, content in recorded({old: OURS}).items() if path != old}
    place = placed(tmp_path, files | {new: OURS.encode()}, {f"docs/x {new}": OURS.replace("Old text", "New text")})
    work(place)
    assert {path: row["status"] for path, row in told(place).items()} == {new: "updated"}
    assert (place.site / new).read_text() == OURS.replace("Old text", "New text")
    records = Records({RECORD: (place.site / RECORD).read_bytes()})
    assert records.pages() == [old]
    assert records.get(old) == PageRecord.of(parts_of(OURS.replace("Old text", "New text")))
