"""Answers of a model in a file, to be given again without any model: `api_base_url: "recorded:FILE"`.

One JSON object per line, as `holdfast launch answers RUN` writes them. An answer is found by the digest of its
question, so the file serves every run that asks the same; where several sections asked it, each gets its own.
"""

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError

__all__ = ["RECORDED", "RecordedError", "recorded_answers", "recorded_lines"]

RECORDED = "recorded:"
"""What the address of a model begins with that is a file."""
_LARGEST = 64 << 20
_KEPT = ("section", "prompt_hash", "model", "text", "finish_reason", "token_usage")


class RecordedError(HoldfastError):
    """A file that holds no recorded answers; nothing of its content is repeated."""


@functools.lru_cache(maxsize=4)
def recorded_answers(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The answers in a file by section and digest of the question; the first one is that of no section as well."""
    try:
        if not path.is_file():
            raise RecordedError(f"there is no file of recorded answers called {path.name}")
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        raise RecordedError(f"the file of recorded answers {path.name} cannot be read") from error
    if len(content) > _LARGEST:
        raise RecordedError(f"the file of recorded answers {path.name} has more than {_LARGEST} bytes")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            one = _answer(line)
            if one is None:
                raise RecordedError(f"line {number} of {path.name} is no recorded answer")
            for section in (str(one.get("section", "")), ""):
                found.setdefault((section, one["prompt_hash"]), one)
    return found


def recorded_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """The file for these records of calls; those that brought no answer are left out."""
    told = ({name: one[name] for name in _KEPT} for one in records if "text" in one)
    return "".join(sorted(json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in told))


def _answer(line: bytes) -> dict[str, Any] | None:
    try:
        one = json.loads(line)
        usage = one["token_usage"]
        is_fine = all(isinstance(one[name], str) for name in ("prompt_hash", "text", "finish_reason"))
        is_fine = is_fine and all(_is_count(usage[name]) for name in ("input", "output", "total"))
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return dict(one) if is_fine else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
