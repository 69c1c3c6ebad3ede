"""What may be said of a product: its facts, claims, snippets and symbols, ready to be quoted.

A claim that lost against another one is not quoted, nor one that was only inferred, unless that is allowed and
then it says so; nor a snippet that does not parse or that a site would run. Which page says what is decided
elsewhere.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any, NamedTuple

from holdfast.launch.claim_marks import normalised
from holdfast.launch.facts.sentences import leans
from holdfast.launch.factual import factual_lines, identifiers_of, names_of
from holdfast.launch.factual_words import FORMATS
from holdfast.launch.writing.blocks import Block, Code, Sentence
from holdfast.launch.writing.inline import as_sentence, heading_text, holds_shortcode, sentences_of, slug
from holdfast.launch.writing.labels import labels

__all__ = ["Known", "Snippet", "Symbol", "Unit", "is_installing", "language_of", "origin_of"]

_LONGEST_CLAIM = 500
_LONGEST_SNIPPET = 80
_NEAR = 4
_TOPIC_KINDS = ("feature", "workflow", "format", "other")
_INSTALLING = (
    "pip install", "pip3 install", "pipx ", "uv ", "poetry add", "conda install", "python -m pip",
    "npm i", "npm install", "pnpm add", "yarn add", "bun add", "deno add", "jsr add", "go get", "go install",
    "cargo add", "cargo install", "dotnet add", "dotnet tool install", "Install-Package", "PM>", "<dependency>",
    "<PackageReference", "implementation ", "implementation(", "compile ", "[dependencies]", "nuget install",
    "brew install", "git clone", "paket add",
)  # fmt: skip
_ORIGINS = ("readme", "example", "docs", "docstring", "test")
_LANGUAGES = {
    "py": "python",
    "pycon": "python",
    "sh": "shell",
    "bash": "shell",
    "console": "shell",
    "zsh": "shell",
}
# Where an example is: nothing on a page that shows it.
_NOT_SAID = re.compile(
    r"\bhas an example\b|\bunder the heading\b|\bcomes with an example\b|\bREADME of .* (?:shows how|covers)\b"
)
_INSTALLS_CHECKOUT = r"\bpip3? install (?:-e |--editable )?['\"]?\.(?!\w)"
_INSTALLS_NAME = r"\bpip3? install ['\"]?{}(?![\w.-])"
# `It reads files.` and `It now reads files.` say the same: one of them is enough.
_WORDS_OF_TIME = re.compile(r"\b(?:now|also|currently|already) ")
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_CODE_SPAN = re.compile(r"`[^`]*`")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ANNOUNCING = re.compile(
    r"(?:(?:for|an?|basic|usage|code|simple)\s+)?(?:example|usage|examples)(?:\s+usage)?\.", re.IGNORECASE
)
# What leads through the page that the example stood on: here there is no page before it.
_LEADING_ON = re.compile(
    r"^(?:…|\.\.\.)"
    r"|\b(?:we(?:['’](?:ve|ll|re))?|let['’]s|so far|at this point|imagine|earlier|previous(?:ly)?|again)\b"
    r"|^(?:as a result|therefore|thus|hence|so|then|but|however|now|instead|finally|next|also)\b"
    r"|^(?:it|they) also\b|\b(?:this|these) (?:\w+ )?(?:functions?|methods?|class(?:es)?|options?|arguments?)\b"
    r"|\babove\b|\bREADME\b|^(?:as you|in the same \w+|in other words|correspondingly|similarly|likewise)\b"
    r"|^(?:becomes?|gives?|yields?|produces?|returns?|outputs?|results? in)\b",
    re.IGNORECASE,
)
# What is shown as it should not be, or does not work, is no example without the words that say so.
_WARNING = re.compile(
    r"\b(?:not|never|wrong|incorrect|invalid|bad|avoid|broken|fails?|raises?|errors?|instead of|rather than)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
# How a product speaks of itself, where claims have its name.
_THIS_PRODUCT = re.compile(r"^This (?:library|package|project|tool|framework|program|module)\b")
_PROVENANCE = {
    "example": "This example is part of the project.",
    "readme": "This example is from the README of the project.",
    "docs": "This example is from the documentation of the project.",
    "docstring": "This example is from the source code.",
    "test": "This example is from the tests of the project.",
}

Facts = Mapping[str, Any]
Snippet = Mapping[str, Any]
Symbol = Mapping[str, Any]


class Unit(NamedTuple):
    """What is described in one piece: a function, a constant, or a class with its members."""

    symbol: Symbol
    members: tuple[Symbol, ...]


class Known:
    """The facts of one product, and what of them may be said."""

    def __init__(self, facts: Facts, evidence: Facts, catalog: Facts, *, allow_inference: bool = False) -> None:
        self.facts = facts
        self.name: str = facts["product_name"]
        self.names = names_of(facts)
        self._other_way = re.compile(_other_way(facts.get("distribution", ())))
        self.packages: list[str] = facts.get("code_structure", {}).get("package_names", [])
        ecosystem = facts.get("ecosystem", {})
        self.language: str = ecosystem.get("language", "python")
        self.runtime: str = ecosystem.get("runtime", "Python")
        self.extra_noun: str = ecosystem.get("extra_noun") or "extra"
        self.nouns: tuple[str, str] = (ecosystem.get("package_noun", "package"), ecosystem.get("module_noun", ""))
        self.identifiers = identifiers_of(facts)
        lost = set(_lost(evidence["contradictions"]))
        self._claims: dict[str, Mapping[str, Any]] = {
            claim["claim_id"]: claim
            for claim in sorted(facts["claims"], key=_reading_order(evidence["claims"]))
            if claim["claim_id"] not in lost and (allow_inference or claim["truth_status"] == "fact")
        }
        self._by_words = {normalised(claim["claim_text"], self.name): key for key, claim in self._claims.items()}
        self._paths: dict[str, str] = {
            claim["claim_id"]: claim["citations"][0]["path"] for claim in evidence["claims"] if claim["citations"]
        }
        self._places = _places(evidence["claims"], self._claims)
        self._factual: dict[str, bool] = {}
        self.descriptions: dict[tuple[str, int], list[Block]] = {}
        self.snippets: dict[str, Snippet] = {
            snippet["snippet_id"]: snippet
            for snippet in sorted(catalog["snippets"], key=_snippet_rank)
            if _is_usable(snippet) and not self._is_warning(snippet)
        }

    @functools.cached_property
    def symbols(self) -> list[Symbol]:
        """The public interface, each name once, by module and place."""
        public = [
            symbol for symbol in self.facts["api_symbols"] if symbol["public"] and symbol["claim_id"] in self
        ]
        unique = {symbol["qualified_name"]: symbol for symbol in reversed(public)}
        return sorted(
            unique.values(), key=lambda one: (one["module"], one["path"], one["start_line"], one["name"])
        )

    @functools.cached_property
    def modules(self) -> dict[str, Symbol]:
        """The modules that say what they are for, by name."""
        return {symbol["module"]: symbol for symbol in self.symbols if symbol["kind"] == "module"}

    @functools.cached_property
    def shown_words(self) -> Counter[str]:
        """How many of the examples use each word."""
        return Counter(word for snippet in self.snippets.values() for word in set(_WORD.findall(snippet["code"])))

    @functools.cached_property
    def units(self) -> dict[str, list[Unit]]:
        """What is to be described of every module, in the order of the source."""
        members: dict[str, list[Symbol]] = {}
        tops: dict[str, list[Symbol]] = {}
        names = {symbol["qualified_name"] for symbol in self.symbols}
        for symbol in self.symbols:
            if symbol["kind"] == "module":
                tops.setdefault(symbol["module"], [])
            elif symbol.get("parent") and symbol["parent"] in names:
                members.setdefault(symbol["parent"], []).append(symbol)
            elif symbol["kind"] not in ("method", "property"):
                tops.setdefault(symbol["module"], []).append(symbol)
        return {
            module: [Unit(symbol, tuple(members.get(symbol["qualified_name"], ()))) for symbol in found]
            for module, found in sorted(tops.items())
        }

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """The heading under which each name of the interface is described, by its full name."""
        return labels(self.symbols)

    @functools.cached_property
    def spoken_of(self) -> frozenset[str]:
        """The modules whose full names stand in a snippet or in what is said of the product."""
        texts = [snippet["code"] for snippet in self.snippets.values()]
        texts += [claim["claim_text"] for claim in self._claims.values() if claim["claim_kind"] != "api"]
        dotted = {name for text in texts for name in _DOTTED.findall(text)}
        named = {module for module in self.units if "/" in module or "::" in module}
        return frozenset(
            ".".join(name.split(".")[:end]) for name in dotted for end in range(2, name.count(".") + 2)
        ) | {module for module in named if any(module in text for text in texts)}

    @functools.cached_property
    def topics(self) -> dict[str, list[str]]:
        """The claims about each topic, by the topic as part of an address."""
        found: dict[str, list[str]] = {}
        for claim in self.claims(_TOPIC_KINDS):
            if topic := slug(claim.get("topic", "")):
                found.setdefault(topic, []).append(claim["claim_id"])
        return found

    def __contains__(self, claim_id: object) -> bool:
        return claim_id in self._claims

    def claim(self, claim_id: str) -> Mapping[str, Any]:
        """A claim that may be said."""
        return self._claims[claim_id]

    def claims(self, kinds: Iterable[str] = ()) -> list[Mapping[str, Any]]:
        """All that may be said, of some kinds or of every kind."""
        wanted = frozenset(kinds)
        return [claim for claim in self._claims.values() if not wanted or claim["claim_kind"] in wanted]

    def cited(self, *claim_ids: str) -> tuple[str, ...]:
        """Those of the claims that may be cited."""
        return tuple(claim_id for claim_id in claim_ids if claim_id in self._claims)

    def path(self, claim_id: str) -> str:
        """The file in which a claim is made first."""
        return self._paths.get(claim_id, "")

    def entries(self, field: str) -> list[Mapping[str, Any]]:
        """The entries of a list of facts whose claim holds, such as `dependencies`."""
        return [entry for entry in self.facts.get(field) or () if entry["claim_id"] in self]

    def fact(self, field: str) -> Mapping[str, Any] | None:
        """A single fact whose claim holds, such as `version`."""
        found: Mapping[str, Any] | None = self.facts.get(field)
        return found if found and found["claim_id"] in self else None

    def opens(self, sentence: Sentence) -> bool:
        """Whether a page can begin with this: it begins its section, or has the product as its subject."""
        claims = [self._claims[claim_id] for claim_id in sentence.claims[:1]]
        named = sentence.text.lstrip("`").casefold().startswith(self.name.casefold())
        return named or not any(claim.get("goes_on") for claim in claims)

    def said(self, claim_ids: Iterable[str], most: int = 1000) -> list[Sentence]:
        """What these claims say, as sentences, without those that are too long to be one."""
        found: dict[str, Sentence] = {}
        for claim_id in dict.fromkeys(claim_ids):
            claim = self._claims.get(claim_id)
            if claim is None or len(claim["claim_text"]) > _LONGEST_CLAIM or self._is_unsaid(claim["claim_text"]):
                continue
            text = as_sentence(claim["claim_text"], self.names)
            if claim["truth_status"] == "inference":
                text = f"{text[:-1]} (inferred)."
            found.setdefault(_WORDS_OF_TIME.sub("", text.casefold()), Sentence(text, (claim_id,)))
        return list(found.values())[:most]

    def sentences(self, text: str, claims: Sequence[str]) -> list[Sentence]:
        """Running text that rests on these claims, sentence by sentence."""
        cited = self.cited(*claims)
        return (
            [Sentence(as_sentence(one, self.names), cited) for one in sentences_of(text, self.names)]
            if cited
            else []
        )

    def is_factual(self, text: str, *, heading: bool = False) -> bool:
        """Whether a line with this text needs a claim."""
        line = f"## {text}" if heading else text
        if line not in self._factual:
            self._factual[line] = bool(factual_lines(line, identifiers=self.identifiers, names=self.names))
        return self._factual[line]

    def supported(self, text: str, support: Sequence[str]) -> list[Sentence]:
        """The sentences of a text that some claim says, that rest on `support`, or that state nothing."""
        found: list[Sentence] = []
        for said in sentences_of(text, self.names):
            named = _THIS_PRODUCT.sub(lambda _: self.name, said)
            one = said if self._claimed(said) or not self._claimed(named) else named
            claim_id = self._claimed(one)
            cited = (claim_id,) if claim_id else tuple(support)
            made = as_sentence(one, self.names)
            if not claim_id and self._names_other_format(one, cited):
                continue
            if made and not self._is_unsaid(one) and (cited or not self.is_factual(made)):
                found.append(Sentence(made, cited))
        return found

    def _names_other_format(self, text: str, support: Iterable[str]) -> bool:
        """Whether a sentence names a format that neither the claims it rests on nor the list of formats know."""
        named = _format_words(text)
        formats = self.facts["supported_formats"]
        known = {one["format"].lower().lstrip(".") for one in formats if one["status"] == "implemented"}
        told = (_format_words(self.claim(claim)["claim_text"]) for claim in support)
        return bool(named - known - frozenset().union(*told)) if named else False

    def _is_unsaid(self, text: str) -> bool:
        return bool(_NOT_SAID.search(text) or self._other_way.search(text))

    def _claimed(self, sentence: str) -> str | None:
        """The claim that says just this."""
        said = self._by_words.get(normalised(sentence, self.name))
        return said or self._by_words.get(normalised(sentence.rstrip("."), self.name))

    def near(self, snippet: Snippet) -> tuple[str, ...]:
        """The claims that the repository makes where a snippet stands."""
        source = snippet["source"]
        places = self._places.get(source.get("path", ""), ())
        first, last = source.get("start_line", 1), source.get("end_line", 1)
        first = min(first - _NEAR, snippet.get("introduction_line", first))
        return tuple(dict.fromkeys(claim for claim, begin, end in places if begin <= last and end >= first))

    def introduction(self, snippet: Snippet) -> list[Sentence]:
        """What the repository says before a snippet, unless it is only that an example follows, or goes on."""
        about = self.supported(snippet.get("introduction", ""), self.near(snippet))
        about = [one for one in about if not _ANNOUNCING.fullmatch(one.text) and not _LEADING_ON.search(one.text)]
        unsaid = len(sentences_of(snippet.get("introduction", ""), self.names)) - len(about)
        if unsaid:  # what leans on a sentence that is not told cannot be understood
            about = list(dropwhile(lambda one: leans(one.text), about))
        if about and snippet["introduction"].rstrip().endswith(":") and about[-1].text.endswith("."):
            about[-1] = about[-1]._replace(text=about[-1].text[:-1] + ":")
        return about

    def shown(self, snippet_id: str, like_it: int = 1) -> tuple[list[Sentence], Code]:
        """A snippet, and what introduces it; else where `like_it` examples are from, 0 if that is told already."""
        snippet = self.snippets[snippet_id]
        about = self.introduction(snippet)
        if not about and like_it:
            told = _PROVENANCE[origin_of(snippet)]
            about = [Sentence(told if like_it == 1 else told.replace("This example is", "These examples are"))]
        return about, Code(language_of(snippet), snippet["code"], snippet_id)

    def _is_warning(self, snippet: Snippet) -> bool:
        """Whether it shows what does not work, and the words that say so are none for a page."""
        told = snippet.get("introduction", "").rstrip()
        return told.endswith(":") and _WARNING.search(told) is not None and not self.introduction(snippet)

    def heading(self, text: str, support: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
        """A heading with this text and its claims; an empty one where it would state something without support."""
        made = heading_text(text)
        if not self.is_factual(made, heading=True):
            return made, ()
        claim_id = self._by_words.get(normalised(text, self.name))
        cited = (claim_id,) if claim_id else self.cited(*support)[:3]
        return (made, cited) if cited else ("", ())

    def tagged(self, tags: Iterable[str]) -> list[Snippet]:
        """The snippets that have one of these tags, best first."""
        wanted = frozenset(tags)
        return [snippet for snippet in self.snippets.values() if wanted & set(snippet["tags"])]


def _format_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(_CODE_SPAN.sub(" ", text))) & FORMATS


def origin_of(snippet: Snippet) -> str:
    """What kind of place a snippet is from."""
    origin: str = snippet["source"].get("origin", "example")
    return origin


def language_of(snippet: Snippet) -> str:
    """The word after the fence."""
    language: str = snippet["language"].lower()
    return _LANGUAGES.get(language, language)


def is_installing(snippet: Snippet) -> bool:
    """Whether a snippet only shows how the product is installed."""
    code: str = snippet["code"]
    return code.strip().lstrip("$> ").startswith(_INSTALLING)


def _other_way(distribution: Iterable[Mapping[str, Any]]) -> str:
    """How the product is not installed: from a checkout, which no reader of the site has, unless all have to."""
    commands = {command: entry["identifier"] for entry in distribution for command in entry["install_commands"]}
    name = commands.get("pip install .")
    return _INSTALLS_NAME.format(re.escape(name)) if name else _INSTALLS_CHECKOUT


def _lost(contradictions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The claims that another one has beaten, or that stand against each other undecided."""
    for one in contradictions:
        yield from {one["claim_a_id"], one["claim_b_id"]} - {one["winning_claim_id"]}


def _reading_order(
    claims: Iterable[Mapping[str, Any]],
) -> Callable[[Mapping[str, Any]], tuple[str, int, int, str]]:
    """As they stand in the repository: claims come by their ids, which is no order for a reader.

    Of two that begin on the same line the one that ends first comes first.
    """
    first = {claim["claim_id"]: claim["citations"][0] for claim in claims}

    def key(claim: Mapping[str, Any]) -> tuple[str, int, int, str]:
        at = first.get(claim["claim_id"], {})
        return at.get("path", ""), at.get("start_line", 0), at.get("end_line", 0), claim["claim_id"]

    return key


def _places(
    claims: Iterable[Mapping[str, Any]], usable: Mapping[str, Any]
) -> dict[str, list[tuple[str, int, int]]]:
    places: dict[str, list[tuple[str, int, int]]] = {}
    for claim in claims:
        if claim["claim_id"] in usable:
            for at in claim["citations"]:
                places.setdefault(at["path"], []).append((claim["claim_id"], at["start_line"], at["end_line"]))
    return places


def _snippet_rank(snippet: Snippet) -> tuple[int, str, int, str]:
    source = snippet["source"]
    origin = source.get("origin", "test")
    return _ORIGINS.index(origin), source.get("path", ""), source.get("start_line", 0), snippet["snippet_id"]


def _is_usable(snippet: Snippet) -> bool:
    code = snippet["code"]
    return (
        snippet["validation"]["syntax_ok"]
        and code.strip() != ""
        and code.count("\n") < _LONGEST_SNIPPET
        and not holds_shortcode(code)
        and "claim:" not in code
    )
