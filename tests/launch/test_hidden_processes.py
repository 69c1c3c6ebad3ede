"""A process of launch that may hold a token shows its environment to no other process of its user."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.api.client import until
from tests.host.test_secrets import without_capabilities

SESSION = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"t","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"launch_list_runs","arguments":{}}}\n'
)
PLAIN = ("-c", "input()")
COMMANDS = {
    "any other": PLAIN,
    "work": ("-m", "holdfast.launch.working"),
    "service": ("-m", "holdfast", "launch", "telemetry-service", "--listen", "127.0.0.1:0"),
    "server": ("-m", "holdfast", "serve", "--standalone", "launch"),
}


def can_be_read(pid: int) -> bool:
    """Whether a process with the rights of its user, and no more, reads the environment."""
    done = subprocess.run(
        ["cat", f"/proc/{pid}/environ"], check=False, capture_output=True, preexec_fn=without_capabilities
    )
    return b"token-of-the-operator" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can hide a process from its own user")
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_process_that_may_hold_a_token_shows_it_to_no_other(tmp_path: Path, words: Sequence[str]) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "GITHUB_TOKEN": "token-of-the-operator"}
    with subprocess.Popen(
        [sys.executable, "-P", *words], cwd=tmp_path, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=without_capabilities,  # noqa: PLW1509 - which calls the system alone
    ) as process:  # fmt: skip
        try:
            assert process.stdin is not None
            if words[-1] == "launch":
                process.stdin.write(SESSION)
                process.stdin.flush()
            shown = words == PLAIN
            until(lambda: can_be_read(process.pid) is shown, "the process is as hidden as it should be")
            assert process.poll() is None
        finally:
            process.kill()
