"""`python -m holdfast` is the same as `holdfast`."""

import sys

from holdfast.cli.app import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
