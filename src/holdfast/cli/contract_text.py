"""Changes and problems as a person reads them: per tool, the worst first, one line of why, the proof under it."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from holdfast.contract.compare.changes import Change, worst
from holdfast.contract.compare.diff import SurfaceDiff
from holdfast.contract.compare.rules import weight
from holdfast.contract.compare.versions import VersionProblem, version_violations
from holdfast.contract.gate import Problem
from holdfast.contract.inclusion.bump import Bump
from holdfast.present.bounds import clean_line
from holdfast.present.counted import counted
from holdfast.stdio.terminal import coloured
from holdfast.wire.codec import encode

__all__ = ["Paint", "describe_diff", "describe_problems", "paint_for", "plain"]

Paint = Callable[[str, Bump | None], str]

_COLOURS = {Bump.MAJOR: "31", Bump.MINOR: "33", Bump.PATCH: "36", Bump.NONE: "2"}
_MAX_WITNESS = 400
_WITNESS_WORDS = {
    "input": "was valid, is refused now:",
    "output": "may be answered now, old clients cannot read it:",
    "tool": "worked, fails now:",
}


def plain(text: str, bump: Bump | None) -> str:  # noqa: ARG001
    """No colour."""
    return text


def paint_for(stream: IO[str]) -> Paint:
    """Colours where a person looks at a terminal and has not said no."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return plain

    def paint(text: str, bump: Bump | None) -> str:
        code = "1" if bump is None else _COLOURS[bump]
        return coloured(text, code)

    return paint


def describe_diff(diff: SurfaceDiff, paint: Paint = plain) -> Iterator[str]:
    """The lines of a comparison."""
    if not diff.changes:
        yield clean_line(f"{_name(diff)}: no change")
        return
    verdict = "breaking" if diff.breaking else "compatible"
    summary = f"{verdict}, {diff.bump.value} ({counted(len(diff.changes), 'change')})"
    yield clean_line(f"{_name(diff)}: ") + paint(summary, diff.bump)
    bumps = {name: worst(changes) for name, changes in diff.tools.items()}
    wrong: dict[str, list[VersionProblem]] = {}
    for problem in version_violations(diff.old, diff.new, bumps, diff.bump):
        wrong.setdefault(problem.change.tool, []).append(problem)
    named = {name: diff.tools.get(name, ()) for name in {*diff.tools, *wrong} if name}
    groups = sorted(named.items(), key=lambda item: (-weight(worst(item[1])), item[0]))
    if diff.surface or wrong.get(""):
        groups.append(("", diff.surface))
    for name, changes in groups:
        yield ""
        bump = worst(changes)
        title = clean_line(name) if name else "the server itself"
        yield f"{paint(title, None)}  {paint(bump.value, bump)}" if changes else paint(title, None)
        for item in changes:
            yield from _change(item, paint)
        for problem in wrong.get(name, ()):
            yield "  " + paint("version", Bump.MAJOR) + clean_line(f" {problem.change.message}")


def _name(diff: SurfaceDiff) -> str:
    new = diff.new
    version = new.version or new.server_version
    return f"{new.name or 'surface'} {version}".rstrip()


def _change(item: Change, paint: Paint) -> Iterator[str]:
    mark = item.bump.value + ("!" if item.acknowledge else "")
    yield "  " + paint(f"{mark:<7}", item.bump) + clean_line(f" {item.path or '/'}  {item.message}")
    where = f"{item.direction}, {item.effect}" if item.direction != "tool" else item.effect
    yield "          " + paint(clean_line(f"{item.rule} ({where})"), Bump.NONE)
    if item.witness is not None:
        yield clean_line(f"          {_WITNESS_WORDS[item.direction]} {_json(item.witness)}")


def _json(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= _MAX_WITNESS else f"{text[:_MAX_WITNESS]}... ({len(text)} characters)"


def describe_problems(problems: Iterable[Problem], paint: Paint = plain) -> Iterator[str]:
    """The lines of what a lock does not allow, per tool, with the address under which each can be accepted."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem.change.tool, []).append(problem)
    for name, found in sorted(groups.items(), key=lambda item: (not item[0], item[0])):
        yield ""
        yield paint(clean_line(name) if name else "the server itself", None)
        for problem in sorted(
            found, key=lambda problem: (problem.least is not None, -weight(problem.change.bump))
        ):
            yield from _problem(problem, paint)


def _problem(problem: Problem, paint: Paint) -> Iterator[str]:
    item = problem.change
    is_version = problem.least is not None
    mark = "version" if is_version else item.bump.value + ("!" if item.acknowledge else "")
    note = f" ({problem.note})" if problem.note else ""
    where = "" if is_version else f"{item.path or '/'}  "
    colour = Bump.MAJOR if problem.blocks else item.bump
    yield "  " + paint(f"{mark:<7}", colour) + clean_line(f" {where}{item.message}{note}")
    yield "          " + paint(clean_line(item.address), Bump.NONE)
    if item.witness is not None:
        yield clean_line(f"          {_WITNESS_WORDS[item.direction]} {_json(item.witness)}")
