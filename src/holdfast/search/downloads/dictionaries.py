"""Word lists: one word per line, one file per language or name."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import storing
from holdfast.search.downloads.install import Installed, Wanted, install, mode_of, remarks, summary
from holdfast.search.downloads.known import DICTIONARIES
from holdfast.search.downloads.placing import chosen_file, content_of_file, put_file
from holdfast.search.downloads.shelf import Shelf, real_path
from holdfast.search.downloads.sources import (
    Choice,
    Source,
    checked_sha256,
    choose_named,
    choose_source,
    parse_source,
)

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["download_dictionaries"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DEFAULT = "en"


def download_dictionaries(
    cache_dir: Path,
    *,
    lang: str | None = None,
    target: Path | None = None,
    url: list[str] | str | None = None,
    sha256: Mapping[str, str] | None = None,
    update: bool = False,
    force: bool = False,
    sources: Mapping[str, Mapping[str, Any]] | None = None,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Have word lists here: those of `lang` (with commas between) and of `url` (NAME=SOURCE, one or several).

    `sources` are those of a repository. They count only for names that `lang` spells out: who names nothing gets
    what is built in, and no repository chooses what is reached then.
    """
    directory = real_path(target or cache_dir / "dictionaries")
    url = [url] if isinstance(url, str) else url
    hashes = {name: checked_sha256(digest) for name, digest in (sha256 or {}).items()}
    chosen = _chosen(lang, url, None if lang is None else sources, hashes)
    if unknown := sorted(hashes.keys() - chosen.keys()):
        message = f"hashes are given for what is not downloaded: {', '.join(unknown)}"
        raise ToolError("INVALID_REQUEST", message, details={"unknown": unknown})
    named = _named(url)
    wanted = [
        Wanted(
            name + key, directory / f"{name}{key}.txt", choice.source, hashes.get(name, choice.sha256),
            is_asked_for=name in named or name in hashes,
        )
        for name, choice in chosen.items() for key in [choice.key if target is None else ""]
    ]  # fmt: skip
    results = []
    shelf = Shelf(directory, "dictionaries.json", is_own=target is None)
    with storing("the dictionary"), shelf.locked(stop):
        for one in wanted:
            place = _Placing(stop)
            results.append(
                install(shelf, one, mode_of(update=update, force=force), place, content_of_file, progress, stop)
            )
    listed = [_listed(name, one, result) for name, one, result in zip(chosen, wanted, results, strict=True)]
    warnings = remarks(results, overruled=[name for name, choice in chosen.items() if choice.is_overruled])
    return {"dir": str(directory), "dictionaries": listed, **summary(results), "warnings": warnings}


def _chosen(
    lang: str | None, url: list[str] | None, sources: Mapping[str, Mapping[str, Any]] | None,
    hashes: Mapping[str, str | None],
) -> dict[str, Choice]:  # fmt: skip
    """The source and hash of every dictionary that is asked for; all that is wrong at once."""
    named = _named(url)
    asked = lang if lang is not None else "" if named else _DEFAULT
    names = [name.strip().lower() for name in asked.split(",") if name.strip()]
    chosen: dict[str, Choice] = {}
    for name in dict.fromkeys([*names, *named]):
        if not _NAME.fullmatch(name):
            raise ToolError(
                "INVALID_REQUEST", f"a dictionary cannot be called {name[:80]!r}", hint="use a-z 0-9 _ -"
            )
        found = (
            choose_named(name, named[name], hashes.get(name), DICTIONARIES)
            if name in named
            else choose_source(name, sources, DICTIONARIES)
        )
        if found is not None:
            chosen[name] = found
    missing = [name for name in names if name not in chosen]
    if missing:
        message = f"no source is known for the dictionary {', '.join(missing)}"
        hint = "give `url` as NAME=SOURCE, or configure a source"
        raise ToolError("CAPABILITY_MISSING", message, details={"missing": missing}, hint=hint)
    if not chosen:
        raise ToolError("INVALID_REQUEST", "no dictionary is named", hint="give `lang`, such as en")
    return chosen


def _named(url: list[str] | None) -> dict[str, Source]:
    named: dict[str, Source] = {}
    for text in url or []:
        name, mark, source = text.partition("=")
        name = name.strip().lower()
        if not mark or not _NAME.fullmatch(name):
            message = f"this does not begin with the name of a dictionary: {text[:80]!r}"
            raise ToolError("INVALID_REQUEST", message, hint="write NAME=SOURCE, such as de=https://...")
        if name in named:
            raise ToolError("INVALID_REQUEST", f"the dictionary {name} is given twice")
        named[name] = parse_source(source.strip())
    return named


class _Placing:
    """Puts a word list to its place, if it is one."""

    def __init__(self, stop: "Stop") -> None:
        self._stop = stop

    def __call__(self, artifact: Path, wanted: Wanted) -> None:
        with chosen_file(artifact, wanted.source, _is_any, wanted.limits, self._stop) as path:
            last = _check_text(path, wanted)
            put_file(path, wanted.path, ending=b"" if last in (b"\n", b"") else b"\n")


def _is_any(_: str) -> bool:
    return True


def _check_text(path: Path, wanted: Wanted) -> bytes:
    """The last byte of a text; an error for everything else."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            last = ""
            while piece := file.read(1 << 16):
                if "\0" in piece:
                    raise ToolError("INVALID_REQUEST", f"{wanted.source.shown} is no list of words")
                last = piece[-1]
    except UnicodeDecodeError as error:
        raise ToolError("INVALID_REQUEST", f"{wanted.source.shown} is no list of words in UTF-8") from error
    return last.encode()


def _listed(name: str, wanted: Wanted, result: Installed) -> dict[str, Any]:
    return {
        "name": name,
        "file": str(wanted.path),
        "bytes": result.content["bytes"],
        "sha256": result.entry.get("sha256"),
        "verified": bool(result.entry.get("verified")),
        "status": result.status,
    }
