"""`Server`, the object that authors make: a registry of tools that can be run."""

import sys

from holdfast.errors import UsageError
from holdfast.settings import Settings, load_settings
from holdfast.worker.registry import Registry

__all__ = ["Server"]


class Server(Registry):
    """An MCP server: a name, a version, and the tools registered on it with `@server.tool(...)`."""

    def run(self, settings: Settings | None = None) -> None:
        """Serve on stdin and stdout until the client leaves, then exit the process."""
        from holdfast.worker.serve import serve

        try:
            code = serve(self, settings or load_settings())
        except UsageError as error:
            print(f"{self.name}: {error}", file=sys.stderr)  # noqa: T201 - there is no caller left to tell
            code = 2
        raise SystemExit(code)
