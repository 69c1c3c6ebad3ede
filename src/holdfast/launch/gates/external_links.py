"""Gate: links to other sites lead somewhere. Whatever the network does, it is a warning at most.

Answers are kept for later runs. Offline nobody is asked: what is known counts, and the rest is told as unchecked.
"""

from pathlib import Path
from urllib.parse import urlsplit

from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.link_cache import Answered, LinkCache
from holdfast.launch.gates.link_probe import Limits, is_public, probe
from holdfast.launch.gates.view import View

__all__ = ["GATE", "check"]

_CODES = {"broken": "EXTERNAL_LINK_BROKEN", "unreachable": "EXTERNAL_LINK_UNREACHABLE"}
_FIXES = {
    "broken": "Correct the link, or take it away.",
    "unreachable": "Correct the link, or take it away; without a network, validate with --offline-links.",
}
_OFFLINE = Answered("unchecked", "offline, and nothing is known of it")


def check(view: View, limits: Limits | None = None) -> Checked:
    """Each address once, in ci and prod."""
    if view.profile == "local":
        return Checked(skipped="not asked for in the profile local")
    places = _places(view)
    cache = LinkCache(Path(view.links["cache"]) if view.links.get("cache") else None)
    is_offline = bool(view.links.get("offline"))
    known = {url: found for url in places if (found := cache.get(url, stale=is_offline)) is not None}
    unknown = [url for url in places if url not in known]
    if is_offline:
        asked = dict.fromkeys(unknown, _OFFLINE)
    else:
        may_connect = _anywhere if view.links.get("private") else is_public
        asked = probe(unknown, limits, may_connect=may_connect)
        cache.keep(asked)
    answers = {url: (known.get(url) or asked[url]) for url in places}
    findings = [_finding(url, answers[url], *places[url]) for url in places if _is_told(answers[url])]
    return Checked(findings, notes=[_counts(answers), *(_note(url, answers[url], url in known) for url in places)])


def _places(view: View) -> dict[str, tuple[str, int]]:
    """The addresses, sorted, with the first place of each; pages of the site itself are for another gate."""
    facts = view.artifacts.get("hugo_facts.json", {})
    base = str(facts.get("base_url") or "")
    own = base.rstrip("/") + "/" if urlsplit(base).netloc else ""
    places: dict[str, tuple[str, int]] = {}
    for page in view.pages:
        for link in page.links:
            url = link.target.partition("#")[0]
            is_own = own != "" and (url + "/").startswith(own)
            if url.lower().startswith(("http://", "https://")) and not is_own:
                places.setdefault(url, (page.path, link.line))
    return dict(sorted(places.items()))


def _is_told(answered: Answered) -> bool:
    return answered.verdict in _CODES or bool(answered.moved)


def _finding(url: str, answered: Answered, path: str, line: int) -> Finding:
    if answered.verdict in _CODES:
        return Finding(
            _CODES[answered.verdict], f"The link to {url} cannot be followed: {answered.detail}",
            path, line, anchor=url, suggested_fix=_FIXES[answered.verdict],
        )  # fmt: skip
    return Finding(
        "EXTERNAL_LINK_MOVED", f"The link to {url} has moved for good to {answered.moved}",
        path, line, anchor=url, suggested_fix=f"Link to {answered.moved}",
    )  # fmt: skip


def _note(url: str, answered: Answered, is_known: bool) -> str:
    return f"{answered.verdict} {url} {answered.detail}" + (" (known from before)" if is_known else "")


def _counts(answers: dict[str, Answered]) -> str:
    verdicts = [one.verdict for one in answers.values()]
    names = ("ok", "broken", "unreachable", "unsure", "unchecked")
    told = ", ".join(f"{verdicts.count(name)} {name}" for name in names if name in verdicts)
    many = "1 link" if len(verdicts) == 1 else f"{len(verdicts)} links"
    return f"{many} to other sites: {told or 'nothing to ask'}"


def _anywhere(_: str) -> bool:
    return True


GATE = Gate(
    "external_links",
    "external_links",
    check,
    everywhere(EXTERNAL_LINK_BROKEN="warn", EXTERNAL_LINK_UNREACHABLE="warn", EXTERNAL_LINK_MOVED="info"),
    seconds(150, 180),
)
