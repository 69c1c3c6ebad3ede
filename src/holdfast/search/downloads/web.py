"""One HTTP transfer, read in a thread of its own, so that its caller can stop at any moment.

A name server or a silent host cannot be interrupted; the caller then leaves, and the thread ends with its
timeout. It only hands over what it reads: files are written by the caller alone. Redirects are followed a few
times, from http to http or https and never back, and credentials stay with the host that they were meant for.
"""

import base64
import queue
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPResponse
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from holdfast.search.downloads.failures import cancelled
from holdfast.search.downloads.sources import Source
from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["Reply", "Transfer", "TransferError"]

_PIECE = 1 << 16
_WAITING = 16  # pieces between the two threads
_POLL = 0.1
_REDIRECTS = 5
_LONGEST_HEADER = 1000


class TransferError(Exception):
    """The connection failed; the text says how."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said before the content."""

    status: int
    reason: str
    length: int | None  # of the content that follows
    start: int | None  # where that content begins in the whole, for a part of it
    etag: str | None
    last_modified: str | None

    @property
    def validator(self) -> str | None:
        """What makes sure that the rest of a file belongs to its beginning."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.last_modified


class _End:
    """The transfer is over: the last thing that its thread says."""


class Transfer:
    """A GET of one source: `reply` first, then `pieces`. Leaving the context ends it."""

    def __init__(self, source: Source, headers: Mapping[str, str], *, timeout: float, stop: "Stop") -> None:
        self._request = urllib.request.Request(  # noqa: S310 - a Source of the web is http or https
            source.location, headers={"User-Agent": f"holdfast/{__version__}", **headers}
        )
        self._request.add_header("Accept-Encoding", "identity")  # hashes are those of the file itself
        if source.credentials is not None:
            token = base64.b64encode(":".join(source.credentials).encode()).decode()
            self._request.add_unredirected_header("Authorization", f"Basic {token}")
        self._timeout = timeout
        self._stop = stop
        self._said: queue.Queue[Reply | bytes | TransferError | _End] = queue.Queue(_WAITING)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._run, name="download", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join(2 * _POLL)

    def reply(self) -> Reply:
        """What the server answers, once redirects were followed. TransferError: it does not."""
        said = self._next()
        assert isinstance(said, Reply), "a transfer begins with the reply"
        return said

    def pieces(self) -> Iterator[bytes]:
        """The content. TransferError: the connection broke."""
        while not isinstance(said := self._next(), _End):
            assert isinstance(said, bytes), "content follows the reply"
            yield said

    def _next(self) -> Reply | bytes | _End:
        while True:
            if self._stop():
                raise cancelled()
            try:
                said = self._said.get(timeout=_POLL)
            except queue.Empty:
                continue
            if isinstance(said, TransferError):
                raise said
            return said

    def _run(self) -> None:
        try:
            self._transfer()
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            self._say(TransferError(str(reason)[:_LONGEST_HEADER] or type(error).__name__))
        finally:
            self._say(_End())

    def _transfer(self) -> None:
        try:
            response = _opener().open(self._request, timeout=self._timeout)
        except HTTPError as refusal:  # every status that is not a success
            # That of a redirect is closed already, and could not be entered as a context itself.
            with closing(refusal):
                self._say(_reply(refusal.code, refusal.reason, refusal.headers))
            return
        with response:
            assert isinstance(response, HTTPResponse)
            self._say(_reply(response.status, response.reason, response.headers))
            while not self._left.is_set() and (piece := response.read1(_PIECE)):
                self._say(piece)

    def _say(self, what: "Reply | bytes | TransferError | _End") -> None:
        while not self._left.is_set():
            try:
                self._said.put(what, timeout=_POLL)
            except queue.Full:
                continue
            return


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = _REDIRECTS
    max_repeats = 2

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message
    ) -> Any:
        fp.close()  # its content would be read to an end that may never come
        return super().http_error_302(req, fp, code, msg, headers)  # type: ignore[arg-type]

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme == "https" and new.scheme == "http"):
            raise HTTPError(req.full_url, code, f"a redirect to {new.scheme}: is not followed", headers, fp)
        following = super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]
        allowed = req.unredirected_hdrs.get("Authorization")
        if following is not None and allowed and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            following.add_unredirected_header("Authorization", allowed)
        return following


def _opener() -> urllib.request.OpenerDirector:
    """What opens http and https, through the proxy of the environment if there is one, and nothing else."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(), urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(), _Redirects(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener


def _reply(status: int, reason: str, headers: Message) -> Reply:
    start = None
    if status == 206:  # Partial Content
        unit, _, span = headers.get("Content-Range", "").partition(" ")
        start = _number(span.partition("-")[0]) if unit.lower() == "bytes" else None
    return Reply(
        status, str(reason)[:_LONGEST_HEADER], _number(headers.get("Content-Length")), start,
        _header(headers, "ETag"), _header(headers, "Last-Modified"),
    )  # fmt: skip


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None


def _header(headers: Message, name: str) -> str | None:
    value = str(headers.get(name, "")).strip()
    return value if value and len(value) <= _LONGEST_HEADER and value.isascii() and value.isprintable() else None
