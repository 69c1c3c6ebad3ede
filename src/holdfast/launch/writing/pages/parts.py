"""Parts that several pages have: how to install, what is required, a table of the basic facts, an example."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from holdfast.launch.module_names import depth, requirement_text
from holdfast.launch.writing.blocks import Block, Bullets, Code, Heading, Paragraph, Row, Sentence, Table
from holdfast.launch.writing.inline import as_sentence, code, prose, sentences_of
from holdfast.launch.writing.known import Known, Symbol, origin_of
from holdfast.launch.writing.labels import displayed
from holdfast.launch.writing.ways import Ways

__all__ = [
    "at_a_glance", "bullets", "dependency_lines", "example", "examples", "formats_table", "inside",
    "install_commands", "lead", "listed", "main_modules", "modules_title", "on_one_line", "paragraph",
    "untold_limits",
]  # fmt: skip

_TELL_LIMITS = ("kb/limitations", "docs/developer-guide", "products/overview")
_FEW = 3
_LEAST_MODULES = 2
_MOST_ROWS = 8
_AROUND = ("{} features ", "With {} you can ")
_RUNS_ON = re.compile(r"(\S+) runs on ((?:(?! and |, ).)+)\.")
_MOST_PLATFORMS = 8
_MOST_WAYS = 3
_DIRECTIONS = {"read": "Read", "write": "Write", "both": "Read and write", "": "Supported"}


def paragraph(sentences: Iterable[Sentence]) -> Paragraph:
    """Sentences as a paragraph."""
    return Paragraph(tuple(sentences))


def bullets(items: Iterable[Sentence]) -> Bullets:
    """Sentences as a list."""
    return Bullets(tuple(items))


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def lead(known: Known, *, is_short: bool = False) -> list[Block]:
    """What the product is."""
    positioning = known.facts["positioning"]
    text = positioning["short_description"] or positioning["tagline"]
    sentences = known.sentences(text, positioning["claim_ids"])
    return [paragraph(sentences[: 1 if is_short else 5])]


def install_commands(known: Known) -> list[Block]:
    """How it is installed: the commands that the facts give, and no other."""
    made: list[Block] = []
    for number, entry in enumerate(known.entries("distribution")[:_MOST_WAYS]):
        shown = _installing(entry)
        if shown is not None:
            text = _install_lead(entry, is_first=not number)
            made += [paragraph([Sentence(text, known.cited(entry["claim_id"]))]), shown]
    return made


def _install_lead(entry: Mapping[str, Any], *, is_first: bool) -> str:
    """Each way says how it is begun; a single command needs no name."""
    if "lead" in entry:
        return prose(entry["lead"])
    return "Install the package with this command:" if is_first else "Or install it like this:"


def _installing(entry: Mapping[str, Any]) -> Code | None:
    """The command of one way to install the product, or what is written into a file."""
    declared = entry.get("declaration")
    if declared:
        return Code(declared["language"], declared["code"]) if "{{" not in declared["code"] else None
    commands = [command for command in entry["install_commands"] if "\n" not in command and "{{" not in command]
    return Code("shell", commands[0]) if commands else None


def _dependency_text(entry: Mapping[str, Any]) -> str:
    """A dependency as it is written in a list."""
    return code(requirement_text(entry["name"], entry["requirement"]))


def dependency_lines(known: Known) -> list[Sentence]:
    """What comes along: a few packages one by one, many in one sentence, and none where the project says so."""
    needed = [entry for entry in known.entries("dependencies") if "extra" not in entry]
    if not needed:
        return known.said((claim["claim_id"] for claim in known.claims(("dependency",))), 1)
    if len(needed) <= _FEW:
        return known.said(entry["claim_id"] for entry in needed)
    names = listed([_dependency_text(entry) for entry in needed])
    cited = known.cited(*(entry["claim_id"] for entry in needed))
    return [Sentence(f"{prose(known.name)} depends on {names}.", cited)]


def inside(known: Known, title: str, most: int, claims: Sequence[str]) -> list[Block]:
    """What the product does, by these claims; where they are too few for a list, by its modules."""
    said = known.said(claims, most)
    modules = main_modules([one for one in known.modules.values() if one["summary"]], _MOST_ROWS, known.packages)
    if len(said) > 1:
        return [Heading(2, title), bullets(_named(known, one) for one in said)]
    if len(modules) < _LEAST_MODULES:
        names = tuple(_main_names(known, most))
        made: list[Block] = [Heading(2, title), bullets(said)]
        return [*made, Heading(2, "What is inside"), Table(("Name", "Purpose"), names)]
    rows = tuple(
        Row((code(one["module"]), as_sentence(one["summary"], known.names)), known.cited(one["claim_id"]))
        for one in modules
    )
    return [Heading(2, "What is inside"), Table((modules_title(known).removesuffix("s"), "Purpose"), rows)]


def _named(known: Known, feature: Sentence) -> Sentence:
    """A feature under a heading that says what the list is: by its name, without a sentence around it."""
    claim = known.claim(feature.claims[0])
    text = claim["claim_text"]
    start = next((one.format(known.name) for one in _AROUND if text.startswith(one.format(known.name))), "")
    if claim["truth_status"] == "inference" or not start:
        return feature
    return feature._replace(text=as_sentence(text.removeprefix(start), known.names))


def _main_names(known: Known, most: int) -> list[Row]:
    """What a product with a single package offers, where the project says nothing else of it: types come first."""
    units = [unit for module in known.packages for unit in known.units.get(module, ()) if unit.symbol["summary"]]
    first = sorted(units, key=lambda unit: (-len(unit.members), unit.symbol["kind"] == "constant"))[:most]
    return [
        Row(
            (code(displayed(unit.symbol)), as_sentence(sentences_of(unit.symbol["summary"])[0], known.names)),
            known.cited(unit.symbol["claim_id"]),
        )
        for unit in first
    ]


def modules_title(known: Known) -> str:
    """What the modules of the product are called: modules, packages, namespaces."""
    return f"{(known.nouns[1] or 'module').capitalize()}s"


def main_modules(modules: Sequence[Symbol], most: int, packages: Sequence[str] = ()) -> list[Symbol]:
    """All modules where they are few; else those that are not deeper in the tree than so many are."""
    depths = [depth(one["module"], packages) for one in modules]
    counts = sorted(Counter(depths).items())
    so_far = accumulate(number for _, number in counts)
    deepest = max((depth for (depth, _), number in zip(counts, so_far, strict=True) if number <= most), default=-1)
    shallow = [one for one, depth in zip(modules, depths, strict=True) if depth <= deepest]
    return shallow or list(modules[:most])


def on_one_line(sentences: Iterable[Sentence]) -> list[Sentence]:
    """The sentences, those that name one system each brought together: `x runs on a, b and c.`"""
    made: list[Sentence] = []
    at: dict[str, int] = {}
    systems: dict[str, list[str]] = {}
    for sentence in sentences:
        found = _RUNS_ON.fullmatch(sentence.text)
        if not found:
            made.append(sentence)
            continue
        systems.setdefault(found[1], []).append(found[2])
        if found[1] not in at:
            at[found[1]] = len(made)
            made.append(sentence)
            continue
        claims = dict.fromkeys((*made[at[found[1]]].claims, *sentence.claims))
        made[at[found[1]]] = Sentence(f"{found[1]} runs on {listed(systems[found[1]])}.", tuple(claims))
    return made


def untold_limits(ways: Ways) -> list[Block]:
    """The limitations, where no page has them that is meant for them."""
    if any(page in ways for page in _TELL_LIMITS) and ways.page["page_id"] != "products/overview":
        return []
    if any(page in ways for page in _TELL_LIMITS[:2]):
        return []
    said = ways.known.said(ways.known.facts["claim_groups"]["limitations"], 12)
    return [Heading(2, "Limitations"), bullets(said)]


def formats_table(known: Known) -> list[Block]:
    """The file formats that are there already."""
    rows = {
        entry["format"].casefold(): Row(
            (prose(entry["format"]), _DIRECTIONS[entry.get("direction", "")]), known.cited(entry["claim_id"])
        )
        for entry in known.entries("supported_formats")
        if entry["status"] == "implemented"
    }
    return [Table(("Format", "Use"), tuple(rows.values()))]


def at_a_glance(known: Known) -> list[Block]:
    """The basic facts in a table."""
    rows: list[Row] = []
    if version := known.fact("version"):
        rows.append(Row(("Version", prose(version["value"])), known.cited(version["claim_id"])))
    if license_ := known.fact("license"):
        rows.append(Row(("License", prose(license_["name"])), known.cited(license_["claim_id"])))
    for entry in known.entries("runtime_requirements")[:3]:
        asked = code(entry["requirement"]) if entry["requirement"] else "Required"
        rows.append(Row((prose(entry["name"]), asked), known.cited(entry["claim_id"])))
    platforms = known.entries("supported_platforms")
    version_of = re.compile(rf"{re.escape(known.runtime)} (?=\d)")
    versions = [entry for entry in platforms if version_of.match(entry["platform"])]
    if any(entry["platform"].startswith(known.runtime) for entry in platforms if entry not in versions):
        versions = []  # variants of the platform, and not its versions alone
    rows += _platforms(known, f"{known.runtime} versions", versions, known.runtime)
    others = [entry for entry in platforms if entry not in versions]
    interpreters = [entry for entry in others if known.claim(entry["claim_id"]).get("topic") == "implementations"]
    rows += _platforms(known, f"{known.runtime} implementations", interpreters)
    rows += _platforms(known, "Platforms", [entry for entry in others if entry not in interpreters])
    formats = [entry for entry in known.entries("supported_formats") if entry["status"] == "implemented"]
    if formats:
        names = ", ".join(dict.fromkeys(prose(entry["format"]) for entry in formats[:12]))
        rows.append(Row(("Formats", names), known.cited(*(entry["claim_id"] for entry in formats[:12]))))
    if (home := known.fact("homepage")) and home["url"].startswith(("https://", "http://")):
        rows.append(Row(("Homepage", prose(home["url"])), known.cited(home["claim_id"])))
    return [Table(("Fact", "Value"), tuple(rows))]


def _platforms(known: Known, title: str, entries: Sequence[Mapping[str, Any]], runtime: str = "") -> list[Row]:
    short = (entry["platform"].removeprefix(f"{runtime} ") if runtime else entry["platform"] for entry in entries)
    names = dict.fromkeys(prose(name) for name in list(short)[:_MOST_PLATFORMS])
    cited = known.cited(*(entry["claim_id"] for entry in entries[:_MOST_PLATFORMS]))
    return [Row((title, ", ".join(names)), cited)] if names else []


def example(known: Known, snippet_id: str, level: int = 0, like_it: int = 1) -> list[Block]:
    """A snippet with its introduction, under a heading of its own if it has a level and something to say."""
    about, shown = known.shown(snippet_id, like_it)
    made: list[Block] = [paragraph(about), shown]
    if not level:
        return made
    snippet = known.snippets[snippet_id]
    text, claims = known.heading(snippet.get("title", ""), known.near(snippet))
    return [Heading(level, text, claims), *made]


def examples(known: Known, snippet_ids: Sequence[str], level: int) -> list[list[Block]]:
    """Several snippets, each with what introduces it; where they are from is said before the first of a kind."""
    bare = [one for one in snippet_ids if not known.introduction(known.snippets[one])]
    alike = Counter(origin_of(known.snippets[one]) for one in bare)
    told: set[str] = set()
    made: list[list[Block]] = []
    for one in snippet_ids:
        origin = origin_of(known.snippets[one])
        made.append(example(known, one, level if made else 0, 0 if origin in told else alike[origin]))
        told.add(origin)
    return made
