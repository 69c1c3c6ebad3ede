"""Facts: what each definition declares and does, gathered from the captures of the query.

Each capture has one short rule. Names that are read are found by `names`, which needs to know what is written.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.search.extract.grammar import Captures, Span
from holdfast.search.extract.page import Page, one_line
from holdfast.search.extract.scopes import Owners, Scope
from holdfast.search.languages.language import Import, Language
from holdfast.search.languages.lists import split_list
from holdfast.search.model import CallSite, Write

__all__ = ["MAX_TEXT", "Gatherer"]

MAX_TEXT = 200

_COUNTED = ("branch", "loop", "break", "continue", "return", "boolean")
_PLURALS = {
    "branch": "branches",
    "loop": "loops",
    "break": "breaks",
    "continue": "continues",
    "return": "returns",
    "boolean": "booleans",
}
# Names may hold a dollar sign, and attributes a hash, in some languages; in others neither gets this far.
_DOTTED = re.compile(r"(?!\d)[\w$]+(?:\.#?(?!\d)[\w$]+)*\Z")
_CALLED_NAME = re.compile(r"(?!\d)[\w$]+(?:(?:\.#?|::|->)(?!\d)[\w$]+)*\Z")
_NOISE = re.compile(r"[\s*?!\\]+")  # f \n .g, *f.g, f?.g
_DOTTED_NAMES = re.compile(r"(?!\d)[\w$]+(?:\.#?(?!\d)[\w$]+)*")
_CALLED = re.compile(r"\w\(")
_WORDS = re.compile(r"(?!\d)[\w$]+")
_CALLEE = re.compile(rb"(?:new\s+)?([A-Za-z_$\x80-\xff][\w$\x80-\xff.]*)\s*")
_AROUND_A_TARGET = "*&()[] \t\r\n"


@dataclass(slots=True, frozen=True)
class _Callee:
    """What is called: its name as written, what it is by an import (or empty), and the facts that follow."""

    name: str
    resolved: str
    facts: tuple[tuple[str, str], ...]


class Gatherer:
    """Goes through the captures of one file once, and gives each fact to the scope that it belongs to."""

    def __init__(self, language: Language, captures: Captures, page: Page, owners: Owners, actors: Owners) -> None:
        """Owners have what is declared; actors do what happens: a decorator is called around what it decorates."""
        self.language = language
        self.captures = captures
        self.page = page
        self.owners = owners
        self.actors = actors
        self.aliases: dict[str, str] = {}
        self.imports: list[str] = []
        self.unread: list[Span] = []  # names that are not read: targets, callees
        self.calls: dict[Scope, list[CallSite]] = {}
        self.writes: dict[Scope, list[Write]] = {}
        self._arguments = dict(captures.of("arguments"))
        self._between = dict(captures.of("call.between"))

    def gather(self) -> None:
        """Collect everything but the names that are read."""
        self._import()
        self._declare()
        self._leave()
        self._count()
        self._assign()
        self._unpack()
        self._bind()
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
                self.imports.append(item.module)
                scope.add("imports", item.module)
                self.aliases.update(item.names)
                for name, target in item.names:
                    if not target.endswith(name):
                        scope.add("aliases", f"{name}={target}")
            self.unread.append((start, end))

    def _declare(self) -> None:
        self._each("base", lambda scope, text: scope.add("extends", text.partition("(")[0]))
        self._each("modifier", lambda scope, text: scope.add("modifiers", text))
        self._each("implied.public", lambda scope, _: scope.add("modifiers", "public"))
        self._each("result", lambda scope, text: scope.add("return_types", text.lstrip(": ")))
        self._each("decorator", self._decorate)
        self._each("flag.async", lambda scope, _: scope.flags.add("async"))
        for start, end in self.captures.of("params"):
            self._parameters(self.owners.at(start), start, end)
        self.unread += self.captures.of("decorator")

    def _leave(self) -> None:
        """How a definition is left, for good or for a while: thrown, returned, yielded, awaited."""
        of = self.captures.of
        self._each_own(self._thrown(), lambda scope, text: scope.add("throws", text))
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
        full = self.resolve(name)
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
            written = self.page.name(*declared)
            if written not in ("var", "auto"):  # these declare no type
                self.actors.at(target[0]).add("inferred_types", f"{self.page.name(*target)}: {written}"[:MAX_TEXT])

    def _unpack(self) -> None:
        """Patterns and lists of names that are written at once: each name has the whole value."""
        bound = sorted({*self.captures.of("bind"), *self.captures.of("local")})
        for target, value in self.captures.pairs("unpack.target", "unpack.value"):
            first, behind = bisect_left(bound, target), bisect_left(bound, (target[1], 0))
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
        text = self.page.name(*target)
        if text.isidentifier() and text not in self.language.keywords:
            self.unread.append(target)
            scope.locals.add(text)
            scope.add("writes", text)
            return [text]
        items = (
            split_list(text.strip("()")) if "[" in text or _CALLED.search(text) else _DOTTED_NAMES.findall(text)
        )
        names = [name for item in items if (name := self._one_target(scope, item))]
        if names and "[" not in text:
            self.unread.append(target)
        return names

    def _one_target(self, scope: Scope, item: str) -> str:
        base = item.strip()
        if base.endswith("]") and not base.startswith("["):
            base = base[: base.find("[")]
            if _DOTTED.match(base):
                scope.add("mutations", f"{base}[]")
                return base
            return ""
        base = base.strip(_AROUND_A_TARGET)
        if not _DOTTED.match(base) or base in self.language.keywords:
            return ""
        scope.add("writes", base)
        if "." in base:
            scope.add("mutations", base)
            scope.named.append(base)
        else:
            scope.locals.add(base)
        return base

    def _value(self, scope: Scope, name: str, value: Span, kind: str) -> None:
        text = self.page.name(*value)
        if len(text) < MAX_TEXT and _DOTTED.match(text) and text not in self.language.keywords:
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

    def _call(self) -> None:
        at, name, source = self.actors.at, self.page.name, self.page.source
        known: dict[str, _Callee | None] = {}
        for start, end in self._called():
            written = name(start, end)
            if written not in known:
                known[written] = self._understand(written)
            callee = known[written]
            scope = at(start)
            if callee is None or end - start >= MAX_TEXT:
                self._call_on_an_expression(scope, start, end)
                continue
            for fact, text in callee.facts:
                scope.add(fact, text)
            scope.named.append(callee.name)
            if callee.resolved:
                scope.resolved.append(callee.resolved)
            dot = -1 if callee.resolved else source.rfind(b".", start, end)
            self.unread.append((max(start, dot), end))
            self._site(scope, callee.name, end)
            if callee.resolved and callee.resolved != callee.name:  # risk rules know what was imported
                self._site(scope, callee.resolved, end)

    def _called(self) -> list[Span]:
        """What is called; where the grammar keeps object and method apart, both together: `stock.find`."""
        objects = {end: start for start, end in self.captures.of("call.object")}
        if not objects:
            return self.captures.of("call")
        source, called = self.page.source, []
        for start, end in self.captures.of("call"):
            before = start
            while before and source[before - 1] in b" \t\r\n.":
                before -= 1
            called.append((objects.get(before, start), end))
        return called

    def _understand(self, written: str) -> _Callee | None:
        """What a call of this means, found out once for each callee of a file; None if it is no name."""
        name = _NOISE.sub("", written)
        if not _CALLED_NAME.match(name):
            return None
        facts = [("calls", name)]
        # `self.pool.get()` reads `self.pool`, but `json.loads()` of an import reads no variable.
        full = self.resolve(name)
        is_imported = name.partition(".")[0] in self.aliases
        if full != name:
            facts.append(("calls", full[:MAX_TEXT]))
        before, _, method = name.rpartition(".")
        if before and method in self.language.mutators:
            facts.append(("mutations", f"{name}()"))
        return _Callee(name, full[:MAX_TEXT] if is_imported else "", tuple(facts))

    def _call_on_an_expression(self, scope: Scope, start: int, end: int) -> None:
        """`f(x).strip()` calls `strip`, whatever it is called on."""
        dot = self.page.source.rfind(b".", start, end)
        method = self.page.name(dot + 1, end) if dot >= 0 else ""
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
            stop = arguments.get(start)
        if stop is not None:
            self.calls.setdefault(scope, []).append(CallSite(callee, start, stop, self.page.line(start)))

    def _behind(self, start: int) -> int:
        while self.page.source[start : start + 1] in (b" ", b"\t", b"\r", b"\n", b"\\"):
            start += 1
        return start

    def resolve(self, name: str) -> str:
        """The name with its first part replaced by what the file's imports say it is."""
        head, dot, rest = name.partition(".")
        target = self.aliases.get(head)
        return name if target is None else f"{target}{dot}{rest}"
