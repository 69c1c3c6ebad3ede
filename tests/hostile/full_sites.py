"""A launch run over a hostile site, under watch: Hugo and Git run, and nothing that the site brings."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.hostile.places import HOLDFAST, Place, make_place
from tests.hostile.repositories import plant_everything
from tests.hostile.syscalls import SUPPORTED
from tests.hostile.tracer import trace
from tests.launch.products import commit_all, make_product, make_site, run_config

pytestmark = [
    pytest.mark.skipif(not SUPPORTED, reason="the tracer needs seccomp of Linux"),
    pytest.mark.timeout(300),
]

_SECURITY = """
enableInlineShortcodes = true
[security]
  enableInlineShortcodes = true
[security.exec]
  allow = [".*"]
  osEnv = [".*"]
[security.funcs]
  getenv = [".*"]
[security.http]
  methods = [".*"]
  urls = [".*"]
"""
_MOUNTS = """
[module]
[[module.mounts]]
  source = "{outside}"
  target = "content/blog/stolen"
[[module.mounts]]
  source = "content"
  target = "content"
"""
# Each template on its own tries one way out; an error of one does not keep the others from being tried.
_TEMPLATES = {
    "tailwind": '{{ with resources.FromString "a.css" "a{}" | css.TailwindCSS }}{{ .Content }}{{ end }}',
    "postcss": '{{ with resources.FromString "b.css" "a{}" | css.PostCSS }}{{ .Content }}{{ end }}',
    "babel": '{{ with resources.FromString "c.js" "a" | js.Babel }}{{ .Content }}{{ end }}',
    "sass": '{{ with resources.FromString "d.scss" "" | css.Sass (dict "transpiler" "dartsass") }}{{ end }}',
    "remote": '{{ with resources.GetRemote "http://127.0.0.1:9/x" }}{{ .Content }}{{ end }}',
    "environment": '{{ os.Getenv "AWS_SECRET_ACCESS_KEY" }}{{ os.Getenv "HOME" }}',
    "file": '{{ os.ReadFile "/proc/self/environ" }}',
    "parent": '{{ os.ReadFile "../../../../../../../../../../../../etc/passwd" }}',
    "folder": '{{ range os.ReadDir "/" }}{{ .Name }}{{ end }}',
}


def _add(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_place(tmp_path)
    hugo = Path(sys.executable).with_name("hugo")
    pymarkdown = Path(sys.executable).with_name("pymarkdown")
    place.programs |= {os.path.realpath(program) for program in (hugo, pymarkdown, "/bin/sh")}
    place.programs |= {os.path.realpath(program) for program in Path("/usr/lib/git-core").glob("git*")}
    # The package of Hugo starts the real program from its own folder.
    for program in Path(sys.prefix).rglob("hugo*"):
        if program.is_file() and os.access(program, os.X_OK):
            place.programs.add(os.path.realpath(program))
    return place


# The place of the configuration matters to each way out alike: two of them are tried at every place.
_TRIED = [("production", "tailwind"), ("theme", "tailwind"), ("theme", "environment")]
_TRIED += [("root", name) for name in _TEMPLATES]


@pytest.mark.parametrize(("level", "name"), _TRIED)
def test_a_site_that_grants_itself_everything_gets_nothing(place: Place, level: str, name: str) -> None:
    site, product = place.root / "site", place.root / "product"
    make_site(site)
    if level == "root":
        with (site / "hugo.toml").open("a") as file:
            file.write(_SECURITY)
    elif level == "production":
        _add(site / "config" / "production" / "hugo.toml", _SECURITY)
        _add(site / "config" / "_default" / "hugo.toml", (site / "hugo.toml").read_text())
        (site / "hugo.toml").unlink()
    else:
        text = (site / "hugo.toml").read_text()
        (site / "hugo.toml").write_text('theme = "evil"\n' + text)
        _add(site / "themes" / "evil" / "hugo.toml", _SECURITY)
    script = f"#!/usr/bin/env node\nrequire('child_process').execSync('id >> {place.outside}/trapped');\n"
    for tool in (
        "tailwindcss",
        "postcss",
        "babel",
        "sass",
        "dart-sass",
        "npx",
        "node",
        "go",
        "asciidoctor",
        "pandoc",
    ):
        _add(site / "node_modules" / ".bin" / tool, script, 0o755)
        _add(site / tool, script, 0o755)
    base = site / "layouts" / "_default" / "baseof.html"
    if not base.exists():
        base = next((site / "layouts").rglob("baseof.html"))
    base.write_text(base.read_text().replace("</footer>", _TEMPLATES[name] + "</footer>"))
    sha = commit_all(site)
    config = place.root / "run.yaml"
    config.write_text(json.dumps(run_config(product, make_product(product), site, sha)))
    command = [HOLDFAST, "launch", "start", str(config), "--dry-run", "--offline-links"]
    with trace(command, cwd=place.root, environment=place.environment) as traced:
        out, errors = traced.process.communicate(timeout=240)
    assert b"Traceback" not in errors
    assert place.unlisted(traced.events) == []
    assert not (place.outside / "trapped").exists()
    for folder in ("state", "cache", "tmp"):
        assert place.secret.encode() not in b"".join(_contents(place.root / folder))
    assert place.secret.encode() not in out + errors


def test_a_run_about_a_hostile_repository_started_inside_of_it_does_only_what_is_listed(place: Place) -> None:
    site = place.root / "site"
    make_site(site)
    commit = plant_everything(place.repository, place.outside)
    config = place.root / "run.yaml"
    run = run_config(place.repository, commit, site, commit_all(site), required_sections=["products"])
    config.write_text(json.dumps(run))
    command = [HOLDFAST, "launch", "start", str(config), "--offline-links"]
    with trace(command, cwd=place.repository, environment=place.environment) as traced:
        _, errors = traced.process.communicate(timeout=240)
    assert b"Traceback" not in errors
    assert b"FACTS_READY" in errors, "all that reads the product has run"
    assert place.unlisted(traced.events) == []
    assert not (place.outside / "trapped").exists()


def _contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def test_a_site_that_mounts_other_folders_gets_none_of_them(place: Place) -> None:
    site, product = place.root / "site", place.root / "product"
    make_site(site)
    (place.outside / "secret.md").write_text(f"---\ntitle: s\n---\n{place.secret}\n")
    with (site / "hugo.toml").open("a") as file:
        file.write(_MOUNTS.format(outside=place.outside))
    (site / "content" / "blog" / "linked.md").symlink_to(place.outside / "secret.md")
    sha = commit_all(site)
    config = place.root / "run.yaml"
    config.write_text(json.dumps(run_config(product, make_product(product), site, sha)))
    command = [HOLDFAST, "launch", "start", str(config), "--offline-links"]
    with trace(command, cwd=place.root, environment=place.environment) as traced:
        out, errors = traced.process.communicate(timeout=240)
    assert place.unlisted(traced.events) == []
    assert place.secret.encode() not in out + errors
    for folder in ("state", "cache", "tmp"):
        assert place.secret.encode() not in b"".join(_contents(place.root / folder))
    assert shutil.which("hugo", path=str(Path(sys.executable).parent))
