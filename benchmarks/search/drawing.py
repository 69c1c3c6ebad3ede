"""A small corpus of Python definitions that are drawn one by one from a large one, instead of in whole files.

The questions stay the same, the haystack becomes smaller: every definition that is asked for stays, with the
classes around it and, where it is a class, with all that is in it; of the other functions a random part stays.
What is left out leaves a `pass` behind, so that the files are still Python.
"""

import random
from collections import defaultdict
from dataclasses import replace

from benchmarks.search.docstrings import read_python
from benchmarks.search.model import Definition, Question

__all__ = ["draw"]

SEED = 42
Place = tuple[str, int]  # a file and the first line of a definition in it


def draw(
    files: dict[str, bytes], found: list[tuple[str, Definition]], questions: list[Question], wanted: int
) -> tuple[dict[str, bytes], list[Question]]:
    """The files with about `wanted` definitions left in them, and the questions with their new lines."""
    by_file: dict[str, list[Definition]] = defaultdict(list)
    for name, definition in found:
        by_file[name].append(definition)
    kept: set[Place] = set()
    for question in questions:
        kept |= _with_family(question.file, question.start, by_file)
    others = [(name, one.start) for name, one in found if one.kind == "function" and (name, one.start) not in kept]
    random.Random(SEED).shuffle(others)
    for name, start in others:
        if len(kept) >= wanted:
            break
        kept |= _with_family(name, start, by_file)
    thinned: dict[str, bytes] = {}
    moved: dict[Place, Definition] = {}
    for name in sorted({name for name, _ in kept}):
        staying = [one for one in by_file[name] if (name, one.start) in kept]
        thinned[name] = _without(files[name], by_file[name], {one.start for one in staying})
        reading = read_python(thinned[name])
        if reading is None or [one.name for one in reading.definitions] != [one.name for one in staying]:
            raise ValueError(f"{name} has other definitions than were drawn")
        moved |= {(name, old.start): new for old, new in zip(staying, reading.definitions, strict=True)}
    return thinned, [_moved(question, moved[question.file, question.start]) for question in questions]


def _with_family(name: str, start: int, by_file: dict[str, list[Definition]]) -> set[Place]:
    """A definition, everything around it, and everything inside of it."""
    one = next(definition for definition in by_file[name] if definition.start == start)
    around = {(name, other.start) for other in by_file[name] if other.start <= one.start and one.end <= other.end}
    inside = {(name, other.start) for other in by_file[name] if one.start <= other.start and other.end <= one.end}
    return around | inside


def _without(source: bytes, definitions: list[Definition], staying: set[int]) -> bytes:
    lines = source.split(b"\n")
    result: list[bytes] = []
    number = 1
    leaving = {one.start: one.end for one in reversed(definitions) if one.start not in staying}
    while number <= len(lines):
        line = lines[number - 1]
        if number in leaving:
            gap = line[: len(line) - len(line.lstrip())] + b"pass"
            if result[-1:] != [gap]:
                result.append(gap)
            number = leaving[number] + 1
        else:
            result.append(line)
            number += 1
    return b"\n".join(result)


def _moved(question: Question, now: Definition) -> Question:
    return replace(question, start=now.start, header=now.header, end=now.end)
