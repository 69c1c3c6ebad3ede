"""`holdfast launch` as a person types it: from two repositories to a pull request, and everything beside it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from tests.cli.conftest import Cli
from tests.launch.products import git, make_product, make_site

from holdfast.cli.launch_text import describe_gates

pytestmark = [pytest.mark.xdist_group("launch-cli"), pytest.mark.timeout(180)]


class Desk(NamedTuple):
    """A folder with both repositories, a configuration, and a run that was carried to its pull request."""

    folder: Path
    run_id: str
    told: str
    pull: str


def holdfast(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"HOLDFAST_LAUNCH_DIR": str(folder / "launch")}
    return subprocess.run(
        [sys.executable, "-m", "holdfast", "launch", *words],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def until(condition: Callable[[], bool], bound: float = 60.0) -> None:
    end = time.monotonic() + bound
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)  # noqa: TID251 - the next look at a condition with a bound


Typed = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def typed(desk: Desk, cli: Cli) -> Typed:
    """Type a launch command at the desk, in this process."""

    def run(*words: str, launch: str = "launch") -> "subprocess.CompletedProcess[str]":
        return cli("launch", *words, cwd=desk.folder, env={"HOLDFAST_LAUNCH_DIR": str(desk.folder / launch)})

    return run


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("desk")
    make_product(folder / "product")
    make_site(folder / "site")
    init = holdfast(folder, "init", "product", "site")
    assert init.returncode == 0, init.stderr
    small = init.stdout.replace("  - reference\n  - kb\n", "")
    (folder / "run.yaml").write_text(small)
    started = holdfast(folder, "start", "run.yaml", "--key", "desk")
    assert started.returncode == 0, started.stderr
    pulled = holdfast(folder, "open-pr", "last")
    assert pulled.returncode == 0, pulled.stderr
    return Desk(folder, started.stdout.strip(), started.stderr, pulled.stdout)


def test_a_start_prints_the_run_and_tells_states_sections_and_gates(desk: Desk) -> None:
    assert desk.run_id.startswith("r_")
    for word in ("CLONED_INPUTS", "writing docs", "gate hugo_build", "READY_FOR_PR"):
        assert word in desk.told
    assert f"next: holdfast launch open-pr {desk.run_id}" in desk.told


def test_the_pull_request_is_one_commit_on_a_branch_of_the_run(desk: Desk) -> None:
    url, branch, commit = desk.pull.splitlines()
    assert url.endswith("#pull/1")
    assert branch == f"branch launch/{desk.run_id}/tablekit"
    head = git(desk.folder / "site", "rev-parse", f"refs/heads/launch/{desk.run_id}/tablekit").strip()
    assert commit == f"commit {head}"
    assert git(desk.folder / "site", "rev-list", "--count", f"main..{head}").strip() == "1"


def test_a_run_is_found_by_its_id_a_part_of_it_and_by_last(desk: Desk, typed: Typed) -> None:
    for word in (desk.run_id, desk.run_id[-8:], "last"):
        done = typed("status", word, "--json")
        assert json.loads(done.stdout)["status"]["state"] == "DONE"
    unknown = typed("status", "nosuchrun")
    assert unknown.returncode == 2
    assert "holdfast launch list" in unknown.stderr


def test_the_list_has_the_run_in_words_and_as_json(desk: Desk, typed: Typed) -> None:
    assert desk.run_id in typed("list").stdout
    listed = json.loads(typed("list", "--state", "DONE", "--json").stdout)["runs"]
    assert [run["run_id"] for run in listed] == [desk.run_id]
    assert json.loads(typed("list", "--state", "FAILED", "--json").stdout)["runs"] == []
    assert typed("list", "--product", "another").stdout == "no such runs; all of them: holdfast launch list\n"
    wrong = typed("list", "--state", "ASLEEP")
    assert (wrong.returncode, "INVALID_INPUT" in wrong.stderr) == (1, True)


def test_an_artifact_is_printed_and_a_name_is_never_a_path(desk: Desk, typed: Typed) -> None:
    plan = json.loads(typed("artifact", "last", "page_plan.json").stdout)
    assert plan["product_slug"] == "tablekit"
    for name in ("../../run.yaml", "/etc/passwd", "nothing.json"):
        refused = typed("artifact", "last", name)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "INVALID_INPUT" in refused.stderr
        assert "try: `holdfast launch status` lists the artifacts" in refused.stderr


def test_without_a_name_the_names_of_all_artifacts_are_listed(desk: Desk, typed: Typed) -> None:
    done = typed("artifact", "last")
    names = done.stdout.splitlines()
    assert (done.returncode, names) == (0, sorted(names))
    assert {"page_plan.json", "drafts/docs/installation.md", "reports/diff_report.md"} <= set(names)


def test_help_says_how_an_age_is_written(typed: Typed) -> None:
    shown = " ".join(typed("prune", "--help").stdout.split())
    assert "a number and w, d, h or m, such as 2w or 45m" in shown


def test_events_are_lines_of_json_and_the_replay_proves_them(desk: Desk, typed: Typed) -> None:
    lines = typed("events", "last", "--json").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "RUN_COMPLETED"
    assert len({event["trace_id"] for event in events}) == 1
    proven = typed("replay", "last", "--json")
    assert json.loads(proven.stdout) == {
        "ok": True, "run_id": desk.run_id, "events": len(events), "differences": [],
    }  # fmt: skip


def test_what_a_finished_run_cannot_do_is_said_in_a_line(desk: Desk, typed: Typed) -> None:
    again = typed("open-pr", "last")
    assert again.returncode == 1
    assert "#pull/1" in again.stderr
    assert f"try: holdfast launch status {desk.run_id}" in again.stderr
    for word in ("validate", "fix", "resume", "cancel"):
        refused = typed(word, "last", "--json")
        assert refused.returncode == 1
        assert json.loads(refused.stdout)["error"]["code"] == "ILLEGAL_STATE"


def test_the_status_of_a_run_that_failed_says_why_and_so_does_every_refusal(desk: Desk, typed: Typed) -> None:
    commit = git(desk.folder / "product", "rev-parse", "HEAD")
    lost = (desk.folder / "run.yaml").read_text().replace(commit, "0" * 40)
    (desk.folder / "lost.yaml").write_text(lost)
    assert typed("start", "lost.yaml", "--quiet", launch="lost").returncode == 1

    shown = typed("status", "last", launch="lost")
    assert "failure   INVALID_INPUT: The product repository" in shown.stdout
    asked = json.loads(typed("status", "last", "--json", launch="lost").stdout)
    assert asked["failure"]["details"]["reason"] == "commit_not_found"
    refused = json.loads(typed("resume", "last", "--json", launch="lost").stdout)["error"]
    assert refused["details"]["failure"]["message"] == asked["failure"]["message"]
    assert asked["failure"]["message"] in refused["message"]


def test_fixing_everything_goes_on_behind_what_no_rule_mends(desk: Desk, typed: Typed) -> None:
    config = (desk.folder / "run.yaml").read_text().replace("  - docs\n  - blog\n", "", 1)
    (desk.folder / "edited.yaml").write_text(f"{config}allow_manual_edits: true\n")
    started = typed("start", "edited.yaml", "--quiet", launch="edited")
    assert started.returncode == 0, started.stderr
    run = desk.folder / "edited" / "runs" / started.stdout.split()[0]
    (page,) = (run / "work" / "site" / "content" / "products" / "tablekit").glob("*.md")
    text = re.sub(r"(?m)^(description: .*)$", r"\1\nmotto: __TOKEN__", page.read_text(), count=1)
    page.write_text(f"{text}\nSee [more](/nowhere/at/all/).\n")
    assert typed("validate", "last", "--quiet", launch="edited").returncode == 1

    fixed = typed("fix", "last", "--all", "--quiet", launch="edited")

    assert fixed.returncode == 1
    assert re.findall(r"holdfast: (no rule mends|mended|FIX_EXHAUSTED)", fixed.stderr)[:2] == [
        "no rule mends", "mended",
    ]  # fmt: skip
    assert "FIX_EXHAUSTED: no rule can mend what the gates found" in fixed.stderr
    assert "/nowhere/" not in page.read_text()
    status = json.loads(typed("status", "last", "--json", launch="edited").stdout)["status"]
    assert (status["state"], [one["gate"] for one in status["open_issues"]]) == ("VALIDATING", ["template_tokens"])


@pytest.mark.parametrize(
    "word", ["status", "events", "validate", "fix", "resume", "cancel", "open-pr", "replay", "diff"]
)
def test_a_directory_that_was_mistyped_is_not_made_by_looking_for_a_run(
    tmp_path: Path, word: str, cli: Cli
) -> None:
    told = cli("launch", word, "last", "--launch-dir", str(tmp_path / "lanch" / "runs"))

    assert (told.returncode, told.stderr.splitlines()[0]) == (2, "holdfast: there are no runs here yet")
    assert list(tmp_path.iterdir()) == []


def test_a_gate_that_was_skipped_is_not_said_to_have_passed() -> None:
    gates = [{"status": status} for status in ("passed", "skipped", "failed", "passed")]

    assert describe_gates(gates) == "2 of 4 gates passed, 1 skipped"
    assert describe_gates(gates[:1]) == "1 of 1 gates passed"


def test_the_same_key_starts_nothing_new(desk: Desk, typed: Typed) -> None:
    again = typed("start", "run.yaml", "--key", "desk")
    assert again.stdout.strip() == desk.run_id
    assert again.returncode == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "run.yaml"),
        ("a: [", "line"),
        ("schema_version: '1.0'\n", "SCHEMA_VALIDATION_FAILED"),
        ("a: 1\na: 2\n", "line 2"),
    ],
)
def test_a_bad_configuration_is_told_with_its_place(tmp_path: Path, content: str, words: str, cli: Cli) -> None:
    (tmp_path / "run.yaml").write_text(content)
    refused = cli("launch", "start", "run.yaml")
    assert refused.returncode in (1, 2)
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("name", ["nowhere.yaml", "folder", "binary.yaml"])
def test_what_is_no_configuration_is_told_with_a_remedy(tmp_path: Path, name: str, cli: Cli) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    refused = cli("launch", "start", str(tmp_path / name))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 2
    assert "\n  try: " in refused.stderr


def test_the_difference_of_a_run_is_shown_as_lines_as_a_table_and_as_json(desk: Desk, typed: Typed) -> None:
    lines = typed("diff", "last").stdout
    assert "+++ b/content/docs/tablekit/installation.md\n@@ -0,0 +1," in lines
    assert "\x1b[" not in lines
    table = typed("diff", "last", "--stat").stdout.splitlines()
    assert table[-1].endswith("0 removed")
    told = json.loads(typed("diff", "last", "--json").stdout)
    assert told["run_id"] == desk.run_id
    assert told["diff"] == lines
    assert len(told["files"]) == len(table) - 1
    assert "diff" not in json.loads(typed("diff", "last", "--stat", "--json").stdout)


def test_a_prune_shows_what_can_go_and_removes_nothing_by_itself(desk: Desk, typed: Typed) -> None:
    assert typed("prune").stdout == "nothing to prune\n"
    shown = typed("prune", "--older-than", "0d")
    assert f"clones and work tree of a run: {desk.run_id} DONE" in shown.stdout
    assert "add --yes" in shown.stderr
    told = json.loads(typed("prune", "--older-than", "0d", "--json").stdout)
    assert (told["removed"], told["leftovers"][0]["run_id"]) == (False, desk.run_id)
    assert (desk.folder / "launch" / "runs" / desk.run_id / "work").is_dir()
    assert "write it like 30d" in typed("prune", "--older-than", "soon").stderr
    assert "one of CREATED" in typed("prune", "--state", "ASLEEP").stderr


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        content: bytes = answer.read()
        return content


def test_a_preview_serves_the_site_of_a_run_until_ctrl_c_and_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "launch", "preview", "last"],
        cwd=desk.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"HOLDFAST_LAUNCH_DIR": str(desk.folder / "launch"), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert process.stdout is not None
    lines = [process.stdout.readline().strip() for _ in range(3)]
    change, url = lines[2].split()
    assert (change, url.startswith(lines[0])) == ("new", True)
    assert b"Launch Example" in fetched(lines[0])
    assert b"tablekit" in fetched(url)
    for outside in ("nothing/", "..%2f..%2fetc/passwd"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetched(lines[0] + outside)
        refused.value.close()
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert (process.returncode, told.splitlines()[-1]) == (0, "holdfast: stopped; nothing is left behind")
    assert list(tmp_path.iterdir()) == []


def test_a_preview_without_hugo_or_with_a_port_that_is_taken_says_so(desk: Desk, typed: Typed, cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = typed("preview", "last", "--port", str(port))
    assert (refused.returncode, f"port {port} cannot be used" in refused.stderr) == (2, True)
    environment = {"HOLDFAST_LAUNCH_DIR": str(desk.folder / "launch"), "HOLDFAST_HUGO": "no-such-hugo"}
    missing = cli("launch", "preview", "last", cwd=desk.folder, env=environment)
    assert (missing.returncode, "TOOLCHAIN_MISSING" in missing.stderr) == (1, True)


def test_a_dry_run_shows_what_would_change_and_keeps_nothing(
    desk: Desk, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = (desk.folder / "run.yaml").read_text()
    (desk.folder / "dry.yaml").write_text(re.sub(r"(required_sections:\n)(  - .*\n)+", r"\1  - products\n", text))
    done = typed("start", "dry.yaml", "--dry-run", "--json", "--quiet", launch="dry")
    told = json.loads(done.stdout)
    assert (done.returncode, told["state"], told["issues"]) == (0, "READY_FOR_PR", [])
    assert {page["status"] for page in told["pages"]} == {"created"}
    assert "+++ b/content/products/tablekit/index.md" in told["diff"]
    assert not (desk.folder / "dry").exists()
    assert list(tmp_path.iterdir()) == []
    refused = typed("start", "dry.yaml", "--dry-run", "--key", "x")
    assert (refused.returncode, "no key can find it again" in refused.stderr) == (2, True)


def test_ctrl_c_stops_at_once_keeps_the_run_and_leaves_no_process(desk: Desk, typed: Typed) -> None:
    environment = os.environ | {"HOLDFAST_LAUNCH_DIR": str(desk.folder / "interrupted")}
    command = [sys.executable, "-m", "holdfast", "launch", "start", "run.yaml"]
    process = subprocess.Popen(
        command, cwd=desk.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    children: list[psutil.Process] = []

    def is_working() -> bool:
        children[:] = psutil.Process(process.pid).children(recursive=True)
        return any("holdfast.launch.working" in " ".join(one.cmdline()) for one in children if one.is_running())

    until(is_working)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the run is kept: holdfast launch resume" in told.splitlines()[-1]
    until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in children), 10)

    listed = json.loads(typed("list", "--json", launch="interrupted").stdout)["runs"]
    assert [run["state"] in ("CREATED", "CLONED_INPUTS", "INGESTED") for run in listed] == [True]
    cancelled = typed("cancel", "last", launch="interrupted")
    assert cancelled.stdout.strip().endswith("is CANCELLED")
    refused = typed("resume", "last", launch="interrupted")
    assert (refused.returncode, "CANCELLED" in refused.stderr) == (1, True)


@pytest.mark.parametrize(
    "word",
    ["init", "start", "status", "list", "artifact", "events", "validate", "fix", "resume", "cancel", "open-pr",
     "replay", "diff", "preview", "prune", "commit-service", "telemetry-service"],
)  # fmt: skip
def test_the_help_of_every_command_has_an_example(tmp_path: Path, word: str, cli: Cli) -> None:
    shown = cli("launch", word, "--help").stdout
    assert "Examples:" in shown
    assert f"holdfast launch {word}" in shown


def test_what_is_no_repository_cannot_be_launched(tmp_path: Path, cli: Cli) -> None:
    refused = cli("launch", "init", "nowhere", "elsewhere")
    assert refused.returncode in (1, 2)
    assert refused.stdout == ""
    assert "nowhere" in refused.stderr


@pytest.mark.parametrize("service", ["commit-service", "telemetry-service"])
def test_a_service_answers_and_ends_on_sigterm(tmp_path: Path, service: str) -> None:
    environment = os.environ | {"HOLDFAST_LAUNCH_DIR": str(tmp_path / "launch"), "HOLDFAST_COMMIT_TOKEN": "secret"}
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "launch", service, "--listen", "127.0.0.1:0"],
        env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        url = process.stderr.readline().strip().rpartition(" ")[2]
        from holdfast.launch.http_client import call

        assert call("GET", f"{url}/health").status == 200
    finally:
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_the_commit_service_wants_a_token(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "HOLDFAST_COMMIT_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "launch", "commit-service", "--listen", "127.0.0.1:0"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "HOLDFAST_COMMIT_TOKEN" in done.stderr


@pytest.mark.parametrize(
    "forge", ["gitea", "https://git.example", "https://git.example=gitlab", "git.example=gitea", "https://=gitea",
              "https://git.example=gitea:NOT A NAME", "file:///srv=gitea"],
)  # fmt: skip
def test_a_forge_that_is_none_is_refused_with_an_example(forge: str, cli: Cli) -> None:
    refused = cli("launch", "commit-service", "--forge", forge, env={"HOLDFAST_COMMIT_TOKEN": "secret"})
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "https://git.example=gitea:EXAMPLE_TOKEN" in refused.stderr
