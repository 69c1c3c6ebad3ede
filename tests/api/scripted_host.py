"""The host's end of the pipe, played by a thread: it answers like a host with a search worker behind it.

What a search does is chosen by its query, so that a test says in the request what it wants to see.
"""

import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from tests.api.client import BOUND

from holdfast.present.dialects import Dialect, failure
from holdfast.search.request_schema import input_schema, schema_violations
from holdfast.vocabulary.faults import fault

Message = dict[str, Any]
SOURCE = 'config = open("/etc/passwd")  # /home/me/secret/file.py\n'
HIT = {"file": "src/app.py", "name": "load", "score": 1.5, "snippet": {"lines": [{"line": 1, "text": SOURCE}]}}


def found(query: str, **more: Any) -> Message:
    """The payload of a search."""
    empty: dict[str, list[Message]] = {"prose": [], "extractedProse": [], "records": []}
    index = {"build": "b1", "generation": 3, "changedFiles": 0}
    return {"backend": "tantivy", "query": query, "code": [HIT], **empty, "index": index, "warnings": [], **more}


class ScriptedHost:
    """Reads what the front sends, remembers it, and answers."""

    def __init__(self, reader: int, writer: int, repository: str) -> None:
        self._reader = reader
        self._writer = writer
        self._repository = repository
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self.requests: list[Message] = []
        self.notes: list[Message] = []
        self.answers_health = True
        self.admits = True
        self.answers_discovery = True
        self._searches: dict[str, Callable[[Message], None]] = {
            "hang": lambda request: None,
            "no index": lambda request: self.fail(request, "NO_INDEX", "there is no index of project"),
            "internal": self._internal,
            "overload": self._overload,
            "lost": self._lost,
            "slow": lambda request: self.report(request, 3),
            "flood": lambda request: self.report(request, 20_000),
            "paths": self._paths,
            "broken": lambda request: self.write(
                b'{"jsonrpc":"2.0","id":"%b","result":{"a":1,"a":2}}' % _id(request)
            ),
            "endless": self._endless,
            "large": lambda request: self.answer(request, found("large", filler="x" * 4_000_000)),
            "huge": self._huge,
            "too slow": lambda request: self.fail(request, "TOOL_TIMEOUT", "search was aborted", timeout_ms=1500),
            "forbidden": lambda request: self.fail(request, "FORBIDDEN", "outside", details={"path": repository}),
        }
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    # --- what a test asks --------------------------------------------------------------------------------------

    def wait_for(self, wanted: Callable[["ScriptedHost"], bool]) -> None:
        """Wait until what the front has sent fulfils the condition."""
        with self._changed:
            assert self._changed.wait_for(lambda: wanted(self), BOUND), (self.requests[-3:], self.notes[-3:])

    @property
    def cancelled(self) -> list[str]:
        """The ids that the front does not wait for any more."""
        return [note["params"]["requestId"] for note in self.notes if note["method"] == "notifications/cancelled"]

    def calls(self, tool: str = "search") -> list[Message]:
        """The parameters of the calls of a tool so far."""
        return [
            one["params"]
            for one in self.requests
            if one.get("method") == "tools/call" and one["params"]["name"] == tool
        ]

    # --- how it answers ------------------------------------------------------------------------------------------

    def write(self, line: bytes) -> None:
        """Send one line."""
        rest = memoryview(line + b"\n")
        with self._writing:
            while rest:
                rest = rest[os.write(self._writer, rest) :]

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def answer(self, request: Message, payload: Mapping[str, Any]) -> None:
        """Let a tool succeed."""
        content = [{"type": "text", "text": json.dumps(payload)}]
        result = {"resultType": "complete", "content": content, "isError": False, "structuredContent": payload}
        self.send({"id": request["id"], "result": result})

    def fail(self, request: Message, code: str, message: str, **more: Any) -> None:
        """Let a tool fail."""
        envelope = failure(Dialect.POC, fault(code, message, **more), meta={"durationMs": 1})
        content = [{"type": "text", "text": json.dumps(envelope)}]
        meta = {"io.holdfast/error": {"code": code}}
        self.send({"id": request["id"], "result": {"content": content, "isError": True, "_meta": meta}})

    def report(self, request: Message, times: int) -> None:
        """Report progress, then succeed; stops when the front no longer wants it."""
        token = request["params"]["_meta"].get("progressToken")
        for number in range(times if token else 0):
            message = f"step {number + 1} in {self._repository}/src " + "." * (1000 if times > 9 else 0)
            numbers = {"progress": number + 1, "total": times}
            data = {"data": {"hits": [{"file": "src/a.py"}], "other": 1}} if number == 1 else {}
            params = {"progressToken": token, **numbers, "phase": "search", "message": message, **data}
            self.send({"method": "notifications/progress", "params": params})
        self.answer(request, found("slow"))

    # --- the scripts ---------------------------------------------------------------------------------------------

    def _internal(self, request: Message) -> None:
        self.fail(request, "INTERNAL", "an unexpected error", details={"cause_class": "KeyError"}, fault_id="f00d")

    def _overload(self, request: Message) -> None:
        data = {
            "code": "QUEUE_OVERLOADED",
            "message": "full",
            "retryable": True,
            "details": {"queue": {"max": 64}},
        }
        self.send({"id": request["id"], "error": {"code": 1001, "message": "full", "data": data}})

    def _lost(self, request: Message) -> None:
        data = {
            "class": "process",
            "code": "WORKER_LOST",
            "generation": 2,
            "retry": {"safe": True, "afterMs": 2500},
        }
        self.send({"id": request["id"], "error": {"code": 1010, "message": "the worker was lost", "data": data}})

    def _paths(self, request: Message) -> None:
        index = {"path": f"{self._repository}/.cache", "cacheRoot": "/nowhere/in particular", "build": "b1"}
        warning = {"code": "query", "message": f"skipped {self._repository}/a.py and /usr/lib/x.so"}
        self.answer(request, found("paths", index=index, warnings=[warning]))

    def _huge(self, request: Message) -> None:
        payload = found("huge", filler="x" * 14_000_000)  # more than the buffers of any socket hold
        self.send({"id": request["id"], "result": {"content": [], "structuredContent": payload}})

    def _endless(self, request: Message) -> None:
        self.write(b'{"jsonrpc":"2.0","id":"%b","result":{"text":"%b"}}' % (_id(request), b"x" * 17_000_000))

    # --- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with os.fdopen(self._reader, "rb") as lines:
            for line in lines:
                message = json.loads(line)
                with self._changed:
                    (self.requests if "id" in message else self.notes).append(message)
                    self._changed.notify_all()
                if "id" in message and "method" in message:
                    threading.Thread(target=self._handle, args=(message,), daemon=True).start()

    def _handle(self, request: Message) -> None:
        try:
            self._methods(request)
        except OSError:
            return  # the front is gone

    def _methods(self, request: Message) -> None:
        method = request["method"]
        if method == "holdfast/health" and self.answers_health:
            state, why = ("ready", None) if self.admits else ("degraded", "worker_unknown")
            health = {"state": state, "admits": self.admits, "reason_code": why,
                      "generation": 2, "restart_count": 1, "counters": {"requests": 7},
                      "stateDir": "/home/me/state"}  # fmt: skip
            self.send({"id": request["id"], "result": health})
        elif method == "server/discover" and self.answers_discovery:
            block = {"schemaVersion": "1.0.0", "capabilities": {"mcp": {"sdk": True}}}
            capabilities = {"tools": {}, "experimental": {"pairofcleats": block}}
            result = {"capabilities": capabilities, "serverInfo": {"name": "pairofcleats", "version": "0.1.0"}}
            self.send({"id": request["id"], "result": result})
        elif method == "tools/list":
            self.send({"id": request["id"], "result": {"tools": TOOLS}})
        elif method == "tools/call":
            self._call(request)

    def _call(self, request: Message) -> None:
        arguments = dict(request["params"]["arguments"])
        if request["params"]["name"] == "report_artifacts":
            root = arguments["repoPath"]
            self.answer(request, {"repo": {"root": root}, "cacheRoot": "/home/me/.cache", "files": 3})
            return
        violations = schema_violations(arguments)
        if violations:
            details = {"violations": violations}
            self.fail(request, "INVALID_REQUEST", "invalid arguments for search", details=details)
            return
        scripted = self._searches.get(arguments["query"])
        if scripted is None:
            self.answer(request, found(arguments["query"]))
        else:
            scripted(request)


def _id(request: Message) -> bytes:
    return str(request["id"]).encode()


TOOLS = [
    {
        "name": "search",
        "inputSchema": input_schema(),
        "outputSchema": {
            "type": "object",
            "properties": {
                "code": {"type": "array", "items": {"$ref": "#/$defs/Hit"}},
                "query": {"type": "string"},
            },
            "required": ["code", "query"],
            "$defs": {"Hit": {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}}},
        },
    },
    {"name": "report_artifacts", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
]
