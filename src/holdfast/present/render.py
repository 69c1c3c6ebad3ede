"""The text of a result: which form and how much of it the caller wants, and the text itself.

Two forms: `json`, the whole document on one line, never cut, because half of it would be worthless; and
`porcelain`, bounded lines. Two levels of detail, which bound porcelain only. The words are forgiving about
case, separators and common synonyms; a word that is not known is refused, not ignored.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from holdfast.errors import UsageError
from holdfast.present.bounds import Bounds, collapse_whitespace, truncate_lines
from holdfast.present.compact import compact_json, json_ready
from holdfast.present.dialects import Dialect, failure
from holdfast.present.normalize import NormalizationError, match_token, violation
from holdfast.present.payload_cap import rendered_within
from holdfast.present.porcelain import SURFACE_BOUNDS, Porcelain, SurfaceKind, render_porcelain
from holdfast.present.preview import key_text, preview
from holdfast.vocabulary.faults import Fault

__all__ = [
    "META_PREFIX",
    "DetailLevel",
    "Presentation",
    "RenderMode",
    "Renderer",
    "failure_text",
    "select_presentation",
    "text_of",
]

META_PREFIX = "io.holdfast/"
_SHOWN_OUTPUT_LINES = 3
_LONGEST_LINE = 1000


class RenderMode(Enum):
    """The form of the text."""

    PORCELAIN = "porcelain"
    JSON = "json"


class DetailLevel(Enum):
    """How much porcelain is given."""

    CONCISE = "concise"
    FULL = "full"


_RENDER_WORDS = {"text": "porcelain", "plain": "porcelain", "plain_text": "porcelain", "structured": "json"}
_DETAIL_WORDS = {"summary": "concise", "compact": "concise", "verbose": "full", "detailed": "full"}


@dataclass(frozen=True, slots=True)
class Presentation:
    """Form and level of detail of one answer."""

    render: RenderMode = RenderMode.PORCELAIN
    detail: DetailLevel = DetailLevel.CONCISE

    def bounds(self, surface: SurfaceKind) -> Bounds:
        """The bounds of porcelain on this kind of surface."""
        both = SURFACE_BOUNDS[surface]
        return both.full if self.detail is DetailLevel.FULL else both.concise


Renderer = Callable[[Any, Presentation], str | Porcelain]
"""An author's own porcelain of a payload; what it returns is bounded like any other."""


def select_presentation(
    default_render: RenderMode | str, arguments_or_meta: Mapping[str, Any], *, namespaced: bool = False
) -> Presentation:
    """What the caller asked for with `render` and `detail`, among the arguments of a call or its `_meta`.

    The keys may be prefixed as in `_meta["io.holdfast/render"]`; with `namespaced` only prefixed keys count,
    for a `_meta` in which a plain `render` may be somebody else's. NormalizationError, which ends a call the
    way every other invalid argument does, for a word that is not known.
    """
    default = default_render if isinstance(default_render, RenderMode) else RenderMode(default_render)
    violations: list[dict[str, Any]] = []
    words: dict[str, str] = {}
    for name, kind, other in (("render", RenderMode, _RENDER_WORDS), ("detail", DetailLevel, _DETAIL_WORDS)):
        keys = (META_PREFIX + name,) if namespaced else (META_PREFIX + name, name)
        key = next((key for key in keys if key in arguments_or_meta), None)
        if key is None:
            continue
        canonical = tuple(member.value for member in kind)
        try:
            words[name] = match_token(str(json_ready(arguments_or_meta[key])), canonical, other)
        except UsageError as error:
            violations.append(violation(key, "enum", {"allowedValues": list(canonical)}, f"{key}: {error}"))
    if violations:
        raise NormalizationError(violations)
    render = RenderMode(words["render"]) if "render" in words else default
    return Presentation(render, DetailLevel(words.get("detail", "concise")))


def text_of(
    payload: Any,
    presentation: Presentation,
    *,
    surface: SurfaceKind = SurfaceKind.READ,
    renderer: Renderer | None = None,
) -> str:
    """The text of a result: compact JSON, or porcelain within the bounds of the surface and their cap."""
    if presentation.render is RenderMode.JSON:
        return compact_json(payload)
    bounds = presentation.bounds(surface)
    if renderer is None:
        return rendered_within(lambda within: render_porcelain(payload, within), bounds)
    rendered = renderer(payload, presentation)
    if isinstance(rendered, Porcelain):
        return rendered_within(rendered.text, bounds)
    if not isinstance(rendered, str):
        raise TypeError(f"porcelain must return text, not {type(rendered).__name__}")
    return rendered_within(lambda within: truncate_lines(rendered, within), bounds)


def failure_text(
    fault: Fault, presentation: Presentation, dialect: Dialect, *, meta: Mapping[str, Any] | None = None
) -> str:
    """The text of a failure: the dialect's document as compact JSON, or a few lines that help to recover.

    Porcelain says what happened, what kind of fault it is, whether trying again can help and what to do; of
    captured output it shows the last lines only.
    """
    if presentation.render is RenderMode.JSON:
        return compact_json(failure(dialect, fault, meta=meta))
    lines = "\n".join(_failure_lines(fault))
    return rendered_within(lambda within: truncate_lines(lines, within), presentation.bounds(SurfaceKind.READ))


def _failure_lines(fault: Fault) -> Iterator[str]:
    details: dict[str, Any] = json_ready(fault.details)
    yield f"error {fault.code}: {collapse_whitespace(fault.message) or 'no message'}"
    yield f"category: {fault.fault_class.value}"
    yield f"retry: {_retry(fault.retryable, details.pop('retryAfterMs', None))}"
    if fault.hint:
        yield f"hint: {collapse_whitespace(fault.hint)}"
    if fault.timeout_ms is not None:
        yield f"timeout: {fault.timeout_ms} ms"
    if fault.fault_id is not None:
        yield f"fault id: {collapse_whitespace(fault.fault_id)}"
    for name, value in details.items():
        yield from _detail_lines(name, value)


def _retry(retryable: bool, after_ms: Any) -> str:
    if not retryable:
        return "no"
    return f"after {after_ms} ms" if isinstance(after_ms, int | float) else "yes"


def _detail_lines(name: str, value: Any) -> Iterator[str]:
    if name in {"stderr", "stdout"} and isinstance(value, str):
        yield from _output_lines(name, value)
    elif name == "violations" and isinstance(value, list):
        yield f"violations: {len(value)} item(s)"
        for item in value:
            yield f"- {_violation_text(item)}"
    else:
        shown = collapse_whitespace(value) if isinstance(value, str) else preview(value, _LONGEST_LINE)
        yield f"{key_text(name, _LONGEST_LINE)}: {shown}"


def _output_lines(name: str, output: str) -> Iterator[str]:
    lines = output.strip().splitlines()
    if len(lines) <= 1:
        yield f"{name}: {collapse_whitespace(output) or 'empty'}"
        return
    yield f"{name}, the last {min(len(lines), _SHOWN_OUTPUT_LINES)} of {len(lines)} lines:"
    for line in lines[-_SHOWN_OUTPUT_LINES:]:
        yield f"  {line}"


def _violation_text(item: Any) -> str:
    if isinstance(item, dict) and isinstance(item.get("message"), str):
        return f"{item.get('instancePath') or '/'}: {collapse_whitespace(item['message'])}"
    return preview(item, _LONGEST_LINE)
