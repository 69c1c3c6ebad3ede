"""A real front process on a real socket, with the scripted host at the other end of its pipe."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.api.client import BOUND, Client
from tests.api.scripted_host import ScriptedHost

from holdfast.api.callers import digest_of_token

ALIAS = "project"


class RunningFront(Client):
    """One front, its host, and what it writes to stderr."""

    def __init__(self, port: int, host: ScriptedHost, process: subprocess.Popen[bytes], stderr: Path) -> None:
        super().__init__(port)
        self.host = host
        self.process = process
        self._stderr = stderr

    def stderr(self) -> str:
        """What the front wrote to stderr so far."""
        return self._stderr.read_text(errors="replace")


@contextmanager
def running_front(
    place: Path, *, token: str | None = None, program: str | None = None, **options: Any
) -> Iterator[RunningFront]:
    """Start a front with these options and stop it at the end; it must end by itself, with exit code 0."""
    if token is not None:
        options["tokens"] = [{"name": "only", "digest": digest_of_token(token)}]
    repository = place / ALIAS
    repository.mkdir(exist_ok=True)
    listener = socket.create_server(("127.0.0.1", 0))
    mounted = [{"alias": ALIAS, "root": str(repository)}]
    line = (
        json.dumps({"schemaVersion": "1.0.0", "idPrefix": "http:", "repositories": mounted, **options}).encode()
        + b"\n"
    )
    with (place / "stderr").open("wb") as stderr:
        process = start_process(listener.fileno(), stderr, program=program)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    port = listener.getsockname()[1]
    listener.close()
    host = ScriptedHost(os.dup(process.stdout.fileno()), process.stdin.fileno(), str(repository))
    try:
        yield RunningFront(port, host, process, place / "stderr")
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            code = process.wait(BOUND)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        process.stdout.close()
        host.thread.join(BOUND)
        assert code == 0, (place / "stderr").read_text()
        assert "Traceback" not in (place / "stderr").read_text(errors="replace"), (place / "stderr").read_text()


def start_process(
    descriptor: int, stderr: Any, environment: Mapping[str, str] | None = None, program: str | None = None
) -> subprocess.Popen[bytes]:
    """The front as the host starts it; or another program in its place."""
    words = ["-m", "holdfast.search.http"] if program is None else [program]
    return subprocess.Popen(
        [sys.executable, *words, "--fd", str(descriptor)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        pass_fds=(descriptor,),
        env={**os.environ, **(environment or {})},
    )
