"""The page of a product, and the announcement of a release: what it is, why, and how to begin."""

import re

from holdfast.launch.writing.blocks import Block, Heading, Paragraph, Sentence
from holdfast.launch.writing.inline import prose
from holdfast.launch.writing.known import Known
from holdfast.launch.writing.pages.parts import (
    at_a_glance,
    bullets,
    example,
    inside,
    install_commands,
    lead,
    paragraph,
    untold_limits,
)
from holdfast.launch.writing.ways import Ways

__all__ = ["announcement", "key_features", "news", "overview"]

_MOST_FEATURES = 8
_ENOUGH = 3
# What stands in front of a repository: its README, and what is published with the package.
_FRONT = re.compile(
    r"(?i)readme|pyproject\.toml|setup\.(?:py|cfg)|[^/]*/?py\.typed|src/[^/]*/py\.typed|package\.json|go\.mod"
    r"|cargo\.toml|pom\.xml|.*\.csproj|.*\.nuspec"
)
# Sentences that go on from one before them, or explain how rather than what.
_ASIDE = re.compile(
    r"(?:note|to|this|that|these|those|it|they|such|so|then|however|but|and|also|here|if|when|the magic|`make|"
    r"the javadoc|the api doc\w*)\b",
    re.IGNORECASE,
)


def key_features(known: Known) -> list[str]:
    """The claims that say what is special: those of the README where they are enough, without asides."""
    grouped = known.facts["claim_groups"]["key_features"]
    others = [claim["claim_id"] for claim in known.claims(("feature", "format"))]
    said_already = set(known.facts["positioning"]["claim_ids"])
    found = [
        claim
        for claim in dict.fromkeys(known.cited(*(grouped or others)))
        if claim not in said_already and not _ASIDE.match(known.claim(claim)["claim_text"])
    ]
    first = [claim for claim in found if _FRONT.match(known.path(claim))]
    first.sort(key=lambda claim: not known.path(claim).lower().startswith("readme"))
    return first if len(first) >= _ENOUGH else [*first, *(claim for claim in found if claim not in first)]


def overview(ways: Ways) -> list[Block]:
    """The landing page of the product."""
    page, known = ways.page, ways.known
    made: list[Block] = [*lead(known), *inside(known, "Key features", _MOST_FEATURES, key_features(known))]
    if page["required_snippet_ids"]:
        made += [Heading(2, "Quick example"), *example(known, page["required_snippet_ids"][0])]
    made += [Heading(2, "Install"), *install_commands(known)[:2]]
    made += [Heading(2, "At a glance"), *at_a_glance(known), *untold_limits(ways)]
    return [
        *made,
        *ways.onward(
            "docs/getting-started", "docs/installation", "docs/developer-guide", "reference/index", "kb/faq",
            "blog/announcement", title="Learn more",
        ),
    ]  # fmt: skip


def announcement(ways: Ways) -> list[Block]:
    """The post about a release."""
    page, known = ways.page, ways.known
    made: list[Block] = [*_opening(known), *news(known)]
    made += inside(known, "What it does", 5, key_features(known))
    made += [Heading(2, "Try it"), *install_commands(known)[:2]]
    if page["required_snippet_ids"]:
        made += example(known, page["required_snippet_ids"][0])
    made += untold_limits(ways)
    made += ways.onward(
        "docs/getting-started", "reference/index", "kb/limitations", "products/overview", title="Read on"
    )
    return made


def _opening(known: Known) -> list[Block]:
    version = known.fact("version")
    first = []
    if version:
        text = f"This post introduces {prose(known.name)} {prose(version['value'])}."
        first = [Sentence(text, known.cited(version["claim_id"]))]
    rest = lead(known)[0]
    return [paragraph([*first, *(rest.sentences if isinstance(rest, Paragraph) else ())])]


def news(known: Known) -> list[Block]:
    """What the newest entry of the list of changes says."""
    version = known.fact("version")
    for change in known.facts.get("changes") or ():
        items = known.said(change["claim_ids"], 12)
        if not items or (version and change["version"].lstrip("v") != version["value"].lstrip("v")):
            continue
        title, claims = known.heading(f"What is new in {change['version']}", items[0].claims)
        return [Heading(2, title, claims), bullets(items)]
    return []
