"""The words of the search engine: a chunk of a source file, and what is known about it.

Plain data without behaviour. Extractors fill it, the index stores it, the filters of a request ask for it; the
names of the facts below are the one vocabulary that they share.
"""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["COUNTS", "FACTS", "FLAGS", "MODES", "CallSite", "Chunk", "Extraction", "Write"]

# What a file is searched as. A source file gives chunks of `code` and of `extracted-prose`.
MODES = ("code", "prose", "extracted-prose", "records")

# Lists of texts that may be known of a chunk. `calls`, `throws`, ... hold the names as written (`subprocess.run`).
FACTS = {
    "params": "names of the parameters, without stars: args, timeout",
    "param_types": "declared types of parameters: timeout: float",
    "param_defaults": "defaults of parameters: timeout=2.0",
    "decorators": "decorators and annotations, without the @ and without arguments: functools.cache",
    "modifiers": "words such as static, abstract, final, export",
    "extends": "base classes, implemented interfaces, embedded types",
    "return_types": "the declared return type",
    "throws": "what it raises or throws, or declares to: ValueError",
    "awaits": "what it awaits, by the name of the callee: session.get",
    "calls": "what it calls, as written, and with its import resolved where the file says so: run, subprocess.run",
    "uses": "names it refers to that are not its own locals or parameters",
    "imports": "modules that the file imports, in full: os.path, ./lib/a",
    "exports": "names that the file offers to others",
    "reads": "variables and attributes it reads: self.budget",
    "writes": "variables and attributes it assigns: self.budget, total",
    "mutations": "what it changes in place: self.items, table[], items.append()",
    "aliases": "plain renamings: name=target",
    "inferred_types": "types that a literal or a constructor gives away: total: int",
    "risk_tags": "tags of the risk rules that matched: command-exec",
    "risk_sources": "untrusted inputs by the name of their rule: process.argv",
    "risk_sinks": "dangerous calls by the name of their rule: subprocess",
    "risk_sanitizers": "cleaning calls by the name of their rule: shlex.quote",
    "risk_categories": "categories of the sinks: injection",
    "risk_flows": "paths of data inside of the function: source->sink",
}

COUNTS = ("branches", "loops", "breaks", "continues", "returns", "complexity")
FLAGS = ("async", "generator", "returns")


@dataclass(slots=True)
class CallSite:
    """One call inside of a chunk: what is called, and where its arguments stand (bytes of the file)."""

    callee: str
    start: int
    end: int
    line: int


@dataclass(slots=True)
class Write:
    """One assignment inside of a chunk: the name that is written, and the bytes of the file that its value has."""

    target: str
    start: int
    end: int
    line: int


@dataclass(slots=True)
class Chunk:
    """A definition, a section, a comment or a record: the unit that is found.

    `start` and `end` are offsets into the UTF-8 bytes of the file's text, lines are numbered from 1 and inclusive.
    `text` is what is searched as its body, where that is not simply the bytes of its range (None): the body of a
    class leaves out its methods, which are chunks of their own.
    """

    mode: str
    kind: str  # function, method, class, interface, struct, enum, type, variable, module, section, comment, record
    name: str  # qualified: Outer.method
    start: int
    end: int
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    visibility: str = ""  # public, protected, private, internal, dunder
    text: str | None = None
    facts: dict[str, list[str]] = field(default_factory=dict)  # by the names in FACTS; unique, in order
    counts: dict[str, int] = field(default_factory=dict)  # by the names in COUNTS
    flags: set[str] = field(default_factory=set)  # of FLAGS, those that are true
    record: dict[str, object] | None = None  # of a record: its fields, for `meta` filters
    call_sites: list[CallSite] = field(default_factory=list)  # for the risk rules only; not stored
    written: list[Write] = field(default_factory=list)  # for the risk rules only; not stored
    risk: dict[str, Any] = field(default_factory=dict)  # what the risk rules say of it, as it is stored
    language: str = ""  # where it is another than that of the file: of code inside of a document


@dataclass(slots=True)
class Extraction:
    """What one file gives: its chunks in order of their position, and what holds for the whole file."""

    chunks: list[Chunk]
    imports: list[str] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # e.g. "3 syntax errors"
