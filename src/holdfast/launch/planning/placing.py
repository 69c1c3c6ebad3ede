"""Where a page goes: its path in the site, its address, and whether somebody else is there already."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.page_paths import locale_of, output_path
from holdfast.launch.site_urls import url_path

__all__ = ["check_free", "placed"]

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
