"""The telemetry service behind HTTP: one short handler per path."""

from collections.abc import Callable, Iterator

from holdfast.launch.http_messages import Handler, Reply, Request
from holdfast.launch.http_service import Application, application
from holdfast.launch.telemetry.service import TelemetryService
from holdfast.version import __version__

__all__ = ["make_app", "routes"]

MAX_BODY = 4 * 1024 * 1024
_METRICS = "text/plain; version=0.0.4; charset=utf-8"


def make_app(service: TelemetryService, token: str | None) -> Application:
    """The application of this service; everything but `/health` wants the token, where there is one."""
    return application(routes(service), token=token, max_body=MAX_BODY)


def routes(service: TelemetryService) -> list[tuple[str, str, Handler]]:
    """Every path of the service."""
    return [
        ("POST", "/api/v1/runs", lambda request: _kept(service.add_run(request.json()))),
        ("GET", "/api/v1/runs", lambda request: Reply(200, service.runs(request.query))),
        ("POST", "/api/v1/runs/batch", lambda request: Reply(200, service.add_batch(request.json()))),
        (
            "POST",
            "/api/v1/runs/batch-transactional",
            lambda request: Reply(201, service.add_batch_as_one(request.json())),
        ),
        ("GET", "/api/v1/runs/{id}", lambda request: Reply(200, service.run(request.parameters["id"]))),
        ("PATCH", "/api/v1/runs/{id}", lambda request: _amended(service.change_run, request)),
        (
            "POST",
            "/api/v1/runs/{id}/associate-commit",
            lambda request: _amended(service.associate_commit, request),
        ),
        (
            "GET",
            "/api/v1/runs/{id}/events",
            lambda request: Reply(200, service.events(request.parameters["id"], request.query)),
        ),
        (
            "POST",
            "/api/v1/runs/{id}/events",
            lambda request: _kept(service.add_event(request.parameters["id"], request.json())),
        ),
        ("GET", "/api/v1/metadata", lambda _: Reply(200, service.metadata())),
        ("GET", "/telemetry/{id}", lambda request: _picture(service, request.parameters["id"])),
        ("GET", "/metrics", lambda _: Reply(200, "".join(_metrics(service)), content_type=_METRICS)),
        ("GET", "/health", lambda _: _health(service)),
    ]


def _kept(outcome: tuple[object, bool]) -> Reply:
    document, is_new = outcome
    return Reply(201 if is_new else 200, document)


def _amended(change: Callable[[str, object], object], request: Request) -> Reply:
    return Reply(200, change(request.parameters["id"], request.json()))


def _health(service: TelemetryService) -> Reply:
    service.check()
    return Reply(200, {"status": "ok", "version": __version__})


def _picture(service: TelemetryService, run_id: str) -> Reply:
    picture = service.picture(run_id)
    if picture is None:
        return Reply(404, {"error": "there is no record of this run", "run_id": run_id[:200]})
    return Reply(200, picture)


def _metrics(service: TelemetryService) -> Iterator[str]:
    numbers = service.numbers()
    yield "# HELP holdfast_telemetry_runs Records by kind and status.\n# TYPE holdfast_telemetry_runs gauge\n"
    for job_type, status, count in numbers["runs"]:
        yield f'holdfast_telemetry_runs{{job_type="{_quoted(job_type)}",status="{status}"}} {count}\n'
    yield "# HELP holdfast_telemetry_events Events of runs.\n# TYPE holdfast_telemetry_events gauge\n"
    yield f"holdfast_telemetry_events {numbers['events']}\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
