"""Every regular expression of the source, and texts that make one slow if any text does.

An expression is known by where it stands. Those of modules are collected while the modules are imported, those in
functions from the syntax tree. Texts are derived from the parsed expression: what it repeats, and what stands
before that, over and over, with an end on which it fails.
"""

import ast
import contextlib
import importlib
import itertools
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import holdfast

__all__ = ["LIMIT", "LONG", "Expression", "expressions", "pumps", "slow_text", "uncollected"]

_ROOT = Path(holdfast.__file__).parent
_CALLS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
_ANCHORED = {"match", "fullmatch"}
_MANY = 64  # repetitions of more are without an end for this purpose
_NAME = "tablekit"
_SIZES = (10, 16, 22, 28, 34, 42, 52, 66, 84, 110, 160)
_SHORT = 2500
_SUSPECT = 0.0004  # seconds for a short text
LONG = 20_000
LIMIT = 0.03  # seconds of the CPU


class Expression(NamedTuple):
    """A regular expression; `ways` are match, fullmatch, or search for all that may start anywhere."""

    file: str
    place: str  # the name of the variable, or how the expression begins
    pattern: str
    flags: int
    ways: tuple[str, ...]

    @property
    def compiled(self) -> "re.Pattern[str]":
        return re.compile(self.pattern, self.flags)


class _Call(NamedTuple):
    file: str
    line: int
    verb: str
    pattern: ast.expr
    flags: ast.expr | None
    name: str  # of the variable that it is assigned to


_CALL = re.compile(
    r"(?:^[ \t]*(\w+)(?:: [^=\n]+)? = )?(?<![\w.])re\.(" + "|".join(sorted(_CALLS)) + r")\(", re.MULTILINE
)
_FLAGS_AT = {"compile": 1, "match": 2, "fullmatch": 2, "search": 2, "findall": 2, "finditer": 2}


@cache
def _sources() -> dict[str, str]:
    files = sorted(_ROOT.rglob("*.py"))
    return {str(file): text for file in files if "re." in (text := file.read_text(encoding="utf-8"))}


@cache
def _calls() -> tuple[_Call, ...]:
    found = []
    for file, text in _sources().items():
        for start in _CALL.finditer(text):
            node = _call_at(text, text.index("re.", start.start(2) - 3))
            if node is not None and node.args:
                at = _FLAGS_AT.get(start[2], 99)
                flags = next((one.value for one in node.keywords if one.arg == "flags"), None)
                flags = flags or (node.args[at] if len(node.args) > at else None)
                line = text.count("\n", 0, start.start(2)) + 1
                found.append(_Call(file, line, start[2], node.args[0], flags, start[1] or ""))
    return tuple(found)


def _call_at(text: str, start: int) -> ast.Call | None:
    """The call that begins there: up to the first closing parenthesis with which it is complete."""
    end = start
    for _ in range(200):
        end = text.find(")", end) + 1
        if not end:
            return None
        with contextlib.suppress(SyntaxError):
            node = ast.parse(text[start:end], mode="eval").body
            return node if isinstance(node, ast.Call) else None
    return None


def _ways(call: _Call) -> tuple[str, ...]:
    """How the expression is applied, as far as the module shows; anything may be done with what leaves it."""
    if call.verb != "compile":
        return (call.verb,) if call.verb in _ANCHORED else ("search",)
    if not call.name:
        return ("search",)
    uses = re.findall(rf"(?<![\w.]){call.name}\b(?:\.(\w+)\b)?(?! = )", _sources()[call.file])
    ways = {use if use in _ANCHORED else "search" for use in uses}
    return tuple(sorted(ways)) or ("search",)


@cache
def expressions() -> tuple[Expression, ...]:
    """All expressions whose text the module alone decides, each once."""
    found: dict[tuple[str, int, tuple[str, ...]], Expression] = {}
    for call in _calls():
        pattern = _text(call)
        if pattern is not None:
            flags = int(_value(call.file, call.flags) or 0) if call.flags is not None else 0
            place = call.name or pattern[:24]
            made = Expression(_short(call.file), f"{place} in line {call.line}", pattern, flags, _ways(call))
            found.setdefault((pattern, flags, made.ways), made)
    return tuple(found.values())


def uncollected() -> list[str]:
    """Calls whose expression is made of what a function is given: `file: the expression as it is written`."""
    return sorted(f"{_short(call.file)}: {ast.unparse(call.pattern)}" for call in _calls() if _text(call) is None)


def _text(call: _Call) -> str | None:
    """The expression, with a name for parts that a function is given; None where that is all of it."""
    value = _value(call.file, call.pattern)
    value = value.pattern if isinstance(value, re.Pattern) else value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else _with_names(call.file, call.pattern)


def _with_names(file: str, node: ast.expr) -> str | None:
    if isinstance(node, ast.JoinedStr):
        values: list[Any] = [vars(part)["value"] for part in node.values]
        known = [_value(file, value) if isinstance(value, ast.expr) else value for value in values]
        return "".join(value if isinstance(value, str) else _NAME for value in known)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        values = [_value(file, side) or _with_names(file, side) for side in (node.left, node.right)]
        parts = [one.decode("latin-1") if isinstance(one, bytes) else one for one in values]
        return "".join(part or _NAME for part in parts) if any(parts) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "escape":
            return _NAME
        form = _value(file, node.func.value)
        if node.func.attr == "format" and isinstance(form, str):
            return form.format(*[_NAME] * len(node.args))
    return None


def _short(file: str) -> str:
    return str(Path(file).relative_to(_ROOT))


@cache
def _module(file: str) -> dict[str, Any]:
    parts = Path(file).relative_to(_ROOT).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return vars(importlib.import_module(".".join(("holdfast", *parts))))


def _value(file: str, node: ast.expr | None) -> Any:
    if node is None:
        return None
    if isinstance(node, ast.Constant):
        return node.value
    try:
        return eval(compile(ast.Expression(node), file, "eval"), _module(file))
    except Exception:
        return None


# What an expression is pumped with.


def slow_text(pattern: "re.Pattern[str]", ways: tuple[str, ...], *, size: int = LONG, most: int = 1000) -> str:
    """A text of at most so many characters that takes longer than `LIMIT`, in words; "" where there is none.

    Texts grow step by step, so one on which an expression explodes is found while it is short. Growth is judged by
    CPU time, of which a square takes several hundred times what a line takes at these lengths.
    """
    for before, unit, after in pumps(pattern)[:most]:
        for way in ways:
            if count := _slow_count(pattern, way, (before, unit, after), size):
                return f"{way} {before!r} + {unit!r} * {count} + {after!r}"
    return ""


def _slow_count(pattern: "re.Pattern[str]", way: str, parts: tuple[str, str, str], size: int) -> int:
    before, unit, after = parts
    for count in _SIZES:
        if _seconds(pattern, way, before + unit * count + after) > LIMIT:
            return count
    count = max(min(size, _SHORT) // len(unit), 1)
    if _seconds(pattern, way, before + unit * count + after) < _SUSPECT:
        return 0
    count = max(_SHORT // 6 // len(unit), _SIZES[-1])
    while count * len(unit) <= size:
        text = before + unit * count + after
        if min(_seconds(pattern, way, text) for _ in range(2)) > LIMIT:
            return count
        count *= 2
    return 0


def _seconds(pattern: "re.Pattern[str]", way: str, text: str) -> float:
    start = thread_time()
    if way == "search":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, way)(text)
    return thread_time() - start


def pumps(pattern: "re.Pattern[str]") -> list[tuple[str, str, str]]:
    """Texts as beginning, what is repeated, and end; none for an expression without an open repetition."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags)
    repeats = list(_repeats(parsed, ("",)))
    if not repeats:
        return []
    units = dict.fromkeys(unit for _, bodies in repeats for unit in bodies if unit)
    fronts = dict.fromkeys(front for front, _ in repeats)
    chars = dict.fromkeys(char for unit in (*units, *fronts) for char in unit)
    few = list(chars)[:6]
    pairs = ["".join(pair) for pair in itertools.permutations(few, 2)]
    again = [front + unit for front, bodies in repeats for unit in bodies[:2] if front]
    every = list(dict.fromkeys([*units, *few, *again, *fronts, *pairs]))
    made: dict[tuple[str, str, str], None] = {}
    for unit in every:
        if unit:
            made["", unit, "\0"] = None
    for front, bodies in repeats:
        for unit in bodies:
            if unit:
                made[front, unit, "\0"] = None
                made[front, unit, "\n"] = None
    return list(made)


def _repeats(parsed: Any, fronts: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Each open repetition: a text that leads to it, and texts that it takes."""
    front = fronts[0]
    for op, argument in parsed:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = argument
            if most >= _MANY:
                yield front, [*dict.fromkeys(_samples(body))][:6]
            yield from _repeats(body, (front,))
            front += (next(iter(_samples(body)), "")) * max(least, 0)
        elif name == "SUBPATTERN":
            yield from _repeats(argument[3], (front,))
            front += next(iter(_samples(argument[3])), "")
        elif name == "ATOMIC_GROUP":
            yield from _repeats(argument, (front,))
            front += next(iter(_samples(argument)), "")
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _repeats(branch, (front,))
            front += next(iter(_samples(argument[1][0])), "")
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from _repeats(argument[1], (front,))
        else:
            front += next(iter(_one(op, argument)), "")


def _samples(parsed: Any, most: int = 6) -> list[str]:
    """Some texts that a part of an expression takes."""
    made = [""]
    for op, argument in parsed:
        made = [left + right for left in made for right in _one(op, argument)][:most] or made
    return made


def _one(op: Any, argument: Any) -> list[str]:
    name = str(op)
    if name == "LITERAL":
        return [chr(argument)]
    if name == "NOT_LITERAL":
        return [next(char for char in "a b" if char != chr(argument))]
    if name == "ANY":
        return ["a"]
    if name == "IN":
        return _members(argument)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, body = argument
        bodies = _samples(body, 3)
        return [one * max(least, 1) for one in bodies if most] + ([""] if least == 0 else [])
    if name == "SUBPATTERN":
        return _samples(argument[3])
    if name == "ATOMIC_GROUP":
        return _samples(argument)
    if name == "BRANCH":
        return [one for branch in argument[1] for one in _samples(branch, 2)][:8]
    return [""]


_CANDIDATES = string.ascii_lowercase[0] + "A0 _-.,:;/\\()[]{}<>*`'\"=#+~!?|&@$%^\t\né" + string.ascii_letters


def _members(argument: Any) -> list[str]:
    """A few characters of a class, unlike each other."""
    source = [item for item in argument if str(item[0]) != "NEGATE"]
    negated = len(source) != len(argument)
    taken = [char for char in _CANDIDATES if any(_is_in(char, item) for item in source) != negated]
    literal = [chr(item[1]) for item in source if str(item[0]) == "LITERAL"] if not negated else []
    return list(dict.fromkeys([*taken[:3], *literal[:2]])) or [""]


def _is_in(char: str, item: Any) -> bool:
    name, value = str(item[0]), item[1]
    if name == "LITERAL":
        return bool(ord(char) == value)
    if name == "RANGE":
        return bool(value[0] <= ord(char) <= value[1])
    kinds: dict[str, bool] = {
        "DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_",
    }  # fmt: skip
    kind = str(value).removeprefix("CATEGORY_")
    is_in: bool = kinds[kind.removeprefix("NOT_")]
    return not is_in if kind.startswith("NOT_") else is_in
