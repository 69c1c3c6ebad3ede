"""Launch runs on real libraries in five languages: do the gates pass, how many pages, how many seconds.

    python -m benchmarks.launch_languages [--only rust] [--screenshots FOLDER]

A package of npm, and sources as the packages of the system have them: fetched by name with the ordinary clients,
into ~/.cache/holdfast-bench. A language whose library cannot be fetched here is run on the small product that the
tests have for it, and the table says so. `--screenshots` needs chromium. The exit code is 1 where a gate failed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.launch.language_products import PRODUCTS, product_files
from tests.launch.products import commit_all, git, make_repository, make_site

__all__ = ["main"]

_CACHE = Path.home() / ".cache" / "holdfast-bench" / "languages"
_SHOWN = ("products/{}", "docs/{}/installation", "reference/{}")


class Wanted(NamedTuple):
    """A library: who gives it (npm; a source or package of the system), by which name, and where it lies."""

    language: str
    name: str
    giver: str
    package: str
    inside: str = ""


LIBRARIES = (
    Wanted("javascript", "p-limit", "npm", "p-limit@7.3.3", "package"),
    Wanted("go", "uuid", "source", "golang-github-google-uuid"),
    Wanted("rust", "semver", "package", "librust-semver-dev", "usr/share/cargo/registry/semver-*"),
    Wanted("java", "commons-csv", "source", "commons-csv"),
    Wanted("dotnet", "newtonsoft-json", "source", "newtonsoft-json"),
)


def complain(text: str) -> None:
    """Say on stderr what is being done."""
    print(f"-- {text}", file=sys.stderr, flush=True)


def run(*command: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A command, whatever comes of it."""
    environment = {**os.environ, **more}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def system_options(folder: Path) -> list[str]:
    """Options by which the system's own client reads sources, with lists of its own: nothing here is changed."""
    settings = folder / "sources"
    settings.mkdir(parents=True, exist_ok=True)
    for path in sorted(Path("/etc/apt/sources.list.d").glob("*.sources")):
        text = path.read_text(encoding="utf-8")
        if "debian" in text:
            (settings / path.name).write_text(re.sub(r"(?m)^Types:.*$", "Types: deb-src", text), encoding="utf-8")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    given = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": str(settings)}
    given |= {"Dir::State::lists": str(folder / "lists"), "Dir::Cache": str(folder / "cache")}
    return [part for key, value in given.items() for part in ("-o", f"{key}={value}")]


def fetched(wanted: Wanted) -> Path | None:
    """The unpacked library, or None where it cannot be had here."""
    folder = _CACHE / wanted.name
    inside = folder / "unpacked"
    if not inside.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        complain(f"fetching {wanted.package}")
        {"npm": from_npm, "source": from_source, "package": from_package}[wanted.giver](wanted, folder, inside)
    found = sorted(inside.glob(wanted.inside)) if wanted.inside else [inside]
    return found[0] if found and any(found[0].iterdir()) else None


def from_npm(wanted: Wanted, folder: Path, inside: Path) -> None:
    """A package of npm."""
    npm = shutil.which("npm", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "npm"
    run(npm, "pack", "--silent", wanted.package, cwd=folder)
    unpack(folder.glob("*.tgz"), inside, "0")


def from_source(wanted: Wanted, folder: Path, inside: Path) -> None:
    """The sources of a package of the system, as their authors released them."""
    options = system_options(_CACHE / "system")
    run("apt-get", *options, "-qq", "update", cwd=folder)
    run("apt-get", *options, "-qq", "--download-only", "source", wanted.package, cwd=folder)
    unpack(folder.glob("*.orig.tar.*"), inside, "1")


def from_package(wanted: Wanted, folder: Path, inside: Path) -> None:
    """A package of the system that holds sources."""
    run("apt-get", "-qq", "download", wanted.package, cwd=folder)
    for archive in folder.glob("*.deb"):
        run("dpkg-deb", "-x", str(archive), str(inside), cwd=folder)


def unpack(archives: Iterable[Path], inside: Path, strip: str) -> None:
    """Unpack the first of them."""
    for archive in sorted(archives)[:1]:
        inside.mkdir()
        run("tar", "xf", str(archive), "--strip-components", strip, "-C", str(inside), cwd=inside)


def product_in(wanted: Wanted, root: Path) -> tuple[Path, str]:
    """The library as a repository, and where it is from."""
    found = fetched(wanted)
    path = root / wanted.name
    if found is None:
        small = next(one for one in PRODUCTS if one.folder == wanted.language)
        make_repository(path, product_files(small.folder))
        return path, "small product of the tests"
    shutil.copytree(found, path, ignore=shutil.ignore_patterns(".git", "debian"))
    git(path, "init", "--quiet")
    commit_all(path, wanted.package)
    return path, wanted.package


def launched(wanted: Wanted, root: Path, screenshots: Path | None) -> tuple[bool, str]:
    """Whether all gates passed, and a row of the table."""
    product, origin = product_in(wanted, root)
    make_site(root / "site")
    holdfast = [sys.executable, "-m", "holdfast", "launch"]
    place = {"HOLDFAST_LAUNCH_DIR": str(root / "runs")}
    config = run(*holdfast, "init", str(product), str(root / "site"), cwd=root, **place).stdout
    (root / "run.yaml").write_text(config, encoding="utf-8")
    complain(f"launching {wanted.name}")
    begun = time.perf_counter()
    told = run(*holdfast, "start", "run.yaml", "--quiet", cwd=root, **place)
    seconds = time.perf_counter() - begun
    report = json.loads(
        run(*holdfast, "artifact", "last", "validation_report.json", cwd=root, **place).stdout or "{}"
    )
    failed = [gate["name"] for gate in report.get("gates", ()) if gate["status"] == "failed"]
    site = next(iter((root / "runs" / "runs").glob("*/work/site")), None)
    named = re.search(r"^product_slug: (\S+)", config, re.MULTILINE)
    slug = named[1] if named else wanted.name
    pages = len(list(site.glob(f"content/*/{slug}/**/*.md"))) if site else 0
    if site and screenshots:
        shoot(site, slug, screenshots / wanted.language)
    ok = bool(report.get("ok")) and not failed
    state = "passed" if ok else ", ".join(failed) or told.stderr.strip()[-80:]
    return ok, f"{wanted.language:12}{origin:32}{pages:6}{seconds:9.1f}  {state}"


def shoot(site: Path, slug: str, folder: Path) -> None:
    """Pictures of the overview, the installation and the reference, as a browser shows them."""
    folder.mkdir(parents=True, exist_ok=True)
    public = folder / "public"
    hugo = str(Path(sys.executable).with_name("hugo"))
    run(hugo, "build", "--source", str(site), "--destination", str(public), cwd=folder)
    for number, name in enumerate(_SHOWN):
        page = public / name.format(slug) / "index.html"
        picture = folder / f"{number}-{name.partition('/')[0]}.png"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=900,1400"]
        run("chromium", *options, f"--screenshot={picture}", f"file://{page}", cwd=folder)


def main() -> int:
    """Run them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one language")
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the pages")
    arguments = parser.parse_args()
    chosen = [one for one in LIBRARIES if arguments.only in (None, one.language)]
    if not chosen:
        parser.error(f"there is no such language; there are {', '.join(one.language for one in LIBRARIES)}")
    print(f"{'language':12}{'library':32}{'pages':>6}{'seconds':>9}  gates")
    results = []
    for wanted in chosen:
        with tempfile.TemporaryDirectory(prefix="holdfast-languages-") as folder:
            shots = arguments.screenshots.absolute() if arguments.screenshots else None
            ok, row = launched(wanted, Path(folder), shots)
        results.append(ok)
        print(row, flush=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
