"""The pages that a site already has: where they are, and what front matter they have in common.

What all pages of a section have is what a new one must have too. A section with few pages proves little, so there
a key counts only if the whole site has it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.launch.front_matter import FrontMatter, FrontMatterError, split, type_of
from holdfast.launch.site_urls import url_path
from holdfast.launch.states import SECTIONS

__all__ = ["Page", "frontmatter_contract", "is_page", "listed_pages", "page_of", "section_of"]

_SUFFIXES = (".md", ".markdown", ".mdown", ".html", ".htm")
_SAMPLE = 50
_FEW = 3
# Keys that say how a page is shown, and not what it is about: only their values may be taken over.
_SHOWING = frozenset(
    {"layout", "type", "draft", "toc", "lang", "language", "locale", "sidebar", "template", "kind"}
)
_TYPES = ("string", "date", "array", "boolean", "integer", "number", "object", "null")
_LONGEST_KEY = 200


class Page(NamedTuple):
    """A page of the site; `front` is None where its front matter cannot be read."""

    path: str
    front: FrontMatter | None

    @property
    def data(self) -> dict[str, Any]:
        """Its front matter; nothing where that cannot be read."""
        return self.front.data if self.front else {}

    @property
    def is_list(self) -> bool:
        """Whether it stands for a folder."""
        return self.path.rpartition("/")[2].startswith("_index.")


def is_page(path: str, content_root: str) -> bool:
    """Whether the file is a page of the site."""
    return path.startswith(f"{content_root.rstrip('/')}/") and path.lower().endswith(_SUFFIXES)


def page_of(path: str, content: bytes) -> Page:
    """The page with this content."""
    try:
        front = split(content.decode("utf-8"))
    except (UnicodeDecodeError, FrontMatterError):
        return Page(path, None)
    return Page(path, front)


def section_of(path: str, roots: Mapping[str, str]) -> str:
    """The section in whose root the page is, the innermost one; "" where it is in none."""
    found = [name for name in SECTIONS if name in roots and f"{path}/".startswith(f"{roots[name].rstrip('/')}/")]
    return max(found, key=lambda name: len(roots[name].rstrip("/")), default="")


def listed_pages(
    pages: Sequence[Page], config: Mapping[str, Any], hugo: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The pages as site_context.json lists them."""
    layout = config["site_layout"]
    root = layout["content_root"].rstrip("/")
    lists = {page.path.rpartition("/")[0].removeprefix(root).lstrip("/") for page in pages if page.is_list}
    found = []
    for page in pages:
        address = url_path(page.path, root, hugo, page.data, lists=lists)
        made: dict[str, Any] = {"path": page.path, "url_path": address[:1000]}
        title, section = page.data.get("title"), section_of(page.path, layout["subdomain_roots"])
        made |= {"title": title[:500]} if isinstance(title, str) and title else {}
        made |= {"section": section} if section else {}
        made |= {"draft": True} if page.data.get("draft") is True else {}
        found.append(made)
    return found


def frontmatter_contract(pages: Sequence[Page], config: Mapping[str, Any]) -> dict[str, Any]:
    """What the front matter of a new page needs, for each section of the run: the `sections` of the contract."""
    roots = config["site_layout"]["subdomain_roots"]
    by_section: dict[str, list[Page]] = {name: [] for name in SECTIONS}
    for page in pages:
        section = section_of(page.path, roots)
        if section and page.front is not None and page.front.format != "none":
            by_section[section].append(page)
    samples = {name: _sample(by_section[name]) for name in SECTIONS}
    everywhere = [page for name in SECTIONS for page in samples[name]]
    wanted = config["required_sections"]
    return {name: _contract(samples[name], everywhere) for name in SECTIONS if name in wanted}


def _sample(pages: Sequence[Page]) -> list[Page]:
    """Evenly spread over all pages, so that one folder alone does not decide; lists are unlike other pages."""
    plain = [page for page in pages if not page.is_list] or list(pages)
    if len(plain) <= _SAMPLE:
        return plain
    return [plain[number * len(plain) // _SAMPLE] for number in range(_SAMPLE)]


def _contract(sample: Sequence[Page], everywhere: Sequence[Page]) -> dict[str, Any]:
    keys = sorted({key for page in sample for key in page.data if 0 < len(key) <= _LONGEST_KEY})
    judges = [*sample, *everywhere] if len(sample) < _FEW else sample
    required = [key for key in keys if all(key in page.data for page in judges)]
    formats = Counter(page.front.format for page in (sample or everywhere) if page.front)
    types = {key: _common_type([page.data[key] for page in sample if key in page.data]) for key in keys}
    if not sample:
        required, types = ["title"], {"title": "string"}
    defaults = {key: sample[0].data[key] for key in keys if _is_shared(key, sample)}
    return {
        "sample_size": len(sample),
        "format": min(formats, key=lambda name: (-formats[name], -ord(name[0])), default="yaml"),
        "required_keys": required,
        "optional_keys": [key for key in keys if key not in required],
        "key_types": types,
    } | ({"default_values": defaults} if defaults else {})


def _common_type(values: Sequence[Any]) -> str:
    counted = Counter(map(type_of, values))
    return min(counted, key=lambda name: (name == "null", -counted[name], _TYPES.index(name)))


def _is_shared(key: str, sample: Sequence[Page]) -> bool:
    """Whether all pages say the same about how they are shown."""
    first = sample[0].data.get(key)
    if key.lower() not in _SHOWING or not isinstance(first, str | bool | int):
        return False
    return all(key in page.data and page.data[key] == first for page in sample)
