"""Flips single bits in the files of an index and compares what a search answers with what it answered before.

    python -m benchmarks.index_damage path/to/repository --flips 60 --seed 1 --live

The index has all that one can have: terms, store, portable file, findings of linters, authors of lines, vectors.

Each flip ends as one of: same (the answer of before), refused (a typed error or a warning that names the damage),
WRONG (another answer without a word) or RAW (any other exception). Only the first two are right. With --rebuild N,
so many damaged indexes are built anew the way `holdfast search` does it, and have to answer as before. With --live
it is `holdfast serve search` that is asked, over MCP, while the files change below it; else the library.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.search.tiny_model import write_model

from holdfast.errors import ToolError
from holdfast.search.home import IndexHome
from holdfast.search.library import build_for, ensure_index, open_index
from holdfast.search.linting.running import lint_index
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.vectors.making import embed_index

QUESTIONS: tuple[dict[str, Any], ...] = (
    {"query": "parse options of a command"},
    {"query": "error handling", "top": 30, "output": "full", "explain": True},
    {"query": '"return"', "mode": "code", "context": 2},
    {"query": "*", "mode": "code", "branchesMin": 3, "top": 20},
    {"query": "*", "path": ["test"], "mode": "code"},
    {"query": "/def [a-z]+_/", "mode": "code", "top": 20},
    {"query": "documentation", "backend": "sqlite-fts"},
    {"query": "documentation", "backend": "sqlite"},
    {"query": "*", "lint": True},
    {"query": "parse again", "ann": True, "top": 30, "explain": True},
    {"query": "*", "path": ["test"], "chunkAuthor": "a", "mode": "code", "top": 20},
)
_VOLATILE = ("query", "elapsedMs", "stats", "index", "asOf", "repoPath")
_REFUSED = "refused"
_SKIPPED = (".lock", ".gitignore")


def answers_of(repository: Repository, cache: Path) -> list[str]:
    """What is answered to every question, as far as it must not change; a refusal is an answer too."""
    with open_index(repository, cache) as index:
        return [_answer(index, question) for question in QUESTIONS]


class Server:
    """`holdfast serve search`, asked over its pipes."""

    def __init__(self, repository: Repository, cache: Path) -> None:
        words = [
            "serve",
            "search",
            f"--repo={repository.root}",
            f"--cache-dir={cache}",
            f"--state-dir={cache}/state",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "holdfast", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._asked = 0
        hello = {"name": "damage", "version": "1"}
        self._request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": hello})

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def answers(self) -> list[str]:
        """What it answers to every question; with another number of blanks, so that no answer is remembered."""
        self._asked += 1
        return [self._answer(one | {"query": one["query"] + " " * self._asked}) for one in QUESTIONS]

    def _answer(self, question: dict[str, Any]) -> str:
        answer = self._request("tools/call", {"name": "search", "arguments": question})
        if "result" not in answer:
            raise RuntimeError(str(answer)[:300])
        payload = json.loads(answer["result"]["content"][0]["text"])
        if not answer["result"]["isError"]:
            return _shown(payload)
        if payload.get("code") != "NO_INDEX":
            raise RuntimeError(str(payload)[:300])
        return _REFUSED

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == 1 and "method" not in answer:
                return answer
        raise RuntimeError("the server has ended")


def _answer(index: Any, question: dict[str, Any]) -> str:
    try:
        payload = index.search(SearchRequest.from_arguments(question))
    except ToolError as error:
        if error.code != "NO_INDEX":
            raise SystemExit(f"{question}: {error}") from error
        return _REFUSED
    return _shown(payload)


def _shown(payload: dict[str, Any]) -> str:
    told = [warning["message"] for warning in payload["warnings"]]
    if any("is damaged" in message or "has answered instead" in message for message in told):
        return _REFUSED
    return json.dumps({key: value for key, value in payload.items() if key not in _VOLATILE}, sort_keys=True)


@contextmanager
def flipped(path: Path, chance: random.Random) -> Iterator[str]:
    """The file with another bit than it had, for as long as the block lasts."""
    place, bit = chance.randrange(path.stat().st_size), 1 << chance.randrange(8)

    def turn() -> None:
        with path.open("r+b") as file:
            file.seek(place)
            value = file.read(1)[0]
            file.seek(place)
            file.write(bytes([value ^ bit]))

    turn()
    try:
        yield f"{path.name}:{place}:{bit}"
    finally:
        if path.exists():
            turn()


def outcome_of(ask: Callable[[], list[str]], before: list[str]) -> tuple[str, str]:
    """How a search goes over the index as it is now."""
    try:
        after = ask()
    except ToolError as error:
        return ("refused", "") if error.code == "NO_INDEX" else ("RAW", repr(error))
    except BaseException as error:
        return "RAW", f"{type(error).__name__}: {error}"[:200]
    for question, old, new in zip(QUESTIONS, before, after, strict=True):
        if new not in (old, _REFUSED):
            return "WRONG", f"{question}: {json.loads(new)['warnings']}"[:300]
    return ("same" if after == before else "refused"), ""


def kinds_of(home: IndexHome) -> dict[str, list[Path]]:
    """Every file of an index that is not empty, and of its model, by its kind."""
    kinds: dict[str, list[Path]] = defaultdict(list)
    models = home.directory.parent.parent / "vector-models"
    for path in sorted([*home.directory.rglob("*"), *models.rglob("*")]):
        if path.is_file() and path.stat().st_size and not path.name.endswith(_SKIPPED):
            kinds[path.suffix if len(path.stem) == 32 else path.name].append(path)
    return kinds


def prepare(repository: Repository, cache: Path) -> None:
    """Build an index with all that it can have."""
    watched: dict[str, Any] = {"progress": lambda *_: None, "stop": lambda: False}
    build_for("sqlite-fts", repository, cache, full=True, **watched)
    lint_index(repository, cache, **watched)
    embed_index(repository, cache, model=str(write_model(cache / "tiny-model")), **watched)


def run(
    repository: Repository, cache: Path, flips: int, seed: int, rebuild: int, live: bool
) -> dict[str, Counter[str]]:
    """Flip so many bits in each kind of file; how often each outcome came."""
    prepare(repository, cache)
    server = Server(repository, cache) if live else None
    ask = server.answers if server else lambda: answers_of(repository, cache)
    home = IndexHome(index_home(repository, cache))
    before, chance = ask(), random.Random(seed)
    if ask() != before or _REFUSED in before:
        raise SystemExit("the answers differ without any damage")
    found: dict[str, Counter[str]] = {}
    for kind, paths in kinds_of(home).items():
        found[kind] = Counter()
        for _ in range(flips):
            with flipped(chance.choice(paths), chance) as what:
                outcome, why = outcome_of(ask, before)
            found[kind][outcome] += 1
            if outcome.isupper():
                print(outcome, what, why, file=sys.stderr)
    if server:
        server.close()
    for _ in range(rebuild):
        build = home.current()
        assert build is not None
        path = chance.choice([build.store, *build.terms.glob("*.*")])
        if path.stat().st_size:
            with flipped(path, chance):
                ensure_index(repository, cache).close()
                healed = [_answer_again(repository, cache, question) for question in QUESTIONS[:6]]
            found.setdefault("rebuilt", Counter())["same" if healed == before[:6] else "WRONG"] += 1
    return found


def _answer_again(repository: Repository, cache: Path, question: dict[str, Any]) -> str:
    with open_index(repository, cache) as index:
        return _answer(index, question)


def main() -> None:
    """Flip and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--flips", type=int, default=60, help="of each kind of file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rebuild", type=int, default=0)
    parser.add_argument("--live", action="store_true", help="ask a server over MCP")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        found = run(
            find_repository(given.repository), Path(cache), given.flips, given.seed, given.rebuild, given.live
        )
    total: Counter[str] = sum(found.values(), Counter())
    for kind, counts in found.items():
        print(f"{kind:22} {dict(counts)}")
    print(f"{'all':22} {dict(total)}, {sum(total.values())} flips")
    raise SystemExit(bool(total["WRONG"] + total["RAW"]))


if __name__ == "__main__":
    main()
