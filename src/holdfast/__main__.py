"""`holdfast`, and `python -m holdfast`, which is the same.

Ctrl-C may come while the command line is still being imported, which takes longest of what a short command does.
"""

import sys

from holdfast.stdio import collector

__all__ = ["start"]


def start() -> int:
    """Run the command line and return the exit code; 130 for a Ctrl-C, however early."""
    collector.loading()
    try:
        from holdfast.cli.app import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(start())
