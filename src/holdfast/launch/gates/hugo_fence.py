"""The fence around Hugo: a site is foreign code, so its build reads and writes its own copy and starts no program.

`[security]` is ours, whatever the site's configuration says: our values go in as variables of the environment,
which win over files, folders and themes. A language may override them all the same, and a mount may lead anywhere,
so before a build Hugo prints what it made of the configuration, and a site that got past our values is not built.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["SETTING", "Answer", "environment", "trespasses"]

SETTING = "HOLDFAST_LAUNCH_TRUSTED_SITES"
"""The operator's setting with the sites that are not fenced."""


class Answer(NamedTuple):
    """How one command of Hugo ended; without errors it did what it should."""

    text: str
    errors: list[str]


# Hugo's own Sass program runs no code of a site; node, go and git do, or fetch some.
_SASS = ("sass", "dart-sass", "dart-sass-embedded")
_PINS = {
    "security.exec.allow": "^(dart-)?sass(-embedded)?$",
    "security.exec.osenv": "^(PATH|HOME|TMPDIR|LANG|LC_ALL|TZ)$",
    "security.funcs.getenv": r"^(HUGO_\w+|CI)$",
    "security.http.urls": "none",
    "security.http.methods": "none",
    "security.http.mediatypes": "none",
    "security.node.permissions.disable": "false",
    "security.node.permissions.allowread": ".",
    "security.node.permissions.allowwrite": "none",
    "security.node.permissions.allowaddons": "none",
    "security.node.permissions.allowworker": "none",
    "security.node.permissions.allowchildprocess": "none",
    "security.gotemplates.allowactionjstmpl": "false",
    "security.enableinlineshortcodes": "false",
    "enableinlineshortcodes": "false",
    "enablegitinfo": "false",  # the copy has no history, and git is not started
}
_MOST_LANGUAGES = 200
_AT_ONCE = 4
_LONGEST = 200


def environment(home: Path) -> dict[str, str]:
    """All that Hugo gets from us: our values, a home of its own, and of the programs only Sass."""
    tools = home / "bin"
    tools.mkdir(mode=0o700, parents=True, exist_ok=True)
    places = [place for place in os.get_exec_path() if os.path.isabs(place) and "node_modules" not in place]
    for name in _SASS:
        found = shutil.which(name, path=os.pathsep.join(places))
        if found and not (tools / name).is_symlink():
            (tools / name).symlink_to(found)
    pins = {"HUGO_" + key.upper().replace(".", "_"): value for key, value in _PINS.items()}
    own = {"HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": home / "cache", "XDG_CONFIG_HOME": home / "config"}
    return pins | {name: str(path) for name, path in own.items()} | {"PATH": str(tools)}


def trespasses(ask: Callable[[list[str]], Answer], copy: Path, cache: Path) -> list[str]:
    """What the site would do beyond its fence, or what is wrong with its configuration: then it is not built."""
    show = ["config", "--format", "json", "--printZero"]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        first, mounts = pool.map(ask, (show, ["config", "mounts"]))
        if first.errors or mounts.errors:
            return first.errors or mounts.errors
        effective = json.loads(first.text)
        languages = sorted(set(effective["languages"]) - {effective["defaultcontentlanguage"]})
        if len(languages) > _MOST_LANGUAGES:
            return [f"the site has more than {_MOST_LANGUAGES} languages"]
        others = list(pool.map(ask, [[*show, "--lang", language] for language in languages]))
    found = {*_outside(mounts.text, copy), *_beyond(effective, copy, cache)}
    for other in others:
        found |= {*other.errors} if other.errors else {*_beyond(json.loads(other.text), copy, cache)}
    return sorted(found)


def _beyond(effective: Mapping[str, Any], copy: Path, cache: Path) -> Iterator[str]:
    """Values other than ours, and folders for what Hugo writes that are not below the copy or the cache."""
    for key, value in _PINS.items():
        got = _at(effective, key)
        is_unknown = got is None and key != "security.exec.allow"  # versions of Hugo differ in the rest
        if not is_unknown and not _is(got, value):
            yield f"the site sets {key} in a place that wins over what is allowed here"
    resources = os.path.join(copy, str(effective.get("resourcedir") or "resources"))
    if not _is_below(resources, copy):
        yield f"the site has its resourceDir outside of itself: {_short(effective['resourcedir'])}"
    if not _is_below(str(effective.get("cachedir") or cache), cache):
        yield "the site has its cacheDir outside of its own"
    for name, one in (effective.get("caches") or {}).items():
        folder = str(one.get("dir", "")) if isinstance(one, dict) else ""
        if ".." in folder or not folder.lower().startswith((":cachedir", ":resourcedir")):
            yield f"the site has its cache {_short(name)} outside of itself: {_short(folder)}"


def _outside(told: str, copy: Path) -> Iterator[str]:
    """Mounts that would read what is not in the copy. Hugo prints one JSON document per module."""
    decoder, at = json.JSONDecoder(), 0
    while told[at:].strip():
        at += len(told[at:]) - len(told[at:].lstrip())
        module, at = decoder.raw_decode(told, at)
        for mount in module.get("mounts") or ({"source": ""},):
            place = os.path.join(module.get("dir", ""), mount["source"])
            if not _is_below(place, copy):
                yield f"the site reads outside of itself: it mounts {_short(mount['source'] or module.get('dir'))}"


def _at(document: Mapping[str, Any], key: str) -> Any:
    found: Any = document
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _is(got: Any, pin: str) -> bool:
    """Whether Hugo has understood our value: as a list, a switch, or the word for nothing."""
    got = got[0] if isinstance(got, list) and len(got) == 1 else got
    return (str(got).lower() if isinstance(got, bool) else got) == pin


def _is_below(path: str, folder: Path) -> bool:
    real = os.path.realpath(path)
    return os.path.commonpath([real, os.path.realpath(folder)]) == os.path.realpath(folder)


def _short(text: object) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(text))[:_LONGEST]
