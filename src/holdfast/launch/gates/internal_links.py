"""Gate: links, anchors and images of the run's pages lead somewhere in the site as it was built."""

import json
from collections.abc import Iterator
from urllib.parse import unquote, urljoin, urlsplit

from holdfast.launch.gates.built_site import BuiltPage, BuiltSite, Target, same_text
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.hugo_build import ADDRESSES, PUBLIC
from holdfast.launch.gates.view import Page, View
from holdfast.launch.page_links import PageLink

__all__ = ["GATE", "check"]


def check(view: View) -> Checked:
    """Every link that stands on a line of the run; those of the site's own layouts are not ours."""
    known = view.scratch / ADDRESSES
    if not known.is_file():
        return Checked(skipped="the site was not built")
    addresses = json.loads(known.read_text(encoding="utf-8"))
    site = BuiltSite(view.scratch / PUBLIC, addresses, view.artifacts["hugo_facts.json"]["base_url"])
    found = [finding for page in view.pages for finding in _page(page, site)]
    return Checked(found, notes=[f"base: {site.base}", f"links: {sum(len(page.links) for page in view.pages)}"])


def _page(page: Page, site: BuiltSite) -> Iterator[Finding]:
    address = site.address(page.path)
    built = site.page(address) if address else None
    if built is None:
        is_draft = page.front.data.get("draft") is True
        if is_draft and page.data_before.get("draft") is True:
            return  # people hold the page back
        yield Finding(
            "PAGE_NOT_BUILT",
            f"Hugo does not publish {page.path}" + (", since it is a draft." if is_draft else "."),
            page.path,
            1,
            anchor="not built",
            suggested_fix="Remove what keeps it back: draft, a date in the future, build options, no layout.",
            fix_rule="replace_frontmatter" if is_draft else "",
            data={"key": "draft", "value": False} if is_draft else {},
        )
        return
    for link in page.links:
        target = _judged(link, address, built, site)
        if target is not None and target.verdict not in ("ok", "elsewhere"):
            yield _finding(page, link, target, address, site)


def _judged(link: PageLink, address: str, built: BuiltPage, site: BuiltSite) -> Target | None:
    """Where the link leads as it was published: a template of the site may have rewritten it."""
    if unquote(link.target) in built.targets:
        return site.follow(link.target, address)
    text = same_text(link.text)
    written = built.by_text.get(f"image {text}" if link.is_image else text, [])
    targets = [site.follow(href, address) for href in written]
    good = next((target for target in targets if target.verdict in ("ok", "elsewhere")), None)
    if good is not None or targets:
        return good or targets[0]
    return None if "{{" in link.target else site.follow(link.target, address)


def _finding(page: Page, link: PageLink, target: Target, address: str, site: BuiltSite) -> Finding:
    better = _replacement(link, target, address, site)
    codes = {"no_anchor": "ANCHOR_MISSING", "outside": "LINK_OUTSIDE_BASE"}
    messages = {
        "no_anchor": f"The link to {link.target} names the place `{target.anchor}`, which is not there.",
        "outside": f"The link to {link.target} leaves the site, whose addresses begin with {site.base_path}.",
    }
    text = page.line_text(link.line)
    return Finding(
        codes.get(target.verdict, "IMAGE_MISSING" if link.is_image else "LINK_BROKEN"),
        messages.get(target.verdict, f"The {'image' if link.is_image else 'link'} {link.target} leads nowhere."),
        page.path,
        link.line,
        anchor=f"{link.target} {text}",
        suggested_fix=f"Use {better}." if better else "Correct it, or take the link away.",
        fix_rule="repair_anchor" if better else "remove_dead_link",
        data={"target": link.target, "line_text": text, **({"replacement": better} if better else {})},
    )


def _replacement(link: PageLink, target: Target, address: str, site: BuiltSite) -> str:
    """What was meant, where there is only one answer; "" otherwise."""
    if target.verdict == "no_anchor":
        page = site.page(target.address)
        fitting = [name for name in page.ids if same_text(name) == same_text(target.anchor)] if page else []
        return f"{link.target.partition('#')[0]}#{fitting[0]}" if len(fitting) == 1 else ""
    candidates = []
    if link.target.startswith("/"):
        candidates.append(site.base_path.rstrip("/") + link.target)
    if urlsplit(link.target).path.endswith(".md"):
        candidates.append(_page_address(link, address, site))
    good = [url for url in candidates if url and url != link.target and site.follow(url, address).verdict == "ok"]
    return good[0] if len(good) == 1 else ""


def _page_address(link: PageLink, address: str, site: BuiltSite) -> str:
    """The address of a page that is linked by the name of its file."""
    parts = urlsplit(link.target)
    here = site.path(address)
    path = urljoin(f"/{here}", parts.path).lstrip("/") if here else ""
    found = urlsplit(site.address(path)).path
    return found + (f"#{parts.fragment}" if found and parts.fragment else "")


GATE = Gate(
    "internal_links",
    "internal_links",
    check,
    everywhere(
        PAGE_NOT_BUILT="error",
        LINK_BROKEN="error",
        IMAGE_MISSING="error",
        ANCHOR_MISSING="error",
        LINK_OUTSIDE_BASE="error",
    ),
    seconds(120, 180),
    needs=("hugo",),
    uses=("hugo_facts.json", "patch_bundle.json"),
)
