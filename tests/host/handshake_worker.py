"""A server that knows 2024-11-05 and nothing else: whatever is not in that revision, it refuses.

`handshake_worker.py RECORD [VARIANT]`: every message that it gets and says is written to RECORD. Variants:
`silent` answers nothing that comes before `initialize`; `fragile` ends when something else comes first.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

RECORD = Path(sys.argv[1])
VARIANT = sys.argv[2] if len(sys.argv) > 2 else ""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
DONE = {"content": [{"type": "text", "text": "there"}]}
NAMES = ["echo", "steps", "go", "hold", "refuse", "grow", "touch", "log", "ask", "pid", "die_once"]


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """One session."""

    def __init__(self) -> None:
        self.initialized = False
        self.tools = list(NAMES)
        self.walking: Any = None
        self.subscribed: set[str] = set()
        self.asked: dict[str, Any] = {}

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
        method, number = message.get("method"), message.get("id")
        if method is None:
            if number in self.asked:
                call = self.asked.pop(number)
                self.say(id=call, result=_text(json.dumps(message.get("result", message.get("error")))))
            return
        if not self.initialized and method != "initialize":
            if VARIANT == "silent":
                return
            if VARIANT == "fragile":
                sys.exit(3)
        if number is None:
            self.hear(method, message.get("params", {}))
            return
        try:
            result = self.answer(method, message.get("params", {}), number)
        except RefusalError as refusal:
            self.say(id=number, error={"code": refusal.code, "message": str(refusal)})
            return
        if result is not None:
            self.say(id=number, result=result)

    def hear(self, method: str, params: dict[str, Any]) -> None:
        """Take a notification."""
        if method == "notifications/cancelled":
            with RECORD.with_suffix(".cancelled").open("a") as note:
                note.write(f"{params['requestId']}\n")
        elif method != "notifications/initialized":
            sys.exit(f"unknown notification {method}")

    def answer(self, method: str, params: dict[str, Any], number: Any) -> dict[str, Any] | None:
        """The result of a request; None for one that is answered later, or never."""
        for key in params.get("_meta", {}):
            if key.startswith("io.modelcontextprotocol/"):
                raise RefusalError(-32602, f"what is {key}?")
        if method == "initialize":
            self.initialized = True
            return {
                "protocolVersion": "2024-11-05",
                "serverInfo": {"name": "elder", "version": "0.1"},
                "capabilities": {
                    "tools": {"listChanged": True},
                    "resources": {"subscribe": True, "listChanged": True},
                    "prompts": {},
                    "logging": {},
                },
                "instructions": "Be patient.",
            }
        if method == "ping":
            return {}
        if not self.initialized:
            raise RefusalError(-32600, "initialize first")
        handler = {
            "tools/list": self.list_tools,
            "tools/call": self.call,
            "resources/list": lambda *_: {"resources": [{"name": "a", "uri": "memo://a"}]},
            "resources/templates/list": lambda *_: {"resourceTemplates": []},
            "resources/read": self.read,
            "resources/subscribe": self.subscribe,
            "resources/unsubscribe": self.subscribe,
            "prompts/list": lambda *_: {"prompts": [{"name": "greet"}]},
            "prompts/get": lambda *_: {"messages": [{"role": "user", "content": _text("hello")["content"][0]}]},
            "logging/setLevel": lambda *_: {},
        }.get(method)
        if handler is None:
            raise RefusalError(-32601, f"unknown method {method}")
        return handler(params, number)

    def list_tools(self, params: dict[str, Any], number: Any) -> dict[str, Any]:
        return {"tools": [{"name": name, "inputSchema": TEXT} for name in self.tools]}

    def read(self, params: dict[str, Any], number: Any) -> dict[str, Any]:
        if params.get("uri") == "memo://trap":
            die_once()
        elif params.get("uri") != "memo://a":
            raise RefusalError(-32002, "no such resource")
        return {"contents": [{"uri": "memo://a", "text": "alpha"}]}

    def subscribe(self, params: dict[str, Any], number: Any) -> dict[str, Any]:
        self.subscribed.add(params["uri"])
        return {}

    def call(self, params: dict[str, Any], number: Any) -> dict[str, Any] | None:
        name, arguments = params.get("name"), params.get("arguments", {})
        if name not in self.tools:
            raise RefusalError(-32602, f"unknown tool {name}")
        if name == "hold" or (name == "steps" and self.progress(params, number)):
            return None
        if name == "refuse":
            return {**_text("no"), "isError": True}
        if name == "ask":
            self.asked["q"] = number
            self.say(id="q", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
            return None
        if name == "pid":
            return _text(str(os.getpid()))
        self.act(name, params)
        return _text(arguments.get("text", name))

    def progress(self, params: dict[str, Any], number: Any) -> bool:
        """Walk, if anybody wants to hear of it, until told to go on: a client may not hear what comes too late."""
        token = params.get("_meta", {}).get("progressToken")
        if token is None:
            return False
        self.walking = number
        for step in (1, 2):
            told = {"progressToken": token, "progress": step, "total": 2}
            self.say(method="notifications/progress", params=told)
        return True

    def act(self, name: str, params: dict[str, Any]) -> None:
        if name == "go" and self.walking is not None:
            self.say(id=self.walking, result=DONE)
            self.walking = None
        elif name == "grow":
            self.tools.append(f"tool{len(self.tools)}")
            self.say(method="notifications/tools/list_changed")
        elif name == "touch":
            self.say(method="notifications/resources/updated", params={"uri": "memo://a"})
        elif name == "log":
            for level in ("debug", "error"):
                self.say(method="notifications/message", params={"level": level, "data": level})
        elif name == "die_once":
            die_once()


def die_once() -> None:
    """End without a word, unless another process of this server has done so before."""
    if not RECORD.with_suffix(".died").exists():
        RECORD.with_suffix(".died").touch()
        os._exit(9)


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


if __name__ == "__main__":
    server = Server()
    for one in sys.stdin:
        server.take(one.strip())
