"""A server that looks at what it can see of other processes, once it hears anything; then it only listens.

It writes to the file that it is given: its own environment, and of each process the parent, the command line, the
environment and whether the memory can be opened.
"""

import json
import os
import sys
from pathlib import Path


def read(pid: str, file: str) -> str | None:
    try:
        return Path("/proc", pid, file).read_bytes().decode(errors="replace")
    except OSError:
        return None


def memory_opens(pid: str) -> bool:
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))
    except OSError:
        return False
    return True


def main() -> None:
    sys.stdin.buffer.readline()
    seen = [
        {
            "pid": int(pid),
            "parent": int((read(pid, "stat") or ") ? 0").rpartition(")")[2].split()[1]),
            "words": read(pid, "cmdline"),
            "environ": read(pid, "environ"),
            "memory": memory_opens(pid),
        }
        for pid in os.listdir("/proc")
        if pid.isdigit() and int(pid) != os.getpid()
    ]
    draft = Path(f"{sys.argv[1]}.draft")
    draft.write_text(json.dumps({"own": dict(os.environ), "seen": seen}))
    draft.rename(sys.argv[1])
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
