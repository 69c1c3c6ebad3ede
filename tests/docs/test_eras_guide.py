"""The guide to the eras does what it says: its command serves a client of the other era."""

import re
import shlex
import sys
from pathlib import Path

from tests.contract.official_schemas import assert_valid

from holdfast.present.profile import MODERN
from holdfast.testing import HostUnderTest

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/eras.md").read_text(encoding="utf-8")
OLD = ROOT / "tests/host/handshake_worker.py"


def test_the_command_of_the_guide_serves_a_client_of_the_other_era(tmp_path: Path) -> None:
    (line,) = re.findall(r"```sh\n(.*?)\n```", GUIDE)
    server = tmp_path / "old_server.py"
    server.write_text(OLD.read_text().replace("sys.argv[1]", repr(str(tmp_path / "record"))))
    program, verb, dashes, python, script = shlex.split(line)
    assert (program, verb, dashes, python, script) == ("holdfast", "run", "--", "python", server.name)

    with HostUnderTest.running([sys.executable, str(server)], tmp_path) as client:
        assert_valid(MODERN, "DiscoverResult", client.handshake(MODERN)["result"])
        assert client.call("echo", {"text": "hi"})["result"]["resultType"] == "complete"


def test_the_guide_leads_to_the_table() -> None:
    assert "](../reference/eras.md)" in GUIDE
