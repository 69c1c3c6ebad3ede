"""What must hold between the fields of a run configuration, and in its addresses, paths and templates."""

import string
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import ToolError
from holdfast.git.acting import checked_address
from holdfast.git.asking import GitError
from holdfast.launch.forge_places import AUTO, KINDS, PLAIN, ForgeAddressError, place_of
from holdfast.launch.patching.fence import Fence
from holdfast.launch.token_grants import Problem
from holdfast.launch.writing.model.recorded import RECORDED

__all__ = ["TEMPLATE_NAMES", "broken_rules", "problem_of_repository"]

TEMPLATE_NAMES = frozenset({"github_ref", "github_repo_url", "product_name", "product_slug", "run_id"})
"""The names that templates of commits may use between braces."""
_ADDRESSES = ("github_repo_url", "site_repo_url", "workflows_repo_url")
_SERVICES = (
    ("/llm/api_base_url", "none:"),
    ("/llm/fallback/api_base_url", "none:"),
    ("/telemetry/endpoint_url", "embedded:"),
    ("/commit_service/endpoint_url", "embedded:"),
)
_PATH_LISTS = (
    "/repo_hints/preferred_source_roots",
    "/repo_hints/preferred_docs_roots",
    "/repo_hints/preferred_examples_roots",
    "/ingestion/scan_directories",
    "/ingestion/example_directories",
)
_PATHS = ("/hugo/config_dir", "/hugo/config_snapshot_dir")


def broken_rules(config: Mapping[str, Any]) -> list[Problem]:
    """Every rule that the configuration breaks; fields of the wrong type are left to the schema."""
    rules: tuple[Callable[[Mapping[str, Any]], Iterator[Problem]], ...] = (
        _languages, _layout, _addresses, _services, _forge, _templates, _plain_paths, _pairs,
    )  # fmt: skip
    return [problem for rule in rules for problem in rule(config)]


def _at(config: Mapping[str, Any], path: str) -> Any:
    value: Any = config
    for name in path.removeprefix("/").split("/"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def _languages(config: Mapping[str, Any]) -> Iterator[Problem]:
    many = config.get("locales")
    if "locale" in config and "locales" in config:
        yield Problem("/locales", "oneOf", "give locale or locales, not both")
    if isinstance(many, list | tuple) and len(many) > 1:
        yield Problem("/locales", "maxItems", "a run writes in one language: start one run for each")


def _layout(config: Mapping[str, Any]) -> Iterator[Problem]:
    roots = _at(config, "/site_layout/subdomain_roots")
    roots = (
        {name: root for name, root in roots.items() if isinstance(root, str)} if isinstance(roots, Mapping) else {}
    )
    content = _at(config, "/site_layout/content_root")
    allowed = _texts(config.get("allowed_paths"))
    places = [(f"/allowed_paths/{index}", path) for index, path in enumerate(allowed)]
    places += [(f"/site_layout/subdomain_roots/{name}", root) for name, root in roots.items()]
    places += [("/site_layout/content_root", content)] if isinstance(content, str) else []
    broken = {where: problem for where, path in places if (problem := _problem_of(path))}
    yield from (Problem(where, "path", problem) for where, problem in broken.items())
    if broken:
        return
    if isinstance(content, str):
        for name, root in roots.items():
            if not _is_inside(root, content):
                yield Problem(f"/site_layout/subdomain_roots/{name}", "path", "it is not below content_root")
    for section in _texts(config.get("required_sections")):
        root = roots.get(section)
        if root and not any(_is_inside(path, root) or _is_inside(root, path) for path in allowed):
            yield Problem("/allowed_paths", "path", f"no allowed path is in the root of the section {section}")


def _problem_of(path: str) -> str:
    """Why no run may write there; "" where it may."""
    try:
        Fence([path])
    except ToolError as error:
        return str(error.details.get("problem") or error.message)
    return ""


def _segments(path: str) -> list[str]:
    return path.removesuffix("/**").removesuffix("/").split("/")


def _is_inside(path: str, folder: str) -> bool:
    inner, outer = _segments(path), _segments(folder)
    return inner[: len(outer)] == outer


def _addresses(config: Mapping[str, Any]) -> Iterator[Problem]:
    for name in _ADDRESSES:
        address = config.get(name)
        if isinstance(address, str) and address and (problem := problem_of_repository(address)):
            yield Problem(f"/{name}", "format", problem)


def problem_of_repository(address: str) -> str:
    """Why a configuration, which is kept and shown to everybody, cannot have this address; "" where it can."""
    try:
        checked_address(address)
    except GitError as error:
        return str(error)
    scheme, separator, _ = address.partition("://")
    if not separator:
        host = "" if address.startswith("/") else address.partition(":")[0].rpartition("@")[2]
        return "its host is the option of a program" if host.startswith("-") else ""
    if scheme.lower() == "file":
        return ""
    try:
        parts = urlsplit(address)
        is_sound = bool(parts.hostname) and not str(parts.hostname).startswith("-") and parts.port != 0
    except ValueError:
        return "it is no address of a repository"
    # The user of ssh is a name that everybody has; elsewhere it can be a token.
    if parts.password is not None or (parts.username is not None and scheme.lower() != "ssh") or "\\" in address:
        return "credentials do not belong into an address: let git's own configuration hold them"
    return "" if is_sound else "it is no address of a repository"


def _services(config: Mapping[str, Any]) -> Iterator[Problem]:
    for where, special in _SERVICES:
        url = _at(config, where)
        if not isinstance(url, str) or url == special:
            continue
        if special == "none:" and url.startswith(RECORDED):
            if not PurePosixPath(url.removeprefix(RECORDED)).is_absolute() or not url.isprintable():
                yield Problem(where, "format", f"{RECORDED} must be followed by the whole path of a file")
        elif problem := _problem_of_url(url):
            yield Problem(where, "format", f"{problem} (or {special})")
    pages = [(f"/extra_evidence_urls/{n}", url) for n, url in enumerate(_texts(config.get("extra_evidence_urls")))]
    canonical = config.get("canonical_urls")
    if isinstance(canonical, Mapping):
        pages += [(f"/canonical_urls/{name}", url) for name, url in canonical.items() if isinstance(url, str)]
    for where, url in pages:
        if problem := _problem_of_url(url):
            yield Problem(where, "format", problem)


def _problem_of_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound or not url.isprintable() or " " in url:
        return "it must be an http or https address"
    if parts.username is not None or parts.password is not None:
        return "credentials do not belong into an address: name the variable that holds them"
    return ""


def _forge(config: Mapping[str, Any]) -> Iterator[Problem]:
    where = "/commit_service/forge"
    kind, url = _at(config, where), _at(config, "/commit_service/forge_url")
    site = config.get("site_repo_url")
    if _at(config, "/commit_service/endpoint_url") != "embedded:":
        if kind is not None or url is not None:
            yield Problem(
                where, "dependentRequired", "a service elsewhere knows its forges itself: leave this out"
            )
        return
    if isinstance(url, str) and (problem := _problem_of_url(url)):
        yield Problem("/commit_service/forge_url", "format", problem)
        return
    if url is not None and kind in (None, AUTO, PLAIN):
        yield Problem(where, "dependentRequired", "say github or gitea: forge_url alone does not tell which it is")
        return
    if isinstance(site, str) and (kind is None or kind in KINDS):
        try:
            place_of(site, kind or AUTO, url if isinstance(url, str) else "")
        except ForgeAddressError as error:
            yield Problem("/site_repo_url", "format", str(error))


def _templates(config: Mapping[str, Any]) -> Iterator[Problem]:
    for name in ("commit_message_template", "commit_body_template"):
        where = f"/commit_service/{name}"
        template = _at(config, where)
        if isinstance(template, str):
            yield from (Problem(where, "template", problem) for problem in _problems_of_template(template))
            if name == "commit_message_template" and (not template.strip() or len(template.splitlines()) > 1):
                yield Problem(where, "template", "it must be one line of text")


def _problems_of_template(template: str) -> Iterator[str]:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        yield f"it is no template: {error}"
        return
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if name not in TEMPLATE_NAMES:
            known = ", ".join(sorted(TEMPLATE_NAMES))
            yield f"{{{name[:50]}}} is not known; known are {known}"
        elif form or conversion:
            yield f"{{{name}}} takes no format"


def _plain_paths(config: Mapping[str, Any]) -> Iterator[Problem]:
    places = [(where, _at(config, where)) for where in _PATHS]
    places += [
        (f"{where}/{n}", path) for where in _PATH_LISTS for n, path in enumerate(_texts(_at(config, where)))
    ]
    for where, path in places:
        if isinstance(path, str) and path not in (".", "./") and (problem := _problem_of(path.removeprefix("./"))):
            yield Problem(where, "path", problem)


def _pairs(config: Mapping[str, Any]) -> Iterator[Problem]:
    if ("workflows_repo_url" in config) != ("workflows_ref" in config):
        yield Problem(
            "/workflows_ref", "dependentRequired", "workflows_repo_url and workflows_ref belong together"
        )
