"""`front_host.py PORT_FILE COMMAND...`: a host with a scripted front in front of any worker.

The front is told the secret in FRONT_SECRET, and is taken to hang after FRONT_SILENCE seconds.
"""

import os
import sys
from pathlib import Path

from holdfast.host.front import FrontPlan
from holdfast.host.listener import listen
from holdfast.host.run import run_host
from holdfast.settings import load_configuration


def main() -> int:
    listener = listen("127.0.0.1", 0)
    Path(sys.argv[1]).write_text(str(listener.getsockname()[1]))
    front = [sys.executable, str(Path(__file__).with_name("front_program.py"))]
    options = {"secret": os.environ.get("FRONT_SECRET", "sesame")}
    plan = FrontPlan(front, listener, options, silence=float(os.environ.get("FRONT_SILENCE", "15")))
    return run_host(sys.argv[2:], load_configuration({}), "fronted", front=plan)


if __name__ == "__main__":
    sys.exit(main())
