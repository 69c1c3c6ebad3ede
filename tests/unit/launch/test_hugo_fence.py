"""Sites that want more than to be built: real Hugo, and no program, file, variable or address is reached."""

import os
import shutil
from pathlib import Path

import pytest

from holdfast.launch.gates.hugo_running import Build, build, copied, listed
from holdfast.launch.toolchain import hugo_executable
from holdfast.launch.workspace import workspace_of
from holdfast.settings import Settings

SECRET = "secret-of-the-operator"
OPEN = """
enableInlineShortcodes = true
[exec]
allow = ["^node$", "^npx$", "^tailwindcss$"]
osEnv = [".*"]
[funcs]
getenv = [".*"]
[http]
urls = [".*"]
methods = [".*"]
[node.permissions]
disable = true
allowRead = ["*"]
"""
SECURITY = "[security]" + OPEN.replace("[exec]", "[security.exec]").replace("[funcs]", "[security.funcs]").replace(
    "[http]", "[security.http]"
).replace("[node.", "[security.node.")
PROGRAM = '#!/bin/sh\nenv > "{}"\n'
LAYOUT = """
{{ $css := resources.Get "a.css" }}
<p>{{ with try (css.TailwindCSS $css).Content }}{{ with .Err }}css: {{ . }}{{ end }}{{ end }}</p>
<p>{{ with try (os.Getenv "OPERATOR_SECRET") }}env: {{ .Err }}{{ .Value }}{{ end }}</p>
<p>{{ with try (resources.GetRemote "http://127.0.0.1:9/") }}url: {{ .Err }}{{ end }}</p>
<p>{{ with try (os.ReadFile "/etc/passwd") }}file: {{ .Err }}{{ .Value }}{{ end }}</p>
<p>{{ with try (os.ReadFile "../../etc/passwd") }}file: {{ .Err }}{{ .Value }}{{ end }}</p>
<p>{{ with try (readDir "/proc") }}folder: {{ .Err }}{{ .Value }}{{ end }}</p>
{{ $options := dict "loaders" (dict "" "text") }}
<p>{{ with try (resources.Get "a.js" | js.Build $options).Content }}js: {{ .Err }}{{ end }}</p>
"""


def site_of(root: Path, files: dict[str, str]) -> Path:
    """A site with one page; `files` are added."""
    site = root / "site"
    plain = {
        "hugo.toml": 'baseURL = "https://site.example/"\n',
        "content/p.md": "Hello.\n",
        "layouts/all.html": "<p>x</p>",
    }
    for name, text in (plain | files).items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return site


def built(tmp_path: Path, site: Path, *, is_trusted: bool = False) -> tuple[Build, str]:
    """How the build of a copy ended, and all that is published."""
    work = tmp_path / "scratch"
    copied(site, {}, work / "site")
    done = build(hugo_executable(), work / "site", "", work / "public", {}, is_trusted=is_trusted)
    return done, "\n".join(path.read_text() for path in sorted((work / "public").rglob("*.html")))


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that programs of a site, and a node on the PATH, write when they are started."""
    marker, tools = tmp_path / "started", tmp_path / "tools"
    tools.mkdir()
    for name in ("node", "npx", "tailwindcss"):
        (tools / name).write_text(PROGRAM.format(marker))
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("OPERATOR_SECRET", SECRET)
    return marker


ATTACK = {
    "layouts/all.html": LAYOUT,
    "assets/a.css": "a{}",
    "assets/a.js": 'import x from "/etc/passwd"; console.log(x)',
    "node_modules/.bin/tailwindcss": "#!/usr/bin/env node\n",
}


def attack(tmp_path: Path, files: dict[str, str]) -> Path:
    site = site_of(tmp_path, ATTACK | files)
    (site / "node_modules/.bin/tailwindcss").chmod(0o755)
    return site


def test_the_attack_works_on_a_site_that_the_operator_trusts(tmp_path: Path, marker: Path) -> None:
    site = attack(tmp_path, {"hugo.toml": 'baseURL = "https://site.example/"\n' + SECURITY})
    built(tmp_path, site, is_trusted=True)

    assert marker.exists()


def test_wherever_a_site_opens_security_nothing_of_it_counts(tmp_path: Path, marker: Path) -> None:
    deep = SECURITY.replace("[security]", '[security]\n_merge = "deep"', 1)
    site = attack(
        tmp_path,
        {
            "hugo.toml": 'baseURL = "https://site.example/"\ntheme = "t"\nenableInlineShortcodes = true\n'
            + SECURITY,
            "config/_default/security.toml": OPEN,
            "config/production/security.toml": OPEN,
            "themes/t/hugo.toml": deep,
            "content/p.md": 'Hello. {{< x.inline >}}{{ print "in" "line" }}{{< /x.inline >}}\n',
            "layouts/all.html": LAYOUT + "{{ .Content }}",
        },
    )
    done, published = built(tmp_path, site)

    assert done.ok, done.errors
    assert not marker.exists()
    for refused in ("css: ", "env: ", "url: "):
        line = next(line for line in published.splitlines() if refused in line)
        assert "is not whitelisted in policy" in published[published.index(line) :][:400], line
    assert "js: " in published
    assert "root:" not in published
    assert SECRET not in published
    assert "inline" not in published


@pytest.mark.parametrize(
    "settings",
    [
        '[languages.en.security.exec]\nallow = ".*"',
        '[languages.en]\n[languages.de.security.funcs]\ngetenv = ".*"',
        '[[module.mounts]]\nsource = "/etc"\ntarget = "assets/etc"',
        '[[module.mounts]]\nsource = "../.."\ntarget = "content/x"',
        'themesDir = "/"\ntheme = "etc"',
        'staticDir = "/etc/ssl"',
        'resourceDir = "/tmp/elsewhere"',
        '[caches.images]\ndir = "/tmp/elsewhere"',
    ],
)
def test_a_site_that_gets_past_the_fence_is_not_built(tmp_path: Path, settings: str) -> None:
    done, published = built(
        tmp_path, site_of(tmp_path, {"hugo.toml": 'baseURL = "https://a.example/"\n' + settings})
    )

    assert done.errors[0].startswith("the site ")
    assert published == ""


def test_links_that_lead_out_of_a_site_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    site = site_of(tmp_path, {"layouts/all.html": '{{ with try (os.ReadFile "b") }}{{ .Value }}{{ end }}'})
    (site / "a").symlink_to("content/p.md")
    (site / "b").symlink_to("../secret")
    (site / "static").mkdir()
    (site / "static" / "c.html").symlink_to(tmp_path / "secret")
    (site / "content" / "d").symlink_to("/etc")
    done, published = built(tmp_path, site)

    assert done.ok, done.errors
    assert SECRET not in published
    copy = tmp_path / "scratch" / "site"
    assert [str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_symlink()] == ["a"]


def test_a_site_with_vendored_modules_and_git_information_is_built_without_git_and_go(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        {
            "hugo.toml": 'baseURL = "https://site.example/"\nenableGitInfo = true\n'
            '[module]\n[[module.imports]]\npath = "code.example/acme/theme"\n',
            "go.mod": "module code.example/acme/site\n\ngo 1.20\n\nrequire code.example/acme/theme v1.0.0\n",
            "_vendor/modules.txt": "# code.example/acme/theme v1.0.0\n",
            "_vendor/code.example/acme/theme/layouts/all.html": "<p>vendored</p>",
        },
    )
    shutil.rmtree(site / "layouts")
    done, published = built(tmp_path, site)

    assert done.ok, done.errors
    assert "vendored" in published
    copy = tmp_path / "scratch" / "site"
    assert listed(hugo_executable(), copy, "", {}) == {"content/p.md": "https://site.example/p/"}


def test_what_is_refused_names_the_setting_that_allows_it(tmp_path: Path) -> None:
    site = site_of(tmp_path, {"layouts/all.html": '{{ resources.GetRemote "https://a.example/" }}'})
    done, _ = built(tmp_path, site)

    assert 'policy "security.http.urls": a site that needs it has to be named in' in done.errors[0]
    assert done.errors[0].endswith("HOLDFAST_LAUNCH_TRUSTED_SITES")


def test_trust_is_in_an_address_and_not_in_how_it_is_written() -> None:
    workspace = workspace_of(Settings(launch_trusted_sites="https://code.example/acme/site,/srv/site/"))

    assert workspace.trusts("https://code.example/acme/site.git")
    assert workspace.trusts("/srv/site")
    assert not workspace.trusts("https://code.example/acme/site2")
    assert not workspace_of(Settings()).trusts("")
