"""Runs what failed in the suite once more, one test at a time: is it broken, or only unsteady in company?

Hundreds of tests run real processes beside each other. One that fails again fails the suite. One that passes is
listed as unsteady: a race, of the test or of the product, that is to be mended all the same.
"""

import json
import re
import sys
from pathlib import Path

import pytest

FAILED = Path(".pytest_cache/v/cache/lastfailed")
MOST = 10  # more than these is no race
_GROUP = re.compile(r"@[^@\[\]]*$")  # what pytest-xdist adds to the name of a test that belongs to a group


def failed_tests() -> list[str]:
    """The names of the tests that failed in the last run, as pytest takes them."""
    return sorted({_GROUP.sub("", name) for name in json.loads(FAILED.read_text(encoding="utf-8"))})


def main() -> int:
    """The exit code of the second look, or 1 where there is nothing to look at."""
    names = failed_tests() if FAILED.exists() else []
    if not 0 < len(names) <= MOST:
        return 1
    print(f"\nA second look, alone, at {len(names)} that failed in company:", flush=True)
    status = int(pytest.main(["--verbose", "-p", "no:cacheprovider", *names]))
    print("Broken." if status else "UNSTEADY, to be mended:\n  " + "\n  ".join(names), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
