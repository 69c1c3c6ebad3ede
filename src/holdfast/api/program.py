"""The front of a server that has no API of its own: MCP over HTTP. The host starts this module as a process."""

import sys
from collections.abc import Sequence

from holdfast.api.common_routes import general_routes
from holdfast.api.serve import run_front

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the front."""
    return run_front(general_routes, arguments)


if __name__ == "__main__":
    sys.exit(main())
