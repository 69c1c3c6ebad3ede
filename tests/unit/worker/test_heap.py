"""The heaps of a server process, counted by the C library itself."""

import subprocess
import sys

import pytest

from holdfast.worker.heap import HEAPS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux has several heaps")

# Eight threads that allocate at the same time, outside of Python's own small-object heap.
CROWD = """
import ctypes, threading
from holdfast.worker.heap import share_heaps

if {shared}:
    assert share_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)

def allocate():
    together.wait()
    libc.malloc(3000)
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.fdopen.restype = ctypes.c_void_p
stdout = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, stdout)
libc.fflush(stdout)
"""


def _heaps(*, shared: bool) -> int:
    script = CROWD.format(shared=shared)
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return told.stdout.count("<heap nr=")


def test_threads_of_tools_share_two_heaps() -> None:
    assert _heaps(shared=True) == HEAPS


def test_without_it_there_would_be_more() -> None:
    assert _heaps(shared=False) > HEAPS
