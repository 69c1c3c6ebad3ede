"""The pages of the documentation: contents, installation, first steps, a page per task, the guide to all of it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import Any

from holdfast.launch.writing.blocks import Block, Code, Heading, Paragraph, Sentence, Table, claims_used
from holdfast.launch.writing.inline import code, short_title, slug
from holdfast.launch.writing.known import Known, Symbol, is_installing, language_of
from holdfast.launch.writing.labels import displayed
from holdfast.launch.writing.mentions import mentioned_symbols
from holdfast.launch.writing.pages.api import module_table, symbol_rows
from holdfast.launch.writing.pages.parts import (
    bullets,
    dependency_lines,
    example,
    examples,
    formats_table,
    install_commands,
    lead,
    listed,
    main_modules,
    modules_title,
    paragraph,
)
from holdfast.launch.writing.ways import Ways

__all__ = ["contents", "developer_guide", "feature", "getting_started", "installation", "topic_claims", "workflow"]

_MOST_TOLD = 30
_MOST_MODULES = 40
_MOST_PLATFORMS = 8
_SHORT = 20
_WELCOME = re.compile(r"(?i)welcome|introduction|overview|about\b")
_ON_INSTALLING = re.compile(
    r"(?i)\b(?:install|pip|conda|virtual ?env|environment|package|wheel|python|upgrad|depend|npm|node|cargo|crate|"
    r"rust|go \d|maven|gradle|java|nuget|\.net)"
)


def contents(ways: Ways) -> list[Block]:
    """The start of the documentation: what there is to read. No code."""
    known = ways.known
    first = ("docs/installation", "docs/getting-started", "docs/developer-guide")
    guides = [one["page_id"] for one in ways.pages("docs") if one["page_id"] not in first]
    more = ("products/overview", "reference/index", "kb/faq", "kb/limitations", "blog/announcement")
    return [
        *lead(known),
        Heading(2, "Start here"), ways.links(first),
        Heading(2, "Guides"), ways.links(guides),
        Heading(2, "Reference and help"), ways.links(more),
    ]  # fmt: skip


def installation(ways: Ways) -> list[Block]:
    """Requirements, the command, extras, and how to see that it worked."""
    known = ways.known
    made: list[Block] = [Heading(2, "Requirements"), bullets(_requirements(known))]
    made += [Heading(2, "Install the package"), *install_commands(known)]
    extras = known.said(entry["claim_id"] for entry in known.entries("extras"))
    made += [Heading(2, f"Optional {known.extra_noun}s"), bullets(extras)]
    made += [Heading(2, "Good to know"), bullets(_install_notes(known, claims_used(made)))]
    made += [Heading(2, "Check the installation"), *_check(known)]
    return [*made, *ways.onward("docs/getting-started", "docs/developer-guide", "kb/limitations")]


def getting_started(ways: Ways) -> list[Block]:
    """The first examples, in the order in which the project shows them."""
    page, known = ways.page, ways.known
    made: list[Block] = [*lead(known, is_short=True)]
    if "docs/installation" in ways:
        made.append(paragraph([ways.see("docs/installation", "Before you begin, see")]))
    made.append(Heading(2, "First steps"))
    made.append(paragraph(_beside(known, page["required_snippet_ids"][:1])))
    headings = {""}
    for number, snippet_id in enumerate(page["required_snippet_ids"]):
        snippet = known.snippets[snippet_id]
        heading = known.heading(snippet.get("title", ""), known.near(snippet))[0]
        # Code about which nothing is said, and that has no name of its own, teaches nobody.
        if not number or heading not in headings or known.introduction(snippet):
            made += example(known, snippet_id, 2 if number else 0)
        headings.add(heading)
    guides = [one["page_id"] for one in ways.pages("docs") if one["template"] in ("workflow", "feature")]
    return [*made, *ways.onward(*guides[:5], "docs/developer-guide", "reference/index")]


def _beside(known: Known, snippet_ids: Sequence[str]) -> list[Sentence]:
    """The first steps that the project tells where it shows this example, and not those of another page."""
    near = {claim for one in snippet_ids for claim in known.near(known.snippets[one])}
    return known.said([claim for claim in known.facts["claim_groups"]["quickstart_steps"] if claim in near], 3)


def workflow(ways: Ways) -> list[Block]:
    """One task, from the claims and examples that belong to it."""
    page, known = ways.page, ways.known
    task = next(one for one in known.facts["workflows"] if one["workflow_tag"] == page["topic"])
    claims = known.cited(*task["claim_ids"])
    said = known.said(claims, 12)
    already = " ".join(one.text for one in said).casefold()
    opening = known.supported(task.get("summary", ""), claims[:2])
    return _task_page(ways, [*(one for one in opening if one.text.casefold() not in already), *said])


def feature(ways: Ways) -> list[Block]:
    """One topic, from the claims about it."""
    page, known = ways.page, ways.known
    return _task_page(ways, known.said(topic_claims(known, page["topic"]), 14))


def developer_guide(ways: Ways) -> list[Block]:
    """How the product is put together, and every task that is described somewhere."""
    known = ways.known
    made: list[Block] = [*lead(known, is_short=True), Heading(2, modules_title(known)), *_modules(ways)]
    made += [Heading(2, "Common tasks"), *_tasks(ways)]
    made += [Heading(2, "File formats"), *formats_table(known), Heading(2, "Command line"), *_commands(known)]
    limits = known.said(known.facts["claim_groups"]["limitations"], 3 if "kb/limitations" in ways else 12)
    made += [Heading(2, "Limits to know"), bullets(limits)]
    return [*made, *ways.onward("reference/index", "kb/limitations", "kb/faq")]


def topic_claims(known: Known, topic: str) -> list[str]:
    """The claims about a topic."""
    return list(known.topics.get(slug(topic), ()))


def _requirements(known: Known) -> list[Sentence]:
    """What has to be there, and what comes along."""
    required = known.entries("runtime_requirements") or known.entries("supported_platforms")[:_MOST_PLATFORMS]
    asked = known.said(entry["claim_id"] for entry in required)
    return [*asked, *dependency_lines(known)]


def _install_notes(known: Known, told: Sequence[str]) -> list[Sentence]:
    """What else the project says about installing."""
    steps = known.facts["claim_groups"]["install_steps"]
    notes = [
        claim for claim in known.cited(*steps)
        if claim not in told and _ON_INSTALLING.search(known.claim(claim)["claim_text"])
    ]  # fmt: skip
    return known.said(notes, 4)


def _check(known: Known) -> list[Block]:
    """Fact-free where it can be: that an import works is the only thing that is known to be true."""
    if imports := known.entries("imports"):
        return _imports(known, imports)
    packages = known.facts.get("code_structure", {}).get("package_names", [])
    names = [entry["identifier"] for entry in known.entries("distribution")]
    modules = [symbol for symbol in known.symbols if symbol["module"].split(".")[0] in packages]
    if not modules or not (packages or names):
        return []
    uses = Counter(
        tag[4:].split(".")[0] for one in known.snippets.values() for tag in one["tags"] if tag[:4] == "api:"
    )
    main = max(modules, key=lambda one: uses[one["module"].split(".")[0]])  # the first of equal ones
    package = main["module"].split(".")[0]
    text = f"Start the interpreter and import {code(package)}: if no error is shown, the package is ready."
    made: list[Block] = [paragraph([Sentence(text, known.cited(main["claim_id"]))])]
    made.append(paragraph(known.said((entry["claim_id"] for entry in known.entries("commands")), 3)))
    return made


def _imports(known: Known, imports: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The lines by which the product is reached from code, and what it installs besides."""
    cited = known.cited(*(one["claim_id"] for one in imports))
    shown = "\n".join(one["code"] for one in imports if "{{" not in one["code"])
    made: list[Block] = [paragraph([Sentence("Import it; if that works, the package is ready:", cited)])]
    made.append(Code(known.language, shown))
    made.append(paragraph(known.said((entry["claim_id"] for entry in known.entries("commands")), 3)))
    return made if shown else []


def _task_page(ways: Ways, said: Sequence[Sentence]) -> list[Block]:
    """Sentences, examples, more sentences; what introduces an example stands before it and nowhere else."""
    page, known = ways.page, ways.known
    shown = page["required_snippet_ids"]
    used = mentioned_symbols(known, [known.snippets[one] for one in shown])
    parts = examples(known, shown, 3)
    introduced = {_plainly(one) for part in parts for one in _sentences(part)}
    free = [one for one in said if _plainly(one) not in introduced]
    opening = _opening(known, free) or (_opening(known, said)[:1] if not free else []) or _uses(known, used)
    made: list[Block] = [paragraph(opening)]
    if shown:
        made.append(Heading(2, "Example" if len(shown) == 1 else "Examples"))
    made += [block for part in parts for block in part]
    if opening or shown:  # else there is nothing before it that it would have to be set apart from
        made.append(Heading(2, "Good to know"))
    made.append(bullets(one for one in free if one not in opening))
    made += [Heading(2, "Used in this guide"), Table(("Name", "Summary"), tuple(symbol_rows(ways, used)))]
    others = [one["page_id"] for one in ways.pages("docs") if one["template"] in ("workflow", "feature")]
    after = [one for one in others if ways.is_after(one)][:2]
    return [*made, *ways.onward(*after, "docs/developer-guide", "reference/index")]


def _opening(known: Known, said: Sequence[Sentence]) -> list[Sentence]:
    """What a page begins with; nothing where each sentence would need those that stood before it."""
    return list(takewhile(known.opens, dropwhile(lambda one: not known.opens(one), said)))[:3]


def _uses(known: Known, used: Sequence[Symbol]) -> list[Sentence]:
    """What to say of examples about which the project says nothing."""
    if not used:
        return []
    names = listed([code(displayed(one)) for one in used[:4]])
    return [Sentence(f"This page shows {names} at work.", known.cited(*(one["claim_id"] for one in used[:4])))]


def _sentences(blocks: Sequence[Block]) -> list[Sentence]:
    return [one for block in blocks if isinstance(block, Paragraph) for one in block.sentences]


def _plainly(sentence: Sentence) -> str:
    return sentence.text.rstrip(".:").casefold()


def _modules(ways: Ways) -> list[Block]:
    """The modules that say what they are for; where none does and there are several, what each offers."""
    modules = [symbol for symbol in ways.known.modules.values() if symbol["summary"]]
    if not modules and len(ways.known.units) > 1:
        return module_table(ways)
    title = modules_title(ways.known).removesuffix("s")
    shown = main_modules(modules, _MOST_MODULES, ways.known.packages)
    return [Table((title, "Purpose"), tuple(symbol_rows(ways, shown)))]


def _tasks(ways: Ways) -> list[Block]:
    """Tasks that have their own page in one list; the others are told here, unless the first steps show them."""
    known = ways.known
    pages = {page.get("topic"): page["page_id"] for page in ways.pages("docs")}
    started = ways.snippets("docs/getting-started")
    linked: list[Sentence] = []
    told: list[Block] = []
    for task in known.facts["workflows"]:
        said = known.said(task["claim_ids"], 3)
        if page_id := pages.get(task["workflow_tag"]):
            link = ways.link(page_id)
            more, claims = (f": {said[0].text}", said[0].claims) if said and known.opens(said[0]) else ("", ())
            linked.append(Sentence(f"[{link.title}]({link.url}){more}", claims))
        elif (
            said
            and not _WELCOME.match(task["title"])
            and started.isdisjoint(one["snippet_id"] for one in known.tagged(task["snippet_tags"]))
        ):
            one = _told(known, task, said)
            told += one if len(told) + len(one) <= _MOST_TOLD else []
    return [bullets(linked), *told]


def _told(known: Known, task: Mapping[str, Any], said: Sequence[Sentence]) -> list[Block]:
    """A task without a page of its own: what is said of it, and a short example."""
    title, claims = known.heading(short_title(task["title"]), task["claim_ids"])
    opening = _opening(known, said)
    made: list[Block] = [Heading(3, title, claims), paragraph(opening)]
    made.append(bullets(one for one in said if one not in opening))
    short = [
        one
        for one in known.tagged(task["snippet_tags"])
        if language_of(one) != "text" and one["code"].count("\n") < _SHORT and not is_installing(one)
    ]
    if short:
        about, shown = known.shown(short[0]["snippet_id"])
        made += [paragraph(about), shown]
    return made


def _commands(known: Known) -> list[Block]:
    entries = known.entries("commands")
    about = [
        claim["claim_id"] for claim in known.claims(("feature", "workflow", "other")) if _is_about_command(claim)
    ]
    told = [*(entry["claim_id"] for entry in entries), *about]
    return [bullets(known.said(told, 5))] if entries else []


def _is_about_command(claim: Mapping[str, Any]) -> bool:
    text = claim["claim_text"].lower()
    return "command line" in text or "command-line" in text
