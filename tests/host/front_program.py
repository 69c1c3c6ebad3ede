"""A front as a test wants it: every line that a connection sends is a request to the host, and is answered on it.

`{"method": ..., "params": ...}` becomes a request with an id of this front; what comes back for it, progress
included, is written to the connection. `{"die": true}` ends the process hard, `{"hang": true}` stops it after a
sign of life, and `{"say": text}` writes a line to the host as it is. With `own`
it asks for itself. A front whose secret is "refused" refuses it.
"""

import json
import os
import selectors
import signal
import socket
import sys
from typing import Any

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "front", "version": "1.0.0"},
}


class Front:
    def __init__(self, descriptor: int) -> None:
        options = json.loads(sys.stdin.buffer.readline())
        if options["secret"] == "refused":
            sys.stderr.write("front: that is no secret\n")
            sys.exit(2)
        self.prefix = options["idPrefix"]
        self.listener = socket.socket(fileno=descriptor)
        self.waiting: dict[str, socket.socket] = {}
        self.count = 0

    def ask(self, connection: socket.socket, asked: dict[str, Any]) -> None:
        if asked.get("die"):
            os._exit(9)
        if asked.get("hang"):
            self.say({"jsonrpc": "2.0", "method": "holdfast/alive"})
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        if "say" in asked:
            sys.stdout.buffer.write(asked["say"].encode() + b"\n")
            sys.stdout.buffer.flush()
            return
        self.count += 1
        number = asked.get("id") or f"{self.prefix}{'own-' if asked.get('own') else ''}{self.count}"
        self.waiting[number] = connection
        params = asked.get("params", {})
        params = {**params, "_meta": {**META, "progressToken": number, **params.get("_meta", {})}}
        self.say({"jsonrpc": "2.0", "id": number, "method": asked["method"], "params": params})

    def say(self, message: dict[str, Any]) -> None:
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()

    def hear(self, line: bytes) -> None:
        message = json.loads(line)
        number = message.get("id") or message["params"]["progressToken"]
        self.waiting[number].sendall(line)

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ)
            selector.register(self.listener, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self.listener:
                        connection, _ = self.listener.accept()
                        selector.register(connection, selectors.EVENT_READ)
                    elif isinstance(key.fileobj, socket.socket):
                        data = key.fileobj.recv(65536)
                        if not data:
                            selector.unregister(key.fileobj)
                        for line in data.splitlines():
                            self.ask(key.fileobj, json.loads(line))
                    else:
                        data = os.read(0, 1 << 20)
                        if not data:
                            return
                        for line in data.splitlines(keepends=True):
                            self.hear(line)


if __name__ == "__main__":
    Front(int(sys.argv[-1].removeprefix("--fd="))).run()
