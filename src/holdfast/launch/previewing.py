"""The site of a run as its readers would see it: built by Hugo from the work tree, served on this machine only."""

import contextlib
import http.server
import json
import posixpath
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from holdfast.errors import ToolError, UsageError
from holdfast.launch import toolchain
from holdfast.launch.gates.hugo_running import build, copied, listed, source_folder
from holdfast.launch.run_changes import RunChanges

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["PreviewServer", "built", "listening"]

_HOST = "127.0.0.1"
_MOST_ERRORS = 5
_TEXTS = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".xml": "text/xml", ".txt": "text/plain",
}  # fmt: skip


class PreviewServer(http.server.ThreadingHTTPServer):
    """The built site at one port of this machine; `base_path` is what the addresses of the site begin with."""

    daemon_threads = True
    base_path = "/"
    public = Path()

    @property
    def origin(self) -> str:
        """The address without a path."""
        return f"http://{_HOST}:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up, as they do when one goes on to the next page, is nothing to tell."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Files of the built site, and nothing else; what a browser asks is nobody's business."""

    server: PreviewServer
    # What Hugo writes is UTF-8, and not every layout says so.
    extensions_map = {  # noqa: RUF012 - declared so by the base class
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        **{suffix: f"{kind}; charset=utf-8" for suffix, kind in _TEXTS.items()},
    }

    def translate_path(self, path: str) -> str:
        """The file for an address; one that is not there for an address outside of the site."""
        asked = posixpath.normpath(unquote(urlsplit(path).path, errors="replace"))
        base = self.server.base_path.rstrip("/")
        if not f"{asked}/".startswith(f"{base}/") or "\0" in asked or ".." in asked.split("/"):
            return str(self.server.public / "there is no such file")
        slash = "/" if urlsplit(path).path.endswith("/") else ""
        return str(self.server.public / asked[len(base) :].lstrip("/")) + slash

    def list_directory(self, path: str) -> None:  # type: ignore[override]
        """A folder without a page is not shown."""
        del path
        self.send_error(404)

    def end_headers(self) -> None:
        """The next preview may have the same address and other pages."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def listening(port: int) -> Iterator[PreviewServer]:
    """The port, taken; UsageError where somebody else has it."""
    try:
        server = PreviewServer((_HOST, port), _Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"port {port} cannot be used: {reason}", remedy="give another --port, or none") from error
    with server:
        yield server


def built(
    service: "RunService", changes: RunChanges, site: Path, folder: Path, server: PreviewServer
) -> list[dict[str, Any]]:
    """Build the work tree into the folder, and the address of each page that the run has made or changed."""
    run_id = changes.run_id
    hugo = [tool for tool in toolchain.required("local") if tool.name == "hugo"]
    toolchain.ensure(hugo)
    config = service.run(run_id).config
    artifacts = {
        name: json.loads(service.artifact(run_id, name)["content"])
        for name in ("site_context.json", "hugo_facts.json")
    }
    server.public = folder / "public"
    server.base_path = urlsplit(artifacts["hugo_facts.json"]["base_url"]).path or "/"
    copy, source = folder / "site", source_folder(artifacts)
    copied(site, {}, copy)
    executable = toolchain.hugo_executable()
    is_trusted = service.workspace.trusts(config["site_repo_url"])
    address = server.origin + server.base_path
    made = build(executable, copy, source, server.public, config, base_url=address, is_trusted=is_trusted)
    if not made.ok:
        raise ToolError(
            "GATE_FAILED",
            f"Hugo cannot build the site: {made.errors[0]}",
            details={"run_id": run_id, "errors": made.errors[:_MOST_ERRORS]},
            hint="launch_validate says what is wrong",
            retryable=False,
        )
    addresses = listed(executable, copy, source, config, is_trusted=is_trusted)
    return [
        {**row, "url": server.origin + urlsplit(addresses[row["path"]]).path}
        for row in changes.stat()
        if row["path"] in addresses
    ]
