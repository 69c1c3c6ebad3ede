"""Package URLs: what the one line `pkg:type/namespace/name@version` says about a package."""

from urllib.parse import unquote

__all__ = ["purl_parts"]

# The types of package URLs whose ecosystem has another name everywhere else.
_ECOSYSTEMS = {"pypi": "pip", "gem": "rubygems", "golang": "go", "cargo": "rust"}


def purl_parts(purl: str | None) -> tuple[str | None, str | None, str | None]:
    """Ecosystem, name and version of a package URL: pkg:type/namespace/name@version?qualifiers#subpath."""
    if purl is None or not purl.startswith("pkg:"):
        return None, None, None
    kind, _, rest = purl[4:].lstrip("/").partition("#")[0].partition("?")[0].partition("/")
    path, _, version = rest.rpartition("@")
    if not path or "/" in version:  # there is none: the sign belongs to the scope of a package
        path, version = rest, ""
    name = "/".join(unquote(part) for part in path.split("/") if part)
    if kind == "maven":
        name = name.replace("/", ":")
    kind = kind.lower()
    return _ECOSYSTEMS.get(kind, kind) or None, name or None, unquote(version) or None
