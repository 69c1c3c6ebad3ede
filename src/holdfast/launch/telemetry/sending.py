"""Where the records of a run go, and one attempt to bring a record there.

A service that does not answer is left alone for a while by all runs together: whoever hangs takes its time from
the delivery once, and not once for every run.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from holdfast.errors import HoldfastError
from holdfast.launch.http_client import Unreachable, call
from holdfast.launch.http_messages import Reply
from holdfast.launch.http_service import Application
from holdfast.launch.telemetry.delivery import Delivery, NotDelivered, OutboxStore, Owed
from holdfast.launch.telemetry.http import make_app
from holdfast.launch.telemetry.service import TelemetryService
from holdfast.launch.token_grants import USUAL_GRANTS, TokenGrants, TokenUse

__all__ = ["EmbeddedTelemetry", "Endpoint", "NoTelemetry", "RunReader", "Sender", "endpoint_of", "make_delivery"]

TIMEOUT = 10.0
FIRST_REST, LONGEST_REST = 1.0, 60.0  # seconds in which a service that did not answer is not asked; doubled
_EMBEDDED = "embedded:"
_PASSING = frozenset({408, 425, 429})  # refusals that are about the moment and not about the record


class Endpoint(NamedTuple):
    """Where the records of a run go; `embedded:` is the service of the workspace."""

    url: str
    token: str | None = None


def endpoint_of(
    config: Mapping[str, Any] | None,
    environment: Mapping[str, str] = os.environ,
    grants: TokenGrants = USUAL_GRANTS,
) -> Endpoint:
    """What the configuration of a run says; the service of the workspace, where there is no run."""
    told = (config or {}).get("telemetry", {})
    url, variable = told.get("endpoint_url", _EMBEDDED), told.get("auth_token_env", "")
    is_granted = bool(variable) and not grants.problem(TokenUse("/telemetry/auth_token_env", variable, url))
    return Endpoint(url, environment.get(variable) if is_granted else None)


class EmbeddedTelemetry:
    """A telemetry service in this process, opened when the first record comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._service: TelemetryService | None = None
        self._app: Application | None = None

    def __call__(self, method: str, path: str, document: Mapping[str, Any]) -> Reply:
        """Ask it as if over HTTP."""
        with self._lock:
            if self._app is None:
                self._service = TelemetryService(self._path)
                self._app = make_app(self._service, None)
            return self._app.ask(method, path, dict(document))

    def close(self) -> None:
        """Let go of its file."""
        with self._lock:
            if self._service is not None:
                self._service.close()
            self._service = self._app = None


class NoTelemetry(EmbeddedTelemetry):
    """What `embedded:` means in a pool: the file of a machine would hold what happened there, and no more.

    So nothing is kept; runs of a pool name the address of a telemetry service.
    """

    def __call__(self, method: str, path: str, document: Mapping[str, Any]) -> Reply:  # noqa: ARG002
        """Take it, and keep nothing."""
        return Reply(200, {})


class _Rest(NamedTuple):
    until: float
    failures: int
    error: str


class Sender:
    """Brings one record to the endpoint of its run."""

    def __init__(
        self,
        where: Callable[[str], Endpoint],
        embedded: Callable[[str, str, Mapping[str, Any]], Reply],
        *,
        timeout: float = TIMEOUT,
        rest: float = FIRST_REST,
    ) -> None:
        self._where = where
        self._embedded = embedded
        self._timeout = timeout
        self._rest = rest
        self._resting: dict[str, _Rest] = {}

    def __call__(self, row: Owed) -> None:
        """Deliver a row; NotDelivered where that failed."""
        endpoint = self._where(row.run_id)
        status = self._in_process(row) if endpoint.url.startswith(_EMBEDDED) else self._over_http(endpoint, row)
        if not 200 <= status < 300:
            raise NotDelivered(f"status {status}", is_passing=status in _PASSING or status >= 500)

    def _in_process(self, row: Owed) -> int:
        try:
            return self._embedded(row.method, row.path, row.document).status
        except HoldfastError as error:
            raise NotDelivered(str(error), is_passing=True) from error

    def _over_http(self, endpoint: Endpoint, row: Owed) -> int:
        resting = self._resting.get(endpoint.url)
        if resting is not None and time.monotonic() < resting.until:
            raise NotDelivered(resting.error, is_passing=True)
        url = endpoint.url.rstrip("/") + row.path
        try:
            answer = call(row.method, url, json=dict(row.document), token=endpoint.token, timeout=self._timeout)
        except Unreachable as error:
            failures = 1 if resting is None else resting.failures + 1
            seconds = min(LONGEST_REST, self._rest * 2 ** min(failures - 1, 20))
            self._resting[endpoint.url] = _Rest(time.monotonic() + seconds, failures, str(error))
            raise NotDelivered(str(error), is_passing=error.reason != "address") from error
        self._resting.pop(endpoint.url, None)
        return answer.status


class RunReader(OutboxStore, Protocol):
    """A store that also knows the configurations of runs."""

    def run(self, run_id: str) -> Any:
        """The run, with its `config`, or None."""


def make_delivery(store: RunReader, embedded: EmbeddedTelemetry, grants: TokenGrants = USUAL_GRANTS) -> Delivery:
    """The delivery of a workspace; the caller starts and stops it."""

    @lru_cache(256)
    def where(run_id: str) -> Endpoint:
        run = store.run(run_id) if run_id else None
        return endpoint_of(None if run is None else run.config, grants=grants)

    return Delivery(store, Sender(where, embedded))
