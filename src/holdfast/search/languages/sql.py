"""SQL: which words say what, in the dialects of PostgreSQL, MySQL, SQLite, Oracle and SQL Server.

A table is read, written or changed where a statement names it; columns are types of a table, and no names that are
read. What no rule knows stays text: it costs nothing around it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from holdfast.search.languages.rules.definitions import no_visibility
from holdfast.search.languages.rules.language import Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import split_list
from holdfast.search.languages.rules.statements import Span, Text

__all__ = ["LANGUAGE"]

_NAME = rb"(?:[\w$@#\x80-\xff]++|\"[^\"\n]{1,128}\"|`[^`\n]{1,128}`|\[[^\[\]\n]{1,128}\])"
_PATH = rb"(?:%b(?:\s*\.\s*%b){0,3})" % (_NAME, _NAME)
_TYPE = rb"[\w.%]+(?:\s*\([\d\s,]+\))?(?:\[\])?"
_LISTED = rb"%b(?:\s+(?:as\s+)?\w+)?" % _PATH


def _pattern(text: bytes) -> re.Pattern[bytes]:
    for word, meaning in ((b"LISTED", _LISTED), (b"PATH", _PATH), (b"NAME", _NAME), (b"TYPE", _TYPE)):
        text = text.replace(word, meaning)
    return re.compile(text, re.IGNORECASE)


_CREATE = _pattern(
    rb"\b(?:create|alter(?=\s+(?:function|proc|procedure|view|trigger)\s))\s+(?:or\s+(?:replace|alter)\s+)?"
    rb"(?P<words>(?:(?:temp|temporary|global|local|unlogged|unique|materialized|recursive|clustered|nonclustered"
    rb"|external|virtual|constraint|editionable|force|fulltext|spatial|definer\s*=\s*\S+|algorithm\s*=\s*\w+"
    rb"|sql\s+security\s+\w+)\s+){0,9})"
    rb"(?P<kind>table|view|function|procedure|proc|trigger|index|type|domain|schema|sequence|package(?:\s+body)?)\b"
    rb"(?:\s+(?:concurrently|if\s+not\s+exists))*\s+(?!on\b)(?P<name>PATH)"
)
_PLAIN_WORD = re.compile(rb"(?<!\S)\w+(?!\S)")
_KINDS = {b"proc": "procedure", b"domain": "type"}
_ROUTINES = {"function", "procedure", "trigger", "package"}
_INHERITS = _pattern(rb"\binherits\s*\(\s*(PATH(?:\s*,\s*PATH)*)|\bpartition\s+of\s+(PATH)")
_ATTACHED = _pattern(rb"\bon\s+(?:only\s+)?(PATH)")
_RESULT = _pattern(
    rb"\breturns?\s+((?:setof\s+)?"
    rb"(?:table\s*\(|@\w+\s+table\b|double\s+precision|timestamp\s+with(?:out)?\s+time\s+zone|PATH)"
    rb"(?:\s*\(\s*[\w\s,]*\))?(?:\s*\[\s*\])*(?:%(?:row)?type)?)"
)
_BODY = _pattern(rb"\b(?:as|is|begin)\b|\breturn\b(?=\s*[(\d@])")
_MARKED = _pattern(rb"\b(immutable|stable|volatile|strict|deterministic|security\s+definer|security\s+invoker)\b")
_TSQL_PARAMS = _pattern(rb"(?s)\s*(@\w+\s.*?)(?<!\s)(?=\s+(?:as|with|returns)\b)")

# Where the group is the name of a table, by the fact that it is. The others are in FROM, which has many meanings.
_SAID = {
    "writes": _pattern(
        rb"\b(?:into\s+(?:strict\s+)?|insert\s+(?:ignore\s+|low_priority\s+|overwrite\s+|or\s+\w+\s+)?(?:into\s+)?"
        rb"|(?<!for )(?<!on )(?<!do )(?<!key )(?<!after )(?<!before )(?<!or )(?<!of )update\s+"
        rb"(?:only\s+|ignore\s+)?)(?:table\s+)?(PATH)"
    ),
    "mutations": _pattern(
        rb"\b(?:delete\s+from|truncate(?:\s+table)?|alter\s+table"
        rb"|drop\s+(?:table|view|materialized\s+view|index|type|function|procedure|trigger|schema|sequence))"
        rb"(?:\s+(?:only|if\s+exists|concurrently))*\s+(PATH)"
    ),
    "reads": _pattern(rb"\bmerge\s+into\s+LISTED\s+using\s+(PATH)"),
    "uses": _pattern(rb"\breferences\s+(PATH)"),
}
_FROM = _pattern(rb"\b(?:from|join|apply)\s+(?:only\s+|lateral\s+)?(LISTED(?:\s*,\s*(?:lateral\s+)?LISTED)*)")
_FIRST = _pattern(rb"(?:\s*,)?\s*(?:lateral\s+)?(PATH)(?:\s+(?:as\s+)?\w+)?")
_NOT_FROM = re.compile(rb"(?i)\b(?:distinct|delete|next|prior|all|absolute\s+\S+)\s+\Z")
_SHARED = re.compile(rb"(?i)\b(?:extract|trim|substring|overlay|position)\s*\(\s*[^()]*\Z")
_KEYED = _pattern(rb"\b(?:key|index|unique)\s+(?:if\s+not\s+exists\s+)?(NAME)\s*(?=\()")
_WITH = _pattern(
    rb"(?:\bwith(?:\s+recursive)?|,)\s+(NAME)\s*(?:\([^()]*\)\s*)?as\s*(?:not\s+)?(?:materialized\s*)?\("
)

_CALL = _pattern(rb"(?<!function )(?<!procedure )(?<!using )(?<![\w.$@#\x80-\xff])(PATH)\s*(?=\()")
_RUN = _pattern(rb"(?:\bcall|\bexec|\bexecute(?:\s+(?:function|procedure))?|\bperform)\s+(?:@\w+\s*=\s*)?(PATH)")
_ASSIGN = _pattern(
    rb"(?<![\w.:@])@?(?!(?:begin|then|else|loop|declare|is|as|do)\b)([a-z_]\w*)(?:\s+(?:constant\s+)?TYPE"
    rb"(?:\s+not\s+null)?)?\s*:=([^;]+)"
    rb"|(?:\bset\s+@|\bdeclare\s+@(?=\w+\s+TYPE\s*=)"
    rb"|(?:;|\bbegin|\bthen|\belse|\bdo|\bfound)\s*set\s+(?=[\w.]+\s*=))"
    rb"([\w.]+)(?:\s+TYPE)?\s*=([^;]+)"
)
_DECLARED = _pattern(
    rb"\bdeclare\s+@?(\w+)(?:\s+as)?\s+(?!cursor\b|continue\b|exit\b|handler\b|table\b)"
    rb"([\w.%]+(?:\s*\([\d\s,]+\))?)"
)
_SECTION = _pattern(rb"(?s)\b(?:declare|is)\b((?:(?!\b(?:begin|declare|is|end|create|then)\b).){1,4000})\bbegin\b")
_ENTRY = _pattern(
    rb"(?:(?<=declare)|(?<=is)|;)\s*(\w+)\s+(?:constant\s+)?(?!cursor\b)([\w.%]+(?:\s*\([\d\s,]+\))?(?:\[\])?)"
)
_THROW = _pattern(
    rb"\braise\s+(?:(exception)\b|(?!notice|info|warning|log|debug)([a-z_]\w*)\s*;)"
    rb"|\b(signal)\s+sqlstate|\b(throw)\s+[\d@]|\b(raiserror|raise_application_error)\s*\("
)
_COUNTED = {
    "branch": _pattern(rb"(?<!end )\b(?:if(?!\s+(?:not\s+)?exists\b(?!\s*\())|elsif|elseif|when)\b"),
    "loop": _pattern(
        rb"(?<!end )\bloop\b|(?<!end )\bwhile\b(?!(?:(?!\bwhile\b)[^;]){0,500}?\bloop\b)"
        rb"|(?<!end )\brepeat\b(?!\s*\()"
    ),
    "break": _pattern(rb"\b(?:exit|leave|break)\b(?=[^;\n]{0,200}+;)(?!\s+handler)"),
    "continue": _pattern(rb"\b(?:continue|iterate)\b(?=[^;\n]{0,200}+;)(?!\s+handler)"),
    "return": _pattern(rb"\breturn\b"),
    "return.value": _pattern(rb"\breturn\b(?=\s*[^\s;])"),
}
_CONDITION = _pattern(rb"\b(?:(?P<opens>if|elsif|elseif|when|while)|(?P<closes>then|loop|do|begin))\b|;")
_LONGEST_CONDITION = 600
_AND = _pattern(rb"(?<!\w)(?:and|or)\b")
_COLUMN = _pattern(
    rb"\s*(NAME)\s+([a-z_][\w.]*(?:\s+(?:precision|varying))?(?:\s*\([\d\s,]*(?:max)?\))?"
    rb"(?:\s+unsigned\b|\s+with(?:out)?\s+time\s+zone)?(?:\s*\[\s*\])?)"
)
_INCLUDE = re.compile(  # a column can be called `source` too
    rb"(?im)^[ \t]*(?:(?:\\ir?|@@?)[ \t]+?(?=[\w./])[^\s;]+|source[ \t]+[^\s;]+\.sql\b|@@?[\w./]+\.sql)"
)

_NO_COLUMN = words("""
check clustered constraint exclude foreign fulltext index key like partition period primary spatial unique
""")
_NO_TABLE = words("""
all and as by case cross current dual end exists for from full group having if in inner into is join lateral left
limit not of offset on only or order outer returning right select set table then to union unnest update using
values when where with
""")
# Words before a bracket that call nothing: they belong to a statement, or they are types.
_NO_CALL = words("""
add all and any array as asc begin bigint binary bit blob by call case char character check clob cluster
clustered column columns conflict constraint cross cube date datetime datetime2 datetimeoffset decimal default
delete desc distinct do domain double each else end enum except exclude execute exists explain filter float for
foreign from full function geography geometry group grouping having hash identity if in include index inherits
inner insert int integer intersect into is join json jsonb key language lateral left like list loop materialized
match merge not null number numeric nchar nvarchar nvarchar2 of offset on only or order out outer over partition
percent precision primary procedure range raw real recursive references return returning returns right rollup
row rows select set sets setof smallint some string table temp then time timestamp timestamptz tinyint to top
trigger type union unique unlogged unsigned update using values varbinary varbit varchar varchar2 varying view
when where while window with within year zone
""")

_COMMA_OR_BRACKET = re.compile(rb"[,(]")
_QUOTED = re.compile(rb"\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\]")
_QUOTES = re.compile(r"[\"`\[\]]")
_SPACES = re.compile(r"\s*\.\s*")
_TEMPLATE = re.compile(r"@\w+@")  # @extschema@.log: a name that is filled in when the script is installed
_PARAMETER = re.compile(
    r"(?:(?:in\s+out|inout|in|out|variadic)\s+)?@?(?P<name>[\w\"`]+)\s+(?:(?:in\s+out|inout|in|out|as)\b\s*)?"
    r"(?P<type>(?!default\b)\S.*?)(?:(?<!\s)(?:\s+default\s+(?P<word>.*)|\s*:?=\s*(?P<sign>.*)))?\Z",
    re.IGNORECASE | re.DOTALL,
)


class _Found:
    """What is found in one file, under the names of captures."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.text = Text(source)
        self.plain = self.text.plain
        self.spans: dict[str, list[Span]] = {
            "comment": self.text.comments,
            "opaque": self.text.strings,
            "label": [(0, len(source))],  # no word is a name that is read, unless a rule below says so
        }
        self._heads: list[Span] = []  # of routines: a RETURN in there is the type
        self._named: set[int] = set()  # where names end that are defined, and not called

    def note(self, capture: str, span: Span) -> None:
        """One more of a capture; the quotes around a plain name are no part of it."""
        quoted = _QUOTED.fullmatch(self.plain, *span)
        self.spans.setdefault(capture, []).append((span[0] + 1, span[1] - 1) if quoted else span)

    def define(self) -> None:
        """Every definition that is in no other."""
        position = 0
        while (found := _CREATE.search(self.plain, position)) is not None:
            word = b" ".join(found["kind"].lower().split())
            kind = _KINDS.get(word, word.partition(b" ")[0].decode())
            end = self.text.end(found.start(), is_routine=kind in _ROUTINES)
            position = max(end, found.end())
            self.spans.setdefault(f"def.{kind}", []).append((found.start(), position))
            self.note("name", found.span("name"))
            self._named.add(found.end("name"))
            for modifier in _PLAIN_WORD.finditer(self.plain, *found.span("words")):
                self.note("modifier", modifier.span())
            self._detail(kind, found.end("name"), position)

    def _detail(self, kind: str, start: int, end: int) -> None:
        if kind in ("function", "procedure", "package"):
            self._routine(start, end)
        elif kind in ("trigger", "index"):
            self._attached(kind, start, end)
        elif kind == "table":
            self._table(start, end)
        elif (body := _BODY.search(self.plain, start, end)) is not None:
            self.note("body", body.span())

    def _routine(self, start: int, end: int) -> None:
        head = start
        bracketed = self.text.bracketed(start, end)
        if bracketed is not None:
            self.note("params", bracketed)
            head = bracketed[1]
        elif (bare := _TSQL_PARAMS.match(self.plain, start, end)) is not None:
            self.note("params", bare.span(1))
            head = bare.end()
        quoted = self.text.body(start, end)
        begin = _BODY.search(self.plain, head, end)
        body = min([place for place in (quoted and quoted[0], begin and begin.start()) if place], default=end)
        self.note("body", (body, end))
        self._heads.append((start, body))
        result = _RESULT.search(self.plain, head, body)
        if result is not None:
            last = result.end()
            if self.plain[last - 1 : last] == b"(":
                last = (self.text.bracketed(last - 1, end) or (last, last))[1]
            self.note("result", (result.start(1), last))
        is_block = begin is not None and re.search(rb"(?i)\bbegin\b", self.plain[begin.start() : end])
        behind = quoted[1] if quoted else end if is_block else body
        for part in ((head, body), (behind, end)):
            for marked in _MARKED.finditer(self.plain, *part):
                self.note("modifier", marked.span())

    def _attached(self, kind: str, start: int, end: int) -> None:
        table = _ATTACHED.search(self.plain, start, end)
        if table is not None:
            self.note("said.uses", table.span(1))
            self._named.add(table.end(1))
        body = _BODY.search(self.plain, start, end) if kind == "trigger" else None
        if body is not None:
            self.note("body", body.span())

    def _table(self, start: int, end: int) -> None:
        for parents in _INHERITS.finditer(self.plain, start, end):
            first, last = parents.span(1) if parents[1] else parents.span(2)
            for parent in _FIRST.finditer(self.plain, first, last):
                self.note("base", parent.span(1))
        bracketed = self.text.bracketed(start, end)
        if bracketed is None:
            selected = _BODY.search(self.plain, start, end)
            if selected is not None:
                self.note("body", selected.span())
            return
        self.note("body", bracketed)
        for first, last in self._items(bracketed[0] + 1, bracketed[1] - 1):
            column = _COLUMN.match(self.plain, first, last)
            if column is not None and self._word(column.span(1)) not in _NO_COLUMN:
                self.note("typed.target", column.span(1))
                self.note("typed.type", column.span(2))

    def _items(self, start: int, end: int) -> Iterator[Span]:
        """The pieces between commas that are in no brackets of their own."""
        position = first = start
        while position < end:
            sign = _COMMA_OR_BRACKET.search(self.plain, position, end)
            if sign is None:
                break
            if sign[0] == b",":
                yield first, sign.start()
                first = sign.end()
            inner = self.text.bracketed(sign.start(), end)
            position = inner[1] if inner is not None else sign.end()
        yield first, end

    def tables(self) -> None:
        """What is read, written and changed."""
        for fact, pattern in _SAID.items():
            for found in pattern.finditer(self.plain):
                if self._is_table(found.span(1), may_have_columns=fact in ("writes", "uses")):
                    self.note(f"said.{fact}", found.span(1))
                self._named.add(found.end(1))
        common = {self._word(found.span(1)) for found in _WITH.finditer(self.plain)}
        for pattern in (_WITH, _KEYED):
            self._named.update(found.end(1) for found in pattern.finditer(self.plain))
        for found in _FROM.finditer(self.plain):
            before = self.plain[max(0, found.start() - 60) : found.start()]
            if _NOT_FROM.search(before) or _SHARED.search(before):
                continue
            for item in _FIRST.finditer(self.plain, *found.span(1)):
                if self._word(item.span(1)) not in common and self._is_table(item.span(1)):
                    self.note("said.reads", item.span(1))

    def _is_table(self, span: Span, *, may_have_columns: bool = False) -> bool:
        """A variable is none, and what is called gives a table without being one: `from f(x)`.

        A bracket behind a table that is written or referred to has its columns: `insert into t(a, b)`.
        """
        word = self._word(span)
        is_variable = word[:1] in "0123456789@$" and not _TEMPLATE.match(word)
        is_called = not may_have_columns and self.plain[span[1] : span[1] + 1] == b"("
        return word not in _NO_TABLE and not is_variable and not is_called

    def _word(self, span: Span) -> str:
        return self.source[slice(*span)].lower().decode("utf-8", "replace")

    def happen(self) -> None:
        """Calls, assignments, what is thrown and counted."""
        self._calls()
        for found in _ASSIGN.finditer(self.plain):
            first = 1 if found[1] else 3
            self.note("assign.target", found.span(first))
            start, end = found.span(first + 1)
            while start < end and self.source[start : start + 1].isspace():
                start += 1
            self.note("assign.value", (start, end))
        self._declared()
        for found in _THROW.finditer(self.plain):
            self.note("throw", next(found.span(group) for group in range(1, 6) if found[group]))
        for capture, pattern in _COUNTED.items():
            self.spans.setdefault(capture, []).extend(
                found.span() for found in pattern.finditer(self.plain) if not self._in_head(found.start())
            )
        for condition in self._conditions():
            self.spans.setdefault("boolean", []).extend(
                sign.span() for sign in _AND.finditer(self.plain, *condition)
            )
        self.spans["import"] = [found.span() for found in _INCLUDE.finditer(self.plain)]

    def _conditions(self) -> Iterator[Span]:
        """What stands between IF and THEN, and the like."""
        start = -1
        for sign in _CONDITION.finditer(self.plain):
            if sign["closes"] and start >= 0 and sign.start() - start <= _LONGEST_CONDITION:
                yield start, sign.start()
            if not sign["opens"]:
                start = -1
            elif start < 0 or sign.start() - start > _LONGEST_CONDITION:
                start = sign.end()

    def _in_head(self, offset: int) -> bool:
        index = bisect_right(self._heads, (offset, len(self.plain))) - 1
        return index >= 0 and offset < self._heads[index][1]

    def _calls(self) -> None:
        called = {found.span(1) for found in _RUN.finditer(self.plain)}
        for found in _CALL.finditer(self.plain):
            if not found[1][:1].isdigit() and found.end(1) not in self._named:
                called.add(found.span(1))
        calls = [span for span in called if self._word(span) not in _NO_CALL]
        behind = (self.text.bracketed(end, len(self.plain)) for _, end in calls)
        self.spans["call"] = calls
        self.spans["arguments"] = [found for found in behind if found is not None]

    def _declared(self) -> None:
        entries = [*_DECLARED.finditer(self.plain)]
        for section in _SECTION.finditer(self.plain):
            entries += _ENTRY.finditer(self.plain, *section.span(1))
        for entry in entries:
            self.note("local", entry.span(1))
            self.note("typed.target", entry.span(1))
            self.note("typed.type", entry.span(2))


def _scan(source: bytes) -> dict[str, list[Span]]:
    found = _Found(source)
    found.define()
    found.tables()
    found.happen()
    return {capture: sorted(set(spans)) for capture, spans in found.spans.items()}


def _naming(written: str) -> str:
    """`[dbo]."Orders"` is dbo.Orders."""
    name = _QUOTES.sub("", _SPACES.sub(".", written))
    return name if _TEMPLATE.match(name) else name.lstrip("@")


def _parameters(text: str, blanked: str) -> list[Parameter]:
    bare = not text.startswith("(")
    items = split_list(text, blanked) if bare else split_list(text[1:-1], blanked[1:-1])
    return [found for item in items if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    found = _PARAMETER.match(item)
    if found is None:
        return Parameter("")
    default = found["word"] or found["sign"] or ""
    return Parameter(_naming(found["name"]), " ".join(found["type"].split()), default.strip())


def _imports(text: str) -> list[Import]:
    return [Import(text.rsplit(maxsplit=1)[-1].lstrip("@"))] if text.strip() else []


def _no_exports(_source: bytes, _public: list[str]) -> list[str]:
    return []


_FIELDS = every_field(
    "params", "param_types", "param_defaults", "modifiers", "extends", "return_types", "throws", "calls", "uses",
    "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("returns",),
) - {"visibility", "exports"}  # fmt: skip

LANGUAGE = Language(
    id="sql",
    grammar="",
    query="",
    scan=_scan,
    fields=_FIELDS,
    keywords=_NO_TABLE | words("null true false"),
    visibility=no_visibility,
    parameters=_parameters,
    imports=_imports,
    exports=_no_exports,
    callee=_naming,
    naming=_naming,
    comment_signs=re.compile(r"^[ \t]*(?:--+|/\*+!?|\*+/|\*+|#+)[ \t]?|[ \t\r]*+\**+/?[ \t\r]*+$", re.MULTILINE),
)
