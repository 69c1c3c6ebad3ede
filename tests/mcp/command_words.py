"""A request as somebody would type it, and what the command then says: in this process, or in one of its own."""

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tests.mcp.search_place import SearchPlace

from holdfast.cli.app import main
from holdfast.search.request_fields import FIELD_OF, Field

__all__ = ["command_words", "typed", "typed_here"]

BOUND = 30.0
Said = tuple[int, dict[str, Any] | None]


def command_words(request: Mapping[str, Any], place: SearchPlace) -> list[str] | None:
    """The words after `holdfast`; None where nobody could type it, such as a list that is empty."""
    words = ["search", "--json", "--no-build", f"--cache-dir={place.cache}"]
    # What a server takes by default has to be said here, unless a workspace says it.
    default = {} if "workspacePath" in request else {"repoPath": str(place.repo)}
    given = {**default, "output": "compact", **request}
    for name, value in given.items():
        field = FIELD_OF.get(name)
        said = [f"--{name}={value}"] if field is None else _said(field, value)
        if said is None:
            return None
        words += said
    query = given.get("query")
    return [*words, "--", query] if isinstance(query, str) else [*words] if query is None else None


def typed_here(words: list[str]) -> Said:
    """The exit code and what was printed, of the command run in this process."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        code = main(words)
    return code, _json(out.getvalue())


def typed(words: list[str], place: SearchPlace) -> Said:
    """The exit code and what was printed, of the command as a program."""
    command = [sys.executable, "-m", "holdfast", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BOUND, check=False, env=place.environment()
    )
    return done.returncode, _json(done.stdout)


def _json(text: str) -> dict[str, Any] | None:
    return json.loads(text) if text else None


def _said(field: Field, value: Any) -> list[str] | None:
    if field.name == "query":
        return []
    if field.name == "output":
        return {"compact": ["--compact"], "full": [], "json": []}.get(value)
    if field.kind == "flag":
        return {True: [field.flags[0]], False: [field.flags[1]], None: []}.get(value) if _is_flag(value) else None
    texts = _texts(field, value)
    return None if texts is None else [f"{field.flags[-1]}={text}" for text in texts]


def _is_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _texts(field: Field, value: Any) -> list[str] | None:
    """What stands behind the flag, as often as it is given."""
    if isinstance(value, str):
        return [value]
    if field.kind in {"integer", "number"} and isinstance(value, int | float) and not isinstance(value, bool):
        return [str(value)]
    if field.kind == "json" and isinstance(value, dict | list):
        return [json.dumps(value)]
    if field.kind == "conditions" and isinstance(value, dict) and value:
        return [f"{key}={item}" for key, item in value.items()]
    is_list = field.kind in {"texts", "conditions", "places"} and isinstance(value, list) and len(value) > 1
    return list(value) if is_list and all(isinstance(item, str) for item in value) else None
