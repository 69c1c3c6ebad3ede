"""Gate: links to other sites lead somewhere. Whatever the network does, it is a warning at most.

Only addresses of the public internet are asked: a page, whose links come from a repository of anybody, must not
make us knock at doors of the network that we are in.
"""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple
from urllib.parse import urlsplit

from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import View
from holdfast.launch.http_client import Unreachable, call

__all__ = ["GATE", "Answered", "check", "is_public", "probe"]

_PER_LINK = 8.0
_IN_TOTAL = 120.0
_AT_ONCE = 8
_MOST_BYTES = 1 << 16
_GONE = frozenset({404, 410})
_ASK_AGAIN = frozenset({400, 403, 404, 405, 406, 501})  # servers that do not know HEAD say this


class Answered(NamedTuple):
    """What is known of a link: `ok`, `broken`, `unsure` (an answer that proves nothing) or `unreachable`."""

    verdict: str
    detail: str = ""


def check(view: View) -> Checked:
    """Each address once, in ci and prod."""
    if view.profile == "local":
        return Checked(skipped="not asked for in the profile local")
    places: dict[str, tuple[str, int]] = {}
    for page in view.pages:
        for link in page.links:
            if link.target.startswith(("http://", "https://")):
                places.setdefault(link.target.partition("#")[0], (page.path, link.line))
    codes = {"broken": "EXTERNAL_LINK_BROKEN", "unreachable": "EXTERNAL_LINK_UNREACHABLE"}
    found = []
    answers = probe(sorted(places))
    for url, answered in answers.items():
        if answered.verdict in codes:
            path, line = places[url]
            found.append(
                Finding(
                    codes[answered.verdict], f"The link to {url} cannot be followed: {answered.detail}",
                    path, line, anchor=url, suggested_fix="Correct the link, or take it away.",
                )
            )  # fmt: skip
    return Checked(
        found, notes=[f"{answered.verdict} {url} {answered.detail}" for url, answered in answers.items()]
    )


def probe(
    urls: Iterable[str],
    *,
    may_ask: Callable[[str], bool] | None = None,
    per_link: float = _PER_LINK,
    in_total: float = _IN_TOTAL,
) -> dict[str, Answered]:
    """What each address answers, within a time for each and a time for all; in the order given."""
    deadline = time.monotonic() + in_total
    allowed = may_ask or is_public

    def ask(url: str) -> Answered:
        left = min(per_link, deadline - time.monotonic())
        return _asked(url, allowed, left) if left > 0 else Answered("unreachable", "there was no time left to ask")

    wanted = list(urls)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return dict(zip(wanted, threads.map(ask, wanted), strict=True))


def is_public(host: str) -> bool:
    """Whether every address of a host is one of the public internet; true also where it has none."""
    try:
        addresses = {row[4][0] for row in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return True  # asking it will tell
    return all(ipaddress.ip_address(str(address).partition("%")[0]).is_global for address in addresses)


def _asked(url: str, may_ask: Callable[[str], bool], left: float) -> Answered:
    try:
        host = urlsplit(url).hostname or ""
        if not may_ask(host):
            return Answered("unsure", "the address is not of the public internet, and was not asked")
        status = call("HEAD", url, timeout=left, max_bytes=_MOST_BYTES).status
        if status in _ASK_AGAIN:
            status = _got(url, left)
    except (Unreachable, ValueError) as error:
        reason = error.reason if isinstance(error, Unreachable) else "address"
        return Answered("unreachable", f"no answer ({reason})")
    if status in _GONE:
        return Answered("broken", f"the answer was {status}")
    return Answered("ok" if status < 400 else "unsure", f"the answer was {status}")


def _got(url: str, left: float) -> int:
    try:
        return call("GET", url, timeout=left, max_bytes=_MOST_BYTES).status
    except Unreachable as error:
        if error.reason == "too_large":  # so there is something
            return 200
        raise


GATE = Gate(
    "external_links",
    "external_links",
    check,
    everywhere(EXTERNAL_LINK_BROKEN="warn", EXTERNAL_LINK_UNREACHABLE="warn"),
    seconds(150, 180),
)
