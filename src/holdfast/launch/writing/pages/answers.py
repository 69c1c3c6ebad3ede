"""The pages of the knowledge base: questions that facts can answer, limits, and errors with what they mean."""

from holdfast.launch.writing.blocks import Block, Heading, Sentence, claims_used
from holdfast.launch.writing.inline import code, prose
from holdfast.launch.writing.known import Known, Symbol
from holdfast.launch.writing.labels import displayed
from holdfast.launch.writing.pages.parts import (
    bullets,
    dependency_lines,
    formats_table,
    install_commands,
    lead,
    listed,
    on_one_line,
    paragraph,
)
from holdfast.launch.writing.ways import Ways

__all__ = ["faq", "limitations"]

_MOST_ERRORS = 30
_MOST_RAISING = 6
_MOST_NEEDED = 6
_FEW_EXTRAS = 4
_MANY = 12
_MOST_NAMED = 5


def faq(ways: Ways) -> list[Block]:
    """Questions, each with what the repository says about it."""
    known = ways.known
    name = prose(known.name)
    asked: list[tuple[str, list[Block]]] = [
        (f"What is {name}?", lead(known)),
        ("What is needed to run it?", _needed(known)),
        (f"How do I install {name}?", install_commands(known)[:2]),
        ("Which other packages does it need?", _dependencies(ways)),
        ("Which file formats does it work with?", formats_table(known)),
        ("Is there a command line tool?", _commands(known)),
        ("Under which license is it?", _license(known)),
        ("Which version is described here?", _version(known)),
        ("What are its limits?", _limits(known)),
        ("Where is the source code?", _source(known)),
    ]
    made: list[Block] = []
    for question, answer in asked:
        title, claims = known.heading(question, claims_used(answer))
        made += [Heading(2, title, claims), *answer]
    return [*made, *ways.onward("docs/installation", "kb/limitations", "docs/index", title="Read on")]


def limitations(ways: Ways) -> list[Block]:
    """What does not work, and what errors mean."""
    known = ways.known
    groups = known.facts["claim_groups"]
    said = known.said([*groups["limitations"], *known.facts.get("limitations", ())], 30)
    notes = on_one_line(known.said(groups["compatibility_notes"]))[:_MOST_NEEDED]
    made: list[Block] = [Heading(2, "Known limitations"), bullets(said)]
    made += [Heading(2, "Compatibility"), bullets(notes)]
    made += [Heading(2, "Errors and what they mean"), *_errors(known)]
    return [*made, *ways.onward("kb/faq", "docs/getting-started", "reference/index", title="Read on")]


def _needed(known: Known) -> list[Block]:
    asked = [*known.entries("runtime_requirements"), *known.entries("supported_platforms")]
    return [paragraph(on_one_line(known.said(entry["claim_id"] for entry in asked))[:_MOST_NEEDED])]


def _dependencies(ways: Ways) -> list[Block]:
    """Many are told by their number and the first few, where another page lists them all."""
    known = ways.known
    needed = {entry["name"]: entry["claim_id"] for entry in known.entries("dependencies") if "extra" not in entry}
    told = dependency_lines(known)
    if len(needed) > _MANY and "docs/installation" in ways:
        first = listed([code(name) for name in list(needed)[:_MOST_NAMED]])
        link = ways.link("docs/installation")
        text = f"{prose(known.name)} depends on {len(needed)} packages, among them {first}"
        told = [Sentence(f"{text}; all are listed in [{link.title}]({link.url}).", known.cited(*needed.values()))]
    told += _extras(known)
    return [bullets(told) if len(told) > 1 else paragraph(told)]


def _extras(known: Known) -> list[Sentence]:
    """Few are told one by one; of many the names, since the page on installing tells the rest."""
    entries = known.entries("extras")
    if len(entries) <= _FEW_EXTRAS:
        return known.said(entry["claim_id"] for entry in entries)
    names = listed([code(entry["name"]) for entry in entries])
    text = f"What is optional comes with the {known.extra_noun}s {names}."
    return [Sentence(text, known.cited(*(entry["claim_id"] for entry in entries)))]


def _commands(known: Known) -> list[Block]:
    return [paragraph(known.said((entry["claim_id"] for entry in known.entries("commands")), 4))]


def _license(known: Known) -> list[Block]:
    license_ = known.fact("license")
    if not license_:
        return []
    made = known.said([license_["claim_id"]])
    if license_.get("path"):
        text = f"The full text is in {code(license_['path'])} in the repository."
        made.append(Sentence(text, known.cited(license_["claim_id"])))
    return [paragraph(made)]


def _version(known: Known) -> list[Block]:
    version = known.fact("version")
    return [paragraph(known.said([version["claim_id"]]))] if version else []


def _limits(known: Known) -> list[Block]:
    return [bullets(known.said(known.facts["claim_groups"]["limitations"], 6))]


def _source(known: Known) -> list[Block]:
    """Only an address on the web is one that a reader can open."""
    address = known.facts["repo_url"]
    if not address.startswith("https://"):
        return []
    return [paragraph([Sentence(f"See {prose(address)}.")])]


def _errors(known: Known) -> list[Block]:
    raising = _raising(known)
    made: list[Block] = []
    for symbol in [one for one in known.symbols if one["kind"] == "exception"][:_MOST_ERRORS]:
        claims = known.cited(symbol["claim_id"])
        sentences = known.sentences(symbol["summary"], claims)
        by = raising.get(symbol["name"], [])[:_MOST_RAISING]
        if by:
            names = listed([code(displayed(one)) for one in by])
            sentences.append(Sentence(f"Raised by {names}.", known.cited(*(one["claim_id"] for one in by))))
        if sentences:
            made += [Heading(3, code(symbol["name"]), claims), paragraph(sentences)]
    return made


def _raising(known: Known) -> dict[str, list[Symbol]]:
    found: dict[str, list[Symbol]] = {}
    for symbol in known.symbols:
        for one in symbol.get("raises") or ():
            found.setdefault(one["name"].split(".")[-1], []).append(symbol)
    return found
