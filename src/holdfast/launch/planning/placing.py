"""Where a page goes: its path in the site, its address, and whether somebody else is there already."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.page_paths import as_bundle, locale_of, output_path
from holdfast.launch.site_urls import url_path

__all__ = ["check_free", "moved", "placed"]

_OURS = b"<!-- claim:clm_"


def placed(
    page: dict[str, Any],
    config: Mapping[str, Any],
    hugo: Mapping[str, Any],
    front_matter: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """The page with its path and address; addresses may depend on front matter."""
    path = output_path(config, page["section"], page.pop("file"), locale_of(config, hugo))
    at = page | {"output_path": path, "url_path": "/"}
    given = {key: value for key, value in front_matter(at).items() if key != "url"}
    content_root = config["site_layout"]["content_root"]
    return at | {"url_path": url_path(path, content_root, hugo, given)}


def moved(page: dict[str, Any], existing: Mapping[str, str], recorded: Collection[str]) -> dict[str, Any]:
    """The page where people have moved it to: into a folder of its own, at the address that it had.

    `existing` are the addresses of the site's pages by their paths. Anything else that people move is theirs.
    """
    path, bundle = page["output_path"], as_bundle(page["output_path"])
    is_gone = path in recorded and path not in existing
    if not is_gone or existing.get(bundle) != page["url_path"]:
        return page
    return page | {"output_path": bundle}


def check_free(
    pages: Iterable[Mapping[str, Any]],
    existing: Iterable[Mapping[str, Any]],
    read: Callable[[str], bytes | None],
    recorded: Collection[str] = frozenset(),
) -> None:
    """ToolError where a planned page would take the place of one that is not ours, or of another planned one.

    Ours is what a record names, and what holds a mark of ours.
    """
    by_path = {page["path"].casefold(): page for page in existing}
    by_url = {page["url_path"].casefold(): page for page in by_path.values()}
    taken: dict[str, str] = {}
    for page in pages:
        path, url = page["output_path"], page["url_path"]
        for place in (path.casefold(), url.casefold()):
            if place in taken:
                raise _collision(page, taken[place])
            taken[place] = path
        other = by_path.get(path.casefold()) or by_url.get(url.casefold())
        is_ours = path in recorded or _OURS in (read(path) or b"")
        if other and not (other["path"] == path and is_ours):
            raise _collision(page, other["path"])


def _collision(page: Mapping[str, Any], other: str) -> ToolError:
    return ToolError(
        "INVALID_INPUT",
        f"the page {page['page_id']} would have the address {page['url_path']}, which {other} has already",
        details={
            "reason": "url_collision",
            "page_id": page["page_id"],
            "url_path": page["url_path"],
            "output_path": page["output_path"],
            "existing_path": other,
        },
        retryable=False,
    )
