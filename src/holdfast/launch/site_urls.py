"""The address that Hugo gives to a page, from its path, the configuration of the site and its front matter.

Addresses are paths from the root of the site ("/docs/tablekit/install/"), without the path of the base address,
and escaped as Hugo escapes them. Whether there is a page is not asked.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

__all__ = ["url_path"]

_CONTENT = frozenset(
    {"md", "markdown", "mdown", "html", "htm", "adoc", "asciidoc", "ad", "rst", "org", "pandoc", "pdc"}
)
_KEPT = frozenset("./\\_#+~-@")
_SAFE = "/+~@:!$&'()*,;=-._"
_HEX = frozenset("0123456789abcdefABCDEF")
_TOKEN = re.compile(r":([a-z]+)(?:\[([^\]]*+)\])?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class _Page(NamedTuple):
    folders: tuple[str, ...]
    name: str  # without language and suffix; "_index" for a list, "index" for a bundle
    language: str
    is_page: bool  # false: a file that is copied as it is
    suffix: str


def url_path(
    output_path: str,
    content_root: str,
    hugo: Mapping[str, Any],
    front_matter: Mapping[str, Any] | None = None,
    *,
    lists: Collection[str] | None = None,
) -> str:
    """The address of the page at this path of the repository; `hugo` is what hugo_facts.json says.

    `lists` are the folders (below the content) that have an `_index.md`, which only permalinks with `:sections`
    ask for; all of them where it is not known.
    """
    page = _parts(output_path, content_root, hugo)
    given = front_matter or {}
    start = _language_prefix(page.language, hugo)
    if not page.is_page:
        return start + quote(_cleaned("/".join((*page.folders, f"{page.name}{page.suffix}")), hugo), safe=_SAFE)
    if isinstance(given.get("url"), str) and given["url"]:
        return _given_url(given["url"], start)
    is_list = page.name == "_index"
    is_ugly = _is_ugly(page, hugo)
    path = _from_permalink(page, hugo, given, lists) or _from_place(page, hugo, given)
    path = re.sub(r"/+", "/", path).strip("/")
    if is_ugly:
        ended = f"{path}/index.html".lstrip("/") if is_list or not path else f"{path}.html"
    else:
        ended = f"{path}/" if path else ""
    return start + quote(ended, safe=_SAFE)


def _parts(path: str, content_root: str, hugo: Mapping[str, Any]) -> _Page:
    language = str(hugo.get("default_language", "en")).lower()
    inside, root = path.strip("/"), content_root.strip("/")
    dirs = hugo.get("content_dirs") or {}
    for name, folder in sorted(dirs.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if (inside + "/").startswith(folder.strip("/") + "/"):
            language, root = name.lower(), folder.strip("/")
            break
    inside = inside[len(root) :].lstrip("/") if (inside + "/").startswith(root + "/") else inside
    *folders, file = inside.split("/")
    name, dot, suffix = file.rpartition(".")
    if not dot or suffix.lower() not in _CONTENT:
        return _Page(
            tuple(folders), name if dot else file, language, is_page=False, suffix=dot + suffix if dot else ""
        )
    stem, dot, code = name.rpartition(".")
    known = {str(one).lower() for one in hugo.get("languages", ())}
    if dot and stem and code.lower() in known:
        name, language = stem, code.lower()
    return _Page(tuple(folders), name, language, is_page=True, suffix=f".{suffix}")


def _language_prefix(language: str, hugo: Mapping[str, Any]) -> str:
    is_default = language == str(hugo.get("default_language", "en")).lower()
    return "/" if is_default and not hugo.get("default_language_in_subdir") else f"/{language}/"


def _given_url(url: str, start: str) -> str:
    """An address that the page itself names: from the root of its language, and with nothing added but a slash."""
    path = url.split("://", 1)[-1].partition("/")[2] if "://" in url else url.lstrip("/")
    last = path.rsplit("/", 1)[-1]
    ended = path if not path or path.endswith("/") or "." in last else path + "/"
    # An address that begins with a slash is meant from the root of the whole site.
    return ("/" if url.startswith("/") else start) + quote(ended, safe=_SAFE + "%")


def _is_ugly(page: _Page, hugo: Mapping[str, Any]) -> bool:
    if hugo.get("ugly_urls"):
        return True
    return bool(page.folders) and page.folders[0] in (hugo.get("ugly_sections") or ())


def _from_place(page: _Page, hugo: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    folders = list(page.folders)
    if page.name not in ("_index", "index"):
        folders.append(page.name)
    slug = given.get("slug")
    if isinstance(slug, str) and slug and page.name != "_index" and folders:
        folders[-1] = slug
    return _cleaned("/".join(folders), hugo)


def _from_permalink(
    page: _Page, hugo: Mapping[str, Any], given: Mapping[str, Any], lists: Collection[str] | None
) -> str:
    """The address by the pattern for the page's section; empty where there is none."""
    kind = "section" if page.name == "_index" else "page"
    # A bundle is no section, nor is a folder below the first one that has no list.
    folders = page.folders[:-1] if page.name == "index" else page.folders
    pattern = (hugo.get("permalinks") or {}).get(f"{kind}/{folders[0] if folders else '/'}")
    if not pattern or (kind == "section" and not folders):
        return ""
    paths = ["/".join(folders[: depth + 1]) for depth in range(len(folders))]
    sections = tuple(
        name for depth, name in enumerate(folders) if not depth or lists is None or paths[depth] in lists
    )
    return _TOKEN.sub(lambda found: _token(found[1], found[2], page, sections, hugo, given), pattern)


def _token(
    name: str,
    part: str | None,
    page: _Page,
    sections: tuple[str, ...],
    hugo: Mapping[str, Any],
    given: Mapping[str, Any],
) -> str:
    if name == "sections":
        return "/".join(_cleaned(section, hugo) for section in _sliced(sections, part))
    if name == "section":
        return _cleaned(sections[0], hugo) if sections else ""
    base = page.folders[-1] if page.name in ("index", "_index") and page.folders else page.name
    title = str(given.get("title") or base)
    slug = given.get("slug") if isinstance(given.get("slug"), str) else ""
    if name in ("filename", "contentbasename"):
        return _segment(base, hugo)
    if name in ("slugorfilename", "slugorcontentbasename"):
        return _segment(slug or base, hugo)
    if name in ("title", "slug"):
        return _segment((slug if name == "slug" else "") or title, hugo)
    return _dated(name, str(given.get("date") or ""))


def _sliced(folders: tuple[str, ...], part: str | None) -> tuple[str, ...]:
    """`[1:]`, `[0]`, `[last]` and their like, as Hugo cuts the sections."""
    if not part:
        return folders

    def number(text: str, without: int) -> int:
        return (
            without
            if not text
            else len(folders) - 1
            if text == "last"
            else int(text)
            if text.isdigit()
            else without
        )

    first, colon, last = part.partition(":")
    start = number(first, 0)
    return folders[start : number(last, len(folders))] if colon else folders[start : start + 1]


def _dated(name: str, text: str) -> str:
    from datetime import date

    found = _DATE.match(text)
    try:
        day = date(*map(int, found.groups())) if found else date(1, 1, 1)
    except ValueError:
        day = date(1, 1, 1)
    values = {
        "year": f"{day.year:04d}", "month": f"{day.month:02d}", "day": f"{day.day:02d}",
        "monthname": _MONTHS[day.month - 1], "weekday": str(day.isoweekday() % 7),
        "weekdayname": _WEEKDAYS[day.weekday()], "yearday": str(day.timetuple().tm_yday),
    }  # fmt: skip
    return values.get(name, f":{name}")


def _segment(text: str, hugo: Mapping[str, Any]) -> str:
    """A word of a permalink: nothing in it divides."""
    return _cleaned(_hyphened(re.sub(r"[/\\+]", "-", text)), hugo)


def _cleaned(text: str, hugo: Mapping[str, Any]) -> str:
    """A path as Hugo writes it: hyphens for spaces, lower case, without what does not belong into an address."""
    if hugo.get("remove_path_accents"):
        text = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
        text = unicodedata.normalize("NFC", text)
    if hugo.get("disable_path_to_lower"):
        return "/".join(_hyphened(part) for part in text.split("/"))
    text = text.replace(" ", "-")
    return "".join(char for at, char in enumerate(text) if _is_kept(text, at, char)).lower()


def _hyphened(text: str) -> str:
    """Spaces become one hyphen, or none beside one."""
    made, is_spaced = "", False
    for at, char in enumerate(text):
        if _is_kept(text, at, char):
            made += f"-{char}" if is_spaced and char != "-" else char
            is_spaced = False
        elif char.isspace() and made and not made.endswith("-"):
            is_spaced = True
    return made


def _is_kept(text: str, at: int, char: str) -> bool:
    if char in _KEPT or unicodedata.category(char)[0] in "LM" or char.isdecimal():
        return True
    return char == "%" and len(text) > at + 2 and text[at + 1] in _HEX and text[at + 2] in _HEX
