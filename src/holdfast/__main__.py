"""`holdfast`, and `python -P -m holdfast`, which is the same.

Without `-P`, Python itself looks for `holdfast` and for its own modules in the working directory first, before
anything here runs: only what is imported later is safe from files that lie there.

Ctrl-C may come while the command line is still being imported, which takes longest of what a short command does.
"""

import sys

from holdfast.interpreter import remove_user_paths
from holdfast.stdio import collector

__all__ = ["start"]


def start() -> int:
    """Run the command line and return the exit code; 130 for a Ctrl-C, however early."""
    remove_user_paths()
    collector.loading()
    try:
        from holdfast.cli.app import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(start())
