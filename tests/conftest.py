"""Settings of the whole suite: property tests have no deadline of their own, and CI draws the same examples."""

import os

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("suite")
