"""What a gate sees: the artifacts of the run, and the pages that the run touched, as they will be published.

Pages come from git's objects and the patch bundle, never from the work tree. Files that the run did not touch are
not here: whatever is wrong with them was wrong before.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.launch.claim_marks import claims_of, without_marks
from holdfast.launch.code_fences import Fence, fences
from holdfast.launch.factual import FactualLine, factual_lines, identifiers_of, names_of, prose_lines, visible
from holdfast.launch.front_matter import FrontMatter, FrontMatterError, split
from holdfast.launch.page_links import PageLink, page_links
from holdfast.launch.work import Given

__all__ = ["Heading", "Page", "View", "heading_of"]

_PAGES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page; `line` is a line of the file."""

    line: int
    level: int
    text: str


class Page:
    """A page that the run made or changed. All line numbers are those of the file."""

    def __init__(self, path: str, content: bytes, before: bytes | None, plan: Mapping[str, Any] | None) -> None:
        self.path = path
        self.plan = plan
        self.problem: FrontMatterError | None = None
        self.is_text = True
        try:
            self.text = content.decode("utf-8")
        except UnicodeDecodeError:
            self.text, self.is_text = content.decode("utf-8", "replace"), False
        try:
            self.front = split(self.text)
        except FrontMatterError as error:
            self.problem = error
            self.front = FrontMatter("none", {}, _without_block(self.text), 1)
        self.body = self.front.body
        self.is_new = before is None
        self._before = before

    @cached_property
    def data_before(self) -> dict[str, Any]:
        """The front matter before the run; nothing where there was none that could be read."""
        try:
            return split((self._before or b"").decode("utf-8")).data
        except (UnicodeDecodeError, FrontMatterError):
            return {}

    @cached_property
    def as_before(self) -> "Page | None":
        """The page before the run; None for a new one. What it lacked then, people did not want."""
        return None if self._before is None else Page(self.path, self._before, None, self.plan)

    @property
    def role(self) -> str:
        """The role that was planned; "" for a page that is not in the plan."""
        return str(self.plan["page_role"]) if self.plan else ""

    @property
    def offset(self) -> int:
        """What to add to a line of the body to get the line of the file."""
        if self.problem is not None:
            return self.text.count("\n") - self.body.count("\n")
        return self.front.body_line - 1

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the body."""
        return self.body.split("\n")

    @cached_property
    def touched(self) -> frozenset[int]:
        """The lines of the file that were not there before."""
        if self._before is None:
            return frozenset(range(1, len(self.file_lines) + 1))
        old = Counter(self._before.decode("utf-8", "replace").split("\n"))
        new = []
        for number, line in enumerate(self.file_lines, 1):
            if old[line]:
                old[line] -= 1
            else:
                new.append(number)
        return frozenset(new)

    @cached_property
    def prose(self) -> list[tuple[int, str]]:
        """The touched lines outside code and comments, as they are written."""
        lines = (
            (number + self.offset, self.lines[number - 1].rstrip("\r")) for number, _ in prose_lines(self.body)
        )
        return [(number, line) for number, line in lines if number in self.touched]

    @cached_property
    def headings(self) -> list[Heading]:
        """All headings, also those that were there before."""
        found = ((number + self.offset, heading_of(line)) for number, line in prose_lines(self.body))
        return [Heading(number, *heading) for number, heading in found if heading is not None]

    @cached_property
    def blocks(self) -> list[Fence]:
        """The touched code blocks."""
        every = (
            block._replace(line=block.line + self.offset, end_line=block.end_line + self.offset)
            for block in fences(self.body)
        )
        return [block for block in every if not self.touched.isdisjoint(range(block.line, block.end_line + 1))]

    @cached_property
    def links(self) -> list[PageLink]:
        """The links on touched lines."""
        every = (link._replace(line=link.line + self.offset) for link in page_links(self.body))
        return [link for link in every if link.line in self.touched]

    @cached_property
    def claim_ids(self) -> list[str]:
        """The claims that the page is marked with, each once, also on lines that were there before."""
        every = (claim for line in self.lines for claim in claims_of(line))
        return list(dict.fromkeys(every))

    @cached_property
    def file_lines(self) -> list[str]:
        """The lines of the whole file."""
        return self.text.split("\n")

    def line_text(self, line: int) -> str:
        """A line of the file by which a fix finds it again."""
        return without_marks(self.file_lines[line - 1]).strip()


@dataclass
class View:
    """All that gates may look at. `tree` is the site before the run; `scratch` is a folder of its own.

    `links` says how other sites may be asked: `offline`, `private`, and where the `cache` is. The build of a
    site that the operator trusts may do what the site's configuration says.
    """

    config: Mapping[str, Any]
    profile: str
    artifacts: Mapping[str, Any]
    broken: Mapping[str, list[str]] = field(default_factory=dict)
    given: Mapping[str, Given] = field(default_factory=dict)
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    conflicts: list[Mapping[str, Any]] = field(default_factory=list)
    site: Path = Path()
    scratch: Path = Path()
    tree: Any = None
    links: Mapping[str, Any] = field(default_factory=dict)
    hugo: str = ""
    is_trusted: bool = False
    _factual: dict[str, list[FactualLine]] = field(default_factory=dict)

    @cached_property
    def existing(self) -> frozenset[str]:
        """The files of the site before the run."""
        return frozenset(self.tree.paths() if self.tree is not None else ())

    def factual(self, page: Page) -> list[FactualLine]:
        """The touched lines of a page that need a claim, with lines of the file."""
        if page.path not in self._factual:
            facts = self.artifacts["product_facts.json"]
            found = factual_lines(page.body, identifiers=identifiers_of(facts), names=names_of(facts))
            every = (item._replace(line=item.line + page.offset) for item in found)
            self._factual[page.path] = [item for item in every if item.line in page.touched]
        return self._factual[page.path]

    @staticmethod
    def is_page(path: str, content_root: str) -> bool:
        """Whether a file of the site is a page."""
        return path.endswith(_PAGES) and path.startswith(content_root.strip("/") + "/")


def heading_of(line: str) -> tuple[int, str] | None:
    """The level and the text of a heading, None for another line."""
    stripped = line.lstrip(" ")
    marks = len(stripped) - len(stripped.lstrip("#"))
    if not 1 <= marks <= 6 or len(line) - len(stripped) > 3 or not stripped[marks:].startswith((" ", "\t")):
        return None
    return marks, visible(stripped).rstrip("#").strip().replace("`", "")


def _without_block(text: str) -> str:
    """The body of a page whose front matter cannot be read: what is behind its second fence, or all of it."""
    fence, _, rest = text.lstrip("\ufeff \t\r\n").partition("\n")
    if fence.rstrip() in ("---", "+++"):
        _, found, body = rest.partition(f"\n{fence.rstrip()}\n")
        if found:
            return body
    return text
