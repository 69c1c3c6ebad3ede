"""The configuration of a run: read from a file, checked as a whole, completed with its defaults, and its digest.

What a schema can say is in the schema; what it cannot is in `run_config_rules`. All problems are told at once.
Where the values come from when nobody writes them by hand is in `deriving`.
"""

import json
import math
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.errors import ToolError, UsageError
from holdfast.launch.documents import schema, violations
from holdfast.launch.run_config_rules import broken_rules
from holdfast.launch.token_grants import Problem
from holdfast.launch.writing.model.recorded import RECORDED
from holdfast.launch.yaml_reading import YamlError, read_yaml

__all__ = ["checked", "config_sha256", "load_file", "locale_of", "parsed", "read_text"]

_MOST_PROBLEMS = 50
_LARGEST_FILE = 1 << 20
_MOST_VALUES = 20_000
_DEEPEST = 32
_MOST_TEXT = 1 << 20
_LARGEST_INTEGER = 2**53
_LONGEST_PATH = 300
_WRITE_ONE = "write one with `holdfast launch init PRODUCT_REPO SITE_REPO > run.yaml`"


def checked(config: Any) -> dict[str, Any]:
    """The configuration with its defaults; ToolError SCHEMA_VALIDATION_FAILED lists all that is wrong with it."""
    problems = _strange_values(config)
    if not problems:
        found = violations("run_config", config)
        problems = [Problem(item["instancePath"], item["keyword"], _message(item)) for item in found]
        if isinstance(config, Mapping):
            problems += broken_rules(config)
    if problems:
        raise _refusal(problems)
    completed: dict[str, Any] = _completed(_tidied(config), schema("run_config"))
    return completed


def config_sha256(config: Mapping[str, Any]) -> str:
    """The digest of a checked configuration: the same for the same meaning, whatever the order of its keys."""
    return fingerprint(_completed(_tidied(config), schema("run_config"))).removeprefix("sha256:")


def locale_of(config: Mapping[str, Any]) -> str:
    """The one language in which a checked configuration wants its pages."""
    return str(config.get("locale") or config["locales"][0])


def load_file(path: Path) -> dict[str, Any]:
    """The configuration in a YAML or JSON file, not yet checked; UsageError, on one line, where there is none."""
    text = read_text(path)
    document = parsed(text, path.name, is_json=path.suffix.lower() == ".json")
    if not isinstance(document, dict):
        raise UsageError(
            f"{path.name}: line 1: it is no list of settings",
            remedy=_WRITE_ONE,
        )
    _place_recorded(document, path)
    return document


def _place_recorded(document: dict[str, Any], path: Path) -> None:
    """A file of recorded answers is named as seen from the configuration that names it."""
    settings = document.get("llm")
    named = [settings, settings.get("fallback")] if isinstance(settings, dict) else []
    for one in named:
        url = one.get("api_base_url") if isinstance(one, dict) else None
        if isinstance(one, dict) and isinstance(url, str) and url.startswith(RECORDED) and url != RECORDED:
            one["api_base_url"] = RECORDED + str(path.absolute().parent / url.removeprefix(RECORDED))


def parsed(text: str, name: str, *, is_json: bool, most: int = _MOST_VALUES) -> Any:
    """What a text in YAML or JSON says; UsageError, on one line and with this name, where it says nothing."""
    try:
        return _json(text) if is_json else read_yaml(text, most=most)
    except json.JSONDecodeError as error:
        raise UsageError(f"{name}: line {error.lineno}: {error.msg}", remedy="correct the JSON") from error
    except (YamlError, ValueError, RecursionError) as error:
        told = " ".join(str(error).split())[:300]
        raise UsageError(f"{name}: {told}", remedy="correct the file") from error


def read_text(path: Path, *, largest: int = _LARGEST_FILE, remedy: str = _WRITE_ONE) -> str:
    """The text of a file of at most so many bytes; UsageError, on one line, where it has none."""
    try:
        # A pipe would be waited for without an end.
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path.name or path} is no file", remedy=remedy)
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path.name} cannot be read: {reason}", remedy=remedy) from error
    if len(content) > largest:
        told = f"{path.name} has more than {largest} bytes: this is no configuration of a run"
        raise UsageError(told, remedy=remedy)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path.name}: line {line}: it is not UTF-8", remedy="correct the file") from error


def _json(text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made:
                raise ValueError(f"the key {key[:100]!r} is there twice")
            made[key] = value
        return made

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number")

    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)


def _refusal(problems: list[Problem]) -> ToolError:
    ordered = sorted(set(problems))
    first = ordered[0]
    more = f" (and {len(ordered) - 1} more)" if len(ordered) > 1 else ""
    return ToolError(
        "SCHEMA_VALIDATION_FAILED",
        f"The run_config is not valid: {first.path or '/'}: {first.message}{more}",
        details={
            "violations": [
                {
                    "instancePath": problem.path[:_LONGEST_PATH],
                    "keyword": problem.keyword,
                    "message": problem.message,
                }
                for problem in ordered[:_MOST_PROBLEMS]
            ]
        },
        retryable=False,
    )


def _message(violation: Mapping[str, str]) -> str:
    """What the schema says; not where that quotes what may be a secret at the place of its name."""
    if not violation["instancePath"] and violation["keyword"] == "anyOf":
        return "one of locale and locales is a required property"  # the schema quotes the whole configuration
    field = violation["instancePath"].rpartition("/")[2]
    if field.endswith("_env") and violation["keyword"] != "type":
        return "it must be the name of an environment variable, and not what that holds"
    if field.endswith("_url") and violation["keyword"] != "type":
        return f"it is no address that can be used ({violation['keyword']})"
    return violation["message"]


def _strange_values(config: Any) -> list[Problem]:
    """What no JSON document of a sane size holds; the schema is only asked when there is nothing of that."""
    found: list[Problem] = []
    waiting: list[tuple[str, Any, int]] = [("", config, 0)]
    values = text = 0
    while waiting and len(found) < _MOST_PROBLEMS:
        path, value, depth = waiting.pop()
        values += 1
        text += len(value) if isinstance(value, str) else 0
        if values > _MOST_VALUES or text > _MOST_TEXT or depth > _DEEPEST:
            limit = f"at most {_MOST_VALUES} values, {_MOST_TEXT} characters and {_DEEPEST} levels"
            return [*found, Problem(path[:_LONGEST_PATH], "size", f"a configuration has {limit}")]
        problem = _strange(value)
        if problem:
            found.append(Problem(path[:_LONGEST_PATH], "type", problem))
        elif isinstance(value, Mapping):
            text += sum(len(key) for key in value)
            waiting += [(f"{path}/{key[:100]}", item, depth + 1) for key, item in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [
                (f"{path}/{index}", item, depth + 1) for index, item in enumerate(value[: _MOST_VALUES + 1])
            ]
    return found


def _strange(value: Any) -> str:
    if isinstance(value, str):
        return "" if _is_whole(value) else "it holds half a character (a lone surrogate)"
    if isinstance(value, float) and not math.isfinite(value):
        return "it is no finite number"
    if isinstance(value, int) and not -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER:
        return "the number is too large"
    if isinstance(value, Mapping) and not all(isinstance(key, str) and _is_whole(key) for key in value):
        return "its keys are not all text"
    if value is None or isinstance(value, bool | int | float | Mapping | list | tuple):
        return ""
    return f"{type(value).__name__} is no JSON value"


def _is_whole(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _tidied(value: Any) -> Any:
    """A copy of plain lists and objects, in which 1.0 is 1, as JSON sees it."""
    if isinstance(value, Mapping):
        return {key: _tidied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tidied(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _completed(value: Any, rules: Mapping[str, Any]) -> Any:
    """The value with the defaults of its schema, also in objects that are not there but could be."""
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for name, rule in rules.get("properties", {}).items():
        if name in made:
            made[name] = _completed(made[name], rule)
        elif "default" in rule:
            made[name] = rule["default"]
        elif rule.get("type") == "object" and not rule.get("required"):
            given = _completed({}, rule)
            made |= {name: given} if given else {}
    return made
