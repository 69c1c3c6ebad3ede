"""Links within a site: found in Markdown, and followed through what Hugo built."""

import json
import re
import shutil
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.gate_views import INSTALL_MD, artifacts, found, page_text, view_of
from tests.launch.products import make_site

from holdfast.launch.code_spans import code_spans
from holdfast.launch.gates import hugo_build, internal_links
from holdfast.launch.gates.gate import Finding
from holdfast.launch.gates.view import View
from holdfast.launch.page_links import page_links

OTHER = "content/docs/tablekit/other.md"
BODY = """\
[a](/docs/) [b](../other/) [c](#my-place) [d](/docs/tablekit/other/#over-there) ![i](/robots.txt) [e](https://x.example/)
[f]({{< relref "other.md" >}}) <a href="/blog/">g</a> [h][ref] <https://launch.example/kb/> [m](mailto:a@b.example)

## My place

[ref]: /products/
"""


def built(tmp_path: Path, files: dict[str, str], config: str = "", **changed: Any) -> View:
    """A view whose site was built by Hugo with these files."""
    site = tmp_path / "site"
    make_site(site)
    if config:
        (site / "hugo.toml").write_text(config)
    view = view_of(files, scratch=tmp_path / "scratch", **changed)
    view.site = site
    view.scratch.mkdir()
    assert found(hugo_build.GATE, view).findings == []
    return view


def broken(view: View) -> list[tuple[str, str, str]]:
    def row(finding: Finding) -> tuple[str, str, str]:
        return (finding.code, finding.data.get("target", ""), finding.data.get("replacement", ""))

    return sorted(row(finding) for finding in found(internal_links.GATE, view).findings)


def test_links_that_lead_somewhere_pass_and_others_are_found_with_what_was_meant(tmp_path: Path) -> None:
    bad = (
        "[1](/nope/) [2](gone.md) [3](#no-place) [4](../other/#Over-There) ![5](/no.png) [6](other.md) [7][none]\n"
    )
    files = {INSTALL_MD: page_text(BODY + "\n" + bad), OTHER: page_text("## Over there\n")}
    view = built(tmp_path, files)

    assert broken(view) == [
        ("ANCHOR_MISSING", "#no-place", ""),
        ("ANCHOR_MISSING", "../other/#Over-There", "../other/#over-there"),
        ("IMAGE_MISSING", "/no.png", ""),
        ("LINK_BROKEN", "/nope/", ""),
        ("LINK_BROKEN", "[none]", ""),
        ("LINK_BROKEN", "gone.md", ""),
        ("LINK_BROKEN", "other.md", "/docs/tablekit/other/"),
    ]


def test_a_base_address_with_a_path_is_part_of_every_link(tmp_path: Path) -> None:
    config = 'baseURL = "https://launch.example/sub/"\ntitle = "x"\n'
    facts = artifacts()["hugo_facts"] | {"base_url": "https://launch.example/sub"}
    body = "[a](/sub/docs/) [b](../other/) [c](/docs/) [d](/elsewhere/) [e](https://launch.example/sub/kb/)\n"
    view = built(tmp_path, {INSTALL_MD: page_text(body), OTHER: page_text("x\n")}, config, hugo_facts=facts)

    assert broken(view) == [
        ("LINK_OUTSIDE_BASE", "/docs/", "/sub/docs/"),
        ("LINK_OUTSIDE_BASE", "/elsewhere/", ""),
    ]


def test_a_page_that_is_not_published_is_found(tmp_path: Path) -> None:
    view = built(tmp_path, {INSTALL_MD: page_text(draft=True), OTHER: page_text(date="2999-01-01")})
    findings = found(internal_links.GATE, view).findings

    assert [(finding.code, finding.fix_rule) for finding in findings] == [
        ("PAGE_NOT_BUILT", "replace_frontmatter"), ("PAGE_NOT_BUILT", ""),
    ]  # fmt: skip


def test_what_a_template_of_the_site_made_of_a_link_counts(tmp_path: Path) -> None:
    hook = '<a href="{{ .Destination | replaceRE "\\\\.md$" "/" | replaceRE "^" "../" }}">{{ .Text }}</a>'
    site = tmp_path / "site"
    make_site(site)
    (site / "layouts/_default/_markup").mkdir(parents=True)
    (site / "layouts/_default/_markup/render-link.html").write_text(hook)
    view = view_of(
        {INSTALL_MD: page_text("[other **page**](other.md) [gone](gone.md)\n"), OTHER: page_text("x\n")}
    )
    view.site, view.scratch = site, tmp_path / "scratch"
    view.scratch.mkdir()

    assert found(hugo_build.GATE, view).findings == []
    assert broken(view) == [("LINK_BROKEN", "gone.md", "")]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{{< nosuch >}}\n", "shortcode"),
        ('[x]({{< relref "nope.md" >}})\n', "REF_NOT_FOUND"),
    ],
)
def test_what_hugo_cannot_build_is_a_blocker_with_file_and_line(body: str, told: str, tmp_path: Path) -> None:
    make_site(tmp_path / "site")
    view = view_of(page_text(body))
    view.site, view.scratch = tmp_path / "site", tmp_path / "scratch"
    view.scratch.mkdir()
    (finding,) = found(hugo_build.GATE, view).findings

    assert (finding.code, finding.path, finding.line) == ("HUGO_BUILD_FAILED", INSTALL_MD, 7)
    assert told in finding.message
    assert str(tmp_path) not in json.dumps(finding.told())
    assert internal_links.GATE.check(view).skipped


def test_a_site_without_layouts_is_one_blocker_and_not_one_for_every_page(tmp_path: Path) -> None:
    make_site(tmp_path / "site")
    shutil.rmtree(tmp_path / "site" / "layouts")
    view = view_of({INSTALL_MD: page_text("x\n"), OTHER: page_text("y\n")})
    view.site, view.scratch = tmp_path / "site", tmp_path / "scratch"
    view.scratch.mkdir()
    (finding,) = found(hugo_build.GATE, view).findings

    assert (finding.code, hugo_build.GATE.severities["local"]["HUGO_NO_LAYOUT"]) == ("HUGO_NO_LAYOUT", "blocker")
    assert internal_links.GATE.check(view).skipped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](b) ![c](d 'title')", [("b", False), ("d", True)]),
        ("[![c](img.png)](page.md)", [("page.md", False), ("img.png", True)]),
        ("[a](<b c>) [x](y(z))", [("b c", False), ("y(z)", False)]),
        ("[a][b] [c][]\n\n[B]: /x\n", [("/x", False), ("[c]", False)]),
        ("`[a](b)` <!-- [c](d) -->\n\n```\n[e](f)\n```", []),
        ('<a class="x" href="h">t</a> <img src=\'s\'>', [("h", False), ("s", True)]),
        (
            "See https://a.example/b_c, or <https://d.example>.",
            [("https://d.example", False), ("https://a.example/b_c", False)],
        ),
        ('[a]({{< ref "x.md" >}})', [('{{< ref "x.md" >}}', False)]),
        ("[a] [b](", []),
        ("[[x](y)](z)", [("z", False), ("y", False)]),
    ],
)
def test_links_are_found_in_markdown(text: str, expected: list[tuple[str, bool]]) -> None:
    assert [(link.target, link.is_image) for link in page_links(text)] == expected


# Beginning, what is repeated, end. The first took hours at 159 characters, others grew with the square.
BOMBS = [
    ("[", "[a](b)", ""), ("", "[", ""), ("", '[](a "', ""), ("", "[a](", ""), ("", "[a](<", ""),
    ("", "[a]({{< ", ""),
    ("", "[b](c) [a]({{< ", ""), ("[a](", " ", "x"), ('[a](b "', " ", ""), ("", "[a][", ""), ("", "`", "a"),
    ("", "<a href='", ""), ("", "https://", ""), ("[a]: ", "<", ""),
]  # fmt: skip


@pytest.mark.parametrize(("begin", "unit", "end"), BOMBS)
def test_a_long_line_of_a_page_takes_time_by_its_length_only(begin: str, unit: str, end: str) -> None:
    def seconds(size: int) -> float:
        line = begin + unit * (size // len(unit)) + end
        start = process_time()
        page_links(f"Text.\n\n{line}\n")
        return process_time() - start

    seconds(160)
    # Four times the text: what grows with the square takes sixteen times as long.
    assert seconds(12_000) < 10 * max(seconds(3_000), 0.01)


@given(st.text(alphabet="`a\n ", max_size=40))
def test_code_spans_are_those_of_the_definition(text: str) -> None:
    defined = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")

    assert code_spans(text) == [(one.start(), one.end(), one[2]) for one in defined.finditer(text)]
