"""The table of everything that a search can be asked: one row per argument, and nothing is declared twice.

The flags of the command, the input schema, the validation, the reference page and the shortcuts of the query
language are all made from these rows. What an argument finds is not decided here.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from keyword import iskeyword
from typing import Any

__all__ = [
    "BACKENDS",
    "BLANK",
    "FIELDS",
    "FIELD_OF",
    "GROUPS",
    "MAX_ENTRIES",
    "MAX_TEXT",
    "OUTPUT",
    "PORTABLE_BACKENDS",
    "SHORTCUTS",
    "WHERE",
    "Field",
    "as_regex",
    "split_list",
]

MAX_TEXT = 4096  # characters of one text
MAX_ENTRIES = 256  # of one list
MAX_TOP = 1000
MAX_CONTEXT = 100
MAX_COUNT = 2**31 - 1
MAX_DAYS = 1_000_000
BLANK = " \t\r\n"  # white space that alone is no value; the same in the schema's pattern

# Engines by name: `auto` takes the first that can be opened. Of the last two, one SQLite file is both.
PORTABLE_BACKENDS = ("sqlite", "sqlite-fts")
BACKENDS = ("auto", "tantivy", "memory", *PORTABLE_BACKENDS)

WHERE = "Where"
MEANING = "What the code means"
SYMBOLS = "Symbols"
HISTORY = "History"
RISK = "Risk"
OUTPUT = "Output"
GROUPS = (WHERE, SYMBOLS, MEANING, HISTORY, RISK, OUTPUT)

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_REGEX = re.compile(r"/(.+)/([ims]*)", re.DOTALL)
_METAVARS = {
    "text": "TEXT",
    "texts": "LIST",
    "integer": "N",
    "number": "N",
    "conditions": "KEY=VALUE",
    "json": "JSON",
    "places": "DIR",
}


@cache
def _attribute(name: str) -> str:
    snake = "_".join(_HUMP.split(name)).lower()
    return f"{snake}_" if iskeyword(snake) else snake


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a search.

    Kinds: `text`; `texts` (a list, or one string with commas); `integer`; `number`; `flag` (true, false, or not
    given); `choice`; `conditions` and `json` (about the fields of records); `places` (one path, or a list of them:
    a comma may be part of a path). `examples` are values as in JSON.
    """

    name: str
    kind: str
    flags: tuple[str, ...]
    help: str
    example: Any
    group: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    metavar: str = ""
    is_filter: bool = True  # whether it narrows what is found, so that the query may say it as `name:value`

    @property
    def attribute(self) -> str:
        """The name as Python writes it."""
        return _attribute(self.name)

    @property
    def placeholder(self) -> str:
        """What stands for the value in the help of the command; empty where there is no value."""
        return self.metavar or _METAVARS.get(self.kind, "")


def as_regex(entry: str) -> tuple[str, str] | None:
    """The expression and the flags (of `ims`) of an entry that is written `/expression/flags`, else None."""
    match = _REGEX.fullmatch(entry)
    return (match[1], match[2]) if match else None


def split_list(text: str) -> list[str]:
    """The entries of a list that is written as one text: split at commas, but not inside of a `/regex/`."""
    entries: list[str] = []
    pieces = text.split(",")
    while pieces:
        entry = pieces.pop(0).strip(BLANK)
        for end in range(1, len(pieces) + 1) if entry.startswith("/") and not as_regex(entry) else ():
            if pieces[end - 1].lstrip(BLANK).startswith("/"):
                break  # the next entry begins: this one is a path from the root
            joined = ",".join([entry, *pieces[:end]]).rstrip(BLANK)
            if as_regex(joined):
                entry, pieces = joined, pieces[end:]
                break
        if entry:
            entries.append(entry)
    return entries


def _text(name: str, words: str, example: str, *, metavar: str = "") -> Field:
    return Field(name, "text", (_flag(name),), words, example, metavar=metavar)


def _texts(name: str, words: str, example: Any, *, metavar: str = "") -> Field:
    return Field(name, "texts", (_flag(name),), words, example, metavar=metavar)


def _switch(name: str, words: str, *, is_filter: bool = True) -> Field:
    flag = _flag(name)
    return Field(name, "flag", (flag, f"--no-{flag[2:]}"), words, example=True, is_filter=is_filter)


def _at_least(name: str, words: str, example: int) -> Field:
    flag = _flag(name.removesuffix("Min"))
    return Field(name, "integer", (flag,), words, example, minimum=0, maximum=MAX_COUNT)


def _flag(name: str) -> str:
    return "--" + "-".join(_HUMP.split(name)).lower()


def _grouped(group: str, *fields: Field) -> tuple[Field, ...]:
    return tuple(replace(field, group=group) for field in fields)


FIELDS: tuple[Field, ...] = (
    Field("query", "text", (), "What to look for: words, \"a phrase\", AND OR NOT, ( ), field:value, /regex/.",
          "retry budget", metavar="QUERY...", is_filter=False),
    *_grouped(
        WHERE,
        Field("repoPath", "places", ("--repo",), "A directory of the repository; by default the one around the "
              "working directory. Several: all of them are searched, and hits say their repository.",
              "~/src/project", metavar="DIR", is_filter=False),
        Field("workspacePath", "text", ("--workspace",), "A workspace file: the repositories that it lists are "
              "searched together; with repoPath, only those of these names.", ".pairofcleats-workspace.jsonc",
              metavar="FILE", is_filter=False),
        Field("mode", "choice", ("--mode",), "What to search; by default, and with both: code, prose and "
              "extracted prose (comments and docstrings).", "code",
              choices=("code", "prose", "extracted-prose", "records", "all", "both"), is_filter=False),
        _texts("path", "Parts of the path, or /regex/; any of them must match.", ["src/", "/_test\\.py$/"],
               metavar="PATH"),
        _texts("file", "The same as path; entries of both are one list.", "app.py", metavar="FILE"),
        _texts("ext", "Extensions of the file; any of them.", [".py", ".ts"], metavar="EXT"),
        _texts("lang", "Languages of the code; any of them.", "python,go", metavar="LANG"),
        _text("branch", "Nothing is found unless the index is of this branch.", "main", metavar="NAME"),
        _switch("caseFile", "Whether path and file tell capital from small letters."),
        _switch("caseTokens", "Whether the words of the query tell capital from small letters."),
        _switch("case", "Whether both do: caseFile and caseTokens, where those say nothing themselves."),
    ),
    *_grouped(
        SYMBOLS,
        _text("definition", "Where this name is defined; Shop.close, or just close.", "Shop.close",
              metavar="NAME"),
        _text("references", "What refers to this name: calls it, uses it, extends it.", "BudgetError",
              metavar="NAME"),
        _text("callers", "What calls this name; certain where an import or the file itself says so.",
              "library.build_index", metavar="NAME"),
    ),
    *_grouped(
        MEANING,
        _texts("type", "Kinds of definition; any of them: class, function, method, section, record ...",
               "function,method", metavar="KIND"),
        _text("signature", "Part of the signature.", "timeout: float"),
        _text("param", "Name of a parameter.", "timeout", metavar="NAME"),
        _text("decorator", "Part of a decorator or annotation.", "cache", metavar="NAME"),
        _text("visibility", "public, protected, private, internal or dunder.", "public", metavar="WORD"),
        _text("extends", "Part of the name of a base class or an implemented interface.", "BaseModel",
              metavar="NAME"),
        _text("returnType", "Part of the declared return type.", "bool", metavar="TYPE"),
        _text("inferredType", "Part of a type that a literal or a constructor gives away.", "list",
              metavar="TYPE"),
        _text("import", "A module that the file imports.", "os.path", metavar="MODULE"),
        _text("calls", "What it calls, as written or with the import resolved.", "subprocess.run", metavar="NAME"),
        _text("uses", "A name that it refers to.", "DEFAULT_TIMEOUT", metavar="NAME"),
        _text("throws", "Part of what it raises or throws.", "ValueError", metavar="NAME"),
        _text("awaits", "Part of what it awaits.", "session.get", metavar="NAME"),
        _text("reads", "Part of a variable or attribute that it reads.", "self.budget", metavar="NAME"),
        _text("writes", "Part of a variable or attribute that it assigns.", "self.budget", metavar="NAME"),
        _text("mutates", "Part of what it changes in place.", "items.append", metavar="NAME"),
        _text("alias", "Part of a plain renaming, name=target.", "np=numpy", metavar="NAME"),
        _switch("async", "Whether it is asynchronous."),
        _switch("generator", "Whether it is a generator."),
        _switch("returns", "Whether it returns a value."),
        _switch("lint", "Whether a linter has remarks about it."),
        _at_least("branchesMin", "At least so many branches.", 5),
        _at_least("loopsMin", "At least so many loops.", 1),
        _at_least("breaksMin", "At least so many breaks.", 1),
        _at_least("continuesMin", "At least so many continues.", 1),
        Field("meta", "conditions", ("--meta",), "Of records: key=value, the value being part of the field; key "
              "alone: the field is there. Dots lead into objects. All must hold.", {"vuln.severity": "high"},
              is_filter=False),
        Field("metaJson", "json", ("--meta-json",), "The same as a JSON object.", '{"service": "api"}',
              is_filter=False),
    ),
    *_grouped(
        HISTORY,
        _texts("author", "Parts of the name of whoever changed the file last; any of them.", "jane",
               metavar="NAME"),
        _text("chunkAuthor", "Part of the name of somebody who wrote a line of it.", "jane", metavar="NAME"),
        _text("modifiedAfter", "Changed at this ISO date or time or later; UTC unless it says otherwise.",
              "2025-01-31", metavar="DATE"),
        Field("modifiedSince", "number", ("--modified-since",), "Changed within so many days.", 30, minimum=0,
              maximum=MAX_DAYS, metavar="DAYS"),
        _at_least("churnMin", "At least so many lines of the file added and deleted in its history.", 100),
    ),
    *_grouped(
        RISK,
        _text("risk", "Part of a tag of the risk rules; with riskTag, both must match.", "exec", metavar="TAG"),
        _text("riskTag", "Part of a tag of the risk rules.", "command-exec", metavar="TAG"),
        _text("riskSource", "Part of the name of an untrusted input.", "process.argv", metavar="NAME"),
        _text("riskSink", "Part of the name of a dangerous call.", "subprocess", metavar="NAME"),
        _text("riskCategory", "Part of the category of a dangerous call.", "injection", metavar="NAME"),
        _text("riskFlow", "Part of a path of data, source->sink.", "argv->subprocess", metavar="FLOW"),
    ),
    *_grouped(
        OUTPUT,
        Field("top", "integer", ("-n", "--top"), "How many results of each mode; less than 1 means 1.", 20,
              default=5, maximum=MAX_TOP, is_filter=False),
        Field("context", "integer", ("--context",), "Lines to show before and after the match.", 2, default=0,
              minimum=0, maximum=MAX_CONTEXT, metavar="LINES", is_filter=False),
        Field("output", "choice", ("--compact", "--json"), "The fields of a result: compact, or all of them; json "
              "is the same as full.", "full", default="compact", choices=("compact", "full", "json"),
              is_filter=False),
        Field("backend", "choice", ("--backend",), "The engine that looks things up; fts is sqlite-fts.", "auto",
              default="auto", choices=(*BACKENDS, "fts"),
              is_filter=False),
        _switch("ann", "Whether vectors may add results; null means the default.", is_filter=False),
        _switch("explain", "Whether each result says what its score is made of.", is_filter=False),
    ),
)  # fmt: skip

FIELD_OF: dict[str, Field] = {field.name: field for field in FIELDS}

_CASE = {"case", "caseFile", "caseTokens"}
_OTHER_NAMES = {"language": "lang", "extension": "ext", "kind": "type"}


_WRITTEN = {"text", "texts", "flag", "integer", "number"}


def _shortcuts() -> dict[str, Field]:
    named: dict[str, Field] = {}
    for field in FIELDS:
        if field.is_filter and field.name not in _CASE and field.kind in _WRITTEN:
            named[field.name.lower()] = named[field.flags[0][2:]] = named[field.attribute.rstrip("_")] = field
    return {**named, **{other: FIELD_OF[name] for other, name in _OTHER_NAMES.items()}}


# What may stand before the colon of `field:value` in a query, in small letters.
SHORTCUTS: dict[str, Field] = _shortcuts()
