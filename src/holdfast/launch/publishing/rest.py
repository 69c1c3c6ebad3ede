"""The REST interface of a forge: patient within bounds, and loyal to one host.

What passes (the network, a status above 500) is tried again where asking twice is harmless; a limit is waited for
where that is short, and otherwise told with its moment. Redirects and further pages are followed on the host that
the token is for, and on no other.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

from holdfast.errors import HoldfastError
from holdfast.launch.http_client import Answer, Unreachable, call
from holdfast.launch.publishing.allowance import Allowance
from holdfast.launch.publishing.forge_limits import limit_seconds, moment_after, spent_seconds
from holdfast.launch.publishing.forge_refusals import Told, refusal_of, told_by
from holdfast.launch.publishing.forge_token import ForgeToken
from holdfast.launch.publishing.refusal import Refusal

__all__ = ["DeniedError", "Rest", "UnsureError"]

_TRIES = 4
_MOST_REDIRECTS = 3
_LARGEST = 16 * 1024 * 1024
_REDIRECTS = frozenset({301, 302, 307, 308})
_HOPELESS = frozenset({"address", "tls", "too_large"})
_NEXT = re.compile(r'<([^<>]{1,4000})>\s*;[^,<]*\brel="?next\b')


class UnsureError(HoldfastError):
    """Whether the forge did it is not known: ask it what there is before asking again."""


class DeniedError(HoldfastError):
    """The forge said no; `told` is what it said, `refusal` what that means."""

    def __init__(self, told: Told, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.told = told
        self.refusal = refusal


class Rest:
    """One conversation with a forge about one repository, named for messages."""

    def __init__(
        self,
        api: str,
        repository: str,
        token: ForgeToken,
        headers: Mapping[str, str],
        *,
        allowance: Allowance,
        wait: Callable[[float], None],
        pause: float = 0.5,
        patience: float = 20.0,
        timeout: float = 20.0,
    ) -> None:
        self._api = api
        self._repository = repository
        self._token = token
        self._headers = headers
        self._allowance = allowance
        self._wait = wait
        self._pause = pause
        self._patience = patience
        self._timeout = timeout

    def get(self, path: str, **query: str | int) -> Any:
        """The document there; DeniedError, or Refusal where there is none."""
        return self._document(self._answered("GET", self._url(path, query)))

    def pages(self, path: str, most: int, **query: str | int) -> Iterator[list[Any]]:
        """The parts of a list, one page after the other, at most so many."""
        url = self._url(path, query)
        for _ in range(most):
            answer = self._answered("GET", url)
            listed = self._document(answer)
            if not isinstance(listed, list):
                raise self._unusable("it is no list")
            yield listed
            found = _NEXT.search(answer.headers.get("link", ""))
            if found is None:
                return
            url = self._next(url, found[1])

    def post(self, path: str, document: Mapping[str, Any]) -> Any:
        """What was made; UnsureError where nobody knows whether it was."""
        return self._document(self._answered("POST", self._url(path, {}), document))

    def rest_a_while(self, number: int) -> None:
        """Wait before a try is repeated, each time longer."""
        self._wait(self._pause * 2 ** (number - 1))

    def _url(self, path: str, query: Mapping[str, str | int]) -> str:
        return f"{self._api}{path}" + (f"?{urlencode(query)}" if query else "")

    def _answered(self, method: str, url: str, document: Mapping[str, Any] | None = None) -> Answer:
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._asked(method, url, document)
            if answer.status not in _REDIRECTS:
                return answer
            url = self._redirected(url, answer.headers.get("location", ""))
        raise self._unusable("it sends us in a circle")

    def _asked(self, method: str, url: str, document: Mapping[str, Any] | None) -> Answer:
        failures = 0
        while True:
            self._respect_limit()
            try:
                answer = self._token.unseen_in(
                    call(
                        method,
                        url,
                        json=document,
                        headers={**self._headers},
                        timeout=self._timeout,
                        max_bytes=_LARGEST,
                    )
                )
            except Unreachable as error:
                problem, is_hopeless = error.message, error.reason in _HOPELESS
            else:
                if self._is_limited(answer):
                    continue
                if answer.status < 500:
                    return answer
                problem, is_hopeless = f"it failed with status {answer.status}", False
            failures += 1
            if method != "GET":
                raise UnsureError(problem)
            if is_hopeless or failures == _TRIES:
                raise self._unusable(problem)
            self.rest_a_while(failures)

    def _is_limited(self, answer: Answer) -> bool:
        """Whether this answer is no answer but a limit; the next one who asks will wait for it."""
        now = self._allowance.clock()
        message = told_by(answer.status, answer.body).text if answer.status in (403, 429) else ""
        seconds = limit_seconds(answer.status, answer.headers, message, now)
        if seconds is not None:
            self._allowance.spend(max(seconds, self._pause))
            return True
        spent = spent_seconds(answer.headers, now)
        if spent is not None:
            self._allowance.spend(spent)
        return False

    def _respect_limit(self) -> None:
        seconds = self._allowance.missing()
        if seconds <= 0:
            return
        if seconds > self._patience:
            at = moment_after(seconds, self._allowance.clock())
            raise Refusal(
                "FORGE_RATE_LIMITED", f"the forge has had enough of our questions until {at}",
                details={"retry_after_s": int(seconds) + 1, "retry_at": at, "repository": self._repository},
                remedy=f"ask again after {at}; nothing is lost, and nothing will be made twice",
            )  # fmt: skip
        self._patience -= seconds
        self._wait(seconds)

    def _redirected(self, url: str, location: str) -> str:
        target = _joined(url, location) if location else ""
        if not self._is_home(target):
            host = _host(target)
            raise Refusal(
                "FORGE_NOT_FOUND", f"the forge sends us to {host}, and the token is not sent there",
                details={"repository": self._repository, "reason": "redirected_elsewhere"},
                remedy="put the address that the repository has now into site_repo_url",
            )  # fmt: skip
        return target

    def _next(self, url: str, given: str) -> str:
        target = _joined(url, given)
        if self._is_home(target):
            return target
        # A forge that does not know its own name: the page is what counts.
        return urlunsplit(urlsplit(url)._replace(query=urlsplit(target).query))

    def _is_home(self, url: str) -> bool:
        there, home = urlsplit(url), urlsplit(self._api)
        return (there.scheme, there.netloc.lower()) == (home.scheme, home.netloc.lower())

    def _document(self, answer: Answer) -> Any:
        if not 200 <= answer.status < 300:
            told = told_by(answer.status, answer.body)
            told = told._replace(
                message=self._token.hidden(told.message), errors=tuple(map(self._token.hidden, told.errors))
            )
            raise DeniedError(told, refusal_of(told, answer.headers, self._repository, self._token.variable))
        try:
            return answer.json()
        except Unreachable as error:
            raise self._unusable("it is no JSON") from error

    def _unusable(self, problem: str) -> Refusal:
        return Refusal(
            "REMOTE_UNREACHABLE", self._token.hidden(f"the forge gave no answer that can be used: {problem}"),
            details={"repository": self._repository},
        )  # fmt: skip


def _joined(url: str, given: str) -> str:
    """Where a link leads; "" where it is none."""
    try:
        return urljoin(url, given)
    except ValueError:
        return ""


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "an unknown place")[:100]
