"""Asks other sites whether links lead somewhere: HEAD, then GET; in bounded time, and never our own network.

Pages take links from a repository of anybody. So only http and https are asked, no credentials are sent, redirects
are followed step by step, and each step connects only to addresses of the public internet, as they were looked up.
"""

import contextlib
import ipaddress
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from holdfast.launch.gates.link_cache import Answered
from holdfast.launch.http_client import Answer, Unreachable, call

__all__ = ["Host", "Limits", "is_public", "probe"]

_MOST_BYTES = 1 << 16
_MOST_STEPS = 5
_GONE = frozenset({404, 410})
_MOVED = frozenset({301, 302, 303, 307, 308})
_FOR_GOOD = frozenset({301, 308})
_BUSY = frozenset({429, 503})
_SECOND_LOOK = frozenset({"connection", "no_http", "timeout"})
_LATE = "there was no time left to ask"
_UNCHECKED = {"forbidden": "the address is not of the public internet, and was not asked", "no_time": _LATE}
_WHY = {
    "address": "it is not the address of a web page",
    "connection": "its host cannot be found or reached",
    "timeout": "it did not answer in time",
    "tls": "its host cannot prove who it is (TLS)",
    "no_http": "its host does not speak HTTP",
}
_NEVER = threading.Event()
# Translated, mapped and compatible: an IPv4 address is in the last 32 bits.
_AROUND_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))
# What not every version of Python knows: protocols (and machines of clouds behind them), translation to networks
# of one's own, segment routing, site-local.
_NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "64:ff9b:1::/48", "5f00::/16", "fec0::/10")))


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a request and all of them may take, how many go at once, and how fast; in seconds."""

    per_link: float = 8.0
    in_total: float = 120.0
    at_once: int = 8
    per_host: int = 2
    spacing: float = 0.1
    longest_wait: float = 20.0


@dataclass(slots=True)
class Host:
    """One machine, which is not asked before `free_at`, nor by more than `at_once`."""

    at_once: threading.Semaphore
    free_at: float = 0.0
    guard: threading.Lock = field(default_factory=threading.Lock)

    def wait_for(self, spacing: float, deadline: float) -> bool:
        """Wait for our turn; False where it comes too late."""
        with self.guard:
            turn = max(self.free_at, time.monotonic())
            if turn >= deadline:
                return False
            self.free_at = turn + spacing
        _NEVER.wait(max(0.0, turn - time.monotonic()))
        return True

    def leave_alone(self, seconds: float) -> None:
        """Nobody asks it for so long."""
        with self.guard:
            self.free_at = max(self.free_at, time.monotonic() + seconds)


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None or any(found in network for network in _AROUND_IPV4):
            found = inner or ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    return found.is_global and not found.is_multicast and not any(found in network for network in _NOT_PUBLIC)


def probe(
    urls: Iterable[str], limits: Limits | None = None, *, may_connect: Callable[[str], bool] = is_public
) -> dict[str, Answered]:
    """What each address answers; in the order given, whatever came first."""
    return _Round(limits or Limits(), may_connect).all_of(list(dict.fromkeys(urls)))


class _Round:
    """All questions of one look at the links."""

    def __init__(self, limits: Limits, may_connect: Callable[[str], bool]) -> None:
        self._limits = limits
        self._may_connect = may_connect
        self._deadline = time.monotonic() + limits.in_total
        self._hosts: dict[str, Host] = {}
        self._found: dict[str, Answered] = {}

    def all_of(self, urls: list[str]) -> dict[str, Answered]:
        """The answers; whoever has not answered when the time is over is not waited for."""
        lanes: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
        for lane in self._lanes(urls):
            lanes.put(lane)
        ended = threading.Semaphore(0)

        def work() -> None:
            try:
                while True:
                    for url in lanes.get_nowait():
                        self._found[url] = self._judged(url)
            except queue.Empty:
                pass
            finally:
                ended.release()

        # Daemons: looking up a name cannot be ended, and must not hold up whoever waits for all others.
        threads = [
            threading.Thread(target=work, daemon=True) for _ in range(min(self._limits.at_once, lanes.qsize()))
        ]
        for thread in threads:
            thread.start()
        for _ in threads:
            ended.acquire(timeout=max(0.0, self._deadline + 1.0 - time.monotonic()))
        late = Answered("unchecked", _LATE)
        found = dict(self._found)
        return {url: found.get(url, late) for url in urls}

    def _lanes(self, urls: list[str]) -> list[list[str]]:
        """The addresses by host, each host in as many lanes as it may be asked at the same time."""
        lanes: dict[tuple[str, int], list[str]] = defaultdict(list)
        count: dict[str, int] = defaultdict(int)
        for url in urls:
            host = _host(url)
            lanes[host, count[host] % self._limits.per_host].append(url)
            count[host] += 1
        return list(lanes.values())

    def _judged(self, url: str) -> Answered:
        try:
            return self._followed(_ascii(url))
        except Unreachable as error:
            if error.reason in _UNCHECKED:
                return Answered("unchecked", _UNCHECKED[error.reason])
            return Answered("unreachable", _WHY.get(error.reason, error.reason))
        except ValueError:
            return Answered("unreachable", _WHY["address"])

    def _followed(self, url: str) -> Answered:
        seen, moved, is_moved = [url], "", True
        while True:
            if "@" in urlsplit(url).netloc:
                return Answered("unchecked", "the address holds credentials, and was not asked")
            answer = self._asked(url)
            target = _text(answer.headers.get("location", ""))
            if answer.status not in _MOVED or not target:
                return _verdict(answer.status, moved)
            url = _ascii(urljoin(url, target).partition("#")[0])
            if urlsplit(url).scheme not in ("http", "https"):
                return Answered("unchecked", "it leads to something that is no web page")
            if url in seen or len(seen) > _MOST_STEPS:
                return Answered("unreachable", "its redirects do not end")
            is_moved = is_moved and answer.status in _FOR_GOOD
            moved = url if is_moved else moved
            seen.append(url)

    def _asked(self, url: str) -> Answer:
        """The answer of HEAD, or of GET where that says more; once more where the other side asks for patience."""
        host = self._hosts.setdefault(_host(url), Host(threading.Semaphore(self._limits.per_host)))
        answer = self._head_then_get(url, host)
        wait = answer.retry_after() if answer.status in _BUSY else None
        if wait is None:
            return answer
        host.leave_alone(min(wait, self._limits.longest_wait))
        return answer if wait > self._limits.longest_wait else self._head_then_get(url, host)

    def _head_then_get(self, url: str, host: Host) -> Answer:
        try:
            answer = self._call("HEAD", url, host, self._limits.per_link / 2)
        except Unreachable as error:
            if error.reason not in _SECOND_LOOK:
                raise
        else:
            if answer.status < 400 or (answer.status in _BUSY and "retry-after" in answer.headers):
                return answer
        return self._call("GET", url, host, self._limits.per_link)

    def _call(self, method: str, url: str, host: Host, seconds: float) -> Answer:
        """One request. Its time begins when it is our turn: whom we were asked to leave alone is not slow."""
        with contextlib.ExitStack() as stack:
            # Its links are in as many lanes; but links of others may lead to it as well.
            if not host.at_once.acquire(timeout=max(0.0, self._deadline - time.monotonic())):
                raise Unreachable("no_time", _LATE)
            stack.callback(host.at_once.release)
            if not host.wait_for(self._limits.spacing, self._deadline):
                raise Unreachable("no_time", _LATE)
            left = max(0.01, min(seconds, self._deadline - time.monotonic()))
            return call(
                method, url, timeout=left, max_bytes=_MOST_BYTES, cut=True, may_connect=self._may_connect,
                headers={"Accept": "*/*"},
            )  # fmt: skip


def _verdict(status: int, moved: str) -> Answered:
    if status in _GONE:
        return Answered("broken", f"the answer was {status}")
    if status >= 400:
        return Answered("unsure", f"the answer was {status}")
    return Answered("ok", f"the answer was {status}", moved)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def _text(header: str) -> str:
    """A header as it was meant: most write UTF-8, which is read as if each byte were a character."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def _ascii(url: str) -> str:
    """The address as it is sent: a browser encodes what people write."""
    if url.isascii() and " " not in url:
        return url
    parts = urlsplit(url)
    host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode("ascii")
    kept = "/%:@!$&'()*+,;=~-._?"
    return urlunsplit((parts.scheme, host, quote(parts.path, safe=kept), quote(parts.query, safe=kept), ""))
