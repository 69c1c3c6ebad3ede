"""Where in a product its code, its documentation, its examples and its tests are."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.launch.scouting.file_kinds import CODE, PROSE, language_of

__all__ = ["Roots", "doc_entrypoints", "example_paths", "is_below", "is_root_document", "roots_of"]

_DOCS = frozenset({"docs", "doc", "documentation", "guide", "guides", "manual"})
_EXAMPLES = frozenset(
    {"examples", "example", "samples", "sample", "demos", "demo", "snippets", "cookbook", "tutorials"}
)
_TESTS = frozenset({"tests", "test", "spec", "specs", "__tests__"})
# Programs of the maintainers: source only where there is nothing else.
_ASIDE = frozenset(
    {"benchmarks", "benchmark", "bench", "scripts", "script", "tools", "ci", "hack", "contrib", "dev"}
)
_MANY = frozenset({"packages", "crates", "modules", "projects", "libs", "python", "java", "js"})
_TOOLS = frozenset({"setup.py", "conftest.py", "noxfile.py", "tasks.py", "fabfile.py", "conf.py", "build.rs"})
_DEEPEST = 3
_ENTRIES = ("readme", "changelog", "license", "contributing", "security", "docs")
_STEMS = {
    "readme": "readme", "changelog": "changelog", "changes": "changelog", "history": "changelog",
    "news": "changelog", "releases": "changelog", "release": "changelog",
    "license": "license", "licence": "license", "copying": "license",
    "contributing": "contributing", "security": "security",
}  # fmt: skip
_SUFFIX_ORDER = (".md", ".markdown", ".rst", ".adoc", ".txt", "")


class Roots(NamedTuple):
    """The folders of each kind, the preferred ones first; "." is the whole repository."""

    source: list[str]
    docs: list[str]
    examples: list[str]
    tests: list[str]


def roots_of(paths: Sequence[str], hints: Mapping[str, Any], more_examples: Iterable[str]) -> Roots:
    """The roots among these files, which are text and written by hand. Hints count where there is something."""
    tests = _named(paths, _TESTS, lambda path: language_of(path) in CODE)
    docs = _named(paths, _DOCS, lambda path: language_of(path) in PROSE)
    outside = [path for path in paths if not is_below(path, tests)]
    examples = _named(outside, _EXAMPLES, lambda path: language_of(path) in CODE)
    examples = _preferred(paths, [*hints.get("preferred_examples_roots", ()), *more_examples], examples)
    docs = _preferred(paths, hints.get("preferred_docs_roots", ()), docs)
    source = _source([path for path in outside if not is_below(path, [*docs, *examples])])
    return Roots(_preferred(paths, hints.get("preferred_source_roots", ()), source), docs, examples, tests)


def is_root_document(path: str) -> bool:
    """Whether the name says README, changelog, license or the like, at the root."""
    return "/" not in path and _stem(path) in _STEMS


def doc_entrypoints(
    paths: Sequence[str],
    docs: Sequence[str],
    links: Mapping[str, str] | None = None,
    linked: Collection[str] = (),
) -> list[dict[str, str]]:
    """Where reading begins: README, changelog, license and so on at the root, then everything in the docs.

    `links` are such names at the root that lead to another file: that file is the README then, wherever it is.
    `linked` are documents elsewhere to which the README sends its readers.
    """
    found: list[tuple[int, tuple[int, str], str]] = []
    led = {target: _STEMS[_stem(name)] for name, target in sorted((links or {}).items(), reverse=True)}
    for path in paths:
        kind = _STEMS[_stem(path)] if is_root_document(path) else led.get(path, "")
        if kind:
            found.append((_ENTRIES.index(kind), _within_kind(path), path))
        elif (is_below(path, docs) or path in linked) and language_of(path) in PROSE:
            # The page with which the documentation opens comes first, then folder by folder.
            opens = _stem(path) in ("index", "readme") and path.rpartition("/")[0] in docs
            found.append((_ENTRIES.index("docs"), (0 if opens else 1, path), path))
    return [{"path": path, "kind": _ENTRIES[rank]} for rank, _, path in sorted(found)]


def example_paths(paths: Sequence[str], examples: Sequence[str]) -> list[str]:
    """The programs among the examples."""
    return [path for path in paths if is_below(path, examples) and language_of(path) in CODE]


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether the file is in one of the folders."""
    return any(folder == "." or path.startswith(f"{folder}/") for folder in folders)


def _stem(path: str) -> str:
    name = path.rpartition("/")[2].lower()
    return name.partition(".")[0].partition("-")[0]


def _within_kind(path: str) -> tuple[int, str]:
    """The plain name before translations, and Markdown before the rest."""
    name = path.lower()
    suffix = name[name.rfind(".") :] if "." in name else ""
    is_plain = name.count(".") <= 1 and "-" not in name
    rank = _SUFFIX_ORDER.index(suffix) if suffix in _SUFFIX_ORDER else len(_SUFFIX_ORDER)
    return (rank if is_plain else 100 + rank, path)


def _named(paths: Iterable[str], names: frozenset[str], counts: Callable[[str], bool]) -> list[str]:
    """The outermost folders with one of the names in which there is a file that counts."""
    found = set()
    for path in paths:
        folders = path.split("/")[:-1]
        depth = next((n for n, name in enumerate(folders[:_DEEPEST], 1) if name.lower() in names), 0)
        if depth and not folders[0].startswith(".") and counts(path):
            found.add("/".join(folders[:depth]))
    return sorted(found, key=lambda root: (root.count("/"), root))


def _preferred(paths: Iterable[str], wanted: Iterable[str], found: Iterable[str]) -> list[str]:
    first = [folder.removeprefix("./").strip("/") or "." for folder in wanted]
    there = [folder for folder in first if any(is_below(path, (folder,)) for path in paths)]
    return list(dict.fromkeys([*there, *found]))


def _source(paths: Sequence[str]) -> list[str]:
    code = [path for path in paths if language_of(path) in CODE and not path.startswith(".")]
    packages = {path.rpartition("/")[0] for path in code if path.endswith("/__init__.py")}
    found = set()
    for path in code:
        folder = path.rpartition("/")[0]
        top = _outermost_package(folder, packages)
        if top:
            found.add(top.rpartition("/")[0] or top)
        elif "/" in path:
            found.add(_top_folder(path))
        elif path.lower() not in _TOOLS:
            found.add(".")
    # A script beside a package does not make everything source.
    product = {root for root in found if root != "." and root.lower() not in _ASIDE}
    return sorted(product or found, key=lambda root: (root.count("/"), root not in ("src", "lib"), root))


def _outermost_package(folder: str, packages: set[str]) -> str:
    top = ""
    while folder:
        if folder in packages:
            top = folder
        elif top:
            break
        folder = folder.rpartition("/")[0]
    return top


def _top_folder(path: str) -> str:
    folders = path.split("/")[:-1]
    if folders[0].lower() in _MANY and len(folders) > 1:
        return "/".join(folders[:3] if len(folders) > 2 and folders[2] in ("src", "lib") else folders[:2])
    return folders[0]
