"""When Python looks for cycles: a process of its own says what its thresholds are."""

import subprocess
import sys

SCRIPT = """
import gc
from holdfast.stdio import collector
usual = gc.get_threshold()
collector.loading()
print(gc.get_threshold()[0] > 10 * usual[0])
collector.loaded()
print(gc.get_threshold() == usual, gc.get_freeze_count() > 1000)
"""


def test_what_is_loaded_is_looked_through_once_and_what_comes_later_as_usual() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.split() == ["True", "True", "True"]
