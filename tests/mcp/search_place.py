"""A place to serve: an indexed repository, one without an index, a cache; and the command that serves it."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.search.sample import write_sample

from holdfast.search.library import build_index
from holdfast.search.repository import find_repository

__all__ = ["FINDINGS", "SearchPlace", "make_place"]

FINDINGS = [{"id": "F-1", "title": "a budget is never refilled", "severity": "high", "package": "budget"}]


@dataclass(frozen=True)
class SearchPlace:
    """Directories of one test or of many: the repository `repo`, `bare` without an index, `cache` and `state`."""

    directory: Path

    @property
    def repo(self) -> Path:
        """The repository that is indexed; the default of every call."""
        return self.directory / "repo"

    @property
    def bare(self) -> Path:
        """A repository that nobody has indexed."""
        return self.directory / "bare"

    @property
    def cache(self) -> Path:
        """Where the index is."""
        return self.directory / "cache"

    @property
    def workspace(self) -> Path:
        """A file that lists both repositories."""
        return self.directory / "shop.jsonc"

    def add_inputs(self) -> None:
        """Files that tools take: findings, words, a library, and a workspace. They are not in the index."""
        (self.repo / "findings.json").write_text(json.dumps(FINDINGS))
        (self.repo / "words.txt").write_text("alpha\nbeta\n")
        (self.repo / "library.so").write_bytes(b"\x7fELF")
        (self.repo / "workspace.jsonc").write_text('{"schemaVersion": 1, "repos": [{"root": "."}]}')

    def stderr(self, mode: str) -> Path:
        """Where a server of this mode complains."""
        return self.directory / f"stderr-{mode}"

    def command(self, mode: str = "native", *options: str, hosted: bool = False) -> list[str]:
        """How the search server is started for both repositories, alone or behind the host."""
        alone = [] if hosted else ["--standalone"]
        places = ["--repo", str(self.repo), "--repo", str(self.bare), "--cache-dir", str(self.cache)]
        return [sys.executable, "-m", "holdfast", "serve", "search", *alone, *places, "--mcp-mode", mode, *options]

    def environment(self) -> dict[str, str]:
        """Nothing of ours from outside, and state of its own; calls in flight end when the client leaves."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        return kept | {"HOLDFAST_STATE_DIR": str(self.directory / "state"), "HOLDFAST_DRAIN": "0"}


def make_place(directory: Path, *, indexed: bool = True) -> SearchPlace:
    """Write the sample, index it, and put a repository without an index beside it."""
    place = SearchPlace(directory)
    write_sample(place.repo)
    place.bare.mkdir()
    (place.bare / ".git").mkdir()
    (place.bare / ".git" / "HEAD").write_text("ref: refs/heads/trunk\n")
    place.workspace.write_text('{"schemaVersion": 1, "repos": [{"root": "repo"}, {"root": "bare"}]}')
    if indexed:
        build_index(find_repository(place.repo), place.cache)
    return place
