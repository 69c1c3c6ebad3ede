"""`holdfast probe` as a person types it: exit codes, forms of the report, mistakes, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.probe.model_http import serving

from holdfast.cli.app import main

HERE = Path(__file__).parent
PYTHON = [sys.executable, "-I", "-S"]
QUICK = ["--timeout", "1.5", "--only", "malformed.not-json,ids.exact"]


def _server(fault: str = "") -> list[str]:
    return ["--", *PYTHON, str(HERE / "model_server.py"), fault]


def _json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_good_server_gives_exit_code_0_and_a_score_of_100(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", *QUICK, *_server()]) == 0
    out = capsys.readouterr().out
    assert "malformed: Input that is no message  (100 %)" in out
    assert out.splitlines()[-1].startswith("score 100 %: 2 passed, 0 failed, 0 skipped (6 of 6 points")


def test_a_bad_server_gives_exit_code_1_and_the_failing_exchange(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", *QUICK, *_server("malformed.not-json")]) == 1
    out = capsys.readouterr().out
    assert "FAIL malformed.not-json: text that is not JSON was left without an answer" in out
    assert "> {bad json" in out
    assert "score 50 %" in out


def test_the_json_report_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--json", *QUICK, *_server("ids.exact")]) == 1
    document = _json(capsys)
    assert document["schemaVersion"] == 1
    assert document["server"]["name"] == "model"
    assert [(item["id"], item["verdict"]) for item in document["checks"]] == [
        ("malformed.not-json", "pass"),
        ("ids.exact", "fail"),
    ]
    assert document["score"]["percent"] == 50.0


def test_the_sarif_report_is_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--sarif", *QUICK, *_server("ids.exact")]) == 1
    log = _json(capsys)
    assert log["version"] == "2.1.0"
    assert [item["kind"] for item in log["runs"][0]["results"]] == ["pass", "fail"]


def test_an_address_is_probed_over_http(capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as url:
        code = main(["probe", "--json", "--header", "Authorization: Bearer secret", "--only", "http", url])
    document = _json(capsys)
    assert code == 0
    assert document["transport"] == "http"
    assert document["score"]["percent"] == 100.0
    assert "secret" not in json.dumps(document)


def test_without_a_tool_that_may_be_called_checks_are_skipped_with_a_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["probe", "--json", "--only", "cancellation.stops,crash.worker", *_server()]) == 0
    document = _json(capsys)
    assert [item["verdict"] for item in document["checks"]] == ["skip", "skip"]
    assert "--slow-tool" in document["checks"][0]["remedy"]
    assert "--supervised" in document["checks"][1]["remedy"]
    assert document["score"] == {"percent": None, "passed": 0, "judged": 0, "skippedChecks": 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "TARGET is missing"),
        (["--only", "nonsense", *_server()], "no check 'nonsense'"),
        (["--json", "--sarif", *_server()], "two forms of one report"),
        (["--arguments", "{}", *_server()], "--arguments is for --tool"),
        (["--tool", "read", "--arguments", "[1]", *_server()], "not a JSON object"),
        (["--tool", "read", "--arguments", "{", *_server()], "not JSON"),
        (["--tool", "absent", *QUICK, *_server()], "has no tool 'absent'"),
        (["--standalone", *_server()], "--standalone is for a TARGET"),
        (["--header", "a: b", *_server()], "--header is for a URL"),
        (["--timeout", "0", *_server()], "too short"),
        (["--start-timeout", "0", *_server()], "--start-timeout is too short"),
        (["--only", "http", *_server()], "none of these checks is one for stdio"),
        (["a.py", "b.py"], "unexpected argument 'b.py'"),
        (["--", "http://127.0.0.1:9/mcp"], "is an address"),
        (["http://"], "not the address of a server"),
        (["--header", "broken", "http://127.0.0.1:9/mcp"], "NAME: VALUE"),
        (["http://127.0.0.1:9/mcp"], "no MCP server answers"),
        (
            ["--start-timeout", "0.5", "--", *PYTHON, "-c", "import sys; sys.stdin.read()"],
            "initialize was not answered within 0.5 s",
        ),
        (["--", "no-such-program-at-all"], "no program"),
        (["--", sys.executable, "-c", "raise SystemExit('no luck today')"], "no luck today"),
        (["--", sys.executable, "-c", "print('welcome')"], "on stdout a line is no message: 'welcome'"),
    ],
)
def test_a_mistake_or_an_absent_server_is_one_line_and_exit_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.startswith("holdfast: ")
    assert len(captured.err.splitlines()) <= 2


def test_an_address_where_nobody_listens_is_advised_as_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "http://127.0.0.1:9/mcp"]) == 2
    remedy = capsys.readouterr().err.splitlines()[1]
    assert "listens there" in remedy
    assert "started" not in remedy


def test_a_target_that_is_not_there_is_told_as_by_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "absent.py"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("holdfast: there is no file absent.py\n  try: ")
    assert main(["probe", "absent.py"]) == 2
    assert capsys.readouterr().err == told


def test_the_list_of_checks_needs_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--list", "--only", "ids"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["probe", "--list", "--json"]) == 0
    assert all({"id", "why", "how", "weight"} <= set(item) for item in _json(capsys))


def test_ctrl_c_stops_at_once_and_leaves_no_process_behind(tmp_path: Path) -> None:
    name, value = "HOLDFAST_PROBE_TEST", str(tmp_path)
    command = [sys.executable, "-m", "holdfast", "probe", "--only", "ending", *_server("ending.eof")]
    probe = subprocess.Popen(
        command, env={**os.environ, name: value}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 20
    while not _servers(name, value) and time.monotonic() < deadline:
        assert probe.poll() is None
    probe.send_signal(signal.SIGINT)
    out, _ = probe.communicate(timeout=20)
    assert probe.returncode == 130
    assert out == b""
    while _servers(name, value) and time.monotonic() < deadline:
        pass
    assert _servers(name, value) == []


def _servers(name: str, value: str) -> list[int]:
    """The model servers that carry this mark in their environment."""
    found: list[int] = []
    for process in psutil.process_iter():
        try:
            is_server = process.cmdline()[1:3] == PYTHON[1:]
            if is_server and process.environ().get(name) == value:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
