"""Every page that could be written, in its order: what each section must have, and what evidence adds."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from holdfast.launch.planning.api_pages import module_pages
from holdfast.launch.planning.examples import examples_of, first_examples, is_complete
from holdfast.launch.planning.tiers import snippets_shown
from holdfast.launch.writing.inline import plain, short_slug, short_title, slug
from holdfast.launch.writing.known import Known, Snippet
from holdfast.launch.writing.mentions import mentioned_symbols
from holdfast.launch.writing.pages.guides import topic_claims
from holdfast.launch.writing.pages.landing import news
from holdfast.launch.writing.pages.parts import listed

__all__ = ["MANDATORY", "candidates", "described"]

MANDATORY = frozenset(
    {
        "products/overview", "docs/index", "docs/installation", "docs/getting-started", "docs/developer-guide",
        "reference/index", "kb/faq", "kb/limitations", "blog/announcement",
    }
)  # fmt: skip
"""The pages that a section always has, as far as there is anything to say."""
_SHORTEST, _LONGEST = 50, 160
_LEAST_TOPIC = 4
_GOING_ON = re.compile(
    r"(?:\S+ ){0,3}(?:then|this|that|these|those|it|they|its)\b|note|unlike|however", re.IGNORECASE
)
_SHORTEST_TITLE, _LONGEST_TITLE = 3, 70
_GENERIC = frozenset(
    {
        "details", "documentation", "example", "examples", "features", "general", "introduction", "installation",
        "miscellaneous", "notes", "other", "overview", "purpose", "setup", "usage", "welcome",
    }
)  # fmt: skip


def candidates(known: Known, config: Mapping[str, Any], tier: str) -> list[dict[str, Any]]:
    """The pages of the required sections, unplaced; `file` is the name that each will have."""
    first = first_examples(known, config["target_platform"], snippets_shown(tier))
    made = [*_products(known), *_docs(known, first), *_reference(known, config), *_kb(known), *_blog(known)]
    _give_examples(made, first, known)
    return [page for page in made if page["section"] in config["required_sections"]]


def described(text: str, name: str) -> str:
    """A description of 50 to 160 characters, cut between words."""
    text = plain(text)
    if len(text) < _SHORTEST:
        glue = "," if ":" in text else ":"
        text = f"{text.rstrip('.')}{glue} from the documentation of {name}, with sources."
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def _page(page_id: str, title: str, purpose: str, description: str, **more: Any) -> dict[str, Any]:
    section, _, name = page_id.partition("/")
    return {
        "page_id": page_id, "section": section, "slug": name, "file": name, "title": title[:200],
        "purpose": purpose, "description": description, "required_headings": [], "required_claim_ids": [],
        "required_snippet_ids": [], "required_snippet_tags": [], "cross_links": [], "weight": 10,
    } | more  # fmt: skip


def _products(known: Known) -> list[dict[str, Any]]:
    name = plain(known.name)
    about = f"Learn what {name} does and what is in it, how to install it, and where to read on."
    return [
        _page(
            "products/overview", name, "The product at a glance.", described(about, name), page_role="landing",
            template="overview", file="index",
        )
    ]  # fmt: skip


def _docs(known: Known, first: Sequence[Snippet]) -> list[dict[str, Any]]:
    name = plain(known.name)
    fixed = [
        _page(
            "docs/index", f"{name} documentation", "Everything there is to read.",
            described(f"The documentation of {name}: installation, first steps, guides and reference.", name),
            page_role="toc", template="contents", file="_index", weight=10,
        ),
        _page(
            "docs/installation", f"Install {name}", "Requirements, the command, and a first check.",
            described(f"Install {name}: what it requires, the command to run, and how to check it.", name),
            page_role="comprehensive_guide", template="installation", weight=20,
        ),
        _page(
            "docs/getting-started", f"Get started with {name}", "The first examples, step by step.",
            described(f"Take the first steps with {name}: short examples that come from the project.", name),
            page_role="comprehensive_guide", template="getting_started", weight=30,
        ),
        _page(
            "docs/developer-guide", f"{name} developer guide", "The modules, and the common tasks.",
            described(f"The developer guide to {name}: {_guided(known)}.", name),
            page_role="comprehensive_guide", template="developer_guide", weight=40,
        ),
    ]  # fmt: skip
    taken = {page["slug"] for page in fixed}
    guides = [*_workflow_pages(known, first), *_topic_pages(known)]
    fresh: dict[str, dict[str, Any]] = {}
    for page in guides:
        if page["slug"] not in taken and page["slug"] not in fresh:
            fresh[page["slug"]] = page | {"weight": 50 + 10 * len(fresh)}
    return [*fixed, *fresh.values()]


def _workflow_pages(known: Known, first: Sequence[Snippet]) -> Iterable[dict[str, Any]]:
    started = {one["snippet_id"] for one in first}
    tags = {task["workflow_tag"] for task in known.facts["workflows"]}
    for task in known.facts["workflows"]:
        examples = examples_of(known, task["snippet_tags"], tags - {task["workflow_tag"]})
        title = short_title(task["title"])
        if not _is_worth_a_page(known, task, examples, started) or not _is_title(title):
            continue
        yield _page(
            f"docs/{_address(task['workflow_tag'], title)}", title, "One task, with an example.",
            described(_about(known, task["claim_ids"], title, examples), known.name), page_role="workflow_page",
            template="workflow", topic=task["workflow_tag"], required_snippet_tags=list(task["snippet_tags"]),
            required_snippet_ids=[one["snippet_id"] for one in examples],
        )  # fmt: skip


def _address(tag: str, title: str) -> str:
    """The tag of a task where it is a short name and all of its title, else its title in short."""
    is_name = tag == short_slug(tag) and not tag[:1].isdigit() and not slug(title).endswith(f"-{tag}")
    return tag if is_name else short_slug(title)


def _is_worth_a_page(
    known: Known, task: Mapping[str, Any], examples: Sequence[Snippet], started: Collection[str]
) -> bool:
    """Something is said of the task and shown; where nothing is said, only what the first steps do not show."""
    claims = known.cited(*task["claim_ids"])
    said = known.said(claims)
    if said:
        return bool(examples) or len(said) >= _LEAST_TOPIC - 1
    fresh = [
        one for one in examples if one["snippet_id"] not in started and one["source"].get("origin") != "example"
    ]
    return bool(claims and mentioned_symbols(known, fresh))


def _topic_pages(known: Known) -> Iterable[dict[str, Any]]:
    """A topic that no task is about, but the repository says enough of."""
    tasks = known.facts["workflows"]
    told = {claim for task in tasks for claim in task["claim_ids"]}
    told |= set(known.facts["claim_groups"]["key_features"])
    tags = {task["workflow_tag"] for task in tasks}
    topics = dict.fromkeys(claim["topic"] for claim in known.claims() if claim.get("topic"))
    for topic in topics:
        claims = topic_claims(known, topic)
        title = short_title(topic)
        # A chapter with a number is a part of a whole, and nothing alone.
        is_chapter = plain(topic)[:1].isdigit()
        fresh = known.said(claim for claim in claims if claim not in told)
        if len(fresh) < _LEAST_TOPIC or is_chapter or not _is_title(title) or not short_slug(title):
            continue
        examples = examples_of(known, [slug(topic)], tags)
        yield _page(
            f"docs/{short_slug(title)}", title, "What is known of one topic.",
            described(_about(known, claims, title, examples), known.name), page_role="feature_showcase",
            template="feature", topic=topic, required_snippet_tags=[slug(topic)],
            required_snippet_ids=[one["snippet_id"] for one in examples],
        )  # fmt: skip


def _is_title(title: str) -> bool:
    """A few words, and neither a sentence nor the name of a part that every document has."""
    return _SHORTEST_TITLE <= len(title) <= _LONGEST_TITLE and title.casefold() not in _GENERIC


def _reference(known: Known, config: Mapping[str, Any]) -> list[dict[str, Any]]:
    name = plain(known.name)
    about = f"The API reference of {name}: every public module, and all that is in it."
    index = _page(
        "reference/index", f"{name} API reference", "All modules, and what is in them.", described(about, name),
        page_role="api_reference", template="api_overview", file="_index",
    )  # fmt: skip
    most = config["budgets"]["max_lines_per_file"]
    pages = [
        _page(
            f"reference/{part.slug}", part.title, "Part of the interface.",
            described(f"{part.title} in the API reference of {name}: what is in it, with signatures.", name),
            page_role="api_reference", template="api_module", topic=part.module, symbols=list(part.names),
            weight=20 + 10 * number,
        )
        for number, part in enumerate(module_pages(known, most))
    ]  # fmt: skip
    return [index, *pages]


def _kb(known: Known) -> list[dict[str, Any]]:
    name = plain(known.name)
    told = ["limitations"] if known.cited(*known.facts["claim_groups"]["limitations"]) else []
    told += ["errors"] if any(symbol["kind"] == "exception" for symbol in known.symbols) else []
    topics = " and ".join(told or ["compatibility"])
    return [
        _page(
            "kb/faq", f"{name}: frequently asked questions", "Short answers to common questions.",
            described(f"Short answers about {name}: what it is, what it needs, and how to install it.", name),
            page_role="troubleshooting", template="faq", weight=10,
        ),
        _page(
            "kb/limitations", f"{name}: {topics}", "What to know before relying on it.",
            described(f"What to know about {name} before you rely on it: {topics}, with sources.", name),
            page_role="troubleshooting", template="limitations", weight=20,
        ),
    ]  # fmt: skip


def _blog(known: Known) -> list[dict[str, Any]]:
    name = plain(known.name)
    version = known.fact("version")
    title = f"Announcing {name} {plain(version['value'])}" if version else f"Announcing {name}"
    # News of its day: the next version has a post of its own, and leaves this one as it was.
    file = (version and slug(f"announcing {version['value']}")) or "announcement"
    fresh = "what is new, " if news(known) else ""
    return [
        _page(
            "blog/announcement", title, "The news.",
            described(f"{title}: what it is, {fresh}how to try it, and where to read more.", name),
            page_role="landing", template="announcement", slug=file, file=file,
        )
    ]  # fmt: skip


def _give_examples(pages: Sequence[dict[str, Any]], first: Sequence[Snippet], known: Known) -> None:
    """The best example for the product's page, another one as good for the post, the first few for the start."""
    ids = [one["snippet_id"] for one in first]
    second = [one for one in first[1:] if one["source"].get("origin") == "readme" and is_complete(one, known)]
    post = [one["snippet_id"] for one in second[:1]]
    chosen = {"overview": ids[:1], "announcement": post or ids[:1], "getting_started": ids}
    for page in pages:
        if page["template"] in chosen:
            page["required_snippet_ids"] = chosen[page["template"]]


def _about(known: Known, claims: Sequence[str], title: str, examples: Collection[Snippet]) -> str:
    """The first thing that is said of a task, if it is a plain sentence that fits; else its title."""
    text = next((known.claim(one.claims[0])["claim_text"] for one in known.said(claims) if known.opens(one)), "`")
    if "`" not in text and _SHORTEST <= len(plain(text)) <= _LONGEST and not _GOING_ON.match(text):
        return plain(text)
    more = "with examples and links to the reference" if examples else "and where to read on"
    return f"{title} with {known.name}: what to know, {more}."


def _guided(known: Known) -> str:
    """What the developer guide tells of."""
    tells_modules = any(one["summary"] for one in known.modules.values()) or len(known.units) > 1
    told = [
        word
        for word, is_told in (
            ("its modules", tells_modules),
            ("common tasks", bool(known.facts["workflows"])),
            ("formats", any(one["status"] == "implemented" for one in known.entries("supported_formats"))),
            ("limits", bool(known.cited(*known.facts["claim_groups"]["limitations"]))),
        )
        if is_told
    ]
    return listed(told or ["what it is", "where to read on"])
