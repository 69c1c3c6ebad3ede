"""A run configuration for two repositories, derived from what is in them, with the reason for every block.

A first proposal that a person reads through: it writes only into folders of the product itself, asks no model, and
needs no service.
"""

import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from holdfast.errors import ToolError, UsageError
from holdfast.launch.documents import schema
from holdfast.launch.forge_places import AUTO, ForgeAddressError, place_of, usual_variable
from holdfast.launch.interface_look import has_interface
from holdfast.launch.patching.fence import Fence
from holdfast.launch.run_config import checked
from holdfast.launch.scouting.cloning import shown_address
from holdfast.launch.scouting.hugo_config import hugo_facts, is_hugo_config, read_hugo_config
from holdfast.launch.scouting.manifests import Manifest, is_manifest, manifests_among
from holdfast.launch.scouting.profile import languages_of, platform_of
from holdfast.launch.site_access import access_to
from holdfast.launch.sources import Source, opened
from holdfast.launch.states import SECTIONS
from holdfast.launch.token_grants import USUAL_GRANTS, TokenGrants, token_uses
from holdfast.launch.yaml_writing import yaml_lines

__all__ = ["derive", "render_yaml"]

# The folders of a site that usually hold a section, the likeliest first.
_FOLDERS = {
    "products": ("products", "product"),
    "docs": ("docs", "documentation", "doc", "guides", "guide"),
    "reference": ("reference", "api", "api-reference", "references"),
    "kb": ("kb", "knowledge-base", "knowledgebase", "knowledge", "faq", "help", "support"),
    "blog": ("blog", "posts", "post", "news", "articles"),
}
_CONFIG_FOLDER = "config"
_LONGEST_SLUG = 48
_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_BLOCKS: Sequence[tuple[str, Sequence[str]]] = (
    ("What is launched.", ("schema_version", "product_slug", "product_name", "family", "target_platform")),
    (
        "Where it is, at the commit that it has now. The pages say what this commit says.",
        ("github_repo_url", "github_ref"),
    ),
    ("The website, at the commit on which the pull request will be based.", ("site_repo_url", "site_ref")),
    ("Which sections get pages, and in which language.", ("required_sections", "locale")),
    ("Where the sections are in the website's repository.", ("site_layout",)),
    ("The only folders that the run may write. Nothing outside of them is ever touched.", ("allowed_paths",)),
    (
        "A model that rewrites sentences: `none:`, or a service of the OpenAI kind, within the budgets below.",
        ("llm",),
    ),
    ("Where the run is recorded. `embedded:` needs no service.", ("telemetry",)),
    (
        "Who commits and opens the pull request. `embedded:` does it here. GitHub and Gitea want a token.",
        ("commit_service",),
    ),
    ("How the nine tools are served over the network; not used on the command line.", ("mcp",)),
    (
        "Limits. A run that would exceed one stops and says so. max_runtime_s: each piece of work, not the run.",
        ("budgets", "max_fix_attempts"),
    ),
    ("How it is written and checked.", ("templates_version", "ruleset_version", "allow_inference")),
)


def derive(
    product: str,
    site: str,
    *,
    forge: str = AUTO,
    grants: TokenGrants = USUAL_GRANTS,
    overrides: Mapping[str, Any] | None = None,
    tell: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """A configuration for these repositories (paths or addresses), pinned to their newest commits.

    `forge` says what the site's host is, where its name does not; `grants` say whether it gets a token;
    `overrides` replace fields; `tell` is given what the user should know, and prints it to stderr by default.
    """
    tell = tell or _to_stderr
    with opened(product, "product", tell) as goods:
        told = _product(goods, tell)
        without = () if has_interface(goods, told) else ("reference",)
    with opened(site, "site", tell, access=access_to(site, forge, grants=grants)) as pages:
        told |= _site(pages, told["product_slug"], tell, without)
    config = _fixed() | told
    config["commit_service"] |= _forge(told["site_repo_url"], forge, grants, tell)
    config |= dict(overrides or {})
    try:
        checked(config)
    except ToolError as error:
        raise UsageError(f"no configuration can be derived: {error.message}", remedy="write it by hand") from error
    return config


def render_yaml(config: Mapping[str, Any]) -> str:
    """The configuration as YAML with a comment on every block."""
    known = {name for _, names in _BLOCKS for name in names}
    blocks = [*_BLOCKS, ("More.", tuple(name for name in config if name not in known))]
    lines = ["# A launch run, for `holdfast launch start`. Read it through: everything here may be changed."]
    for comment, names in blocks:
        block = {name: config[name] for name in names if name in config}
        if block:
            lines += ["", *_comment(comment), *yaml_lines(block)]
    return "\n".join(lines) + "\n"


def _to_stderr(text: str) -> None:
    sys.stderr.write(f"holdfast: note: {text}\n")


def _comment(text: str) -> list[str]:
    import textwrap

    return [f"# {line}" for line in textwrap.wrap(text, 98)]


def _product(source: Source, tell: Callable[[str], None]) -> dict[str, Any]:
    if not source.files:
        raise UsageError(f"{source.name} is empty: there is no file at its commit")
    manifests = manifests_among(source.texts(is_manifest))
    languages = languages_of({path: entry.size for path, entry in source.files.items()})
    readmes = source.texts(lambda path: re.fullmatch(r"(?i)readme(?:\.\w+)?", path) is not None)
    platform = platform_of(manifests, languages, next(iter(readmes.values()), ""))
    known = schema("run_config")["properties"]["target_platform"]["enum"]
    if platform not in known:
        tell(f"it cannot be told for which platform {source.name} is; target_platform is set to python")
        platform = "python"
    name = _named(manifests, platform, source.name) or source.name
    slug = _slug(name) or _slug(source.name) or "product"
    return {
        "product_slug": slug,
        "product_name": name[:100],
        "family": slug,
        "target_platform": platform,
        "github_repo_url": source.address,
        "github_ref": source.commit,
    }


def _named(manifests: Sequence[Manifest], platform: str, repository: str) -> str:
    """The name by the outermost manifest that gives one; of several the repository's own, or the shortest."""
    own = [one for one in manifests if one.platform == platform and one.name and _slug(one.name)]
    wanted = _slug(repository)
    order = sorted(own, key=lambda one: (one.path.count("/"), _slug(one.name) != wanted, len(one.name), one.name))
    return order[0].name if order else ""


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-")


def _site(source: Source, slug: str, tell: Callable[[str], None], without: Collection[str] = ()) -> dict[str, Any]:
    """What the site says; `without` are sections for which the product gives nothing to write."""
    if not source.files:
        raise UsageError(f"{source.name} is empty: there is no file at its commit")
    texts = source.texts(lambda path: is_hugo_config(path, _CONFIG_FOLDER))
    if not texts:
        tell(f"{source.name} has no configuration of Hugo: its pages cannot be built until it has one")
    try:
        hugo = read_hugo_config({path: text.encode() for path, text in texts.items()}, _CONFIG_FOLDER)
    except ToolError as error:
        raise UsageError(error.message, remedy="correct the configuration of the site") from error
    if texts and not _can_show(source.files, hugo.values):
        tell(f"{source.name} has neither layouts nor a theme: Hugo publishes nothing until it has")
    facts = hugo_facts(hugo)
    language = facts["default_language"]
    content = facts.get("content_dirs", {}).get(language) or hugo.values.get("contentdir") or "content"
    content = content.strip("/") if isinstance(content, str) and _is_sound(content.strip("/")) else "content"
    found = _sections(source.files, content)
    if not found:
        tell(f"{source.name} has none of the usual sections below {content}/; the pages will begin them")
    wanted = [name for name in SECTIONS if name in found or not found]
    missing = [name for name in SECTIONS if name not in wanted]
    if missing:
        tell(
            f"{source.name} has no section for {', '.join(missing)}: there will be no such pages,"
            " unless you add them to required_sections and their folders to allowed_paths"
        )
    if empty := [name for name in wanted if name in without]:
        tell(f"no public interface was found in the product: {', '.join(empty)} is left out of required_sections")
        wanted = [name for name in wanted if name not in empty] or wanted
    roots = {name: found.get(name, f"{content}/{name}") for name in SECTIONS}
    return {
        "site_repo_url": source.address,
        "site_ref": source.commit,
        "required_sections": wanted,
        "locale": language if _LOCALE.fullmatch(language) else "en",
        "site_layout": {
            "content_root": content,
            "subdomain_roots": roots,
            "localization": {"mode_by_section": dict.fromkeys(SECTIONS, "none")},
        },
        "allowed_paths": [f"{roots[name]}/{slug}/" for name in wanted],
    }


def _forge(address: str, kind: str, grants: TokenGrants, tell: Callable[[str], None]) -> dict[str, Any]:
    """How the pull request is opened there; nothing to say where the site is plain git."""
    try:
        place = place_of(address, kind)
    except ForgeAddressError as error:
        raise UsageError(
            f"no pull request can be opened at {shown_address(address)}: {error}", remedy="correct the address"
        ) from error
    if place is None:
        if kind == AUTO and "://" in address and not address.startswith("file:"):
            host = shown_address(address).partition("://")[2].partition("/")[0]
            tell(f"it is not known what {host} is: the pull request will be plain git, unless --forge says more")
        return {"forge": kind} if kind != AUTO else {}
    variable = usual_variable(place.kind)
    tell(f"the pull request will be opened on {place.web} with the token in {variable}")
    needed = {"commit_service": {"forge": kind, "github_token_env": variable}, "site_repo_url": address}
    for problem in dict.fromkeys(grants.problem(use) for use in token_uses(needed)):
        if problem:
            tell(problem)
    return {"forge": place.kind, "github_token_env": variable}


def _can_show(files: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Whether there may be a layout: of the site's own, of a theme, or of a module."""
    if any(settings.get(key) for key in ("theme", "module", "layoutdir")):
        return True
    return any("layouts" in path.split("/")[:-1] for path in files)


def _sections(files: Mapping[str, Any], content: str) -> dict[str, str]:
    """The folder of each section that the site really has."""
    depth = content.count("/") + 1
    inside = {
        path.split("/")[depth] for path in files if path.startswith(f"{content}/") and path.count("/") > depth
    }
    by_name = {name.lower(): name for name in sorted(inside, reverse=True)}
    found = {}
    for section, names in _FOLDERS.items():
        there = next((by_name[name] for name in names if name in by_name), "")
        if there and _is_sound(f"{content}/{there}"):
            found[section] = f"{content}/{there}"
    return found


def _is_sound(path: str) -> bool:
    try:
        Fence([path])
    except ToolError:
        return False
    return True


def _fixed() -> dict[str, Any]:
    """What does not depend on the repositories."""
    return {
        "schema_version": "1.0",
        "llm": {"api_base_url": "none:", "model": "none", "decoding": {"temperature": 0}},
        "mcp": {"enabled": False, "listen_host": "127.0.0.1", "listen_port": 0},
        "telemetry": {"endpoint_url": "embedded:", "project": "launch"},
        "commit_service": {
            "endpoint_url": "embedded:",
            "github_token_env": "LAUNCH_COMMIT_TOKEN",
            "commit_message_template": "Launch {product_name}",
            "commit_body_template": "Pages for {product_name}, by run {run_id} from commit {github_ref}.\n",
        },
        "budgets": {
            "max_runtime_s": 3600,
            "max_llm_calls": 200,
            "max_llm_tokens": 500_000,
            "max_file_writes": 500,
            "max_patch_attempts": 100,
            "max_lines_per_file": 2000,
            "max_files_changed": 200,
        },
        "max_fix_attempts": 20,
        "templates_version": "1",
        "ruleset_version": "1",
        "allow_inference": False,
    }
