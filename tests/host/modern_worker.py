"""A server that knows 2026-07-28 and nothing else: a request that does not describe itself, it refuses.

`modern_worker.py RECORD [VARIANT]`: every message that it gets and says is written to RECORD. What it says to
`initialize` is chosen by VARIANT: nothing for `silent`, an error with that number for a number, else one that
names the revisions that it knows.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

RECORD = Path(sys.argv[1])
VARIANT = sys.argv[2] if len(sys.argv) > 2 else ""
KEY = "io.modelcontextprotocol/"
INFO = {f"{KEY}serverInfo": {"name": "younger", "version": "2.0"}}
HINTS = {"ttlMs": 1000, "cacheScope": "public"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}, "any": True}}
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "there"}], "_meta": INFO}
NAMES = ["echo", "steps", "go", "hold", "refuse", "grow", "touch", "log", "ask", "number", "pid", "die_once"]
QUESTION = {"message": "which?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


class Server:
    """One process."""

    def __init__(self) -> None:
        self.tools = list(NAMES)
        self.walking: Any = None
        self.listens: dict[Any, dict[str, Any]] = {}

    def say(self, **message: Any) -> None:
        """Write one message."""
        line = json.dumps({"jsonrpc": "2.0", **message})
        with RECORD.open("a") as record:
            record.write(f"out {line}\n")
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def take(self, line: str) -> None:
        """Answer one message."""
        with RECORD.open("a") as record:
            record.write(f"in {line}\n")
        message = json.loads(line)
        method, number = message["method"], message.get("id")
        if number is None:
            if method == "notifications/cancelled":
                self.listens.pop(message["params"]["requestId"], None)
                with RECORD.with_suffix(".cancelled").open("a") as note:
                    note.write(f"{message['params']['requestId']}\n")
            return
        try:
            result = self.answer(method, message.get("params", {}), number)
        except RefusalError as refusal:
            self.say(id=number, error=refusal.error)
            return
        if result is not None:
            result = {"resultType": "complete", **result}
            self.say(id=number, result={**result, "_meta": {**result.get("_meta", {}), **INFO}})

    def answer(self, method: str, params: dict[str, Any], number: Any) -> dict[str, Any] | None:
        """The result of a request; None for one that is answered later, or never."""
        if method == "initialize":
            if VARIANT == "silent":
                return None
            if VARIANT:
                raise RefusalError(int(VARIANT), "no handshake here")
            raise RefusalError(-32022, "no handshake here", {"supported": ["2026-07-28"], "requested": "older"})
        meta = params.get("_meta", {})
        if meta.get(f"{KEY}protocolVersion") != "2026-07-28" or f"{KEY}clientCapabilities" not in meta:
            raise RefusalError(-32602, "describe yourself")
        if method == "server/discover":
            can = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}, "prompts": {}}
            told = {"supportedVersions": ["2026-07-28"], "capabilities": can, "instructions": "Be brief."}
            return {**told, **HINTS}
        handler = {
            "tools/list": self.list_tools,
            "tools/call": self.call,
            "resources/list": lambda *_: {"resources": [{"name": "a", "uri": "memo://a"}], **HINTS},
            "resources/read": self.read,
            "prompts/list": lambda *_: {"prompts": [{"name": "greet"}], **HINTS},
            "prompts/get": lambda *_: {"messages": [{"role": "user", "content": _link()}]},
            "subscriptions/listen": self.listen,
        }.get(method)
        if handler is None:
            raise RefusalError(-32601, f"unknown method {method}")
        return handler(params, number)

    def list_tools(self, params: dict[str, Any], number: Any) -> dict[str, Any]:
        tools: list[dict[str, Any]] = [{"name": name, "inputSchema": TEXT} for name in self.tools]
        tools[NAMES.index("number")]["outputSchema"] = {"type": "integer"}
        return {"tools": tools, **HINTS}

    def read(self, params: dict[str, Any], number: Any) -> dict[str, Any]:
        if params.get("uri") == "memo://trap":
            die_once()
        return {"contents": [{"uri": "memo://a", "text": "alpha"}], **HINTS}

    def listen(self, params: dict[str, Any], number: Any) -> None:
        self.listens[number] = params["notifications"]
        told = {"notifications": params["notifications"], "_meta": {f"{KEY}subscriptionId": number}}
        self.say(method="notifications/subscriptions/acknowledged", params=told)

    def call(self, params: dict[str, Any], number: Any) -> dict[str, Any] | None:
        name, arguments = params.get("name"), params.get("arguments", {})
        if name not in self.tools:
            raise RefusalError(-32602, f"unknown tool {name}", {"code": "NOT_FOUND"})
        if name == "hold" or (name == "steps" and self.progress(params, number)):
            return None
        if name == "ask":
            return _asked(params)
        if name == "refuse":
            return {**_text("no"), "isError": True}
        if name == "number":
            return {**_text("7"), "structuredContent": 7}
        if name == "pid":
            return _text(str(os.getpid()))
        self.act(name, params)
        return _text(arguments.get("text", name))

    def progress(self, params: dict[str, Any], number: Any) -> bool:
        """Walk, if anybody wants to hear of it, until told to go on: a client may not hear what comes too late."""
        token = params["_meta"].get("progressToken")
        if token is None:
            return False
        self.walking = number
        for step in (1, 2):
            told = {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}
            self.say(method="notifications/progress", params=told)
        return True

    def act(self, name: str, params: dict[str, Any]) -> None:
        if name == "go" and self.walking is not None:
            self.say(id=self.walking, result=DONE)
            self.walking = None
        elif name == "grow":
            self.tools.append(f"tool{len(self.tools)}")
            self.tell("notifications/tools/list_changed", "toolsListChanged", {})
        elif name == "touch":
            self.tell("notifications/resources/updated", "resourceSubscriptions", {"uri": "memo://a"})
        elif name == "log" and params["_meta"].get(f"{KEY}logLevel"):
            level = params["_meta"][f"{KEY}logLevel"]
            self.say(method="notifications/message", params={"level": level, "data": level})
        elif name == "die_once":
            die_once()

    def tell(self, method: str, kind: str, params: dict[str, Any]) -> None:
        for number, wanted in self.listens.items():
            if wanted.get(kind):
                self.say(method=method, params={**params, "_meta": {f"{KEY}subscriptionId": number}})


def _asked(params: dict[str, Any]) -> dict[str, Any]:
    if params.get("requestState") == "sealed":
        return _text(json.dumps(params["inputResponses"]["k"]))
    asked = {"k": {"method": "elicitation/create", "params": QUESTION}}
    return {"resultType": "input_required", "inputRequests": asked, "requestState": "sealed"}


def die_once() -> None:
    """End without a word, unless another process of this server has done so before."""
    if not RECORD.with_suffix(".died").exists():
        RECORD.with_suffix(".died").touch()
        os._exit(9)


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def _link() -> dict[str, Any]:
    return {"type": "resource_link", "name": "a", "uri": "memo://a"}


if __name__ == "__main__":
    server = Server()
    for one in sys.stdin:
        server.take(one.strip())
