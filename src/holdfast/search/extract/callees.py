"""What is called, by its name: with the imports of the file and of the function that it stands in.

Knows names and scopes, not where they are written; the places of calls are the business of `facts`.
"""

import re
from dataclasses import dataclass

from holdfast.search.extract.page import MAX_TEXT
from holdfast.search.extract.scopes import Scope
from holdfast.search.extract.spelling import Spelling
from holdfast.search.languages.rules.language import Import, Language

__all__ = ["Callee", "Callees", "without_type_arguments"]

_CALLED_NAME = re.compile(r"(?!\d)[\w$]+(?:(?:\.#?|::|->)[\w$]+)*\Z")
_NOISE = re.compile(r"[\s*?!\\]+")  # f \n .g, *f.g, f?.g
_TYPE_ARGUMENTS = re.compile(r"(?:::)?<[^<>]*>")
_FUNCTIONS = ("function", "method")


@dataclass(slots=True, frozen=True)
class Callee:
    """What is called: its name as written, the first part of it, what it is by an import (or empty), and the facts
    that follow."""

    name: str
    head: str
    resolved: str
    facts: tuple[tuple[str, str], ...]


class Callees:
    """The names of one file. All imports must have been learnt before the first call is looked at."""

    def __init__(self, language: Language, spelling: Spelling) -> None:
        self.imports: list[str] = []  # modules
        self._language = language
        self._spelling = spelling
        self._aliases: dict[str, str] = {}
        self._local_aliases: dict[Scope, dict[str, str]] = {}  # of imports inside of functions
        self._imported_names: set[str] = set()
        self._known: dict[str, Callee | None] = {}
        self._elsewhere: dict[tuple[str, str | None], Callee] = {}  # callees that mean something else somewhere

    def learn(self, scope: Scope, item: Import) -> None:
        """Take an import that stands in this scope."""
        if item.module:
            self.imports.append(item.module)
        inside = self._local_aliases.setdefault(scope, {}) if scope.kind in _FUNCTIONS else self._aliases
        inside.update(item.names)
        self._imported_names.update(name for name, _ in item.names)

    def resolve(self, name: str) -> str:
        """The name with its first part replaced by what the file's imports say it is."""
        head = self._head(name)
        target = self._aliases.get(head)
        return name if target is None else f"{target}{name[len(head) :]}"

    def of(self, scope: Scope, written: str) -> Callee | None:
        """What a call means where it stands, since functions have imports and variables of their own; None if what
        is called is no name."""
        if written not in self._known:
            self._known[written] = self._understand(written)
        callee = self._known[written]
        if callee is None or callee.head not in self._imported_names:
            return callee
        target = self._target(scope, callee.head)
        if target == self._aliases.get(callee.head):
            return callee
        key = (written, target)
        if key not in self._elsewhere:
            self._elsewhere[key] = self._understand(written, target) or callee
        return self._elsewhere[key]

    def _target(self, scope: Scope, name: str) -> str | None:
        """What an import says that a name is; None where a parameter, a variable or a member hides it."""
        around: Scope | None = scope
        while around is not None and around.kind in _FUNCTIONS:
            if name in self._local_aliases.get(around, ()):
                return self._local_aliases[around][name]
            if name in around.locals and name not in around.globals:
                return None
            around = around.parent
        members = around.children if around is not None and self._language.own_members else ()
        return None if any(member.plain_name == name for member in members) else self._aliases.get(name)

    def _understand(self, written: str, target: str | None = "") -> Callee | None:
        """What a call of this means; None if it is no name. The target is what an import says its head is, by
        default what the imports of the file say."""
        written = self._language.naming(written) if self._language.naming else written
        name = self._language.callee(written) if self._language.callee else _callee_name(written)
        if not name:
            return None
        facts = [("calls", name)]
        # `self.pool.get()` reads `self.pool`, but `json.loads()` of an import reads no variable.
        head = self._head(name)
        meant = self._aliases.get(head) if target == "" else target
        full = name if meant is None else f"{meant}{name[len(head) :]}"
        if full != name:
            facts.append(("calls", full[:MAX_TEXT]))
        before, method = self._spelling.parted(name)
        is_changed = before and method in self._language.mutators and not name.endswith(f"::{method}")
        if is_changed and not self._is_library(before):
            facts.append(("mutations", f"{name}()"))
        return Callee(name, head, "" if meant is None else full[:MAX_TEXT], tuple(facts))

    def _is_library(self, name: str) -> bool:
        """Whether nothing but functions is behind this name: `os.remove(path)` does not change `os`."""
        return name in self._language.libraries or self._aliases.get(name) in self.imports

    def _head(self, name: str) -> str:
        found = self._spelling.first.match(name)
        return found[0] if found else name


def without_type_arguments(text: str) -> str:
    """`Vec::new` of `Vec::<u8>::new`, whatever is nested in there."""
    while "<" in text and (shorter := _TYPE_ARGUMENTS.sub("", text)) != text:
        text = shorter
    return text


def _callee_name(written: str) -> str:
    name = _NOISE.sub("", without_type_arguments(written)).removeprefix("::")
    return name if _CALLED_NAME.match(name) else ""
