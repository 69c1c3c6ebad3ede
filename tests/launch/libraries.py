"""Real libraries as products: source archives from the package registry, and this very repository."""

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.launch.products import commit_all, git

__all__ = ["LIBRARIES", "Library", "clone_of_this_repository", "fetched"]

_HERE = Path(__file__).resolve().parents[2]
# Hundreds of files that are only more of the same: the rest is still the largest product of all.
_LARGEST = (
    "tests", "benchmarks", "docs/contracts", "contracts",
    *(f"src/holdfast/{room}" for room in ("api", "cli", "contract", "host", "kernel", "launch", "present", "probe",
                                          "search", "setup", "testing")),
)  # fmt: skip
_UNREACHABLE = (
    "Connection",
    "connection",
    "Temporary failure",
    "timed out",
    "Network",
    "ENOTFOUND",
    "ECONNREFUSED",
    "ETIMEDOUT",
)


class Library(NamedTuple):
    """One version of a library, and what its archive must be."""

    name: str
    version: str
    sha256: str
    registry: str = "pypi"

    @property
    def archive(self) -> str:
        """The name of the file that the registry gives."""
        return f"{self.name}-{self.version}." + ("tgz" if self.registry == "npm" else "tar.gz")


LIBRARIES = (
    Library("itsdangerous", "2.2.0", "e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173"),
    Library("tomli", "2.2.1", "cd45e1dc79c835ce60f7404ec8119f2eb06d38b1deba146f07ced3bbc44505ff"),
    Library("p-limit", "7.3.3", "aede2030b82db2457fea89ffceaebcba9877275246fe69de73a78f7b6a2432f7", "npm"),
)
"""Small ones of different kinds: reStructuredText with fields in docstrings, Markdown with hardly any, and one of
npm with declarations for TypeScript."""


def fetched(library: Library, cache: Path, product: Path) -> str:
    """The library as a repository at `product`; its sha. Skips the test where the registry cannot be reached."""
    archive = cache / library.archive
    if not archive.exists():
        _download(library, cache)
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == library.sha256
    with tarfile.open(archive) as found:
        found.extractall(product.parent / "unpacked", filter="data")
    inside = "package" if library.registry == "npm" else f"{library.name}-{library.version}"
    (product.parent / "unpacked" / inside).rename(product)
    git(product, "init", "--quiet")
    return commit_all(product, f"{library.name} {library.version}")


def _download(library: Library, cache: Path) -> None:
    wanted = f"{library.name}=={library.version}"
    options = ["--no-deps", "--no-binary", ":all:", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(cache), wanted]
    if library.registry == "npm":
        npm = str(Path(sys.executable).with_name("npm"))
        command = [npm, "pack", "--silent", "--pack-destination", str(cache), wanted.replace("==", "@")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PATH": path}
    )
    if done.returncode and any(word in done.stderr for word in _UNREACHABLE):
        pytest.skip(f"the package registry cannot be reached for {wanted}: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr


def clone_of_this_repository(product: Path) -> str:
    """This repository at the commit that is checked out, without its largest folders; its sha."""
    if not (_HERE / ".git").exists():
        pytest.skip("this is not a checkout, so there is no repository to clone")
    git(_HERE, "clone", "--quiet", "--no-hardlinks", str(_HERE), str(product))
    git(product, "rm", "-r", "--quiet", *_LARGEST)
    return commit_all(product, "without the largest folders")
