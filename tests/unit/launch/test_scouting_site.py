"""The scout looks at websites: their configuration, their pages, and the front matter that these share."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.products import git, make_product, make_repository, make_site, run_config
from tests.launch.site_sources import site_files
from tests.unit.launch.scouting_places import refused, scouted

from holdfast.errors import ToolError
from holdfast.launch.documents import violations
from holdfast.launch.scouting.hugo_config import hugo_facts, is_hugo_config, read_hugo_config
from holdfast.launch.scouting.site_pages import frontmatter_contract, page_of

LAYOUT = run_config(Path("/p"), "a" * 40, Path("/s"), "b" * 40)


def facts(**files: str) -> dict[str, Any]:
    given_files = {name.replace("__", "/").replace("_dot_", "."): text.encode() for name, text in files.items()}
    return hugo_facts(read_hugo_config(given_files, "config"))


def contract(**pages: str) -> dict[str, Any]:
    made = [page_of(f"content/docs/{name}.md", text.encode()) for name, text in sorted(pages.items())]
    found: dict[str, Any] = frontmatter_contract(made, LAYOUT)["docs"]
    return found


def scouted_site(root: Path, files: dict[str, bytes], **changes: Any) -> dict[str, Any]:
    site = make_repository(root / "s", files)
    return scouted(root, run_config(root / "p", make_product(root / "p"), root / "s", site, **changes))


def test_a_site_is_known_with_its_pages(tmp_path: Path) -> None:
    found = scouted_site(tmp_path, site_files(6), workflows_repo_url="https://x.example/w",
                         workflows_ref="c" * 40)  # fmt: skip
    context = found["site_context.json"]

    assert context["site"]["page_count"] == 12
    assert {
        "path": "content/docs/_index.md",
        "url_path": "/docs/",
        "title": "Documentation",
        "section": "docs",
    } in (context["site"]["pages"])
    assert context["workflows"] == {"repo_url": "https://x.example/w", "ref": "c" * 40}
    assert [one["path"] for one in context["hugo"]["config_files"]] == ["hugo.toml"]
    assert len(context["hugo"]["build_matrix"]) == 5
    assert found["hugo_facts.json"]["base_url"] == "https://launch.example/"
    assert found["frontmatter_contract.json"]["sections"]["docs"]["required_keys"] == [
        "description", "draft", "tags", "title",
    ]  # fmt: skip


def test_an_empty_site_is_refused(tmp_path: Path) -> None:
    site = make_repository(tmp_path / "s", {})
    error = refused(tmp_path, run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", site))

    assert (error.code, error.details["reason"]) == ("INVALID_INPUT", "empty_repository")
    assert error.details["repository"] == "site"


def test_a_site_without_configuration_has_hugos_defaults(tmp_path: Path) -> None:
    found = scouted_site(tmp_path, {"content/docs/a.md": b"# no front matter\n"})

    assert found["hugo_facts.json"] == {
        "schema_version": "1.0", "base_url": "", "languages": ["en"], "default_language": "en",
        "default_language_in_subdir": False, "permalinks": {}, "outputs": {},
        "taxonomies": {"category": "categories", "tag": "tags"}, "ugly_urls": False, "raw_html": False,
        "source_files": [],
    }  # fmt: skip
    docs = found["frontmatter_contract.json"]["sections"]["docs"]
    assert (docs["sample_size"], docs["format"], docs["required_keys"]) == (0, "yaml", ["title"])


def test_strange_files_of_a_site_are_left_alone(tmp_path: Path) -> None:
    files = site_files(2) | {
        "content/docs/broken.md": b"---\na: [\n---\n", "content/docs/latin.md": b"---\ntitle: caf\xe9\n---\n",
        "content/docs/a\nb.md": b"---\ntitle: x\n---\n",
        "content/docs/draft.md": b"---\ntitle: d\ndraft: true\n---\n",
    }  # fmt: skip
    make_repository(tmp_path / "s", files)
    (tmp_path / "s" / "content" / "docs" / "link.md").symlink_to("/etc/passwd")
    (tmp_path / "s" / "hugo.yaml").symlink_to("/etc/passwd")
    git(tmp_path / "s", "add", "--all")
    git(tmp_path / "s", "commit", "--quiet", "--message", "more")
    site = git(tmp_path / "s", "rev-parse", "HEAD")
    found = scouted(tmp_path, run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", site))

    pages = {one["path"]: one for one in found["site_context.json"]["site"]["pages"]}
    assert "title" not in pages["content/docs/broken.md"]
    assert pages["content/docs/draft.md"]["draft"] is True
    assert not any("link" in path or "\n" in path for path in pages)
    assert found["hugo_facts.json"]["source_files"] == ["hugo.toml"]


def test_a_broken_configuration_is_told_with_its_line(tmp_path: Path) -> None:
    site = make_repository(tmp_path / "s", {"hugo.toml": b'title = "x"\nbase = \n'})
    error = refused(tmp_path, run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", site))

    assert error.code == "INVALID_INPUT"
    assert error.details == {"reason": "hugo_config_broken", "path": "hugo.toml", "line": 2}


@pytest.mark.parametrize("form", ["toml", "yaml", "json"])
def test_the_same_settings_are_read_in_every_format(form: str) -> None:
    texts = {
        "toml": 'baseURL = "https://x.example/"\n[permalinks]\nblog = "/:year/"\n'
        "[markup.goldmark.renderer]\nunsafe = true\n[taxonomies]\n",
        "yaml": "baseURL: https://x.example/\npermalinks: {blog: /:year/}\n"
        "markup: {goldmark: {renderer: {unsafe: true}}}\ntaxonomies: {}\n",
        "json": '{"baseURL": "https://x.example/", "permalinks": {"blog": "/:year/"}, "taxonomies": {},'
        ' "markup": {"goldmark": {"renderer": {"unsafe": true}}}}',
    }
    found = facts(**{f"hugo_dot_{form}": texts[form]})

    assert (found["base_url"], found["permalinks"]) == ("https://x.example/", {"page/blog": "/:year/"})
    assert (found["raw_html"], found["taxonomies"]) == (True, {})


def test_folders_of_settings_are_merged_and_production_counts_last() -> None:
    found = facts(
        hugo_dot_toml='baseURL = "https://one.example/"\nuglyURLs = true\n',
        config___default__hugo_dot_toml='title = "x"\n',
        config___default__languages_dot_toml='[de]\nweight = 2\n[en]\nweight = 1\n[fr]\ndisabled = true\n',
        config___default__permalinks_dot_yaml="section: {docs: '/d/'}\n",
        config__production__config_dot_toml='baseURL = "https://two.example/"\n',
        config__staging__config_dot_toml='baseURL = "https://three.example/"\n',
        config_dot_toml='baseURL = "https://ignored.example/"\n',
    )  # fmt: skip

    assert found["base_url"] == "https://two.example/"
    assert (found["languages"], found["default_language"]) == (["en", "de"], "en")
    assert found["permalinks"] == {"section/docs": "/d/"}
    assert found["ugly_urls"] is True
    assert len(found["source_files"]) == 5


def test_another_folder_of_settings_may_be_named(tmp_path: Path) -> None:
    files = {"settings/_default/hugo.toml": b'baseURL = "https://x.example/"\n', "content/docs/a.md": b"x\n"}
    found = scouted_site(tmp_path, files, hugo={"config_dir": "settings"})

    assert found["hugo_facts.json"]["source_files"] == ["settings/_default/hugo.toml"]
    assert found["site_context.json"]["hugo"]["config_root"] == "settings/_default"


def test_only_settings_are_settings() -> None:
    names = ["hugo.toml", "config.yaml", "config/_default/menus.en.toml", "config/hugo.toml"]
    others = ["docs/hugo.toml", "config/a/b/c.toml", "config/_default/readme.md", "configs/hugo.toml", "hugo.txt"]

    assert [is_hugo_config(name, "config") for name in names + others] == [True] * 4 + [False] * 5


def test_values_of_other_kinds_are_no_hindrance() -> None:
    found = facts(hugo_dot_yaml="baseURL: 7\nlanguages: [a]\npermalinks: {page: 1, docs: [x]}\nuglyURLs: maybe\n"
                  "outputs: {home: [html, 7], page: x}\ntaxonomies: {tag: 1}\nmarkup: x\n")  # fmt: skip

    assert violations("hugo_facts", found) == []
    assert found["outputs"] == {"home": ["html"], "page": []}


@given(st.binary(max_size=200), st.sampled_from(["hugo.toml", "hugo.yaml", "hugo.json"]))
def test_any_bytes_are_settings_or_refused(content: bytes, name: str) -> None:
    found = None
    try:
        found = hugo_facts(read_hugo_config({name: content}, "config"))
    except ToolError as error:
        told = error.details["reason"]
    else:
        told = "hugo_config_broken"

    assert told == "hugo_config_broken"
    assert found is None or violations("hugo_facts", found) == []


def test_keys_of_all_pages_are_required_and_others_optional() -> None:
    pages = {f"p{n}": f"---\ntitle: a\nweight: {n}\n{'tags: [a]' if n else 'x: 1'}\n---\n" for n in range(4)}
    found = contract(**pages)

    assert (found["required_keys"], found["optional_keys"]) == (["title", "weight"], ["tags", "x"])
    assert found["key_types"] == {"title": "string", "weight": "integer", "tags": "array", "x": "integer"}
    assert found["sample_size"] == 4


def test_the_most_common_format_and_type_win() -> None:
    found = contract(
        a="+++\ntitle = 'a'\nd = 2024-01-01\n+++\n", b="+++\ntitle = 'b'\nd = 'soon'\n+++\n",
        c="---\ntitle: c\nd: 2024-01-01\n---\n",
    )  # fmt: skip

    assert found["format"] == "toml"
    assert found["key_types"]["d"] == "date"


def test_only_what_pages_look_like_is_taken_over() -> None:
    page = "---\ntitle: a\nauthor: Somebody\nlayout: docs\ndraft: false\n---\n"
    found = contract(a=page, b=page, c=page)

    assert found["default_values"] == {"layout": "docs", "draft": False}


def test_lists_do_not_speak_for_pages() -> None:
    found = contract(_index="---\ncascade: {}\n---\n", a="---\ntitle: a\n---\n", b="---\ntitle: b\n---\n")

    assert (found["sample_size"], found["required_keys"]) == (2, ["title"])


def test_a_sample_is_spread_over_all_pages() -> None:
    pages = {f"p{n:04d}": f"---\ntitle: t\nhalf{n // 100}: 1\n---\n" for n in range(200)}
    found = contract(**pages)

    assert found["sample_size"] == 50
    assert found["optional_keys"] == ["half0", "half1"]


@given(st.lists(st.binary(max_size=80), max_size=5))
def test_any_pages_make_a_contract(contents: list[bytes]) -> None:
    pages = [page_of(f"content/docs/{n}.md", b"---\n" + content) for n, content in enumerate(contents)]
    document = {"schema_version": "1.0", "site_repo_url": "s", "site_sha": "a" * 40}

    assert violations("frontmatter_contract", document | {"sections": frontmatter_contract(pages, LAYOUT)}) == []


def test_hundreds_of_pages_are_read_from_the_commit_and_not_from_the_work_tree(tmp_path: Path) -> None:
    site = make_site(tmp_path / "s", 300)
    config = run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", site)
    found = scouted(tmp_path, config)

    assert found["site_context.json"]["site"]["page_count"] == 306
    assert str(tmp_path) not in json.dumps(found)
