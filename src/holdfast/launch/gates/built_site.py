"""The site as Hugo built it: which file an address leads to, and which places in it have a name."""

import functools
import posixpath
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

__all__ = ["BuiltPage", "BuiltSite", "Target", "same_text"]

_LARGEST = 1 << 24


class Target(NamedTuple):
    """Where a link leads: `ok`, `elsewhere` (another site), `missing`, `no_anchor`, `outside` (the base path)."""

    verdict: str
    address: str = ""
    anchor: str = ""


class BuiltPage(HTMLParser):
    """What matters of one HTML file."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: dict[str, None] = {}
        self.targets: set[str] = set()
        self.by_text: dict[str, list[str]] = {}
        self.is_redirect = False
        self._open: list[tuple[str, list[str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Ids, links and images."""
        given = {name: value or "" for name, value in attrs}
        if given.get("id"):
            self.ids[given["id"]] = None
        if tag == "a" and given.get("name"):
            self.ids[given["name"]] = None
        if tag == "a" and "href" in given:
            self.targets.add(unquote(given["href"]))
            self._open.append((given["href"], []))
        if tag == "img" and "src" in given:
            self.targets.add(unquote(given["src"]))
            self.by_text.setdefault(f"image {same_text(given.get('alt', ''))}", []).append(given["src"])
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.is_redirect = True

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that closes itself holds no text."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        """The text of links."""
        for _, parts in self._open:
            parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        """The end of a link: its text is known."""
        if tag == "a" and self._open:
            href, parts = self._open.pop()
            self.by_text.setdefault(same_text("".join(parts)), []).append(href)


class BuiltSite:
    """The built files and the addresses of pages."""

    def __init__(self, public: Path, addresses: Mapping[str, str], base_url: str) -> None:
        self._public = public
        self._addresses = addresses
        self.base = _base(base_url, list(addresses.values()))

    def address(self, path: str) -> str:
        """The address of a page of the site; "" where Hugo knows no such page."""
        return self._addresses.get(path, "")

    def path(self, address: str) -> str:
        """The path of the page that has this address; "" where none has."""
        return next((path for path, given in self._addresses.items() if given == address), "")

    def page(self, address: str) -> BuiltPage | None:
        """The page at an address; None where nothing is published there."""
        file = self.file(urlsplit(address).path)
        return None if file is None else self._parsed(file)

    def file(self, path: str) -> Path | None:
        """The file that a server gives for a path of an address, which has the base path in front."""
        if not path.startswith(self.base_path):
            return None
        plain = posixpath.normpath("/" + unquote(path[len(self.base_path) :]))
        place = self._public / plain.lstrip("/")
        for candidate in (place / "index.html", place):
            if candidate.is_file() and (candidate == place or path.endswith("/") or place.is_dir()):
                return candidate
        return None

    @property
    def base_path(self) -> str:
        """The path that every address of the site begins with; it ends with a slash."""
        return urlsplit(self.base).path.rstrip("/") + "/"

    def follow(self, target: str, source: str) -> Target:
        """Where a link of the page at the address `source` leads."""
        try:
            address = urljoin(source, target.strip())
            there, here = urlsplit(address), urlsplit(source)
        except ValueError:
            return Target("missing", target)
        if there.scheme not in ("http", "https", "") or there.netloc.lower() != here.netloc.lower():
            return Target("elsewhere", address)
        if not f"{there.path}/".startswith(self.base_path):
            return Target("outside", address)
        file = self.file(there.path or "/")
        if file is None:
            return Target("missing", address)
        anchor = unquote(there.fragment)
        if not anchor or anchor == "top" or file.suffix != ".html":
            return Target("ok", address)
        page = self._parsed(file)
        is_there = page.is_redirect or anchor in page.ids
        return Target("ok" if is_there else "no_anchor", address, anchor)

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - lives as long as one check
    def _parsed(self, file: Path) -> BuiltPage:
        return BuiltPage(file.read_bytes()[:_LARGEST].decode("utf-8", "replace"))


def same_text(text: str) -> str:
    """What two writings of the text of a link have in common: letters and digits."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _base(base_url: str, addresses: list[str]) -> str:
    """The base address as Hugo used it: the configured one, or else the root of the host."""
    wanted = base_url if base_url.endswith("/") else f"{base_url}/"
    if addresses and all(address.startswith(wanted) for address in addresses):
        return wanted
    parts = urlsplit(addresses[0] if addresses else wanted)
    path = urlsplit(wanted).path
    return f"{parts.scheme}://{parts.netloc}{path}" if parts.netloc else path
