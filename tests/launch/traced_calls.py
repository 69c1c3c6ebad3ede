"""Calls the tools of the launch server that only read, and prints what each did.

Usage: python -m tests.launch.traced_calls WORKSPACE RUN_ID
"""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.tracer import mark, record_here

from holdfast.launch import calls
from holdfast.launch.tools import server
from holdfast.settings import Settings
from holdfast.testing import connect

__all__ = ["main"]


async def _called(run: str) -> dict[str, bool]:
    made: list[tuple[str, dict[str, Any]]] = [
        ("launch_list_runs", {}),
        ("launch_get_status", {"run_id": run}),
        ("launch_get_artifact", {"run_id": run, "artifact_name": "page_plan.json"}),
    ]
    answers = {}
    async with connect(server) as client:
        for tool, arguments in made:
            mark(tool)
            answers[tool] = not (await client.call(tool, **arguments)).is_error
            calls.service().flush_telemetry(20)
            mark("")
    return answers


def main() -> int:
    """Print the acts as one line of JSON."""
    acts = record_here()
    calls.configure(replace(Settings(), launch_dir=Path(sys.argv[1])))
    answers = asyncio.run(_called(sys.argv[2]))
    calls.close()
    print(json.dumps({"acts": acts, "answers": answers}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
