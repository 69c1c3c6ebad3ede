"""Packages of the registries, by pinned version, kept in a cache directory.

Only their sources are wanted: a wheel or a tarball is downloaded once and its files are read out of the archive,
nothing of it is installed or run. pip and npm find the registries by the settings of the machine.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Source", "archive_of", "cache_folder", "complain", "files_of", "npm_program"]

# The wheels of one platform, whatever this machine is: the sources inside of them are then the same everywhere.
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


@dataclass(frozen=True)
class Source:
    """Some files of one package: where it comes from, which folders of it, and which kinds of file."""

    kind: str  # wheel, sdist or npm
    package: str
    version: str
    suffixes: tuple[str, ...]
    folders: tuple[str, ...] = ("",)

    @property
    def label(self) -> str:
        """The folder that its files have in a corpus."""
        return self.package.rpartition("/")[2]


def cache_folder() -> Path:
    """Where the benchmarks keep packages, corpora, tools and indexes."""
    return Path(os.environ.get("HOLDFAST_BENCH_CACHE") or Path.home() / ".cache" / "holdfast-bench")


def complain(message: str) -> None:
    """Say on stderr what is going on; the tables have stdout for themselves."""
    print(message, file=sys.stderr, flush=True)


def files_of(source: Source, cache: Path) -> Iterator[tuple[str, bytes]]:
    """The wanted files of a package, sorted by their path: (path inside of the package, content)."""
    archive = archive_of(source, cache)
    found: dict[str, bytes] = {}
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if _is_wanted(name, source):
                    found[name] = wheel.read(name)
    else:
        with tarfile.open(archive) as tarball:
            for member in tarball:
                name = member.name.partition("/")[2]  # the first folder is `package` or the name with its version
                reader = tarball.extractfile(member) if member.isfile() and _is_wanted(name, source) else None
                if reader is not None:
                    found[name] = reader.read()
    yield from sorted(found.items())


def npm_program() -> str:
    """npm of this environment (it comes with the development tools), or the one of the machine."""
    beside = Path(sys.executable).parent / "npm"
    program = str(beside) if beside.exists() else shutil.which("npm")
    if program is None:
        raise SystemExit("npm is missing; `make setup` installs it")
    return program


def _is_wanted(name: str, source: Source) -> bool:
    return name.endswith(source.suffixes) and name.startswith(source.folders) and not name.endswith(".d.ts")


def archive_of(source: Source, cache: Path) -> Path:
    """The downloaded archive of a package."""
    folder = cache / "downloads" / f"{source.kind}-{source.package.replace('/', '-')}-{source.version}"
    if not folder.exists():
        complain(f"downloading {source.package} {source.version}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Downloaded beside its place and then renamed: an interrupted download is no package.
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            _download(source, Path(scratch) / "it")
            (Path(scratch) / "it").rename(folder)
    return next(folder.iterdir())


def _download(source: Source, folder: Path) -> None:
    folder.mkdir()
    if source.kind == "npm":
        command = [npm_program(), "pack", "--ignore-scripts", "--silent", f"{source.package}@{source.version}"]
    else:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        platforms = [word for name in PLATFORMS for word in ("--platform", name)]
        wheels = ["--only-binary=:all:", "--python-version=3.11", "--implementation=cp", *platforms]
        wanted = wheels if source.kind == "wheel" else ["--no-binary=:all:"]
        command = [*pip, *wanted, f"{source.package}=={source.version}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not any(folder.iterdir()):
        reason = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise SystemExit(f"{source.package} {source.version} cannot be downloaded: {reason}")
