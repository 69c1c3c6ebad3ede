"""Rubbish in: random bytes as files, random queries and arguments. Nothing may crash, hang or show a traceback.

    python -m benchmarks.search_fuzz [--files 400] [--queries 10000] [--seed 7]

Every search has to end in an answer or in a typed refusal. The exit code is 1 when one did not, or took too long.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import find_repository
from holdfast.search.request import FIELDS, SearchRequest

__all__ = ["main", "random_arguments", "random_file"]

SOURCES = Path(__file__).resolve().parents[1] / "src" / "holdfast"
EXTENSIONS = (
    *(
        "py",
        "js",
        "ts",
        "tsx",
        "go",
        "java",
        "rs",
        "c",
        "cpp",
        "cs",
        "rb",
        "php",
        "sh",
        "kt",
        "swift",
        "scala",
        "lua",
    ),
    *("ex", "md", "rst", "json", "yaml", "toml", "log", "txt", "html", "css"),
)
SLOW_SECONDS = 10.0
WORDS = (
    *(
        "retry",
        "budget",
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        '"',
        "'",
        "/a+/",
        "/(x|y)*z/i",
        "lang:python",
        "path:",
        "*",
    ),
    *("calls:run", "-x", "!y", "class:x", "a.b.c", "é", "漢字", "->", "{}", "\\"),
)


def random_file(random_: random.Random) -> bytes:
    """Noise, or a real source with holes, or one construct far too often."""
    kind = random_.randrange(5)
    if kind == 0:
        return random_.randbytes(random_.randrange(4000))
    if kind == 1:
        return bytes(random_.choices(b"(){}[]<>\"'`#/*\\\n\t =:;,.@$a1", k=random_.randrange(20_000)))
    if kind == 2:
        return random_.choice([b"(", b"[", b"{", b"def f():\n ", b"<div>", b"if x {", b"'''"]) * random_.randrange(
            3000
        )
    if kind == 3:
        return ("x" * random_.randrange(200_000)).encode()
    source = bytearray(random_.choice(sorted(SOURCES.rglob("*.py"))).read_bytes())
    for _ in range(random_.randrange(30)):
        place = random_.randrange(len(source) or 1)
        source[place : place + random_.randrange(40)] = random_.randbytes(random_.randrange(20))
    return bytes(source)


def random_value(random_: random.Random) -> Any:
    """Something that may or may not fit."""
    return random_.choice(
        [
            None, True, False, -1, 0, 3, 10**20, 2.5, "", " ", "py", "self", "run", "/x+/", "/(/", "2026-01-01",
            "\x00", "x" * 5000, [], ["py", "js"], ["", 5], {}, {"a": "b"}, {"a": {"b": [1, None]}}, "code", "full",
            "class", "a=b",
        ]
    )  # fmt: skip


def random_arguments(random_: random.Random) -> dict[str, Any]:
    """A query of some words and signs, and a few arguments."""
    query: Any = " ".join(random_.choices(WORDS, k=random_.randrange(1, 9)))
    if random_.random() < 0.03:
        query += random_.choice(["\x00", "\ud800"])
    if random_.random() < 0.2:
        query = "".join(chr(random_.randrange(1, 0x3000)) for _ in range(random_.randrange(1, 200)))
    arguments: dict[str, Any] = {"query": query}
    for field in random_.sample(FIELDS, random_.randrange(4)):
        if field.name != "repoPath":
            arguments[field.name] = field.example if random_.random() < 0.7 else random_value(random_)
    return arguments


def ask(index: SearchIndex, arguments: dict[str, Any]) -> str:
    """How it ended: found, nothing, or the code of the refusal."""
    try:
        payload = index.search(SearchRequest.from_arguments(arguments))
    except ToolError as refusal:
        return refusal.code
    return "found" if any(payload["total"].values()) else "nothing"


def main() -> int:
    """Make the files, index them, and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "repo")
        root.mkdir()
        for number in range(options.files):
            (root / f"f{number}.{random_.choice(EXTENSIONS)}").write_bytes(random_file(random_))
        began = time.monotonic()
        report = build_index(find_repository(root), Path(place, "cache"))
        print(f"{report['files']} files in {time.monotonic() - began:.1f} s, skipped {report['skipped']}")
        return _ask_all(find_repository(root), Path(place, "cache"), options.queries, random_)


def _ask_all(repository: Any, cache: Path, queries: int, random_: random.Random) -> int:
    ends: dict[str, int] = {}
    slowest, slow = 0.0, 0
    with open_index(repository, cache) as index:
        for _ in range(queries):
            arguments = random_arguments(random_)
            began = time.monotonic()
            end = ask(index, arguments)
            took = time.monotonic() - began
            ends[end] = ends.get(end, 0) + 1
            slow += took > SLOW_SECONDS
            if took > slowest:
                slowest, worst = took, arguments
    print(f"{queries} requests: {dict(sorted(ends.items()))}; slowest {slowest * 1000:.0f} ms: {str(worst)[:200]}")
    return 1 if slow or set(ends) - {"found", "nothing", "INVALID_REQUEST", "NO_INDEX"} else 0


if __name__ == "__main__":
    sys.exit(main())
