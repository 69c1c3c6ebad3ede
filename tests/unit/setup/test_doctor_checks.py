"""The checks of the doctor: each finds what it is there for, and none of them can spoil the report."""

import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.settings import Settings
from holdfast.setup.checks import Check, Finding, run_checks
from holdfast.setup.client_checks import CLIENT_CHECKS
from holdfast.setup.examination import examine
from holdfast.setup.machine_checks import MACHINE_CHECKS
from holdfast.setup.skill import install_skill, remove_skill
from holdfast.setup.state_checks import STATE_CHECKS

CHECKS: dict[str, Check] = {**MACHINE_CHECKS, **STATE_CHECKS, **CLIENT_CHECKS}
PLAYED = Path(__file__).parents[2] / "cli" / "played_host.py"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working directory of the test's own."""
    for name in [name for name in os.environ if name.startswith(("HOLDFAST", "XDG"))]:
        monkeypatch.delenv(name)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def look(name: str, **settings: object) -> list[Finding]:
    chosen = Settings(**{"state_dir": Path("state").absolute(), "cache_dir": Path("cache").absolute(), **settings})  # type: ignore[arg-type]
    return run_checks({name: CHECKS[name]}, chosen, seconds=20)


def statuses(findings: list[Finding]) -> list[str]:
    return [finding.status for finding in findings]


# --- the report --------------------------------------------------------------------------------------------------


def test_a_link_in_a_project_shows_nothing_of_a_file_at_home(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = place / "project"
    project.mkdir()
    entry = {"command": "holdfast", "args": ["serve", "mine.py"]}
    (place / "private.json").write_text(json.dumps({"mcpServers": {"mine": entry}}))
    (project / ".mcp.json").symlink_to(place / "private.json")
    monkeypatch.chdir(project)

    findings = look("clients")
    assert any("leads out of the project" in finding.message for finding in findings)
    assert not any("mine" in finding.message for finding in findings)


def test_a_check_that_raises_is_a_line_of_the_report() -> None:
    def broken(_: Settings) -> Iterator[Finding]:
        yield Finding("broken", "ok", "so far")
        raise ZeroDivisionError("no")

    def refused(_: Settings) -> Iterable[Finding]:
        raise UsageError("it is so", remedy="do this")

    found = run_checks({"broken": broken, "refused": refused}, Settings())
    assert [(finding.status, finding.message) for finding in found] == [
        ("ok", "so far"), ("fail", "this check failed: ZeroDivisionError: no"), ("fail", "it is so"),
    ]  # fmt: skip
    assert found[2].remedy == "do this"


def test_a_check_that_hangs_costs_no_more_than_its_time() -> None:
    never = threading.Event()

    def hangs(_: Settings) -> Iterable[Finding]:
        never.wait(30)
        return []

    began = time.monotonic()
    found = run_checks({"hangs": hangs, "python": CHECKS["python"]}, Settings(), seconds=0.2)
    never.set()
    assert statuses(found) == ["warn", "ok"]
    assert time.monotonic() - began < 5


def test_the_whole_report_names_every_check_even_with_broken_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_SPARE", "many")
    found = examine()
    assert {finding.check.split()[0] for finding in found} >= {
        "python",
        "git",
        "settings",
        "state",
        "hosts",
        "clients",
    }
    (settings,) = (finding for finding in found if finding.check == "settings")
    assert settings.status == "fail"
    assert "HOLDFAST_SPARE" in settings.message


# --- the machine -------------------------------------------------------------------------------------------------


def test_every_extra_of_the_package_is_told_with_what_it_gives() -> None:
    found = {finding.check: finding for finding in look("extras")}
    assert {"extra sdk", "extra launch", "extra postgres"} <= found.keys()
    assert all(finding.message.partition(": ")[2] for finding in found.values() if finding.status == "ok")


def test_programs_that_are_not_there_are_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [look(name)[0].status for name in ("git", "node", "containers")] == ["warn", "off", "off"]


def test_a_git_that_does_not_work_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (finding,) = look("git")
    assert finding.status == "warn"
    assert "does not work" in finding.message


def test_few_open_files_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, status in ((64, "fail"), (512, "warn"), (4096, "ok"), (resource.RLIM_INFINITY, "ok")):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert statuses(look("open files")) == [status]


def test_the_platform_and_the_disk_are_looked_at() -> None:
    (platform,) = look("platform")
    assert platform.status in {"ok", "warn"}
    assert "GiB free" in look("disk")[0].message


# --- what we keep ------------------------------------------------------------------------------------------------


def test_a_setting_that_is_unknown_or_misspelled_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOOL_TIMEOUTS", "1")
    assert [(f.status, f.remedy) for f in look("settings")][1] == ("warn", "did you mean HOLDFAST_TOOL_TIMEOUT?")
    (place / "holdfast.toml").write_text("sparee = 1")
    (finding,) = look("settings")
    assert finding.status == "fail"
    assert "unknown key sparee" in finding.message


def test_directories_that_are_not_there_yet_are_fine(place: Path) -> None:
    assert statuses([*look("state"), *look("cache"), *look("event log")]) == ["ok", "ok", "ok"]
    assert not (place / "state").exists()


def test_directories_that_are_open_or_in_the_way_are_told(place: Path) -> None:
    (place / "state").mkdir()
    (place / "state").chmod(0o755)
    (place / "cache").write_text("a file")
    assert look("state")[0].remedy == f"chmod 700 {place}/state"
    assert [(f.status, f.message) for f in look("cache")] == [("fail", f"{place}/cache is not a directory")]
    (below,) = look("cache", cache_dir=place / "cache" / "below")
    assert (below.status, below.message) == (
        "fail", f"{place}/cache/below cannot be made: {place}/cache is no directory",
    )  # fmt: skip


def test_a_directory_of_hosts_that_is_a_trap_is_told(place: Path) -> None:
    (place / "state").mkdir(mode=0o700)
    (place / "state" / "hosts").symlink_to("/tmp")
    assert statuses(look("state")) == ["ok", "fail"]


def test_an_event_log_that_cannot_be_written_is_told(place: Path) -> None:
    (place / "state" / "shop" / "events.jsonl").mkdir(parents=True)
    assert statuses(look("event log")) == ["fail"]
    assert statuses(look("event log", event_log=False)) == ["off"]


def test_hosts_that_died_or_are_not_well_are_told(place: Path) -> None:
    words = [
        [sys.executable, str(PLAYED), name, *rest]
        for name, *rest in (("dead",), ("ill", "degraded=true"), ("well",))
    ]
    hosts = [subprocess.Popen(each, stdout=subprocess.PIPE) for each in words]
    try:
        assert all(host.stdout is not None and host.stdout.readline() == b"ready\n" for host in hosts)
        hosts[0].kill()
        hosts[0].wait()
        found = look("hosts")
    finally:
        for host in hosts:
            host.kill()
            host.communicate()
    assert [finding.status for finding in found] == ["warn", "warn"]
    assert "dead (pid" in found[0].message
    assert found[1].message.endswith("is degraded")


def test_a_repository_without_an_index_needs_none() -> None:
    (finding,) = look("index")
    assert (finding.status, finding.remedy) == ("off", "holdfast index build")


# --- clients -----------------------------------------------------------------------------------------------------


def test_an_entry_whose_program_is_gone_is_a_failure(place: Path) -> None:
    ours = {"command": "/gone/bin/holdfast", "args": ["serve", "search"]}
    moved = {"command": sys.executable, "args": ["-m", "holdfast", "serve", "/gone/shop.py:server"]}
    good = {"command": sys.executable, "args": ["-m", "holdfast", "serve", "search"]}
    servers = {"a": ours, "b": moved, "c": good, "foreign": {"command": "/gone/npx"}}
    (place / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    found = look("clients")
    assert statuses(found) == ["fail", "fail", "ok"]
    assert "--client claude --scope project --name a --undo" in found[0].remedy


def test_a_file_of_a_client_that_is_broken_is_told_and_the_others_are_read(place: Path) -> None:
    (place / ".claude.json").write_text("{")
    (place / ".cursor").mkdir()
    (place / ".cursor" / "mcp.json").mkdir()
    assert statuses(look("clients")) == ["warn", "warn"]


def test_without_any_client_the_doctor_says_how_to_begin() -> None:
    (finding,) = look("clients")
    assert (finding.status, finding.remedy) == ("off", "holdfast install TARGET --client NAME")


def test_a_skill_that_leads_nowhere_is_told(place: Path) -> None:
    assert statuses(look("skill")) == ["off"]
    (place / ".claude" / "skills").mkdir(parents=True)
    assert statuses(look("skill")) == ["off"]
    (place / ".claude" / "skills" / "mcp-bootstrap").symlink_to("/gone")
    (finding,) = look("skill")
    assert (finding.status, "leads nowhere" in finding.message) == ("warn", True)
    assert finding.remedy == "holdfast skill install --force"


def test_a_skill_that_is_not_that_of_this_version_is_told(place: Path) -> None:
    skills = place / ".claude" / "skills"
    skills.mkdir(parents=True)
    install_skill([skills])
    assert statuses(look("skill")) == ["ok"]
    remove_skill([skills])
    install_skill([skills], copy=True)
    assert statuses(look("skill")) == ["ok"]
    note = skills / "mcp-bootstrap" / ".holdfast-skill.json"
    told = json.loads(note.read_text())
    (skills / "mcp-bootstrap" / "SKILL.md").write_text("older")
    (edited,) = look("skill")
    assert (edited.status, "edited" in edited.message) == ("warn", True)
    told["files"]["SKILL.md"] = hashlib.sha256(b"older").hexdigest()
    note.write_text(json.dumps(told))
    (older,) = look("skill")
    assert (older.status, "another version" in older.message) == ("warn", True)
    note.unlink()
    (foreign,) = look("skill")
    assert (foreign.status, "not put there by holdfast" in foreign.message) == ("warn", True)
    assert "move it away" in foreign.remedy
