"""A read-only tool that really exits for some arguments, and two clients over HTTP: only one of them notices."""

import sys
import threading
from pathlib import Path

from tests.api.mcp_server import serving
from tests.host.answers import error_of
from tests.host.conftest import QUICK

NOTES = [sys.executable, str(Path(__file__).with_name("notes_server.py"))]


def test_calls_that_end_the_server_are_refused_and_another_client_is_served_all_the_time(tmp_path: Path) -> None:
    def get(name: str, **more: str) -> dict[str, object]:
        return {"name": "get", "arguments": {"name": name, **more}}

    with serving(tmp_path, ["run", "--", *NOTES], before=["--restart-budget", "4"], **QUICK) as server:
        bad, good = server.session(), server.session()
        done = threading.Event()
        served: list[bool] = []

        def keep_asking() -> None:
            while not done.is_set():
                served.append("result" in good.ask("tools/call", get("a")))

        asking = threading.Thread(target=keep_asking)
        asking.start()
        lost = [error_of(bad.ask("tools/call", get("bad", n=str(number))))["code"] for number in range(2)]
        again = error_of(bad.ask("tools/call", get("bad", n="0")))
        done.set()
        asking.join(20)

        assert lost == ["REPLAY_EXHAUSTED"] * 2
        assert (again["code"], again["retryable"], again["details"]["losses"]) == ("QUARANTINED", False, 3)
        assert len(served) > 1
        assert all(served)
        assert (server.host["state"], server.host["restart_count"]) == ("ready", 6)
