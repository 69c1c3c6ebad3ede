"""The package that a result of SARIF is about. The format has no field for it, so every scanner has its own way.

What is said in fields counts first: properties of the result, then of its rule, and package URLs. Trivy says it in
the lines of its message alone.
"""

from typing import Any

from holdfast.search.triage.fields import LINE, Fields, clean
from holdfast.search.triage.purl import purl_parts
from holdfast.search.triage.record import package

__all__ = ["package_of_result"]

_TRIVY = "trivy"
_TRIVY_BEGINS = "Package:"  # with anything else its message is about a setting, a secret or a licence
_SCHEME = "pkg:"


def package_of_result(entry: Fields, message: str | None) -> dict[str, Any]:
    """The package of a result with its rule and tool beside it; nothing but empty fields where there is none."""
    result, rule = entry.inner("result"), entry.inner("rule")
    both = (result.inner("properties"), rule.inner("properties"))
    purl = _purl(result, both)
    ecosystem, name, version = purl_parts(purl)
    lines = _lines(message) if (entry.text("tool.name") or "").lower() == _TRIVY else {}
    return package(
        name=_first(both, "package_name", "package.name", "package") or name or lines.get("Package"),
        ecosystem=_first(both, "package_ecosystem", "package.ecosystem", "ecosystem", "package_type") or ecosystem,
        installed=_first(both, "installed_version", "package_version", "package.version")
        or version
        or lines.get("Installed Version"),
        fixed=_first(both, "fixed_version", "fixed_in_version", "package.fixed_version")
        or lines.get("Fixed Version"),
        purl=purl,
    )


def _purl(result: Fields, both: tuple[Fields, ...]) -> str | None:
    """The package URL; where a rule lists several it is not said which of them is meant."""
    for properties in both:
        listed = properties.texts("purl", "package_url", "package.purl", "purls")
        if len(listed) == 1 and listed[0].startswith(_SCHEME):
            return listed[0]
    places = (one for where in result.each("locations") for one in where.each("logical_locations"))
    named = (place.text("fully_qualified_name", "name") or "" for place in places)
    return next((name for name in named if name.startswith(_SCHEME)), None)


def _lines(message: str | None) -> dict[str, str]:
    """What stands behind the names in a message of lines `Name: what it is`."""
    if message is None or not message.startswith(_TRIVY_BEGINS):
        return {}
    parts = (line.partition(":") for line in message.split("\n"))
    named = [(name.strip(), clean(said, LINE)) for name, mark, said in parts if mark]
    return {name: said for name, said in reversed(named) if said}  # of two, the first


def _first(both: tuple[Fields, ...], *paths: str) -> str | None:
    return next((text for fields in both if (text := fields.text(*paths))), None)
