"""The ways between the pages of a plan: relative addresses, which hold under any base address of the site."""

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from holdfast.launch.writing.blocks import Heading, Link, Links, Sentence
from holdfast.launch.writing.inline import anchor, prose
from holdfast.launch.writing.known import Known

_SPEAKING = ("workflow", "feature", "api_module")

__all__ = ["Routes", "Ways", "relative"]


def relative(here: str, there: str) -> str:
    """The way from one address of the site to another."""
    base = here if here.endswith("/") else posixpath.dirname(here)
    way = posixpath.relpath(there, base)
    return f"{way}/" if there.endswith("/") else way


class Routes:
    """The planned pages, which of them describes which name of the interface, and under which headings."""

    def __init__(
        self,
        pages: Iterable[Mapping[str, Any]],
        known: Known,
        anchors_of: Callable[["Routes", Mapping[str, Any]], frozenset[str]],
    ) -> None:
        self.pages = {page["page_id"]: page for page in pages}
        self.symbols = {name: page["page_id"] for page in self.pages.values() for name in page.get("symbols", ())}
        self.known = known
        self._anchors_of = anchors_of
        self._anchors: dict[str, frozenset[str]] = {}

    def anchors(self, page_id: str) -> frozenset[str]:
        """The fragments that a page has; it is put together once to know them."""
        if page_id not in self._anchors:
            self._anchors[page_id] = self._anchors_of(self, self.pages[page_id])
        return self._anchors[page_id]


class Ways:
    """The planned pages as seen from one of them."""

    def __init__(self, routes: Routes, here: Mapping[str, Any]) -> None:
        self._routes = routes
        self._pages = routes.pages
        self.known = routes.known
        self.page = here

    def __contains__(self, page_id: object) -> bool:
        return page_id in self._pages

    def pages(self, section: str) -> list[Mapping[str, Any]]:
        """The pages of a section in their order, without the one that is looked from."""
        found = [page for page in self._pages.values() if page["section"] == section]
        here = self.page["page_id"]
        return sorted((page for page in found if page["page_id"] != here), key=lambda page: page["weight"])

    def is_after(self, page_id: str) -> bool:
        """Whether a page of the section comes after the one that is looked from."""
        there, here = int(self._pages[page_id]["weight"]), int(self.page["weight"])
        return there > here

    def snippets(self, page_id: str) -> frozenset[str]:
        """The snippets that a page shows; none where it is not planned."""
        page = self._pages.get(page_id)
        return frozenset(page["required_snippet_ids"]) if page else frozenset()

    def url(self, page_id: str) -> str:
        """The relative address of a page."""
        return relative(self.page["url_path"], self._pages[page_id]["url_path"])

    def link(self, page_id: str, about: str = "") -> Link:
        """A link to a page under its title; a title that states something stands alone, as a mere name."""
        title = prose(self._pages[page_id]["title"])
        return Link(title, self.url(page_id), "" if self.known.is_factual(title) else about)

    def symbol(self, name: str, heading: str, parent: str = "") -> str:
        """The relative address of where a name of the interface is described; empty where it is nowhere."""
        symbols = self._routes.symbols
        page_id = symbols.get(name) or symbols.get(parent)
        if not page_id:
            return ""
        fragment = f"#{anchor(heading)}" if heading else ""
        if page_id == self.page["page_id"]:
            return fragment
        is_there = anchor(heading) in self._routes.anchors(page_id)
        return self.url(page_id) + (fragment if is_there else "")

    def links(self, page_ids: Sequence[str]) -> Links:
        """Links to those of the pages that are planned, without the one that is looked from."""
        there = (one for one in dict.fromkeys(page_ids) if one in self._pages and one != self.page["page_id"])
        return Links(tuple(self.link(page_id, self._purpose(page_id)) for page_id in there))

    def _purpose(self, page_id: str) -> str:
        """What a page is for; of a task or a module the title says it."""
        page = self._pages[page_id]
        return "" if page["template"] in _SPEAKING else page["purpose"]

    def see(self, page_id: str, words: str = "See") -> Sentence:
        """One line that leads to a page."""
        link = self.link(page_id)
        return Sentence(f"{words} [{link.title}]({link.url}).")

    def onward(self, *page_ids: str, title: str = "Next steps") -> list[Heading | Links]:
        """A closing part with links."""
        return [Heading(2, title), self.links(page_ids)]
