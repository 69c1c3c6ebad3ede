"""Where pages of a product go in a site: their language, and their paths. What is on them is for others."""

from collections.abc import Mapping
from typing import Any

__all__ = ["as_bundle", "locale_of", "output_path"]


def locale_of(config: Mapping[str, Any], hugo: Mapping[str, Any]) -> str:
    """The language that the pages are written in; of several the site's own."""
    wanted: list[str] = [config["locale"]] if config.get("locale") else list(config["locales"])
    default = str(hugo["default_language"])
    return default if default in wanted else wanted[0]


def output_path(config: Mapping[str, Any], section: str, file: str, locale: str) -> str:
    """The path of a page: in a folder of the product, within the root of the section."""
    layout = config["site_layout"]
    root = layout["subdomain_roots"][section].strip("/")
    mode = layout["localization"]["mode_by_section"][section]
    folder = f"{root}/{locale}/{config['product_slug']}" if mode == "dir" else f"{root}/{config['product_slug']}"
    return f"{folder}/{file}.{locale}.md" if mode == "filename" else f"{folder}/{file}.md"


def as_bundle(path: str) -> str:
    """Where the page is after somebody made a folder of it, for pictures beside it: `x.md` is `x/index.md` then.

    Empty for a page that is a list, which has its folder already.
    """
    folder, _, name = path.rpartition("/")
    stem, _, endings = name.partition(".")
    return "" if stem in ("index", "_index") else f"{folder}/{stem}/index.{endings}"
