"""The program that makes vectors in the background, for `holdfast index watch`: python -m ... ROOT CACHE.

It yields to everything else on the machine, says nothing, and ends with whoever started it.
"""

import os
import sys
from pathlib import Path

from holdfast.errors import ToolError
from holdfast.search.repository import find_repository
from holdfast.search.vectors.making import embed_index

__all__ = ["main"]


def main() -> int:
    """Make what is missing; the exit code is 0 also where somebody else does it already."""
    root, cache = sys.argv[1:]
    starter = os.getppid()
    os.nice(10)
    try:
        embed_index(
            find_repository(root), Path(cache), threads=1,
            progress=lambda *_: None, stop=lambda: os.getppid() != starter,
        )  # fmt: skip
    except ToolError as error:
        return 0 if error.code in ("QUEUE_OVERLOADED", "CANCELLED", "NO_INDEX") else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
