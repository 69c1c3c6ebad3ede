"""Calls tools of the launch server and prints what each did: those that only read, or all of them.

Usage: python -m tests.launch.traced_calls WORKSPACE RUN_ID [CONFIGURATION]

With the configuration of another run, as JSON, that is started too, and cancelled in the end.
"""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.launch.runs import until
from tests.tracer import mark, record_here

from holdfast.launch import calls
from holdfast.launch.tools import server
from holdfast.settings import Settings
from holdfast.testing import connect

__all__ = ["main"]


async def _called(run: str, configuration: dict[str, Any] | None) -> dict[str, bool]:
    made: list[tuple[str, dict[str, Any]]] = [
        ("launch_list_runs", {}),
        ("launch_get_status", {"run_id": run}),
        ("launch_get_artifact", {"run_id": run, "artifact_name": "page_plan.json"}),
    ]
    if configuration is not None:
        made += [(f"launch_{step}", {"run_id": run}) for step in ("resume", "validate", "fix_next", "open_pr")]
        made += [("launch_start_run", {"run_config": configuration})]
    answers = {}
    async with connect(server) as client:
        for tool, arguments in made:
            mark(tool)
            result = await client.call(tool, **arguments)
            answers[tool] = not result.is_error
            if tool == "launch_start_run":
                started = str(result.payload["run_id"])
                await asyncio.to_thread(until, lambda: _rests(started), 90.0)  # noqa: B023
                made.append(("launch_cancel", {"run_id": started}))
            calls.service().flush_telemetry(20)
            mark("")
    return answers


def _rests(run: str) -> bool:
    status = calls.service().status(run)
    return status["state"] == "READY_FOR_PR" and not status["executing"]


def main() -> int:
    """Print the acts as one line of JSON."""
    acts = record_here()
    calls.configure(replace(Settings(), launch_dir=Path(sys.argv[1])))
    configuration = json.loads(sys.argv[3]) if sys.argv[3:] else None
    answers = asyncio.run(_called(sys.argv[2], configuration))
    calls.close()
    print(json.dumps({"acts": acts, "answers": answers}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
