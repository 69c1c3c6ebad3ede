"""Gate: each page plays its role: lists hold no code, quotas are kept, nothing is told twice or out of place."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.launch.claim_marks import claims_of
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "check"]


def check(view: View) -> Checked:
    """The plan first: a page that is missing can play no role."""
    found = list(_mandatory(view))
    topics = {
        claim["claim_id"]: str(claim.get("topic", "")).casefold()
        for claim in view.artifacts["product_facts.json"]["claims"]
    }
    for page in view.pages:
        if page.plan is not None:
            found += [*_role(page), *_quota(page, page.plan), *_topics(page, page.plan, topics)]
        found += _duplicates(page)
    return Checked(found, notes=[f"planned pages: {len(view.artifacts['page_plan.json']['pages'])}"])


def _mandatory(view: View) -> Iterator[Finding]:
    for planned in view.artifacts["page_plan.json"]["pages"]:
        path = planned["output_path"]
        gone = view.files.get(path, b"") is None
        if gone or (path not in view.files and path not in view.existing):
            yield Finding(
                "MANDATORY_PAGE_MISSING",
                f"The plan has the page {planned['page_id']}, and the site does not.",
                path,
                anchor=planned["page_id"],
                suggested_fix="Write the page.",
            )


def _role(page: Page) -> Iterator[Finding]:
    if page.role != "toc":
        return
    for block in page.blocks:
        yield Finding(
            "TOC_HAS_CODE",
            "A page that only lists others holds code.",
            page.path,
            block.line,
            anchor=block.code_sha256,
            suggested_fix="Move the code to the page that it belongs to.",
            fix_rule="drop_snippet",
            data={"code_sha256": block.code_sha256},
        )


def _quota(page: Page, plan: Mapping[str, Any]) -> Iterator[Finding]:
    quota = plan.get("content_strategy", {}).get("claim_quota")
    if quota is None or not page.is_new:  # on a page that people edit, they decide how much is said
        return
    count = len(page.claim_ids)
    if count < quota["min"] or count > quota["max"]:
        code = "CLAIM_QUOTA_MISSED" if count < quota["min"] else "CLAIM_QUOTA_EXCEEDED"
        yield Finding(
            code,
            f"The page rests on {count} claims; its plan has {quota['min']} to {quota['max']}.",
            page.path,
            anchor="claims",
            suggested_fix="Say more, or less, or plan the page anew.",
        )


def _topics(page: Page, plan: Mapping[str, Any], topics: Mapping[str, str]) -> Iterator[Finding]:
    """Forbidden topics, by the headings that announce them and the claims that are about them."""
    strategy = plan.get("content_strategy", {})
    forbidden = [*plan.get("forbidden_topics", []), *strategy.get("forbidden_topics", [])]
    for topic in dict.fromkeys(word.casefold() for word in forbidden):
        lines = [heading.line for heading in page.headings if topic in heading.text.casefold()]
        lines += [
            number for number, line in page.prose if any(topics.get(claim) == topic for claim in claims_of(line))
        ]
        for number in sorted({number for number in lines if number in page.touched}):
            text = page.line_text(number)
            yield Finding(
                "FORBIDDEN_TOPIC",
                f"The page speaks of {topic}, which belongs elsewhere.",
                page.path,
                number,
                anchor=f"{topic} {text}",
                suggested_fix="Move it to the page that it belongs to.",
                fix_rule="drop_uncited_line",
                data={"line_text": text, "topic": topic},
            )


def _duplicates(page: Page) -> Iterator[Finding]:
    """The same words for the same claim twice on one page."""
    seen: set[tuple[str, str]] = set()
    for number, line in page.prose:
        text = page.line_text(number)
        for claim in claims_of(line):
            if (claim, text) in seen:
                yield Finding(
                    "DUPLICATE_CLAIM",
                    f"The page says this twice: {text[:200]}",
                    page.path,
                    number,
                    anchor=f"{claim} {text}",
                    suggested_fix="Say it once.",
                    fix_rule="drop_duplicate_claim",
                    data={"claim_id": claim, "line_text": text},
                )
            seen.add((claim, text))


GATE = Gate(
    "distribution",
    "distribution",
    check,
    everywhere(
        MANDATORY_PAGE_MISSING="error error blocker",
        TOC_HAS_CODE="warn error blocker",
        CLAIM_QUOTA_MISSED="warn",
        CLAIM_QUOTA_EXCEEDED="warn",
        FORBIDDEN_TOPIC="warn error error",
        DUPLICATE_CLAIM="warn error error",
    ),
    seconds(60, 120),
    uses=("page_plan.json", "product_facts.json", "patch_bundle.json"),
)
