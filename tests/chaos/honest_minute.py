"""A server that is honestly busy for a minute loses nothing, with all settings at their defaults.

    python -m tests.chaos.honest_minute [--seconds 60]

Two servers that handle one message after the other: one computes for a minute, one waits for the network in a
synchronous call, each in a session that has written and in one that only reads. Calls that come meanwhile wait.
Every one of them must end with its result, and in the session that has written by the same process.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from holdfast.testing import Fault, HostUnderTest, Script, Traces, script

__all__ = ["main"]

KINDS = ("spin", "await_peer")


def busy_server(do: str, seconds: float) -> Script:
    """A server whose first call of `slow` takes so long."""
    return script(Fault.on_tool("slow", do, nth=1, seconds=seconds))


def run(do: str, seconds: float, *, writes: bool) -> str:
    """One session; what is wrong with it, or nothing."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-minute-"))
    with HostUnderTest.running(busy_server(do, seconds).command(folder / "worker"), folder) as client:
        client.handshake()
        if writes:
            client.call("write", {"token": "before"})
        client.call("read", {"value": "before"})
        began = time.monotonic()
        numbers = [client.start_call("slow", {"value": "long"})]
        for turn in range(5):
            numbers.append(client.start_call("read", {"value": str(turn)}))
            if writes:
                numbers.append(client.start_call("write", {"token": str(turn)}))
            client.turn(seconds / 20)
        answers = [client.answer_of(number, bound=4 * seconds) for number in numbers]
        took = time.monotonic() - began
        lost = [answer for answer in answers if answer.get("result", {"isError": True}).get("isError")]
        generations = {_generation(answer) for answer in answers}
        effects = len(Traces(folder / "worker").effects("write"))
        client.assert_nothing_left(bound=10.0)
    print(f"{do:12s} {'writes' if writes else 'reads':7s} {took:6.1f} s  by {sorted(generations)}", flush=True)
    if lost:
        return f"lost: {lost[0]}"
    if writes and (generations != {1} or effects != 6):
        return f"answered by {sorted(generations)}, {effects} writes"
    return ""


def _generation(answer: dict[str, Any]) -> int:
    return int(answer.get("result", {}).get("structuredContent", {}).get("generation", 0))


def main() -> int:
    """Run all four at once; the exit code is 1 when something was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    cases = [(do, writes) for do in KINDS for writes in (True, False)]
    with ThreadPoolExecutor(len(cases)) as pool:
        found = list(pool.map(lambda case: run(case[0], seconds, writes=case[1]), cases))
    for problem in filter(None, found):
        print(f"BROKEN: {problem}")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
