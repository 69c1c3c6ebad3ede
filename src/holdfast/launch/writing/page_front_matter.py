"""The front matter of a page: what the pages of its section have on this site, in the types that they have."""

from collections.abc import Mapping
from typing import Any

from holdfast.launch.writing.inline import plain
from holdfast.launch.writing.known import Known

__all__ = ["front_matter", "page_date", "section_contract"]

_NO_CONTRACT: Mapping[str, Any] = {
    "sample_size": 0, "format": "yaml", "required_keys": ["title", "description"], "optional_keys": [],
    "key_types": {},
}  # fmt: skip
_ORDER = ("title", "linkTitle", "description", "summary", "date", "lastmod", "publishDate", "weight", "draft")
# What a reader needs even where the site has no pages yet to learn from.
_ALWAYS = {"blog": ("title", "description", "date"), "docs": ("title", "description", "weight")}
_NO_DATE = "2020-01-01"


def section_contract(contract: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    """What is known of the front matter of a section."""
    found: Mapping[str, Any] | None = contract["sections"].get(section)
    return found if found is not None and found["sample_size"] else _NO_CONTRACT


def page_date(commit_date: str, known: Known, section: Mapping[str, Any]) -> str:
    """The day of a page: of the commit that it describes, never of the moment in which it was written."""
    dates = [commit_date, *(change.get("date", "") for change in known.facts.get("changes") or ())]
    default = section.get("default_values", {}).get("date")
    found = next((day for day in (*dates[:2], default) if isinstance(day, str) and _is_day(day)), _NO_DATE)
    return found[:10]


def front_matter(
    page: Mapping[str, Any], contract: Mapping[str, Any], known: Known, commit_date: str
) -> dict[str, Any]:
    """The keys of the section that this page has to have, and those that are worth having, in a fixed order."""
    section = section_contract(contract, page["section"])
    there = [*section["required_keys"], *section["optional_keys"]]
    wanted = {*section["required_keys"], *_ALWAYS.get(page["section"], ("title", "description"))}
    wanted |= {key for key in ("weight", "date", "draft", "description", "tags", "keywords") if key in there}
    if section["sample_size"] and page["section"] == "docs" and "weight" not in there:
        wanted.discard("weight")
    values = _values(page, known, page_date(commit_date, known, section))
    ordered = [key for key in _ORDER if key in wanted] + sorted(wanted - set(_ORDER))
    return {key: _value(key, section, values) for key in ordered}


def _values(page: Mapping[str, Any], known: Known, day: str) -> dict[str, Any]:
    name, facts = known.name, known.facts
    version = known.fact("version")
    is_bundle = page["output_path"].rsplit("/", 1)[-1].startswith("index.")
    values: dict[str, Any] = dict.fromkeys(("title", "linkTitle", "linktitle"), page["title"])
    values |= dict.fromkeys(("description", "summary"), page.get("description", page["purpose"]))
    values |= dict.fromkeys(("date", "lastmod", "publishDate"), day)
    values |= dict.fromkeys(("url", "permalink"), page["url_path"])
    values |= dict.fromkeys(("product", "product_name"), name)
    values |= dict.fromkeys(
        ("repo_url", "repository", "repository_url", "github_url", "source_url"), facts["repo_url"]
    )
    return values | {
        "weight": page["weight"], "draft": False, "toc": True, "author": f"The {name} team",
        "authors": [f"The {name} team"], "tags": [facts["product_slug"]],
        "keywords": [plain(word) for word in facts.get("keywords", ())][:8] or [facts["product_slug"]],
        "version": version["value"] if version else "",
        # A bundle is called by its folder, and a slug would take the place of that.
        "slug": facts["product_slug"] if is_bundle else page["slug"],
    }  # fmt: skip


def _value(key: str, section: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """Ours where it has the right type, else the usual value of the site, else the plainest of the type."""
    wanted = section["key_types"].get(key, "")
    default = section.get("default_values", {}).get(key)
    ours = values.get(key)
    if ours not in ("", None) and _has_type(ours, wanted):
        return ours
    if default is not None and _has_type(default, wanted):
        return default
    return _plainest(key.lower(), wanted, values)


def _plainest(key: str, wanted: str, values: Mapping[str, Any]) -> Any:
    plainest: dict[str, Any] = {
        "boolean": False, "integer": 0, "number": 0, "array": [], "object": {}, "null": None,
        "date": values["date"],
    }  # fmt: skip
    text = values["title"] if "title" in key else values["description"] if "descr" in key else ""
    return plainest.get(wanted, text)


def _has_type(value: Any, wanted: str) -> bool:
    kinds: Mapping[str, tuple[type, ...]] = {
        "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "date": (str,),
        "array": (list,), "object": (dict,),
    }  # fmt: skip
    if not wanted:
        return True
    if isinstance(value, bool) and wanted != "boolean":
        return False
    if wanted == "date" and not _is_day(str(value)):
        return False
    return isinstance(value, kinds.get(wanted, ()))


def _is_day(text: str) -> bool:
    from datetime import date

    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True
