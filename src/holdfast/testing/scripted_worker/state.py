"""What a script's workers share: a directory of notes, and dice that fall the same for the same seed."""

import json
import os
from typing import Any

__all__ = ["RECORD", "Dice", "State"]

Json = dict[str, Any]

RECORD = 16  # bytes of one entry in the list of generations


class Dice:
    """Numbers that look random and are the same for the same seed; the library's own start slowly."""

    def __init__(self, *seeds: int) -> None:
        self._state = 88172645463325252
        for seed in seeds:
            self._state ^= (seed + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)
            self.roll()

    def roll(self) -> float:
        """The next number in [0, 1)."""
        state = self._state or 1
        state ^= state << 13 & (2**64 - 1)
        state ^= state >> 7
        state ^= state << 17 & (2**64 - 1)
        self._state = state
        return (state >> 11) / 2**53


class State:
    """The directory that all generations of one script share: who was started, and what was done."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        os.makedirs(f"{directory}/keys", exist_ok=True)
        self.generation = self._enlist()

    def _enlist(self) -> int:
        descriptor = os.open(f"{self.directory}/generations", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, b"%*d\n" % (RECORD - 1, os.getpid()))
        # Two workers may start at once; the place where an append ended is a number that no two of them get.
        number = os.lseek(descriptor, 0, os.SEEK_CUR) // RECORD
        os.close(descriptor)
        return number

    def note(self, file: str, **fields: Any) -> None:
        """Append one line to a file of the directory, in one write."""
        descriptor = os.open(f"{self.directory}/{file}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, json.dumps({**fields, "generation": self.generation}).encode() + b"\n")
        os.close(descriptor)

    def notes(self, file: str, containing: str) -> list[Json]:
        """The lines of a file of the directory that contain this text."""
        try:
            with open(f"{self.directory}/{file}", "rb") as lines:
                wanted = json.dumps(containing).encode()
                return [json.loads(line) for line in lines if wanted in line]
        except FileNotFoundError:
            return []

    def commit(self, key: str, value: Json) -> tuple[Json, bool]:
        """Store the value of a key once and for all; the stored value, and whether it is this one."""
        path = f"{self.directory}/keys/{key.encode().hex()}"
        draft = f"{path}.{self.generation}"
        with open(draft, "w") as file:
            json.dump(value, file)
        try:
            os.link(draft, path)  # appears whole or not at all, and only once
        except FileExistsError:
            with open(path) as file:
                return json.load(file), False
        finally:
            os.unlink(draft)
        return value, True
