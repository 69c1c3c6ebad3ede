"""Two hundred queries over a real tree have the same ten best hits in every backend."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.search.two_hundred import two_hundred_requests

from holdfast.search.library import SearchIndex, build_for, open_index
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest

# One index for all; on a busy machine its making and fifty queries take long.
pytestmark = [pytest.mark.xdist_group("backend-top-ten"), pytest.mark.timeout(300)]

PROJECT = Path(__file__).resolve().parents[2]
PARTS = ("src/holdfast/kernel", "src/holdfast/wire", "src/holdfast/present", "docs/guides")
LISTS = ("code", "prose", "extractedProse", "records")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some rooms of this repository and its guides, committed by somebody."""
    root = tmp_path_factory.mktemp("top-ten") / "repo"
    for part in PARTS:
        shutil.copytree(PROJECT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "run.log").write_text("".join(f'{{"level": "info", "text": "request {n}"}}\n' for n in range(50)))
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for arguments in (["init", "-q", "--template="], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture(scope="module")
def index(root: Path) -> Iterator[SearchIndex]:
    cache = root.parent / "cache"
    build_for("sqlite-fts", find_repository(root), cache, full=False, progress=_quiet, stop=lambda: False)
    with open_index(find_repository(root), cache) as index:
        yield index


def _quiet(stage: str, done: int, total: int | None, detail: str) -> None:
    """Nobody looks."""


def top_ten(index: SearchIndex, arguments: dict[str, Any], backend: str) -> tuple[Any, ...]:
    """Which hits in which order, and how many there are in all."""
    payload = index.search(SearchRequest.from_arguments({**arguments, "backend": backend}))
    assert payload["backend"] == backend
    return [[hit["id"] for hit in payload[name]] for name in LISTS], payload["total"]


@pytest.mark.parametrize("part", range(4))
def test_two_hundred_queries_have_the_same_top_ten_in_every_backend(
    index: SearchIndex, root: Path, part: int
) -> None:
    wanted = two_hundred_requests(root)
    assert len(wanted) == 200
    found_something = 0
    for arguments in wanted[part::4]:
        default = top_ten(index, arguments, "tantivy")
        found_something += any(default[0])
        for backend in ("sqlite-fts", "sqlite", "memory"):
            assert top_ten(index, arguments, backend) == default, (backend, arguments)
    assert found_something > 35
