"""Kill processes at work on keys: `kill_rounds.py DATABASE JOURNAL KILLS`, then finish every key.

A program of its own, because forking is quick and safe only in a process without threads.
"""

import json
import os
import random
import signal
import sqlite3
import sys

from holdfast.dedup import KeyTable

KEYS_PER_ROUND = 4


def work(path: str, keys: list[str], pipe: int) -> None:
    """Take each key through its block, with a byte to the pipe at every step."""
    connection = sqlite3.connect(path)
    table = KeyTable(connection)
    for key in keys:
        os.write(pipe, b".")
        with table.once(key, {"key": key}) as slot:
            os.write(pipe, b"i")
            if not slot.stored:
                number = connection.execute("INSERT INTO effects (key) VALUES (?)", (key,)).lastrowid
                os.write(pipe, b"e")
                slot.store({"number": number})
                os.write(pipe, b"s")
        os.write(pipe, b"c")


def killed_at(path: str, keys: list[str], steps: int) -> str | None:
    """Let a child work and kill it after so many steps; the last step that it reported, None if it was done."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        work(path, keys, writer)
        os._exit(0)
    os.close(writer)
    seen = b""
    while len(seen) < steps and (byte := os.read(reader, 1)):
        seen += byte
    os.kill(child, signal.SIGKILL)
    rest = os.read(reader, 1000)
    os.close(reader)
    _, status = os.waitpid(child, 0)
    return (seen + rest).decode()[-1:] if os.WIFSIGNALED(status) else None


def main(path: str, journal: str, kills: int) -> None:
    """Kill until it is enough; every round goes over the keys of the round before once more."""
    chance = random.Random(kills)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE effects (number INTEGER PRIMARY KEY, key TEXT)")
    connection.close()
    died: list[str] = []
    keys: list[str] = []
    for attempt in range(kills * 20):
        if len(died) >= kills:
            break
        if attempt % 3 == 0:
            keys += [f"key-{len(keys) + number}" for number in range(KEYS_PER_ROUND)]
        step = killed_at(path, keys[-2 * KEYS_PER_ROUND :], chance.randint(1, 5 * KEYS_PER_ROUND))
        if step is not None:
            died.append(step)
    work(path, keys, os.open(os.devnull, os.O_WRONLY))
    print(json.dumps({"kills": len(died), "steps": sorted(set(died)), "keys": keys}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
