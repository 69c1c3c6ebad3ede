"""The text for people: legible, bounded, and nothing in it is markup that a scanner wrote."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.rows import each_row
from tests.unit.search.test_triage_sources import filed
from tests.unit.search.triage_samples import ALERT, FINDING

from holdfast.search.triage.markdown import render

PARSER = MarkdownIt("gfm-like", {"linkify": False, "html": True}).enable(["table", "strikethrough"])
HOSTILE = [
    "<script>alert(1)</script>", "[click](https://evil.example)", "![x](https://evil.example/p.png)", "# Heading",
    "**bold** _it_ ~~x~~ `code`", "a\n\n# Heading\n\n- item", "|a|b|\n|-|-|\n|1|2|", "```\ncode", "&lt;b&gt;",
    "https://evil.example www.evil.example", "1. one\n2) two", "=====", "-----", "<https://evil.example>",
    "\\<b>", "\\\\`x`", "\u202eevil\u200b", "    indented", "[ref]: https://evil.example", "> quote", "+ x", "* x",
]  # fmt: skip


def tokens(text: str) -> list[Token]:
    return [token for block in PARSER.parse(text) for token in (block, *(block.children or ()))]


def links(text: str) -> list[Any]:
    return [token.attrs["href"] for token in tokens(text) if token.type == "link_open"]


def kinds(text: str) -> set[str]:
    return {token.type for token in tokens(text)}


PLAIN = {
    "heading_open", "heading_close", "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
    "paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close", "inline", "text", "text_special",
    "softbreak", "link_open", "link_close",
}  # fmt: skip


def poisoned(text: str) -> dict[str, Any]:
    decision = {"status": text, "justification": text, "reviewer": text, "evidenceRefs": [text]}
    return {
        **filed("generic", {"title": text, "description": text, "package": text, "asset": text, "repo": text}),
        "vuln": {"vulnId": text, "title": text, "description": text, "references": [text], "cwe": [text]},
        "decision": decision,
    }


@each_row("text", HOSTILE)
def test_a_hostile_text_stays_text_wherever_it_stands(text: str) -> None:
    shown = render(poisoned(text))

    assert kinds(shown) <= PLAIN
    assert links(shown) == []
    assert shown.count("\n# ") == 0
    assert "\u202e" not in shown


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab1 \n\t\\`*_{}[]<>()#+-.!|~&\"'=:/$@^\u200b"), max_size=40))
def test_no_text_at_all_becomes_markup(text: str) -> None:
    shown = render(poisoned(text or "x"))

    assert kinds(shown) <= PLAIN
    assert links(shown) == []


def test_a_finding_reads_well() -> None:
    shown = render(filed("aws_inspector", FINDING))

    assert shown.startswith("# CVE-2022-0778 - openssl, openssl-libs\n")
    assert "- Fixed in: 1:1.0.2k-24.amzn2\n" in shown
    assert "- CVSS: 7.5, CVSS:3.1/AV:N/N\n" in shown


def test_references_that_are_plain_addresses_are_links_and_nothing_else_is() -> None:
    record = filed("dependabot", ALERT)
    record["vuln"]["references"] += ["javascript:alert(1)", "https://x.example/a b", "https://x.example/><b>"]

    assert links(render(record)) == [ALERT["html_url"], "https://nvd.nist.gov/vuln/detail/CVE-2020-14343"]


def test_a_huge_record_is_a_bounded_text() -> None:
    huge = {"vulnId": "X", "title": "t" * 10_000, "description": "line\n" * 4000, "references": ["u" * 900] * 500}

    assert len(render(filed("generic", huge))) < 20_000
