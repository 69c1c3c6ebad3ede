"""What the project's own README, documentation and examples use: by that, main names are told from others.

Counted is code that somebody shows, not prose, and each piece of it once: how often a name occurs in one example
says nothing about how many people will want it.
"""

import re
from collections.abc import Iterable, Sequence

from holdfast.launch.facts.documents_read import document_sections, shown_docs
from holdfast.launch.facts.reading import Repository
from holdfast.launch.facts.used_names import is_meant

__all__ = ["Usage"]

_MOST_EXAMPLES = 200
_SHORTEST = 2
_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|cookbook|tutorials?)/", re.IGNORECASE)
_PROGRAMS = (".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".java", ".cs")


class Usage:
    """The code that a repository shows; `ranked` puts names in the order in which it counts on them."""

    def __init__(self, repository: Repository) -> None:
        self._readme = _code_of(repository, repository.entries("readme")[:1])
        known = [str(path) for path in repository.inventory["example_paths"]]
        every = repository.under([""], _PROGRAMS)
        programs = [path for path in dict.fromkeys([*known, *_deep(every)]) if path.endswith(_PROGRAMS)]
        self._others = [
            *_code_of(repository, shown_docs(repository)),
            *filter(None, map(repository.text, programs)),
        ]

    def shows(self, pattern: str) -> tuple[int, int]:
        """How many pieces match: of the README, and of the documentation and the examples."""
        search = re.compile(pattern, re.MULTILINE).search
        return sum(map(bool, map(search, self._readme))), sum(map(bool, map(search, self._others)))

    def found(self, pattern: str) -> list[str]:
        """What the group of the pattern is, once for every piece and match."""
        return [name for code in (*self._readme, *self._others) for name in re.findall(pattern, code)]

    def ranked(self, names: Iterable[str], imported: str, owners: Iterable[str] = ()) -> list[str]:
        """The names that are used, those of the README first, then by how often.

        `imported` is how one is imported, and in it `NAME` stands for the name. Equal ones keep their order.
        """
        owned = set(owners)
        weights = {name: self._weight(name, imported, owned) for name in dict.fromkeys(names)}
        used = [name for name, weight in weights.items() if any(weight)]
        return sorted(used, key=lambda name: tuple(-count for count in weights[name]))

    def _weight(self, name: str, imported: str, owners: set[str]) -> tuple[int, ...]:
        if len(name) < _SHORTEST:
            return (0,)
        first, more = self.shows(imported.replace("NAME", re.escape(name)))
        near = sum(is_meant(code, name, owners) for code in self._readme)
        far = sum(is_meant(code, name, owners) for code in self._others)
        return first, near, more, far


def _deep(programs: Sequence[str]) -> list[str]:
    """Examples inside of a source tree, which the inventory does not know.

    Where nothing is beside such a folder it is the source tree itself, as `com/example/` may be.
    """
    found = {path: place for path in programs if (place := _EXAMPLE.search(path))}
    places = {(path[: place.start()], path[: place.end()]) for path, place in found.items()}
    beside = {
        inner
        for outer, inner in places
        if any(path.startswith(outer + "/") and not path.startswith(inner) for path in programs)
    }
    return [path for path, place in found.items() if path[: place.end()] in beside]


def _code_of(repository: Repository, paths: Iterable[str]) -> list[str]:
    return [
        block.text
        for path in paths
        for section in document_sections(repository, path)
        for block in section.blocks
        if block.kind == "code"
    ]
