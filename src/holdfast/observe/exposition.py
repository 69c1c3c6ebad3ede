"""The text format of Prometheus, version 0.0.4: heads, samples, histograms. It counts nothing itself."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from holdfast.observe.histogram import Histogram

__all__ = ["CONTENT_TYPE", "head", "histogram", "page", "sample"]

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
_TO_ESCAPE = re.compile(r'[\\"\n]')


def page(lines: Iterable[str]) -> bytes:
    """The lines as one page; half a character that a name may hold is told in ASCII."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def head(name: str, kind: str, words: str) -> Iterator[str]:
    """What introduces a metric: HELP and TYPE."""
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, value: float, labels: Mapping[str, object] | None = None) -> str:
    """One line: a metric, its labels, its value."""
    return f"{name}{_labels(labels or {})} {_number(value)}"


def histogram(name: str, times: Histogram, labels: Mapping[str, object] | None = None) -> Iterator[str]:
    """The buckets of a histogram, each with all that is below it, their sum and their number."""
    known = dict(labels or {})
    total = 0
    for bound, count in zip((*map(_number, times.bounds), "+Inf"), times.counts, strict=True):
        total += count
        yield sample(f"{name}_bucket", total, {**known, "le": bound})
    yield sample(f"{name}_sum", round(times.total, 6), known)
    yield sample(f"{name}_count", total, known)


def _labels(labels: Mapping[str, object]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return _TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return str(value)
