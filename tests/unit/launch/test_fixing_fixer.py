import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import commit_all
from tests.launch.site_places import given_of, page_of, place_on, taken_over
from tests.launch.site_sources import site_files
from tests.launch.tablekit_facts import contract, hugo_facts, tablekit_documents

from holdfast.errors import ToolError
from holdfast.launch import toolchain
from holdfast.launch.claim_marks import mark
from holdfast.launch.documents import decode
from holdfast.launch.fixing.fixer import work
from holdfast.launch.gates.gate import Gate
from holdfast.launch.gates.table import GATES
from holdfast.launch.gates.view import Page, View
from holdfast.launch.issues import issue
from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.tree import BaseTree, materialise
from holdfast.launch.work import Workplace

BY_NAME: dict[str, Gate] = {gate.name: gate for gate in GATES}
DOCUMENTS = tablekit_documents()
CLAIMS = DOCUMENTS["evidence_map.json"]["claims"]
CLAIM = next(claim for claim in CLAIMS if claim["claim_kind"] == "feature")
SAID = CLAIM["claim_text"] + mark([CLAIM["claim_id"]])
PATH = "content/docs/tablekit/guide.md"
HEAD = "---\ntitle: About tablekit\ndescription: A page.\nweight: 1\ntags: []\ndraft: false\n---\n\n"
GOOD = f"{HEAD}{SAID}\n"
SITE = {"README.md": b"# Site\n", "layouts/x.html": b"<p>\n", "data/y.bin": b"\0\xff"}


def placed(
    tmp_path: Path, text: str, files: Mapping[str, bytes] = SITE, *, base: str | None = None, **more: Any
) -> Workplace:
    """A run whose one page is in the bundle and in the work tree; `base` is what the site had of it before."""
    before = None if base is None else base.encode()
    place = place_on(tmp_path, {**files, **({PATH: before} if before is not None else {})}, worker="fixer")
    bundle = {"schema_version": "1.0", "base_ref": place.config["site_ref"], "patches": []}
    bundle, _ = extended(bundle, changes(PATH, before, text.encode()))
    plan = {
        "schema_version": "1.0",
        "product_slug": "tablekit",
        "launch_tier": "standard",
        "pages": [page_of("docs/guide", PATH, **more)],
    }
    place.given = given_of(
        tmp_path,
        {
            **DOCUMENTS,
            "patch_bundle.json": bundle,
            "page_plan.json": plan,
            "frontmatter_contract.json": contract(),
            "hugo_facts.json": hugo_facts(),
        },
    )
    materialise(place.site, {PATH: text.encode()})
    return place


def ask(place: Workplace, *issues: Mapping[str, Any], **more: Any) -> None:
    """Let the fixer mend the first of the issues."""
    report = {"schema_version": "1.0", "ok": False, "profile": "ci", "gates": [], "issues": list(issues), **more}
    place.out = place.root / f"out-{len(list(place.root.iterdir()))}"
    place.out.mkdir()
    place.given = {**place.given, **given_of(place.out, {"validation_report.json": report})}
    place.scope, place.made = issues[0]["issue_id"], {}
    work(place)


def record(place: Workplace) -> dict[str, Any]:
    made: dict[str, Any] = decode("fix_record", place.made[f"fixes/{place.scope}.json"].path.read_bytes())
    return made


def looked(place: Workplace, names: str, scratch: Path) -> list[dict[str, Any]]:
    """What gates find now, from the bundle."""
    scratch.mkdir()
    tree = BaseTree(place.site, place.config["site_ref"])
    files = apply_bundle(place.read("patch_bundle.json"), tree.read, Fence(place.config["allowed_paths"])).files
    artifacts = {name: place.read(name) for name in place.given if name.endswith(".json")}
    plans = {page["output_path"]: page for page in artifacts["page_plan.json"]["pages"]}
    pages = [
        Page(path, content, tree.read(path), plans.get(path))
        for path, content in files.items()
        if content is not None
    ]
    view = View(
        config=place.config,
        profile="ci",
        artifacts=artifacts,
        files=files,
        pages=pages,
        site=place.site,
        tree=tree,
        scratch=scratch,
        hugo=toolchain.hugo_executable(),
    )
    found = [
        (gate, finding)
        for gate in map(BY_NAME.__getitem__, names.split())
        for finding in gate.check(view).findings
    ]
    return [gate.issue(finding, "ci") for gate, finding in found]


OTHER = "clm_" + "0" * 16
SNIPPET = DOCUMENTS["snippet_catalog.json"]["snippets"][0]["code"]
FINDINGS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("template_tokens", "remove_template_token", f"{GOOD}\nWelcome to __PLACE__ now.\n", {}),
    ("template_tokens", "replace_frontmatter", GOOD.replace("About tablekit", "__TITLE__"), {}),
    ("secrets", "redact_secret", f"{GOOD}\nUse ghp_{'a1B2c3D4e5F6g7H8i9' * 2}.\n", {}),
    ("frontmatter", "complete_frontmatter", GOOD.replace("weight: 1\n", ""), {}),
    ("frontmatter", "replace_frontmatter", GOOD.replace("weight: 1", "weight: one"), {}),
    (
        "frontmatter",
        "replace_frontmatter",
        '+++\ntitle = "T"\ndescription = "d"\nweight = 1\ntags = []\ndraft = false\n+++\n\n' + SAID + "\n",
        {},
    ),
    ("schema", "replace_frontmatter", GOOD.replace("weight: 1", "weight: ["), {}),
    ("consistency", "replace_frontmatter", GOOD.replace("About tablekit", "About TableKit"), {}),
    ("consistency", "insert_required_heading", GOOD, {"required_headings": ["Usage"]}),
    (
        "consistency",
        "insert_required_heading",
        f"{HEAD}## Usage\n\nHello.\n",
        {"required_claim_ids": [CLAIM["claim_id"]]},
    ),
    ("universality", "insert_required_heading", GOOD, {}),
    ("universality", "replace_install_command", f"{GOOD}\n```bash\n$ pip install tablekitt\n```\n", {}),
    ("markdown_lint", "lint_fix", f"{GOOD}\n\n\nEnd of it.\n", {}),
    ("truthlock", "mark_line", f"{HEAD}Welcome.\n\n{CLAIM['claim_text']}\n", {}),
    ("truthlock", "drop_uncited_line", f"{GOOD}\nIt supports 900 formats.\n", {}),
    ("truthlock", "drop_unknown_mark", f"{GOOD}\nWelcome. <!-- claim:{OTHER} -->\n", {}),
    ("distribution", "drop_duplicate_claim", f"{GOOD}\n{SAID}\n", {}),
    ("distribution", "drop_snippet", f"{GOOD}\n```python\n{SNIPPET}\n```\n", {"page_role": "toc"}),
    ("snippets", "drop_snippet", f"{GOOD}\n```python\nmade_up()\n```\n", {}),
    ("snippets", "set_fence_language", f"{GOOD}\n```\n{SNIPPET}\n```\n", {}),
    ("snippets", "set_fence_language", f"{GOOD}\n```ruby\n{SNIPPET}\n```\n", {}),
]


@pytest.mark.parametrize(("gate", "rule", "text", "plan"), FINDINGS)
def test_after_the_fix_the_gate_does_not_find_it_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: str, rule: str, text: str, plan: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)  # the linter goes elsewhere
    place = placed(tmp_path, text, **plan)
    found = next(each for each in looked(place, gate, tmp_path / "1") if each.get("fix_rule") == rule)
    ask(place, found)
    told = record(place)
    assert told["changed"], told
    assert told["files"] == [PATH]
    place.given = {**place.given, **taken_over(place)}
    assert found["issue_id"] not in {each["issue_id"] for each in looked(place, gate, tmp_path / "2")}


def test_dead_links_are_mended_until_the_built_site_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"{GOOD}\nSee [the other](/docs/gone/), [home](/) and [more](#Mo-re).\n\n"
    text += "- [Lost](/docs/lost/)\n\n## Mo re\n\nEnd.\n"
    place = placed(tmp_path, text, site_files(6))
    for number, rule in enumerate(["remove_dead_link", "remove_dead_link", "repair_anchor"]):
        found = sorted(
            looked(place, "hugo_build internal_links", tmp_path / str(number)),
            key=lambda each: -len(each["fix_rule"]),
        )
        assert found[0]["fix_rule"] == rule
        ask(place, found[0])
        place.given = {**place.given, **taken_over(place)}
    assert looked(place, "hugo_build internal_links", tmp_path / "last") == []
    assert (
        (place.site / PATH)
        .read_text()
        .endswith("\nSee the other, [home](/) and [more](#mo-re).\n\n## Mo re\n\nEnd.\n")
    )


def dropping(line: str, **more: Any) -> dict[str, Any]:
    return issue(
        "truthlock",
        "LINE_UNCITED",
        "blocker",
        "m",
        path=PATH,
        line=9,
        fix_rule="drop_uncited_line",
        data={"line_text": line},
        **more,
    )


def test_a_fix_lengthens_the_bundle_changes_the_file_and_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = placed(tmp_path, f"{GOOD}\nOdd 9.\n")
    ask(place, dropping("Odd 9."))
    assert record(place)["patch_ids"] == ["patch_002"]
    bundle = decode("patch_bundle", place.made["patch_bundle.json"].path.read_bytes())
    assert [each["patch_id"] for each in bundle["patches"]] == ["patch_001", "patch_002"]
    assert bundle["patches"][1]["reason"] == f"drop_uncited_line for {place.scope}"
    assert (place.site / PATH).read_text() == GOOD
    assert "-Odd 9." in place.made[f"reports/fix_{place.scope}.md"].path.read_text()
    told = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert told == ["PATCH_APPLIED"]


def test_a_fix_that_was_killed_after_writing_the_file_ends_the_same_when_it_is_made_again(tmp_path: Path) -> None:
    place = placed(tmp_path, f"{GOOD}\nOdd 9.\n")
    ask(place, dropping("Odd 9."))
    first = {name: each.sha256 for name, each in place.made.items()}
    ask(place, dropping("Odd 9."))
    assert {name: each.sha256 for name, each in place.made.items()} == first


def test_line_ends_of_another_system_stay_as_they_are(tmp_path: Path) -> None:
    text = f"{GOOD}\nOdd 9.\n".replace("\n", "\r\n")
    place = placed(tmp_path, text)
    ask(place, dropping("Odd 9."))
    assert (place.site / PATH).read_bytes() == GOOD.replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (GOOD, "Not there.", "nothing to change"),
        (f"{HEAD}## Head\n\nOdd 9.\n", "Odd 9.", "nothing would be left"),
    ],
)
def test_a_fix_that_changes_nothing_or_would_empty_the_page_is_told_as_none(
    tmp_path: Path, text: str, line: str, why: str
) -> None:
    place = placed(tmp_path, text)
    ask(place, dropping(line))
    told = record(place)
    assert (told["changed"], told["patch_ids"], told["files"]) == (False, [], [])
    assert why in told["explanation"]
    assert "patch_bundle.json" not in place.made
    assert (place.site / PATH).read_text() == text


@pytest.mark.parametrize("line", ["- It reads 900 formats.", f"- It reads 900 formats. <!-- claim:{OTHER} -->"])
def test_a_fix_that_would_add_a_statement_without_a_claim_is_not_made(tmp_path: Path, line: str) -> None:
    place = placed(tmp_path, GOOD)
    data = {"heading": "New", "level": 2, "lines": [line], "after": ""}
    ask(place, issue("consistency", "X", "error", "m", path=PATH, fix_rule="insert_required_heading", data=data))
    assert not record(place)["changed"]
    assert "no claim supports" in record(place)["explanation"]
    assert (place.site / PATH).read_text() == GOOD


def test_an_issue_without_a_rule_and_one_of_a_file_that_is_gone_change_nothing(tmp_path: Path) -> None:
    place = placed(tmp_path, GOOD)
    ask(place, issue("hugo_build", "X", "blocker", "m", path=PATH))
    assert record(place)["rule"] == "none"
    gone = dropping("x") | {"location": {"path": "content/docs/tablekit/gone.md"}}
    ask(place, gone)
    assert not record(place)["changed"]


def test_an_issue_that_is_not_open_cannot_be_fixed(tmp_path: Path) -> None:
    place = placed(tmp_path, GOOD)
    with pytest.raises(ToolError) as caught:
        ask(place, dropping("x") | {"status": "RESOLVED"})
    assert (caught.value.code, caught.value.details["reason"]) == ("ILLEGAL_STATE", "issue_not_open")


@pytest.mark.parametrize(
    "path", ["README.md", "content/docs/other.md", "../x.md", "content/docs/tablekit/../x.md"]
)
def test_a_fix_outside_of_the_fence_is_refused(tmp_path: Path, path: str) -> None:
    place = placed(tmp_path, GOOD)
    with pytest.raises(ToolError) as caught:
        ask(place, dropping("# Site") | {"location": {"path": path}})
    assert caught.value.code == "ALLOWED_PATHS_VIOLATION"
    assert (place.site / "README.md").read_bytes() == b"# Site\n"


@pytest.mark.parametrize("path", [PATH, "README.md", "content/docs/tablekit/new.md", "other.txt"])
def test_a_work_tree_that_was_edited_since_the_gates_looked_is_not_touched(tmp_path: Path, path: str) -> None:
    place = placed(tmp_path, f"{GOOD}\nOdd 9.\n")
    (place.site / path).write_bytes(b"by hand\n")
    with pytest.raises(ToolError) as caught:
        ask(place, dropping("Odd 9."))
    assert (caught.value.code, caught.value.details["reason"]) == ("ILLEGAL_STATE", "edited_since_validation")
    assert caught.value.details["files"] == [path]
    assert (place.site / path).read_bytes() == b"by hand\n"
    assert place.made == {}


def restoring(path: str) -> dict[str, Any]:
    return issue(
        "policy",
        "MANUAL_EDITS_NOT_ALLOWED",
        "blocker",
        "m",
        path=path,
        fix_rule="restore_file",
        data={"path": path},
    )


def test_edits_that_the_report_knows_do_not_keep_another_file_from_being_mended(tmp_path: Path) -> None:
    place = placed(tmp_path, f"{GOOD}\nOdd 9.\n")
    (place.site / "README.md").write_bytes(b"by hand\n")
    ask(place, dropping("Odd 9."), restoring("README.md"), manual_edits=True, manual_edited_files=["README.md"])
    assert record(place)["changed"]
    assert (place.site / "README.md").read_bytes() == b"by hand\n"


@pytest.mark.parametrize(
    ("path", "how"),
    [
        (PATH, "edited"),
        (PATH, "deleted"),
        (PATH, "linked"),
        ("layouts/x.html", "linked"),
        ("data/y.bin", "deleted"),
        ("content/docs/new.md", "edited"),
        ("gone/x.md", "edited"),
        ("gone/x.md", "linked"),
    ],
)
def test_a_file_that_was_edited_by_hand_is_what_the_run_made_again(tmp_path: Path, path: str, how: str) -> None:
    place = placed(tmp_path, GOOD)
    file = place.site / path
    before = file.read_bytes() if file.exists() else None
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    if how == "edited":
        file.write_bytes(b"by hand")
    elif how == "linked":
        (tmp_path / "outside").write_bytes(b"kept")
        file.symlink_to(tmp_path / "outside")
    for _ in range(2):  # the second time as after a kill
        ask(place, restoring(path))
        assert record(place)["changed"]
        assert record(place)["patch_ids"] == []
        assert (file.read_bytes() if file.exists() else None) == before
        assert not file.is_symlink()
    assert how != "linked" or (tmp_path / "outside").read_bytes() == b"kept"


def test_what_cannot_be_restored_is_told(tmp_path: Path) -> None:
    place = placed(tmp_path, GOOD)
    (place.site / "layouts/x.html").unlink()
    (place.site / "layouts/x.html").mkdir()
    ask(place, restoring("layouts/x.html"))
    assert not record(place)["changed"]
    (place.site / "layouts/link").symlink_to("/etc/hostname")
    place.config = {**place.config, "site_ref": commit_all(place.site)}
    ask(place, restoring("layouts/link"))
    assert "link" in record(place)["explanation"]
    assert (place.site / "layouts/link").is_symlink()


def test_a_fix_may_not_grow_a_page_beyond_its_budget(tmp_path: Path) -> None:
    place = placed(tmp_path, GOOD)
    place.config["budgets"]["max_lines_per_file"] = 5
    data = {"heading": "New", "level": 2, "lines": ["- Hello."], "after": ""}
    one = issue("consistency", "X", "error", "m", path=PATH, fix_rule="insert_required_heading", data=data)
    with pytest.raises(ToolError) as caught:
        ask(place, one)
    assert caught.value.details["reason"] == "budget_exceeded"


def test_a_page_that_the_site_had_before_is_mended_by_a_small_patch(tmp_path: Path) -> None:
    place = placed(
        tmp_path, f"{GOOD}\n## A\n\nOdd 9.\n\n## B\n\nEnd.\n", base=f"{GOOD}\n## A\n\nOld.\n\n## B\n\nEnd.\n"
    )
    ask(place, dropping("Odd 9."))
    bundle = decode("patch_bundle", place.made["patch_bundle.json"].path.read_bytes())
    assert [each["type"] for each in bundle["patches"]] == ["update_by_anchor", "update_by_anchor"]
    assert (place.site / PATH).read_text() == f"{GOOD}\n## A\n\n## B\n\nEnd.\n"


def test_a_fix_never_changes_a_line_that_was_on_the_site_before_the_run(tmp_path: Path) -> None:
    people = f"{GOOD}\n## A\n\nBy people,   \nwith two lines.\n"
    place = placed(tmp_path, f"{people}\n## B\n\nBy the run. \n", base=people)
    one = issue(
        "markdown_lint", "MARKDOWN_LINT", "error", "m", path=PATH, line=20, fix_rule="lint_fix",
        data={"rule_id": "MD009", "line_text": "By the run."},
    )  # fmt: skip
    ask(place, one)
    assert record(place)["changed"] is False
    assert "may be somebody's" in record(place)["explanation"]
    assert (place.site / PATH).read_text() == f"{people}\n## B\n\nBy the run. \n"
