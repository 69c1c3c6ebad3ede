"""Gate: a page says what its plan and the facts say: the product's name, addresses, headings, and claims."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from holdfast.launch.claim_marks import mark
from holdfast.launch.factual import names_of
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "check"]

_REPOSITORY_KEYS = ("repo_url", "repository", "repository_url", "github_url", "github_repo_url", "source_url")
_CANONICAL_KEYS = ("canonical", "canonical_url", "canonicalURL", "canonicalUrl")
_CANONICAL_OF = {"products": "product", "docs": "docs", "reference": "reference"}


def check(view: View) -> Checked:
    """Pages that are planned against their plan, all of them against the facts."""
    facts = view.artifacts["product_facts.json"]
    claims = {claim["claim_id"]: claim for claim in view.artifacts["evidence_map.json"]["claims"]}
    found: list[Finding] = []
    for page in view.pages:
        found += [*_name(page, facts), *_repository(page, facts), *_canonical(page, view.config)]
        if page.plan is not None:
            found += [*_headings(page), *_claims(page, page.plan, claims)]
    return Checked(found, notes=[f"pages: {len(view.pages)}"])


def _name(page: Page, facts: Mapping[str, Any]) -> Iterator[Finding]:
    if not page.is_new:
        return
    name = facts["product_name"]
    title = page.front.data.get("title")
    spelt = _spelt(title, facts) if isinstance(title, str) else title
    if spelt != title:
        yield Finding(
            "PRODUCT_NAME_MISSPELT",
            f"The title spells the product's name in another way than {name}.",
            page.path,
            1,
            anchor="title",
            suggested_fix=f"Write {name}.",
            fix_rule="replace_frontmatter",
            data={"key": "title", "value": spelt},
        )
    if name.casefold() not in page.text.casefold():
        yield Finding(
            "PRODUCT_NAME_MISSING", f"The page never names {name}.", page.path, 1, anchor="name",
            suggested_fix="Name the product where the page begins.",
        )  # fmt: skip


def _spelt(title: str, facts: Mapping[str, Any]) -> str:
    """The title with the product's name as it is; packages and modules may be called otherwise."""
    name = facts["product_name"]
    known = {name, *names_of(facts), *facts["api_surface_summary"]["modules"]}
    known |= {command["name"] for command in facts.get("commands", ())}
    known |= {symbol["name"] for symbol in facts["api_symbols"] if symbol["name"].casefold() == name.casefold()}
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", re.IGNORECASE)
    return word.sub(lambda found: found[0] if found[0] in known else name, title)


def _repository(page: Page, facts: Mapping[str, Any]) -> Iterator[Finding]:
    url = facts["repo_url"]
    for key in _REPOSITORY_KEYS:
        given = page.front.data.get(key, url)
        if given != url and page.data_before.get(key) != given:
            yield Finding(
                "REPO_URL_WRONG",
                f"`{key}` in the front matter is not the address of the product's repository.",
                page.path,
                1,
                anchor=key,
                suggested_fix=f"Set it to {url}.",
                fix_rule="replace_frontmatter",
                data={"key": key, "value": url},
            )
    for link in page.links:
        if _is_other_repository(link.target, url):
            yield Finding(
                "REPO_URL_WRONG",
                f"The link to {link.target} names another repository than the product's.",
                page.path,
                link.line,
                anchor=link.target,
                suggested_fix=f"Link to {url}.",
                fix_rule="repair_anchor",
                data={"target": link.target, "replacement": url, "line_text": page.line_text(link.line)},
            )


def _is_other_repository(target: str, url: str) -> bool:
    """The same name of a repository at the same host, but of somebody else."""
    if not target.startswith(("http://", "https://")) or not url.startswith(("http://", "https://")):
        return False
    ours, theirs = urlsplit(url), urlsplit(target)
    own = ours.path.removesuffix(".git").strip("/").split("/")
    other = theirs.path.removesuffix(".git").strip("/").split("/")
    if ours.netloc.lower() != theirs.netloc.lower() or len(own) < 2 or len(other) < len(own):
        return False
    return other[len(own) - 1].lower() == own[-1].lower() and [part.lower() for part in other[: len(own)]] != [
        part.lower() for part in own
    ]


def _canonical(page: Page, config: Mapping[str, Any]) -> Iterator[Finding]:
    if page.plan is None:
        return
    wanted = config.get("canonical_urls", {}).get(_CANONICAL_OF.get(page.plan["section"], ""), "")
    for key in _CANONICAL_KEYS:
        given = page.front.data.get(key)
        is_old = given == page.data_before.get(key)
        if not wanted or given is None or is_old or str(given).startswith(wanted.rstrip("/")):
            continue
        is_known = page.role == "landing"
        yield Finding(
            "CANONICAL_URL_WRONG",
            f"`{key}` in the front matter does not lead to {wanted}.",
            page.path,
            1,
            anchor=key,
            suggested_fix=f"Use an address below {wanted}.",
            fix_rule="replace_frontmatter" if is_known else "",
            data={"key": key, "value": wanted} if is_known else {"key": key},
        )


def _headings(page: Page) -> Iterator[Finding]:
    assert page.plan is not None
    there = {_same(heading.text) for heading in page.headings}
    was = None if page.as_before is None else {_same(heading.text) for heading in page.as_before.headings}
    before = ""
    for heading in page.plan["required_headings"]:
        # A section that people took out stays out; only what the run itself takes away is missing.
        if _same(heading) not in there and (was is None or _same(heading) in was):
            yield Finding(
                "REQUIRED_HEADING_MISSING",
                f"The page has no heading `{heading}`.",
                page.path,
                anchor=heading,
                suggested_fix=f"Add the section `{heading}`.",
                fix_rule="insert_required_heading",
                data={"heading": heading, "level": 2, "lines": [], "after": before},
            )
        before = heading


def _claims(page: Page, plan: Mapping[str, Any], claims: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    there = set(page.claim_ids)
    was = None if page.as_before is None else set(page.as_before.claim_ids)
    for claim_id in plan["required_claim_ids"]:
        if claim_id in there or (was is not None and claim_id not in was):
            continue
        claim = claims.get(claim_id)
        text = " ".join(claim["claim_text"].split()) if claim else ""
        headings = [heading.text for heading in page.headings] or plan["required_headings"] or ["Overview"]
        yield Finding(
            "REQUIRED_CLAIM_MISSING",
            f"The page does not say what it must: {text[:200] or claim_id}",
            page.path,
            anchor=claim_id,
            suggested_fix="Add a line that rests on this claim.",
            fix_rule="insert_required_heading" if claim else "",
            data={"heading": headings[-1], "level": 2, "lines": [f"- {text}{mark([claim_id])}"], "after": ""}
            if claim
            else {},
        )


def _same(heading: str) -> str:
    return " ".join(heading.replace("`", "").split()).casefold()


GATE = Gate(
    "consistency",
    "consistency",
    check,
    everywhere(
        PRODUCT_NAME_MISSPELT="warn error error",
        PRODUCT_NAME_MISSING="warn",
        REPO_URL_WRONG="error",
        CANONICAL_URL_WRONG="error",
        REQUIRED_HEADING_MISSING="error",
        REQUIRED_CLAIM_MISSING="error",
    ),
    seconds(30, 60),
    uses=("product_facts.json", "evidence_map.json", "page_plan.json"),
)
