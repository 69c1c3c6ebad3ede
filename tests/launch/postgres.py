"""A real PostgreSQL for tests: one server for all processes of a test run, and none afterwards.

    with postgres(meeting) as url: ...        # `meeting` is a directory that all processes of the run know

From HOLDFAST_TEST_POSTGRES where that is set; otherwise from the binaries in the wheel `pgserver`, run by a
keeper. Whoever uses the server holds a shared lock on a file. The keeper waits for the exclusive one: it gets it
when the last user has ended, however that ended, stops the server and removes its files. As root, which PostgreSQL
refuses to run as, the server runs as `nobody`.
"""

import contextlib
import fcntl
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["fresh_schema", "is_available", "postgres"]

GIVEN = "HOLDFAST_TEST_POSTGRES"
_SETTINGS = {
    # The clients are killed in tests, and the machine is not: nothing needs to be on disk.
    "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
    "listen_addresses": "", "max_connections": "200", "shared_buffers": "16MB", "autovacuum": "off",
}  # fmt: skip
_START_S = 40.0


def is_available() -> bool:
    """Whether there is a PostgreSQL to test with."""
    return bool(os.environ.get(GIVEN)) or _binaries() is not None


@contextlib.contextmanager
def postgres(meeting: Path) -> Iterator[str]:
    """The URL of a running server; started by the first who asks, stopped after the last."""
    given = os.environ.get(GIVEN)
    if given:
        yield given
        return
    with (meeting / "postgres.users").open("ab") as users, (meeting / "postgres.start").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        url = _joined(meeting, users) or _started(meeting, users)
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield url


@contextlib.contextmanager
def fresh_schema(url: str) -> Iterator[str]:
    """A URL under which the database is empty; what is made there is dropped afterwards."""
    import psycopg

    name, plain = f"test_{secrets.token_hex(8)}", url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"'.encode())
    try:
        yield f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"
    finally:
        with psycopg.connect(plain, autocommit=True) as connection:
            # A process that was killed may be mourned for a moment by its session, which still holds locks.
            connection.execute("SET lock_timeout = '20s'")
            connection.execute(f'DROP SCHEMA "{name}" CASCADE'.encode())


def _joined(meeting: Path, users: IO[bytes]) -> str | None:
    address = meeting / "postgres.url"
    try:
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(users, fcntl.LOCK_SH)  # the keeper has it for good and is about to end
        return None
    return address.read_text() if address.exists() else None


def _started(meeting: Path, users: IO[bytes]) -> str:
    fcntl.flock(users, fcntl.LOCK_SH)
    program = [sys.executable, str(Path(__file__).resolve()), str(meeting)]
    with (meeting / "postgres.log").open("ab") as log:
        keeper = subprocess.Popen(
            program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    assert keeper.stdout is not None
    with keeper.stdout:
        url = keeper.stdout.readline().decode().strip()
    assert url, (meeting / "postgres.log").read_text()
    keeper.returncode = 0  # it outlives us; the interpreter need not wait for it or wonder
    return url


def _binaries() -> Path | None:
    # Importing it would run it: it keeps a lock and a list of servers in the home of the user.
    found = importlib.util.find_spec("pgserver")
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0], "pginstall", "bin") if places else None


def _keep(meeting: Path) -> None:
    """Start a server, tell its URL on standard output, and stop it when nobody uses it any more."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-", dir="/tmp"))  # short: it is part of a socket's name
    address = meeting / "postgres.url"
    try:
        with _server(folder):
            address.write_text(f"postgresql://postgres@/postgres?host={folder}")
            sys.stdout.write(address.read_text() + "\n")
            sys.stdout.flush()
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            with (meeting / "postgres.users").open("ab") as users:
                fcntl.flock(users, fcntl.LOCK_EX)
                address.unlink(missing_ok=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[None]:
    binaries, data = _binaries(), folder / "data"
    assert binaries is not None
    user: dict[str, Any] = {
        "env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
        "stdin": subprocess.DEVNULL,
    }
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
        user |= {"user": "nobody", "group": folder.stat().st_gid, "extra_groups": []}
    made: list[str | Path] = [
        binaries / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "--auth=trust",
        "--encoding=utf8",
        "--no-sync",
    ]
    subprocess.run([*made, "--no-locale"], check=True, stdout=sys.stderr, **user)
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    command: list[str | Path] = [binaries / "postgres", "-D", data, "-k", folder, *settings]
    with subprocess.Popen(command, stdout=sys.stderr, cwd=folder, **user) as server:
        try:
            _wait_until_ready(binaries, folder, server)
            yield
        finally:
            server.send_signal(signal.SIGINT)  # ends sessions too
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.send_signal(signal.SIGQUIT)


def _wait_until_ready(binaries: Path, folder: Path, server: "subprocess.Popen[Any]") -> None:
    end = time.monotonic() + _START_S
    question: list[str | Path] = [binaries / "pg_isready", "-q", "-h", folder, "-t", "5"]
    while subprocess.run(question, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError("PostgreSQL did not start")
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.05)


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
