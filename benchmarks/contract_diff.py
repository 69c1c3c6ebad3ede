"""How long a comparison of two large surfaces takes, and how that grows with the number of tools.

500 tools of 30 schema nodes each, 50 of them changed, against the same with 50 tools of which 5 changed. Growth is
linear when the ratio of the two is about 10.
"""

import argparse
import copy
import gc
import sys
import time
from typing import Any

from holdfast.contract.compare.diff import SurfaceDiff, diff_surfaces
from holdfast.contract.compare.view import read_surface

LIMIT = 2.0  # seconds for the large pair, reading included
NODES = 30


def tool(number: int) -> dict[str, Any]:
    """One tool; its two schemas have 30 nodes together."""
    fields: dict[str, Any] = {}
    for index in range(NODES // 3):
        fields[f"text_{index}"] = {"type": "string", "maxLength": 10 + index, "pattern": "^[a-z]{1,9}$"}
    for index in range(NODES // 3 - 1):
        fields[f"many_{index}"] = {"type": "integer", "minimum": 0, "maximum": 1000 + index}
    output = {f"field_{index}": {"type": ["string", "null"]} for index in range(NODES // 3 - 1)}
    return {
        "name": f"tool_{number:04}",
        "description": f"Do the work number {number}.",
        "inputSchema": {
            "type": "object", "properties": fields, "required": ["text_0"], "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": output, "required": ["field_0"]},
    }  # fmt: skip


def pair(count: int, changed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two surfaces of `count` tools, which differ in `changed` of them, in one of five ways each."""
    old = {"tools": [tool(number) for number in range(count)]}
    new = copy.deepcopy(old)
    for number in range(changed):
        schema = new["tools"][number * (count // changed)]["inputSchema"]
        way = number % 5
        if way == 0:
            schema["properties"]["many_0"]["maximum"] = 10
        elif way == 1:
            schema["properties"]["text_1"]["pattern"] = "^[a-f]{1,9}$"
        elif way == 2:
            schema["required"].append("text_2")
        elif way == 3:
            schema["properties"]["more"] = {"type": "boolean"}
        else:
            del schema["properties"]["many_3"]
    return old, new


def timed(count: int, changed: int, rounds: int) -> tuple[float, SurfaceDiff]:
    """The best time of a few rounds, from documents to the finished comparison, and that comparison."""
    old, new = pair(count, changed)
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        diff = diff_surfaces(read_surface(old), read_surface(new))
        diff.to_json()
        best = min(best, time.perf_counter() - start)
    return best, diff


def main() -> int:
    """Measure, print, and fail when it takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    small, _ = timed(50, 5, rounds)
    large, diff = timed(500, 50, rounds)
    told = sum(len(changes) for changes in diff.tools.values())
    print(f"500 tools of {NODES} schema nodes, 50 changed: {large:.3f} s ({told} changes; limit {LIMIT:g} s)")
    print(f" 50 tools,                          5 changed: {small:.3f} s")
    print(f"ratio 500:50 is {large / small:.1f} (10 is linear)")
    return 0 if large < LIMIT and len(diff.tools) == 50 else 1


if __name__ == "__main__":
    sys.exit(main())
