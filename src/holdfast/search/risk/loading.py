"""Reading rule files: the built-in ones, and one of the user's own that adds, replaces or switches off.

A file that is wrong is refused with the name of the rule and of the key; half of a rule file would be a promise
that is not kept.
"""

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from holdfast.errors import UsageError
from holdfast.search.risk.patterns import CALL, READ, Pattern, parse_pattern
from holdfast.search.risk.rules import SEVERITIES, RuleSet, Sanitizer, Sink, Source
from holdfast.settings.toml import TomlRefused, parse_toml

__all__ = ["load_rules", "rules_digest"]

_BUILT_IN = Path(__file__).with_name("rules")  # a file for each language or family of them
_SHARED = frozenset({"name", "languages", "patterns", "enabled"})
_KEYS = {
    "source": _SHARED | {"tags", "fills", "unless_parameter"},
    "sink": _SHARED | {"tags", "category", "severity", "argument", "when", "unless", "safe_when"},
    "sanitizer": _SHARED | {"for", "arguments"},
}
R = TypeVar("R", Source, Sink, Sanitizer)


def load_rules(extra: Path | None = None) -> RuleSet:
    """The built-in rules, with those of `extra` if it is given. Raises UsageError when that cannot be used.

    It is asked for every file, so an answer is kept until the file changes.
    """
    if extra is None:
        return _loaded(None, 0, 0)
    try:
        state = extra.stat()
    except OSError as error:
        raise _unreadable(extra, error) from error
    return _loaded(extra, state.st_mtime_ns, state.st_size)


def rules_digest(extra: Path | None = None) -> str:
    """What tells two sets of rules apart: a digest of the built-in files and of `extra`, if it is given.

    It is taken of the bytes, wherever the file stands and whenever it was written. Raises UsageError when the file
    cannot be read.
    """
    built_in = hashlib.blake2b(digest_size=16)
    for path in _built_in():
        built_in.update(_bytes_of(path) + b"\0")
    digests = [built_in, *([] if extra is None else [hashlib.blake2b(_bytes_of(extra), digest_size=16)])]
    return "-".join(digest.hexdigest() for digest in digests)


def _built_in() -> list[Path]:
    return sorted(_BUILT_IN.glob("*.toml"))


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


@lru_cache(maxsize=4)
def _loaded(extra: Path | None, _mtime_ns: int, _size: int) -> RuleSet:
    built_in = [_File(path) for path in _built_in()]
    own = _File(extra) if extra is not None else None
    rules = RuleSet()
    rules.sources = _rules("source", built_in, own, _source)
    rules.sinks = _rules("sink", built_in, own, _sink)
    rules.sanitizers = _rules("sanitizer", built_in, own, _sanitizer)
    return rules


def _unreadable(path: Path, error: Exception) -> UsageError:
    return UsageError(f"The risk rules {path} cannot be read: {error}", remedy="correct the file or remove it")


class _File:
    """One rule file, as tables that were checked for their keys."""

    def __init__(self, path: Path) -> None:
        try:
            self._content = parse_toml(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, TomlRefused) as error:
            raise _unreadable(path, error) from error
        self.path = path
        # For all rules of the file that do not say it themselves.
        self._languages = self._content.pop("languages", [])
        unknown = sorted(set(self._content) - set(_KEYS))
        if unknown:
            raise UsageError(
                f"{path}: [[{unknown[0]}]] is no kind of rule", remedy="use [[source]], [[sink]] or [[sanitizer]]"
            )

    def tables(self, kind: str) -> list["_Table"]:
        given = self._content.get(kind, [])
        if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
            raise UsageError(f"{self.path}: {kind} must be tables", remedy=f"write [[{kind}]]")
        return [_Table(self.path, kind, {"languages": self._languages, **table}) for table in given]


def _rules(kind: str, built_in: list[_File], own: _File | None, build: Callable[["_Table"], R]) -> list[R]:
    """The rules of a kind: first those of `own`, so that they also win, then ours that it left in place."""
    ours = [build(table) for file in built_in for table in file.tables(kind)]
    theirs: list[R] = []
    for table in own.tables(kind) if own is not None else []:
        replaced = [rule for rule in ours if rule.name == table.name and _overlap(rule, table.languages)]
        if any(rule.name == table.name and _overlap(rule, table.languages) for rule in theirs):
            raise table.wrong("name", "is given twice for the same language", "give every rule a name of its own")
        ours = [rule for rule in ours if rule not in replaced]
        if table.enabled:
            theirs.append(build(table))
        elif not replaced:
            raise table.wrong("enabled", "switches off a rule that does not exist", "check its name")
    return theirs + ours


def _overlap(rule: Source | Sink | Sanitizer, languages: frozenset[str]) -> bool:
    return not rule.languages or not languages or bool(rule.languages & languages)


class _Table:
    """One rule as it is written; every question about a key is answered with its value or a UsageError."""

    def __init__(self, path: Path, kind: str, given: dict[str, Any]) -> None:
        self._path = path
        self._kind = kind
        self._given = given
        self.name = ""
        self.name = self.text("name")
        unknown = sorted(set(given) - _KEYS[kind])
        if unknown:
            raise self.wrong(unknown[0], "is not known", f"use {', '.join(sorted(_KEYS[kind]))}")
        self.languages = frozenset(self.texts("languages"))
        self.enabled = self.switch("enabled", otherwise=True)

    def wrong(self, key: str, problem: str, remedy: str) -> UsageError:
        """The error that names file, rule and key."""
        return UsageError(f"{self._path}: {self._kind} {self.name!r}: {key} {problem}", remedy=remedy)

    def text(self, key: str) -> str:
        value = self._given.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "must be a text", f'write {key} = "..."')
        return value

    def switch(self, key: str, *, otherwise: bool) -> bool:
        value = self._given.get(key, otherwise)
        if not isinstance(value, bool):
            raise self.wrong(key, "must be true or false", "correct it")
        return value

    def texts(self, key: str, *, needed: bool = False) -> tuple[str, ...]:
        value = self._given.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(key, "must be a list of texts", f'write {key} = ["..."]')
        if needed and not value:
            raise self.wrong(key, "must not be empty", f'write {key} = ["..."]')
        return tuple(value)

    def number(self, key: str) -> int | None:
        value = self._given.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise self.wrong(key, "must be a number, from 0", f"write {key} = 0")
        return value

    def expression(self, key: str) -> re.Pattern[str] | None:
        if key not in self._given:
            return None
        try:
            return re.compile(self.text(key))
        except re.error as error:
            raise self.wrong(key, f"is no regular expression: {error}", "correct it") from error

    def patterns(self, plain: str) -> tuple[Pattern, ...]:
        try:
            return tuple(parse_pattern(text, plain) for text in self.texts("patterns", needed=True))
        except ValueError as error:
            raise self.wrong("patterns", f"cannot be used: {error}", "write names such as os.system") from error


def _source(table: _Table) -> Source:
    return Source(
        name=table.name,
        patterns=table.patterns(READ),
        languages=table.languages,
        tags=table.texts("tags"),
        fills=table.number("fills"),
        unless_parameter=table.switch("unless_parameter", otherwise=False),
    )


def _sink(table: _Table) -> Sink:
    severity = table.text("severity")
    if severity not in SEVERITIES:
        raise table.wrong("severity", f"is {severity!r}", f"use one of {', '.join(SEVERITIES)}")
    return Sink(
        name=table.name,
        patterns=table.patterns(CALL),
        category=table.text("category"),
        severity=severity,
        languages=table.languages,
        tags=table.texts("tags"),
        argument=table.number("argument"),
        when=table.expression("when"),
        unless=table.expression("unless"),
        safe_when=table.expression("safe_when"),
    )


def _sanitizer(table: _Table) -> Sanitizer:
    return Sanitizer(
        name=table.name,
        patterns=table.patterns(CALL),
        categories=frozenset(table.texts("for", needed=True)),
        languages=table.languages,
        arguments=table.number("arguments") or 0,
    )
