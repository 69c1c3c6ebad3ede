"""Hugo on a copy of the site: the work tree gets no lock, no cache and no statistics of a build into it."""

import csv
import io
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.launch.gates.hugo_fence import SETTING, Answer, environment, trespasses
from holdfast.launch.private_files import MASK

__all__ = ["Build", "HugoError", "build", "copied", "listed", "source_folder"]

_ERROR = re.compile(r"^(?:ERROR|Error:|panic:|FATAL)\s*(?:\[\w[\w-]*\]\s*)?(.*)$")
_SUMMARY = re.compile(r"(?:error building site: )?logged \d+ error\(s\)")
_PLACE = re.compile(r'"?((?<![^\s":])[^\s":]+\.\w+):(\d+):\d+"?')
_DENIED = re.compile(r'"?((?<![^"])[^"]*)"? is not whitelisted in policy "(security[\w.]*)"')
_KEPT = ("PATH", "HOME", "TMPDIR", "GOPATH", "GOPROXY", "GOFLAGS", "GOMODCACHE", "SSL_CERT_FILE")
_LARGEST_OUTPUT = 1 << 20


class HugoError(HoldfastError):
    """Hugo did not do what it always does."""


@dataclass(frozen=True, slots=True)
class Build:
    """How a build ended; `errors` are sorted, and name files as they are called in the site."""

    ok: bool
    errors: list[str] = field(default_factory=list)

    def place(self, error: str) -> tuple[str, int]:
        """File and line that an error names; "" and 0 where it names none."""
        found = _PLACE.search(error)
        return (found[1], int(found[2])) if found else ("", 0)


def copied(site: Path, files: Mapping[str, bytes | None], target: Path) -> None:
    """The work tree without git's own folder and links that lead out of it; with these files as they are given."""
    root = os.path.realpath(site)

    def left_out(folder: str, names: list[str]) -> set[str]:
        links = {name for name in names if os.path.islink(os.path.join(folder, name))}
        outside = {name for name in links if not _leads_into(root, folder, name)}
        return outside | ({".git"} if Path(folder) == site else set())

    shutil.copytree(site, target, symlinks=True, ignore=left_out)
    for path, content in files.items():
        place = target / path
        if content is None:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)  # never through a link
            place.write_bytes(content)


def _leads_into(root: str, folder: str, name: str) -> bool:
    """Whether a link stays within the site, wherever the site is."""
    path = os.path.join(folder, name)
    if os.path.isabs(os.readlink(path)):
        return False
    return os.path.commonpath([os.path.realpath(path), root]) == root


def source_folder(artifacts: Mapping[str, Any]) -> str:
    """Where in the repository the Hugo project is: the folder of its configuration; "" for the root."""
    folders: list[tuple[str, ...]] = []
    for file in artifacts.get("site_context.json", {}).get("hugo", {}).get("config_files", []):
        parts = PurePosixPath(file["path"]).parts[:-1]
        folders.append(parts[: parts.index("config")] if "config" in parts else parts)
    folders.sort(key=len)
    return "/".join(folders[0]) if folders else ""


def build(
    hugo: str,
    copy: Path,
    folder: str,
    public: Path,
    config: Mapping[str, Any],
    *,
    base_url: str = "",
    is_trusted: bool = False,
) -> Build:
    """A build for production of the copy into `public`, for the address of the site or for another one.

    Only a trusted site is built as its own configuration wants it, with the operator's programs and home.
    """
    address = ["--baseURL", base_url] if base_url else []

    def ask(arguments: list[str]) -> Answer:
        return _run(hugo, arguments, copy, folder, config, is_trusted=is_trusted)

    errors = [] if is_trusted else trespasses(ask, copy, _cache(copy))
    errors = errors or ask(["build", "--destination", str(public), *address]).errors
    return Build(not errors, sorted(errors))


def listed(
    hugo: str, copy: Path, folder: str, config: Mapping[str, Any], *, is_trusted: bool = False
) -> dict[str, str]:
    """The address of every page that Hugo knows, by its path in the repository, once the copy was built."""
    done = _run(hugo, ["list", "all"], copy, folder, config, is_trusted=is_trusted)
    if done.errors:
        raise HugoError(f"hugo built the site but cannot list its pages: {done.errors[0][:500]}")
    rows = csv.DictReader(io.StringIO(done.text))
    prefix = f"{folder}/" if folder else ""
    return {prefix + row["path"]: row["permalink"] for row in rows if row.get("path") and row.get("permalink")}


def _cache(copy: Path) -> Path:
    return copy.parent / "hugo_cache"


def _run(
    hugo: str, arguments: list[str], copy: Path, folder: str, config: Mapping[str, Any], *, is_trusted: bool
) -> Answer:
    """Ends with the gate: it stays in the gate's group of processes."""
    options = ["--source", str(copy / folder), "--noBuildLock", "--environment", "production"]
    if "config_dir" in config.get("hugo", {}):
        options += ["--configDir", config["hugo"]["config_dir"]]
    if is_trusted:
        given = {name: os.environ[name] for name in _KEPT if name in os.environ}
    else:
        given = environment(copy.parent / "hugo_home")
    done = subprocess.run(
        [hugo, *arguments, *options],
        env=given | {"LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1", "HUGO_CACHEDIR": str(_cache(copy))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        umask=MASK,
    )
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr[:_LARGEST_OUTPUT]))
    told = [line.replace(f"{copy}/", "").replace(str(copy), ".") for line in err.splitlines()]
    errors = {found[1].strip() for line in told if (found := _ERROR.match(line)) and not _SUMMARY.search(found[1])}
    if done.returncode != 0 and not errors:
        errors = {f"hugo ended with exit code {done.returncode}"}
    return Answer(out, sorted(map(_with_remedy, errors)))


def _with_remedy(error: str) -> str:
    """What the fence has refused, with the setting that opens it."""
    denied = _DENIED.search(error)
    if not denied:
        return error
    return f"{error[: denied.end()]}: a site that needs it has to be named in {SETTING}"
