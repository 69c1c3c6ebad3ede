"""Keys and real processes: killed at any moment, at work at the same time, on a disk that is full."""

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from holdfast.dedup import open_keys

HERE = Path(__file__).parent

RACE = """
import json, sqlite3, sys
from holdfast.dedup import KeyTable
connection = sqlite3.connect(sys.argv[1], timeout=30)
table = KeyTable(connection)
print("ready", flush=True)
sys.stdin.readline()
found = {}
for key in "abcdefghij":
    with table.once(key, [key]) as slot:
        if not slot.stored:
            slot.store(connection.execute("INSERT INTO effects (key) VALUES (?)", (key,)).lastrowid)
    found[key] = slot.outcome
print(json.dumps(found))
"""

OPENING = """
import sys
from holdfast.dedup import open_keys
print("ready", flush=True)
sys.stdin.readline()
with open_keys(sys.argv[1]) as keys, keys.once("k", 1) as slot:
    if not slot.stored:
        slot.store(sys.argv[2])
print(slot.outcome)
"""

FULL = """
import json, resource, sys
from holdfast.dedup import KeyTableError, open_keys
keys = open_keys(sys.argv[1])
with keys.once("before", 1) as slot:
    slot.store("kept")
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    with keys.once("big", 1) as slot:
        slot.store("x" * 500_000)
except KeyTableError as error:
    print(json.dumps([error.reason, str(error)]))
with keys.once("before", 1) as slot:
    print(slot.outcome)
"""


def start(program: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def released(racers: list["subprocess.Popen[str]"]) -> list[str]:
    """What the racers print last, all let go once each of them is ready."""
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    return [racer.communicate(timeout=50)[0].strip() for racer in racers]


@pytest.mark.requirement("OURS-17-key-table")
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_processes_killed_at_random_moments_leave_one_effect_per_key(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "shop.db"
    done = subprocess.run(
        [sys.executable, str(HERE / "kill_rounds.py"), str(path), journal, "60"],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    told = json.loads(done.stdout)
    connection = sqlite3.connect(path)
    effects = Counter(key for (key,) in connection.execute("SELECT key FROM effects"))
    connection.close()

    assert told["kills"] == 60
    assert {"i", "e", "s"} & set(told["steps"]), "some must have died inside the block"
    assert effects == Counter(told["keys"])


def test_processes_with_the_same_keys_at_the_same_time_get_the_outcome_of_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE effects (number INTEGER PRIMARY KEY, key TEXT)")

    outcomes = released([start(RACE, str(path)) for _ in range(4)])
    effects = [key for (key,) in connection.execute("SELECT key FROM effects")]
    connection.close()

    assert sorted(effects) == list("abcdefghij")
    assert len(set(outcomes)) == 1
    assert len(json.loads(outcomes[0])) == 10


def test_processes_that_make_the_file_at_the_same_time_share_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "keys.db"

    outcomes = released([start(OPENING, str(path), str(number)) for number in range(6)])

    assert len(set(outcomes)) == 1
    assert outcomes[0] in "012345"


def test_a_full_disk_is_told_and_nothing_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=30, check=True
    )
    reason, message = json.loads(done.stdout.splitlines()[0])

    assert reason in {"full", "failed"}
    assert "has space" in message or "free some space" in message
    assert done.stdout.splitlines()[1] == "kept"
    with open_keys(path) as keys, keys.once("big", 2) as slot:
        assert not slot.stored
        slot.store("now there is room")
