"""Calls every tool of the search server in this process, and prints what each did, as a tracer sees it.

Usage: python -m tests.search.traced_calls PLACE
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.mcp.search_place import SearchPlace
from tests.mcp.tool_bench import bench_at
from tests.tracer import mark, record_here

from holdfast.errors import ToolError

__all__ = ["CALLS"]

# In an order in which each finds what it needs; `{id}` is the finding, `{named}` a directory of the caller.
CALLS: dict[str, list[dict[str, Any]]] = {
    "search": [
        {"query": "budget"},
        {"query": "*", "modifiedAfter": "2020-01-01"},
        {"query": "budget", "ann": True},
        {"query": "budget", "workspacePath": "{place}/shop.jsonc"},
    ],
    "show_file": [{"path": "README.md"}, {"path": "library.so"}],
    "index_status": [{}],
    "config_status": [{}],
    "check_status": [{}],
    "workspace_status": [{"workspacePath": "{place}/shop.jsonc"}],
    "report_artifacts": [{}],
    "verify_extensions": [{}, {"path": "{repo}/library.so"}, {"dir": "{repo}"}],
    "build_index": [
        {"incremental": True, "linters": ["ruff"]},
        {"incremental": True, "linters": ["eslint"]},
        {"incremental": True, "vectors": True},
    ],
    "index_build": [{"incremental": True}],
    "build_sqlite_index": [{}, {"out": "{named}/portable.db"}],
    "compact_sqlite_index": [{}],
    "download_models": [{"model": "small", "url": "{repo}/words.txt"}],
    "download_dictionaries": [{"url": "de={repo}/words.txt"}],
    "download_extensions": [{"url": "{repo}/library.so"}],
    "triage_ingest": [{"source": "generic", "inputPath": "findings.json"}],
    "triage_decision": [{"finding": "{id}", "status": "accept", "justification": "not reachable"}],
    "triage_context_pack": [{"recordId": "{id}"}, {"recordId": "{id}", "outPath": "{named}/pack.json"}],
    "bootstrap": [{"skipDicts": True, "incremental": True}],
    "cache_gc": [{}],
    "clean_artifacts": [{"all": True}],
}


def main() -> int:
    """Print the acts as one line of JSON."""
    place = SearchPlace(Path(sys.argv[1]))
    acts = record_here()
    answers: dict[str, list[Any]] = {}
    finding = ""
    with bench_at(place) as bench:
        for tool, calls in CALLS.items():
            for arguments in calls:
                text = json.dumps(arguments)
                words = {
                    "repo": place.repo,
                    "id": finding,
                    "place": place.directory,
                    "named": place.directory / "named",
                }
                for name, value in words.items():
                    text = text.replace(f"{{{name}}}", str(value))
                mark(tool)
                answer = bench.outcome(tool, json.loads(text))
                mark("")
                failed = isinstance(answer, ToolError)
                finding = answer["recordIds"][0] if tool == "triage_ingest" and not failed else finding
                answers.setdefault(tool, []).append(f"{answer.code}: {answer.message}" if failed else "ok")
    print(json.dumps({"acts": acts, "answers": answers}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
