"""A program that starts a server and tells what the server leaves behind when it ends.

It is not imported for its functions; it runs between the keeper and the server (`python -I -S watched.py FD ...`),
because the keeper would clean up before anybody could look. On Linux it adopts every orphan of the server. It
writes to FD, line by line: `pid N`, `ended STATUS`, and at last `left N name ...`.
"""

import os
import sys
import time

__all__ = ["LEFT_BOUND", "main"]

LEFT_BOUND = 5.0  # seconds in which what the server started must have ended by itself
TICK = 0.02
PR_SET_CHILD_SUBREAPER = 36


def main(descriptor: int, argv: list[str]) -> int:
    """Start the server, wait for its end, and then for the end of all that it started."""
    _adopt_orphans()
    server = os.fork()
    if server == 0:
        os.close(descriptor)
        try:
            os.execvp(argv[0], argv)  # noqa: S606 - this is what it is for
        except OSError as error:
            os._exit(error.errno or 1)
    for stream in (0, 1):
        os.close(stream)  # else the server's pipes would not end with the server
    _tell(descriptor, f"pid {server}")
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == server:
            break
    _tell(descriptor, f"ended {status}")
    deadline = time.monotonic() + LEFT_BOUND
    left = _reap()
    while left and time.monotonic() < deadline:
        time.sleep(TICK)  # noqa: TID251 - a bounded wait in a program that has nothing else to do
        left = _reap()
    _tell(descriptor, f"left {len(left)} {' '.join(left)}".rstrip())
    return 0


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap() -> list[str]:
    """Collect who has ended; the names of who has not."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return []
        if pid == 0:
            return _children() or ["unknown"]


def _children() -> list[str]:
    """The processes below this one that are alive, as `name(pid)`."""
    found: list[str] = []
    own = os.getpid()
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                head, _, rest = file.read().decode(errors="replace").rpartition(")")
        except OSError:
            continue  # it has ended this moment
        state, parent = rest.split()[:2]
        if int(parent) == own and state != "Z":
            found.append(f"{head.partition('(')[2].replace(' ', '_')}({entry})")
    return found


def _tell(descriptor: int, line: str) -> None:
    try:
        os.write(descriptor, f"{line}\n".encode())
    except OSError:
        os._exit(1)  # nobody listens any more


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
