"""Our own server behind the host is held to what the probe asks of others: nothing fails, and nothing is skipped.

All checks take three times as long as a suite has time for; `make probe` makes them, for every server. Of each
group those are made here that go furthest through the host: what its own parser refuses, what the kernel keeps
apart, what a worker is needed for. Left out are their variants, which take the same way with other bytes.
"""

import json
from pathlib import Path

import pytest
from tests.api.mcp_server import serving

from holdfast.cli.app import main
from holdfast.probe.table import CHECKS

SERVER = Path(__file__).parents[2] / "examples" / "inventory.py"
MADE = (
    "malformed.not-json", "malformed.huge-line",
    "envelopes.id-null",
    "ids.exact", "ids.in-flight-twice",
    "handshake.request-before", "handshake.self-describing",
    "cancellation.stops",
    "overload.busy",
    "progress.valid",
    "calls.output-schema", "calls.deadline",
    "catalog.schemas",
    "output.clean",
    "ending.answers-first",
    "orphans.sigkill",
    "crash.in-flight",
)  # fmt: skip
TOOLS = (
    "--tool", "lookup", "--arguments", '{"sku": "A-1"}',
    "--slow-tool", "audit", "--slow-arguments", '{"seconds": 2}',
    "--hang-tool", "slow",
)  # fmt: skip


def test_every_group_of_checks_on_stdio_is_made() -> None:
    groups = {check.group for check in CHECKS if "stdio" in check.transports}
    assert {name.partition(".")[0] for name in MADE} == groups


@pytest.mark.xdist_group("probe")
def test_our_own_server_behind_the_host_scores_100(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["probe", "--json", "--only", ",".join(MADE), *TOOLS, str(SERVER)])
    document = json.loads(capsys.readouterr().out)
    assert [item for item in document["checks"] if item["verdict"] != "pass"] == []
    assert (code, len(document["checks"])) == (0, len(MADE))
    assert document["score"]["percent"] == 100.0


@pytest.mark.xdist_group("probe")
def test_a_limit_over_http_is_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, ["serve", str(SERVER)]) as server:
        url = f"http://127.0.0.1:{server.port}/mcp"
        code = main(["probe", "--json", "--only", "calls.large-argument", *TOOLS, url])
    [item] = json.loads(capsys.readouterr().out)["checks"]
    assert (code, item["verdict"]) == (0, "pass"), item
