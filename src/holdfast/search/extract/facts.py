"""Facts: what each definition declares and does, gathered from the captures of the query.

Each capture has one short rule. Names that are read are found by `names`, which needs to know what is written.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

from holdfast.search.extract.callees import Callees, without_type_arguments
from holdfast.search.extract.grammar import Captures, Span
from holdfast.search.extract.page import MAX_TEXT, Page, one_line
from holdfast.search.extract.scopes import Owners, Scope
from holdfast.search.extract.spelling import spelled
from holdfast.search.languages.rules.language import Import, Language
from holdfast.search.languages.rules.lists import split_list
from holdfast.search.model import CallSite, Write

__all__ = ["Gatherer"]

MAX_TARGETS = 4_000  # of what is assigned to at once: a, b, c

# Where a place says several of them, the last one of these counts.
_ACCESS = ("public", "internal", "protected", "private", "unsaid")
_COUNTED = ("branch", "loop", "break", "continue", "return", "boolean")
_PLURALS = {
    "branch": "branches",
    "loop": "loops",
    "break": "breaks",
    "continue": "continues",
    "return": "returns",
    "boolean": "booleans",
}
_CHAINED = re.compile(r"(?<![?!])[?!]+\.")  # a?.b, a!.b
_CALLED = re.compile(r"\w\(")
_WORDS = re.compile(r"(?!\d)[\w$]+")
_CALLEE = re.compile(rb"(?:new\s+)?([A-Za-z_$\x80-\xff][\w$\x80-\xff.]*)\s*")
_AROUND_A_TARGET = "*&()[] \t\r\n"
_DECLARATOR = re.compile(r"([*&]*)\s*([\w$]+)\s*((?:\[[^\[\]]*\]\s*)*)\Z")  # *p, buffer[64]
_INDEX = re.compile(r"\[[^\[\]]*\]")
_ATTRIBUTES = re.compile(r"\[\[.*?\]\]|\b__\w+\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", re.DOTALL)
_PATH_BEFORE = re.compile(rb"(?:[\w$]+(?:\.|::|->))+\Z")


class Gatherer:
    """Goes through the captures of one file once, and gives each fact to the scope that it belongs to."""

    def __init__(self, language: Language, captures: Captures, page: Page, owners: Owners, actors: Owners) -> None:
        """Owners have what is declared; actors do what happens: a decorator is called around what it decorates."""
        self.language = language
        self.captures = captures
        self.page = page
        self.owners = owners
        self.actors = actors
        self._spelling = spelled(language)
        self._callees = Callees(language, self._spelling)
        self.unread: list[Span] = []  # names that are not read: targets, callees
        self.calls: dict[Scope, list[CallSite]] = {}
        self.writes: dict[Scope, list[Write]] = {}
        if language.bound is not None:
            self._take_patterns_apart(language.bound)
        self._arguments = dict(captures.of("arguments"))
        self._between = dict(captures.of("call.between"))
        # By the end of the name; a call without anything behind its name has no arguments.
        self._whole_ends = {name[1]: end for name, end in _innermost(captures) if name[1] < end}

    @property
    def imports(self) -> list[str]:
        """The modules that are imported anywhere in the file."""
        return self._callees.imports

    def _take_patterns_apart(self, bound: re.Pattern[bytes]) -> None:
        """Find the names in patterns, which may be of any depth, and forget what is written in heads."""
        spans, heads = self.captures.spans, self.captures.of("unwritten")
        for kind in ("assign.target", "assign.value", "unpack.target", "unpack.value", "bind.pattern"):
            spans[kind] = self._outside(heads, self.captures.of(kind))
        for kind in ("bind", "local"):
            patterns = self.captures.of(f"{kind}.pattern")
            names = {name.span() for span in patterns for name in bound.finditer(self.page.unquoted, *span)}
            spans[kind] = sorted(names.union(self.captures.of(kind)))

    def gather(self) -> None:
        """Collect everything but the names that are read."""
        self._import()
        self._declare()
        self._leave()
        self._count()
        self._assign()
        self._unpack()
        self._bind()
        self._say()
        self._call()

    def _each(self, capture: str, note: Callable[[Scope, str], None]) -> None:
        at, name = self.owners.at, self.page.name
        for start, end in self.captures.of(capture):
            note(at(start), name(start, end))

    def _each_own(self, spans: list[Span], note: Callable[[Scope, str], None]) -> None:
        at, name = self.actors.at, self.page.name
        for start, end in self._outside_of_callbacks(spans):
            note(at(start), name(start, end))

    def _import(self) -> None:
        for start, end in self.captures.of("import"):
            scope = self.actors.at(start)
            found: list[Import] = self.language.imports(self.page.plain[start:end].decode("utf-8", "replace"))
            for item in found:
                if item.module:
                    scope.add("imports", item.module)
                self._callees.learn(scope, item)
                for name, target in item.names:
                    if not target.endswith(name):
                        scope.add("aliases", f"{name}={target}")
            self.unread.append((start, end))

    def _declare(self) -> None:
        self._each("base", lambda scope, text: scope.add("extends", _without_root(text.partition("(")[0])))
        self._each("modifier", lambda scope, text: scope.add("modifiers", text))
        for start, end in self.captures.of("modifier.head"):
            scope = self.owners.at(start)
            if start < scope.body or scope.kind == "variable":
                scope.add("modifiers", self.page.name(start, end))
        self._each("implied.public", lambda scope, _: scope.add("modifiers", "public"))
        for start, end in self.captures.of("result"):
            text = self.page.name(start, end)
            # The sign before a type is none of it, but that of a literal is: `:ok`.
            is_sign = self.page.unquoted[start : start + 1] == b":"
            self.owners.at(start).add("return_types", text.lstrip(": ") if is_sign else text)
        self._each("decorator", self._decorate)
        self._each("flag.async", lambda scope, _: scope.flags.add("async"))
        self._grant()
        for start, _ in self.captures.of("result.before"):
            self._result_before(self.owners.at(start), start)
        for start, end in self.captures.of("params"):
            scope = self.owners.at(start)
            if start <= scope.body:  # what is declared in a body has parameters of its own
                self._parameters(scope, start, end)
        for (start, _), (_, end) in self.captures.pairs("params.open", "params.close"):
            self._parameters(self.owners.at(start), start, end)
        self.unread += self.captures.of("decorator")

    def _result_before(self, scope: Scope, end: int) -> None:
        text = _ATTRIBUTES.sub(" ", self.page.unquoted[scope.head : end].decode("utf-8", "replace"))
        result = " ".join(word for word in text.split() if word not in scope.facts.get("modifiers", ()))
        if result and "(" not in result and end <= scope.body and result != "auto":
            scope.add("return_types", result[:MAX_TEXT])

    def _grant(self) -> None:
        """Visibility that is said by the place of a definition, or by a section that it stands in."""
        at, of = self.owners.at, self.captures.of
        sections: dict[Scope, list[tuple[int, str]]] = {}
        named: list[tuple[Scope, str]] = []
        for word in _ACCESS:
            for start, _ in of(f"access.{word}"):
                scope = at(start)
                if scope.start <= start <= scope.head:  # else it is a part of a definition, and none itself
                    scope.access = word
            for start, _ in of(f"section.{word}"):
                sections.setdefault(at(start), []).append((start, word))
            for start, end in of(f"named.{word}"):
                name = self.page.name(start, end).lstrip(":")
                named += [(scope, word) for scope in at(start).children if scope.plain_name == name]
        for around, marks in sections.items():
            marks.sort()
            for scope in around.children:
                index = bisect_left(marks, (scope.start, ""))
                scope.access = marks[index - 1][1] if index else scope.access
        for scope, word in named:
            scope.add("modifiers", word)

    def _leave(self) -> None:
        """How a definition is left, for good or for a while: thrown, returned, yielded, awaited."""
        of = self.captures.of
        self._each_own(self._thrown(), lambda scope, text: scope.add("throws", _without_root(text)))
        self._each_own(of("await"), lambda scope, text: scope.add("awaits", text))
        self._each_own(of("flag.generator"), lambda scope, _: scope.flags.add("generator"))
        self._each_own(of("return.value"), lambda scope, _: scope.flags.add("returns"))
        with_named_results = {self.owners.at(start) for start, _ in of("result.name")}
        for start, _ in self._outside_of_callbacks(of("return")) if with_named_results else ():
            if (scope := self.actors.at(start)) in with_named_results:
                scope.flags.add("returns")

    def _thrown(self) -> list[Span]:
        throwers, source = {name.encode() for name in self.language.throwers}, self.page.source
        thrown = self.captures.of("throw")
        if not throwers:
            return thrown
        return sorted([*thrown, *(span for span in self.captures.of("call") if source[slice(*span)] in throwers)])

    def _decorate(self, scope: Scope, text: str) -> None:
        name = text.lstrip("@ ").partition("(")[0].strip()[:MAX_TEXT]
        scope.add("decorators", name)
        full = self._callees.resolve(name)
        if full != name:
            scope.resolved.append(full[:MAX_TEXT])

    def _parameters(self, scope: Scope, start: int, end: int) -> None:
        text = self.page.plain[start:end].decode("utf-8", "replace")
        unquoted = self.page.unquoted[start:end].decode("utf-8", "replace")
        for parameter in self.language.parameters(text, unquoted):
            scope.locals.add(parameter.name)
            scope.add("params", parameter.name[:MAX_TEXT])
            if parameter.type:
                scope.add("param_types", one_line(f"{parameter.name}: {parameter.type}", MAX_TEXT))
            if parameter.default:
                scope.add("param_defaults", one_line(f"{parameter.name}={parameter.default}", MAX_TEXT))
                inferred = "" if parameter.type else self.language.infer("", parameter.default, "")
                if inferred:
                    scope.add("inferred_types", f"{parameter.name}: {inferred}"[:MAX_TEXT])

    def _count(self) -> None:
        at = self.actors.at
        for capture in _COUNTED:
            name = _PLURALS[capture]
            spans = self.captures.of(capture)
            for start, _ in self._outside_of_callbacks(spans) if capture == "return" else spans:
                at(start).count(name)

    def _outside_of_callbacks(self, spans: list[Span]) -> list[Span]:
        """Without those in functions that are no definitions: what these return is not what is returned here."""
        anonymous, at = self.captures.of("anonymous"), self.actors.at
        if not anonymous or not spans:
            return spans
        index, around, own = 0, [], []
        for span in spans:
            while index < len(anonymous) and anonymous[index][0] < span[0]:
                around.append(anonymous[index])
                index += 1
            while around and around[-1][1] <= span[0]:
                around.pop()
            # The function that is the definition itself has its body; the default of a parameter has not.
            if not around or around[-1][0] < at(span[0]).body < around[-1][1]:
                own.append(span)
        return own

    def _assign(self) -> None:
        kinds = self.captures.value_kinds
        for target, value in self.captures.pairs("assign.target", "assign.value"):
            scope = self.actors.at(target[0])
            line = self.page.line(target[0])
            for name in self._written(scope, target):
                self.writes.setdefault(scope, []).append(Write(name, *value, line))
                # Of `a, b = ...` and `a[0] = ...` the value says nothing about the type of `a`.
                if target[1] - target[0] == len(name.encode()):
                    self._value(scope, name, value, kinds[value])
        for target, declared in self.captures.pairs("typed.target", "typed.type"):
            scope = self.actors.at(target[0])
            scope.add("inferred_types", f"{self.page.name(*target)}: {self.page.name(*declared)}"[:MAX_TEXT])
        for declared, target in self.captures.pairs("declared.type", "declared.name"):
            written, name = self.page.name(*declared), self.page.name(*target)
            if written in ("var", "auto"):  # these declare no type
                continue
            if not name.isidentifier():
                if (parts := _DECLARATOR.match(name)) is None:
                    continue
                name, written = parts[2], written + parts[1] + "[]" * parts[3].count("[")
            self.actors.at(target[0]).add("inferred_types", f"{name}: {written}"[:MAX_TEXT])

    def _unpack(self) -> None:
        """Patterns and lists of names that are written at once: each name has the whole value."""
        bound = sorted({*self.captures.of("bind"), *self.captures.of("local")})
        for target, value in self.captures.pairs("unpack.target", "unpack.value"):
            first, behind = bisect_left(bound, (target[0], 0)), bisect_left(bound, (target[1], 0))
            for span in bound[first:behind]:
                self._write(span, value)
        values = self.captures.of("assign.value")
        for span in self.captures.of("assign.more"):
            index = bisect_left(values, (span[1], 0))
            if index < len(values):
                self._write(span, values[index])

    def _write(self, span: Span, value: Span) -> None:
        write = Write(self.page.name(*span), *value, self.page.line(span[0]))
        self.writes.setdefault(self.actors.at(span[0]), []).append(write)

    def _written(self, scope: Scope, target: Span) -> list[str]:
        """Note what an assignment writes; gives the names."""
        text = self.page.name(*target, limit=MAX_TARGETS)
        if text.isidentifier() and text not in self.language.keywords:
            self.unread.append(target)
            scope.locals.add(text)
            scope.add("writes", text)
            return [text]
        text = _CHAINED.sub(".", text)
        items = (
            split_list(text.strip("()"))
            if "[" in text or _CALLED.search(text)
            else self._spelling.each.findall(text)
        )
        names = [name for item in items if (name := self._one_target(scope, item))]
        if names and "[" not in text:
            self.unread.append(target)
        return names

    def _one_target(self, scope: Scope, item: str) -> str:
        base = item.strip()
        if base.endswith("]") and not base.startswith("["):
            base = base[: base.find("[")]
            if self._spelling.whole.match(base):
                scope.add("mutations", f"{base}[]")
                return base
            return ""
        base = base.strip(_AROUND_A_TARGET)
        if not self._spelling.whole.match(base) or base in self.language.keywords:
            return ""
        scope.add("writes", base)
        if self._spelling.first.fullmatch(base) is None or base[0] == "@":  # a.b, or @b of the object itself
            scope.add("mutations", base)
            scope.named.append(base)
        else:
            scope.locals.add(base)
        return base

    def _value(self, scope: Scope, name: str, value: Span, kind: str) -> None:
        text = self.page.name(*value)
        is_name = len(text) < MAX_TEXT and self._spelling.whole.match(text) and kind != "call"
        if is_name and text not in self.language.keywords:
            scope.add("aliases", f"{name}={text}"[:MAX_TEXT])
            return
        inferred = self.language.infer(kind, text, self._callee(value))
        if inferred:
            scope.add("inferred_types", f"{name}: {inferred}"[:MAX_TEXT])

    def _callee(self, value: Span) -> str:
        """What is called, if the value is nothing but one call."""
        found = _CALLEE.match(self.page.source, *value)
        if found is None or self._arguments.get(found.end()) != value[1]:
            return ""
        return self.page.name(*found.span(1))

    def _bind(self) -> None:
        for span in self.captures.of("bind"):
            self._written(self.actors.at(span[0]), span)
        for span in self.captures.of("update"):
            self._written(self.actors.at(span[0]), span)
            # It is read, too: take back what says otherwise.
            if self.unread and self.unread[-1] == span:
                self.unread.pop()
        for start, end in self.captures.of("local"):
            self.actors.at(start).locals.update(_WORDS.findall(self.page.name(start, end)))
            self.unread.append((start, end))
        for start, end in self.captures.of("global"):
            self.actors.at(start).globals.update(_WORDS.findall(self.page.name(start, end)))
            self.unread.append((start, end))
        for start, end in self.captures.of("delete"):
            for item in split_list(self.page.name(start, end)):
                if not item.isidentifier():
                    self._one_target(self.actors.at(start), item)
        for start, end in self.captures.of("mutated"):
            self.actors.at(start).add("mutations", _INDEX.sub("[]", self.page.name(start, end)))

    def _say(self) -> None:
        """What the language knows by itself, by the name of the fact."""
        for fact in ("reads", "writes", "mutations", "uses"):
            for start, end in self.captures.of(f"said.{fact}"):
                name, scope = self.page.name(start, end), self.actors.at(start)
                name = self.language.naming(name) if self.language.naming else name
                scope.named.append(name)
                if fact != "uses":  # these are made of what is named
                    scope.add(fact, name)

    def _call(self) -> None:
        at, name, source = self.actors.at, self.page.name, self.page.source
        last_dot = self._spelling.last_access(source)
        for start, end in self._outside(self.captures.of("uncalled"), self._called()):
            scope = at(start)
            callee = self._callees.of(scope, name(start, end))
            if callee is None or end - start >= MAX_TEXT:
                self._call_on_an_expression(scope, start, end)
                continue
            for fact, text in callee.facts:
                scope.add(fact, text)
            scope.named.append(callee.name)
            if callee.resolved:
                scope.resolved.append(callee.resolved)
            dot = -1 if callee.resolved else last_dot(start, end)
            self.unread.append((max(start, dot), end))
            self._site(scope, callee.name, end)
            if callee.resolved and callee.resolved != callee.name:  # risk rules know what was imported
                self._site(scope, callee.resolved, end)

    def _called(self) -> list[Span]:
        """What is called; where the grammar keeps object and method apart, both together: `stock.find`."""
        objects = {end: start for start, end in self.captures.of("call.object")}
        if self.captures.of("call.bare"):
            return sorted({*self.captures.of("call"), *map(self._with_path, self.captures.of("call.bare"))})
        if not objects:
            return self.captures.of("call")
        source, called = self.page.source, []
        between = b" \t\r\n" + "".join(self.language.separators).encode()
        for start, end in self.captures.of("call"):
            before = start
            while before and source[before - 1] in between:
                before -= 1
            called.append((objects.get(before, start), end))
        return called

    def _outside(self, ranges: list[Span], spans: list[Span]) -> list[Span]:
        """The spans that do not begin in one of the ranges."""
        if not ranges:
            return spans
        outside, index, behind = [], 0, -1
        for span in spans:
            while index < len(ranges) and ranges[index][0] <= span[0]:
                behind = max(behind, ranges[index][1])
                index += 1
            if span[0] >= behind:
                outside.append(span)
        return outside

    def _with_path(self, span: Span) -> Span:
        """The same name with the names and separators right before it."""
        low = max(0, span[0] - MAX_TEXT)
        path = _PATH_BEFORE.search(self.page.source[low : span[0]])
        start = low + path.start() if path else span[0]
        # A dot before all of it: it is called on an expression.
        return (start - (self.page.source[start - 1 : start] == b"."), span[1])

    def _call_on_an_expression(self, scope: Scope, start: int, end: int) -> None:
        """`f(x).strip()` calls `strip`, whatever it is called on."""
        dot = self._spelling.last_access(self.page.source)(start, end)
        method = without_type_arguments(self.page.name(dot, end)).lstrip(".:->?! ") if dot >= 0 else ""
        if method.isidentifier():
            scope.add("calls", method)
            self._site(scope, method, end)

    def _site(self, scope: Scope, callee: str, end: int) -> None:
        start, arguments = end, self._arguments
        stop = arguments.get(start)
        if stop is None:
            start = self._behind(start)
            while start in self._between:  # f<T>(x), f?.(x)
                start = self._behind(self._between[start])
            stop = arguments.get(start) or self._whole_ends.get(end)
        if stop is not None:
            self.calls.setdefault(scope, []).append(CallSite(callee, start, stop, self.page.line(start)))

    def _behind(self, start: int) -> int:
        while self.page.source[start : start + 1] in (b" ", b"\t", b"\r", b"\n", b"\\"):
            start += 1
        return start


def _without_root(name: str) -> str:
    """`::Timeout` and `\\Exception` are the names behind these signs, as everywhere else."""
    return name.removeprefix("::").removeprefix("\\")


def _innermost(captures: Captures) -> Iterator[tuple[Span, int]]:
    """Each name that is called, and where the smallest `call.whole` around it ends."""
    wholes, index = captures.of("call.whole"), 0
    around: list[Span] = []
    for name in captures.of("call") if wholes else ():
        while index < len(wholes) and wholes[index][0] <= name[0]:
            around.append(wholes[index])
            index += 1
        while around and around[-1][1] < name[1]:
            around.pop()
        if around:
            yield name, around[-1][1]
