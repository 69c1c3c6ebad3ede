"""The validator as a whole: real git, real Hugo; gates that hang or crash; the same bytes always."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymarkdown.api  # noqa: F401 - once here, and not in every fork
import pytest
from tests.launch.gate_views import INSTALL_MD, START, page_text, validation_place

from holdfast.errors import ToolError
from holdfast.launch.gates.gate import Checked, Gate, everywhere
from holdfast.launch.gates.hugo_build import GATE as HUGO_BUILD
from holdfast.launch.gates.internal_links import GATE as INTERNAL_LINKS
from holdfast.launch.gates.policy import GATE as POLICY
from holdfast.launch.gates.table import GATES
from holdfast.launch.gates.truthlock import GATE as TRUTHLOCK
from holdfast.launch.gates.validator import is_ok, work
from holdfast.launch.gates.view import View
from holdfast.launch.work import Workplace

GOOD = {INSTALL_MD: page_text()}


def report_of(place: Workplace) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(place.made["validation_report.json"].path.read_bytes())
    return report


def text_of(place: Workplace, name: str) -> str:
    return place.made[name].path.read_text(encoding="utf-8")


def hanging(view: View) -> Checked:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"], check=True)
    return Checked()


def crashing(view: View) -> Checked:
    raise RuntimeError(f"something broke in {view.site}")


def dying(view: View) -> Checked:
    os._exit(3)


def gate_of(check: Any, name: str = "strange", seconds: float = 20.0) -> Gate:
    return Gate(name, name, check, everywhere(), dict.fromkeys(("local", "ci", "prod"), seconds))


def test_a_good_page_passes_every_gate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = validation_place(tmp_path, GOOD)
    work(place)
    report = report_of(place)

    assert report["issues"] == []
    assert report["ok"] is True
    assert "error_code" not in report
    assert [row["name"] for row in report["gates"]] == [gate.name for gate in GATES]
    assert {row["name"] for row in report["gates"] if row["status"] != "passed"} == {"external_links", "rollback"}
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    events = [item["event"] for item in told if "event" in item]
    assert events == ["GATE_RUN_STARTED", "GATE_RUN_FINISHED"] * len(GATES)
    assert json.loads(place.made["truth_lock_report.json"].path.read_bytes())["ok"] is True


def test_a_bad_page_fails_with_ordered_issues_and_logs_without_places_of_this_machine(tmp_path: Path) -> None:
    bad = page_text(START + "\nIt supports JSON.\n\n[dead](/nowhere/) __TOKEN__ {{< nosuch >}}\n")
    place = validation_place(tmp_path, {INSTALL_MD: bad})
    work(place)
    report = report_of(place)

    assert report["ok"] is False
    assert report["error_code"] == "GATE_FAILED"
    found = {issue["error_code"] for issue in report["issues"]}
    assert found == {"LINE_UNCITED", "TEMPLATE_TOKEN_LEFT", "HUGO_BUILD_FAILED"}
    row = next(row for row in report["gates"] if row["name"] == "internal_links")
    assert (row["status"], row["reason"]) == ("skipped", "the site was not built")
    for name in place.made:
        assert str(tmp_path) not in text_of(place, name), name
        assert "gates-" not in text_of(place, name), name


def test_a_dead_link_is_found_in_the_built_site(tmp_path: Path) -> None:
    place = validation_place(tmp_path, {INSTALL_MD: page_text(START + "\n[dead](/nowhere/)\n")})
    work(place, [HUGO_BUILD, INTERNAL_LINKS])
    (issue,) = report_of(place)["issues"]

    assert (issue["error_code"], issue["location"]) == ("LINK_BROKEN", {"path": INSTALL_MD, "line": 21})
    assert issue["fix_rule"] == "remove_dead_link"
    assert issue["data"] == {"line_text": "[dead](/nowhere/)", "target": "/nowhere/"}


def test_only_touched_pages_are_judged_and_the_work_tree_stays_as_it_is(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    before = sorted(str(path) for path in place.site.rglob("*") if ".git" not in path.parts)
    work(place, [TRUTHLOCK, HUGO_BUILD])

    truth = json.loads(text_of(place, "truth_lock_report.json"))
    assert [page["path"] for page in truth["pages"]] == [INSTALL_MD]
    assert sorted(str(path) for path in place.site.rglob("*") if ".git" not in path.parts) == before


def test_a_site_that_was_broken_before_is_told_apart(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    broken = place.site / "layouts" / "_default" / "single.html"
    broken.write_text('{{ errorf "the layout is broken" }}')
    subprocess.run(
        ["git", "-C", place.site, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qam", "x"],
        check=True,
    )
    sha = subprocess.check_output(["git", "-C", place.site, "rev-parse", "HEAD"], text=True).strip()
    work(replace(place, config={**place.config, "site_ref": sha}), [HUGO_BUILD])
    issues = report_of(place)["issues"]

    assert [(issue["error_code"], issue["severity"]) for issue in issues] == [("HUGO_BUILD_BROKEN_BEFORE", "warn")]
    assert "before the run" in issues[0]["message"]


def test_hand_edits_are_a_blocker_that_can_be_restored(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    (place.site / INSTALL_MD).write_text(page_text(START + "\nMore.\n"))
    work(place, [POLICY])
    report = report_of(place)
    (issue,) = report["issues"]

    assert (issue["error_code"], issue["severity"], issue["fix_rule"]) == (
        "MANUAL_EDITS_NOT_ALLOWED", "blocker", "restore_file",
    )  # fmt: skip
    assert (report["manual_edits"], report["manual_edited_files"]) == (True, [INSTALL_MD])
    assert "patch_bundle.json" not in place.made


def test_allowed_hand_edits_become_patches_and_are_judged(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD, allow_manual_edits=True)
    (place.site / INSTALL_MD).write_text(page_text(START + "\nIt supports 3 things.\n"))
    (place.site / "content/docs/tablekit/new.md").write_text(page_text("TableKit.\n"))
    (place.site / "README.md").write_text("outside of the fence\n")
    work(place, [TRUTHLOCK, POLICY])
    report = report_of(place)
    bundle = json.loads(text_of(place, "patch_bundle.json"))

    assert report["manual_edited_files"] == [
        "README.md",
        "content/docs/tablekit/install.md",
        "content/docs/tablekit/new.md",
    ]
    assert [patch["reason"] for patch in bundle["patches"][1:]] == ["edited by hand", "edited by hand"]
    assert {(issue["error_code"], issue["location"]["path"]) for issue in report["issues"]} == {
        ("LINE_UNCITED", INSTALL_MD), ("MANUAL_EDIT_REFUSED", "README.md"),
    }  # fmt: skip


def test_a_gate_that_hangs_costs_only_itself_and_leaves_no_process(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    work(place, [gate_of(hanging, seconds=0.5), gate_of(lambda view: Checked(), "fine")])
    report = report_of(place)

    assert [(row["name"], row["status"]) for row in report["gates"]] == [
        ("strange", "timeout"),
        ("fine", "passed"),
    ]
    assert [(issue["error_code"], issue["severity"]) for issue in report["issues"]] == [
        ("GATE_TIMEOUT", "blocker")
    ]
    commands = subprocess.check_output(["ps", "-eo", "args"], text=True)
    assert "import time; time.sleep(600)" not in commands


@pytest.mark.parametrize("check", [crashing, dying])
def test_a_gate_that_crashes_costs_only_itself(check: Any, tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    work(place, [gate_of(check), gate_of(lambda view: Checked(), "fine")])
    report = report_of(place)

    assert [(row["name"], row["status"]) for row in report["gates"]] == [("strange", "failed"), ("fine", "passed")]
    assert [(issue["error_code"], issue["severity"]) for issue in report["issues"]] == [
        ("GATE_CRASHED", "blocker")
    ]
    assert str(tmp_path) not in text_of(place, "validation_report.json")


def test_a_broken_artifact_is_an_issue_and_the_gates_that_need_it_are_skipped(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    place.given["page_plan.json"].path.write_bytes(b"{}")
    work(place)
    report = report_of(place)

    assert {issue["error_code"] for issue in report["issues"]} == {"ARTIFACT_INVALID"}
    skipped = {row["name"] for row in report["gates"] if row["status"] == "skipped"}
    assert {"consistency", "distribution", "universality", "frontmatter", "hugo_config"} <= skipped


def test_a_missing_tool_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HUGO", str(tmp_path / "no-such-hugo"))
    place = validation_place(tmp_path, GOOD)
    with pytest.raises(ToolError) as told:
        work(place)

    assert told.value.code == "TOOLCHAIN_MISSING"
    assert told.value.details["tools"] == [{"name": "hugo", "required": ">=0.128.0", "found": None}]
    assert place.made == {}


def test_a_missing_work_tree_is_refused(tmp_path: Path) -> None:
    place = validation_place(tmp_path, GOOD)
    place.site.rename(tmp_path / "gone")
    with pytest.raises(ToolError) as told:
        work(place)

    assert (told.value.code, told.value.details["missing"]) == ("ILLEGAL_STATE", "worktree")


@pytest.mark.parametrize(
    ("severity", "config", "ok"),
    [
        ("warn", {}, True),
        ("error", {}, False),
        ("blocker", {}, False),
        ("info", {"validation_profile": "prod"}, True),
        ("warn", {"validation_profile": "prod"}, False),
        ("warn", {"validation_profile": "ci"}, True),
        ("warn", {"validation_profile": "ci", "ci_strictness": "strict"}, False),
    ],
)
def test_what_counts_depends_on_the_profile(severity: str, config: dict[str, str], ok: bool) -> None:
    assert is_ok([{"severity": severity, "status": "OPEN"}], config) is ok


_AGAIN = """
import sys, contextlib, io
from pathlib import Path
from holdfast.launch.gates.validator import work
from tests.launch.gate_views import INSTALL_MD, START, page_text, validation_place
files = {INSTALL_MD: page_text(START + sys.argv[2]), "content/docs/tablekit/b.md": "x"}
place = validation_place(Path(sys.argv[1]), files)
with contextlib.redirect_stdout(io.StringIO()):
    work(place)
print([(name, made.sha256) for name, made in sorted(place.made.items())])
"""


def test_the_reports_are_the_same_bytes_in_every_process_and_folder(tmp_path: Path) -> None:
    bad = "\nIt supports JSON and XML.   \n\n\n\n[a](/x/) [b](/y/) __T_A__ `v`\n```\nx(\n```\n"
    told = set()
    for seed in ("0", "4711"):
        folder = tmp_path / f"place-{seed}"
        folder.mkdir()
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])}
        told.add(subprocess.check_output([sys.executable, "-c", _AGAIN, str(folder), bad], env=env))

    assert len(told) == 1
