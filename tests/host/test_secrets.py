"""What a worker, and another user of the machine, can find out about its host: no token, and no more than it got.

Where the tests run as root, which may see everything, the host and its worker run without its capabilities.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.api.client import BOUND, until

from holdfast.host.worker_environment import HARMLESS
from holdfast.testing.marked import MARK

pytestmark = [
    pytest.mark.xdist_group("secrets"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux can hide a process from its own user"),
]

TOKEN, SECRET = "token-of-the-host-0001", "what-the-operator-has-0002"
SPY = Path(__file__).parent / "spying_server.py"
PREFIX = "front-[0-9a-f]{16}"  # what the ids of the front begin with
ANOTHER = 65533
PR_CAPBSET_DROP, MOST_CAPABILITIES = 24, 64


class Found(NamedTuple):
    """What a worker has seen, of whom, and where state is kept."""

    own: dict[str, str]
    seen: list[dict[str, Any]]
    host: int
    place: Path

    def of_host(self) -> list[dict[str, Any]]:
        """The host and what is below it; on the machine there may be others."""
        family = {self.host}
        while more := {one["pid"] for one in self.seen if one["parent"] in family} - family:
            family |= more
        return [one for one in self.seen if one["pid"] in family]

    def showing(self, pattern: str) -> list[str]:
        """The processes whose environment or command line shows something."""
        return [one["words"] for one in self.of_host() if re.search(pattern, f"{one['words']}{one['environ']}")]


def without_capabilities() -> None:
    """Become an ordinary user in all but the number, with the next program that is executed."""
    for capability in range(MOST_CAPABILITIES):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def as_somebody_else(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, check=False, user=ANOTHER, group=ANOTHER, extra_groups=[], capture_output=True, text=True
    )


def found_by_mark() -> set[int]:
    """What a test that is no root finds of what it has started."""
    program = f"from holdfast.testing import marked_processes; print(marked_processes({TOKEN[:5]!r}))"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, check=True, capture_output=True, preexec_fn=without_capabilities)
    return set(json.loads(done.stdout))


@contextmanager
def spied(*options: str) -> Iterator[Found]:
    """What a worker of a host that speaks HTTP sees, while it runs."""
    place = Path(tempfile.mkdtemp())
    try:
        shutil.copy(SPY, place / "spy.py")
        line = [sys.executable, "-m", "holdfast", "run", "--http", "127.0.0.1:0", *options, "--", sys.executable]
        environment = {
            **os.environ,
            "HOLDFAST_HTTP_TOKEN": TOKEN,
            "OPERATOR_SECRET": SECRET,
            "OPERATOR_NUMBER": "0003",
            "HOME": str(place),
        }
        environment |= {"HOLDFAST_STATE_DIR": str(place / "state"), "HOLDFAST_CONFIG": "none", MARK: TOKEN[:5]}
        with (place / "stderr").open("wb") as stderr:
            host = subprocess.Popen(
                [*line, str(place / "spy.py"), str(place / "seen.json")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, env=environment, cwd="/",
                preexec_fn=without_capabilities,  # noqa: PLW1509 - which calls the system alone
            )  # fmt: skip
        try:
            until((place / "seen.json").exists, "the worker has looked around")
            yield Found(**json.loads((place / "seen.json").read_text()), host=host.pid, place=place)
        finally:
            host.terminate()
            host.wait(BOUND)
    finally:
        shutil.rmtree(place)


@pytest.fixture(scope="module")
def untrusted() -> Iterator[Found]:
    """A host whose worker is not trusted, and has looked around."""
    with spied("--untrusted", "--env", "GIVEN=here", "--env", "OPERATOR_NUMBER") as found:
        yield found


def test_a_worker_that_is_not_trusted_gets_harmless_variables_and_the_allowed_and_finds_no_others(
    untrusted: Found,
) -> None:
    names = {name for name in untrusted.own if not name.startswith("LC_")}

    assert names <= HARMLESS | {"GIVEN", "OPERATOR_NUMBER", "HOLDFAST_CUSTODY"}
    assert {"GIVEN", "HOME", "PATH"} <= names
    assert (untrusted.own["GIVEN"], untrusted.own["OPERATOR_NUMBER"]) == ("here", "0003")
    assert untrusted.showing(TOKEN) == untrusted.showing(SECRET) == untrusted.showing(PREFIX) == []
    (host,) = [one for one in untrusted.of_host() if one["pid"] == untrusted.host]
    front = [
        one for one in untrusted.of_host() if "holdfast.api.program" in one["words"] and "-S" not in one["words"]
    ]
    assert [(one["environ"], one["memory"]) for one in (host, *front)] == [(None, False), (None, False)]
    assert {untrusted.host, front[0]["pid"]} <= found_by_mark()


def test_a_trusted_worker_has_all_but_the_token_which_the_system_shows_not_even_to_root() -> None:
    with spied() as trusted:
        assert trusted.own["OPERATOR_SECRET"] == SECRET
        assert "HOLDFAST_HTTP_TOKEN" not in trusted.own
        assert trusted.showing(TOKEN) == []
        shown = Path(f"/proc/{trusted.host}/environ")
        if os.getuid() == 0:
            assert TOKEN.encode() not in shown.read_bytes()
            assert SECRET.encode() in shown.read_bytes()
        else:
            with pytest.raises(PermissionError):
                shown.read_bytes()


def test_another_user_finds_no_secret_and_no_state(untrusted: Found) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    listed = as_somebody_else("ls", "-R", str(untrusted.place / "state"))
    modes = {path: path.stat().st_mode & 0o777 for path in (untrusted.place / "state").rglob("*")}
    processes = as_somebody_else("ps", "axewww")

    assert listed.returncode != 0
    assert processes.returncode == 0
    assert not re.search(f"{TOKEN}|{SECRET}", processes.stdout)
    assert modes
    assert not any(mode & 0o077 for mode in modes.values())


def test_a_variable_that_is_not_set_is_refused_with_a_remedy() -> None:
    line = [sys.executable, "-m", "holdfast", "run", "--env", "NOT_SET_AT_ALL", "--", "true"]
    done = subprocess.run(
        line, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=BOUND
    )

    assert done.returncode == 2
    assert "NOT_SET_AT_ALL=VALUE" in done.stderr
