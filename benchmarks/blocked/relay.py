"""Passes stdin on to a server, until SIGUSR1: from then on nobody reads it. Run by `blocked_servers.py`."""

import os
import signal
import subprocess
import sys
import threading

__all__: list[str] = []


def _forget_to_read(*_: object) -> None:
    threading.Event().wait(3600)


if __name__ == "__main__":
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
    signal.signal(signal.SIGUSR1, _forget_to_read)
    assert child.stdin is not None
    while data := os.read(0, 65536):
        os.write(child.stdin.fileno(), data)
    child.stdin.close()
    sys.exit(child.wait())
