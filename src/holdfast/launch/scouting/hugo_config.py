"""What the configuration of a Hugo site says about languages and addresses, wherever Hugo lets it be written.

A site may have one file, a folder of files, or both; what is in the folder for production counts last, as in the
build. Themes and modules are not looked at: they may add pages, but not move those that a run writes.
"""

import json
from collections.abc import Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.front_matter import FrontMatterError, split
from holdfast.launch.states import SECTIONS

__all__ = ["HugoConfig", "hugo_facts", "is_hugo_config", "read_hugo_config", "section_roots"]

_SUFFIXES = (".toml", ".yaml", ".yml", ".json")
_ROOT_NAMES = tuple(f"{name}{suffix}" for name in ("hugo", "config") for suffix in _SUFFIXES)
_ENVIRONMENTS = ("_default", "production")
_TAXONOMIES = {"category": "categories", "tag": "tags"}
_LONGEST = 500


class HugoConfig:
    """The merged configuration of a site, its keys in lower case as Hugo reads them, and the files it is from."""

    def __init__(self, root: str, files: list[str], values: Mapping[str, Any]) -> None:
        self.root = root
        self.files = files
        self.values = values


def is_hugo_config(path: str, folder: str) -> bool:
    """Whether a file of the site could be part of its configuration."""
    if "/" not in path:
        return path in _ROOT_NAMES
    inside = path.removeprefix(f"{folder}/")
    return inside != path and path.endswith(_SUFFIXES) and inside.count("/") <= 1


def read_hugo_config(files: Mapping[str, bytes], folder: str) -> HugoConfig:
    """The configuration in these files of the site; `folder` is the one in which there may be more of them."""
    values: dict[str, Any] = {}
    used: list[str] = []
    root = next((name for name in _ROOT_NAMES if name in files), "")
    if root:
        _merge(values, _parsed(root, files[root]))
        used.append(root)
    for place in (folder, *(f"{folder}/{name}" for name in _ENVIRONMENTS)):
        for path in sorted(path for path in files if path.rpartition("/")[0] == place):
            parsed = _parsed(path, files[path])
            name = path.rpartition("/")[2].partition(".")[0].lower()
            _merge(values, parsed if name in ("hugo", "config") else {name: parsed})
            used.append(path)
    folders = [path.rpartition("/")[0] for path in used]
    return HugoConfig(folders[0] if folders else "", used, values)


def hugo_facts(config: HugoConfig) -> dict[str, Any]:
    """hugo_facts.json of a configuration."""
    values = config.values
    languages = _languages(values)
    names = sorted(languages, key=lambda name: (_weight(languages[name]), name))
    default = _text(values.get("defaultcontentlanguage")).lower()
    default = default or ("en" if "en" in names or not names else names[0])
    names.sort(key=lambda name: name != default)
    renderer = _at(values, "markup", "goldmark", "renderer")
    ugly = values.get("uglyurls")
    facts: dict[str, Any] = {
        "schema_version": "1.0",
        "base_url": _text(values.get("baseurl"))[:2000],
        "languages": names or [default],
        "default_language": default,
        "default_language_in_subdir": values.get("defaultcontentlanguageinsubdir") is True,
        "permalinks": _permalinks(_map(values.get("permalinks"))),
        "outputs": {key: _texts(item) for key, item in sorted(_map(values.get("outputs")).items())},
        "taxonomies": _texts_of(values["taxonomies"]) if "taxonomies" in values else _TAXONOMIES,
        "ugly_urls": ugly is True,
        "raw_html": renderer.get("unsafe") is True,
        "source_files": config.files,
    }
    sections = sorted(name for name, is_ugly in _map(ugly).items() if is_ugly is True)
    folders = {name: _text(item.get("contentdir")) for name, item in sorted(languages.items())}
    more = {
        "ugly_sections": sections,
        "content_dirs": {name: folder for name, folder in folders.items() if folder},
        "disable_path_to_lower": values.get("disablepathtolower") is True,
        "remove_path_accents": values.get("removepathaccents") is True,
    }
    return facts | {key: item for key, item in more.items() if item}


def section_roots(config: Mapping[str, Any]) -> list[dict[str, str]]:
    """Which sections the run builds and where, in the fixed order of sections."""
    roots = config["site_layout"]["subdomain_roots"]
    wanted = config["required_sections"]
    return [{"subdomain": name, "root": roots[name].rstrip("/")} for name in SECTIONS if name in wanted]


def _parsed(path: str, content: bytes) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
        if path.endswith(".json"):
            data: Any = json.loads(text)
        else:
            fence = "+++" if path.endswith(".toml") else "---"
            data = split(f"{fence}\n{text}\n{fence}\n").data
    except FrontMatterError as error:
        raise _broken(path, error.message, max(error.line - 1, 1)) from error
    except json.JSONDecodeError as error:
        raise _broken(path, error.msg, error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise _broken(path, str(error), 1) from error
    if not isinstance(data, dict):
        raise _broken(path, "it is no list of settings", 1)
    lowered: dict[str, Any] = _lowered(data)
    return lowered


def _broken(path: str, why: str, line: int) -> ToolError:
    return ToolError(
        "INVALID_INPUT",
        f"The configuration of the site cannot be read: {path}, line {line}: {why[:300]}",
        details={"reason": "hugo_config_broken", "path": path, "line": line},
        retryable=False,
    )


def _lowered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key.lower(): _lowered(item) for key, item in value.items()}
    return [_lowered(item) for item in value] if isinstance(value, list) else value


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) and value.isprintable() else ""


def _texts(value: Any) -> list[str]:
    return [text[:200] for item in value if (text := _text(item))] if isinstance(value, list) else []


def _texts_of(value: Any) -> dict[str, str]:
    return {key: text[:200] for key, item in sorted(_map(value).items()) if (text := _text(item))}


def _at(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    found: Any = values
    for name in names:
        found = _map(found).get(name)
    return _map(found)


def _languages(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    off = {name.lower() for name in _texts(values.get("disablelanguages"))}
    every = {name: _map(item) for name, item in _map(values.get("languages")).items()}
    return {name: item for name, item in every.items() if name not in off and item.get("disabled") is not True}


def _weight(language: Mapping[str, Any]) -> float:
    weight = language.get("weight")
    # Hugo sorts those without a weight last.
    return weight if isinstance(weight, int | float) and weight else float("inf")


def _permalinks(value: Mapping[str, Any]) -> dict[str, str]:
    """Patterns by `page/<section>` and `section/<section>`; in the old form all of them are of pages."""
    kinds = ("page", "section", "taxonomy", "term")
    found = {f"page/{name}": _text(item) for name, item in value.items() if name not in kinds}
    for kind in ("page", "section"):
        found |= {f"{kind}/{name}": _text(item) for name, item in _map(value.get(kind)).items()}
    return {name: pattern for name, pattern in sorted(found.items()) if pattern}
