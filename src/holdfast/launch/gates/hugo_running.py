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

__all__ = ["Build", "HugoError", "build", "copied", "listed", "source_folder"]

_ERROR = re.compile(r"^(?:ERROR|Error:|panic:|FATAL)\s*(?:\[\w[\w-]*\]\s*)?(.*)$")
_SUMMARY = re.compile(r"(?:error building site: )?logged \d+ error\(s\)")
_PLACE = re.compile(r'"?([^\s":]+\.\w+):(\d+):\d+"?')
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
    """The work tree without git's own folder, and with these files as they are given."""
    shutil.copytree(site, target, symlinks=True, ignore=lambda folder, _: [".git"] if Path(folder) == site else [])
    for path, content in files.items():
        place = target / path
        if content is None:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)  # never through a link
            place.write_bytes(content)


def source_folder(artifacts: Mapping[str, Any]) -> str:
    """Where in the repository the Hugo project is: the folder of its configuration; "" for the root."""
    folders: list[tuple[str, ...]] = []
    for file in artifacts.get("site_context.json", {}).get("hugo", {}).get("config_files", []):
        parts = PurePosixPath(file["path"]).parts[:-1]
        folders.append(parts[: parts.index("config")] if "config" in parts else parts)
    folders.sort(key=len)
    return "/".join(folders[0]) if folders else ""


def build(
    hugo: str, copy: Path, folder: str, public: Path, config: Mapping[str, Any], *, base_url: str = ""
) -> Build:
    """A build for production of the copy into `public`, for the address of the site or for another one."""
    address = ["--baseURL", base_url] if base_url else []
    done = _run(hugo, ["build", "--destination", str(public), *address], copy, folder, config)
    told = [line.replace(f"{copy}/", "").replace(str(copy), ".") for line in done.stderr.splitlines()]
    errors = {found[1].strip() for line in told if (found := _ERROR.match(line)) and not _SUMMARY.search(found[1])}
    if done.returncode != 0 and not errors:
        errors = {f"hugo ended with exit code {done.returncode}"}
    return Build(done.returncode == 0 and not errors, sorted(errors))


def listed(hugo: str, copy: Path, folder: str, config: Mapping[str, Any]) -> dict[str, str]:
    """The address of every page that Hugo knows, by its path in the repository."""
    done = _run(hugo, ["list", "all"], copy, folder, config)
    if done.returncode != 0:
        raise HugoError(f"hugo built the site but cannot list its pages: {done.stderr.strip()[:500]}")
    rows = csv.DictReader(io.StringIO(done.stdout))
    prefix = f"{folder}/" if folder else ""
    return {prefix + row["path"]: row["permalink"] for row in rows if row.get("path") and row.get("permalink")}


def _run(
    hugo: str, arguments: list[str], copy: Path, folder: str, config: Mapping[str, Any]
) -> "subprocess.CompletedProcess[str]":
    """Ends with the gate: it stays in the gate's group of processes."""
    options = ["--source", str(copy / folder), "--noBuildLock", "--environment", "production"]
    if "config_dir" in config.get("hugo", {}):
        options += ["--configDir", config["hugo"]["config_dir"]]
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    done = subprocess.run(
        [hugo, *arguments, *options],
        env=kept
        | {"LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1", "HUGO_CACHEDIR": str(copy.parent / "hugo_cache")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr[:_LARGEST_OUTPUT]))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)
