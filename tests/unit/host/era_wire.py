"""A bridge without processes: what a kernel and a worker say to it, and what it says to both."""

import json
from typing import Any

from holdfast.host.era_bridge import EraBridge
from holdfast.host.era_flow import EraMemory, Flow
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.wire.codec import decode
from holdfast.wire.envelope import parse

__all__ = ["ELDER", "LEVEL", "ME", "NO_METHOD", "TAG", "YOUNGER", "Wire", "elder", "younger"]

ME = {META_REVISION: MODERN, META_CAPABILITIES: {"sampling": {}}}
LEVEL = "io.modelcontextprotocol/logLevel"
TAG = "io.modelcontextprotocol/subscriptionId"
CAN = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}}
ELDER = {"protocolVersion": "2024-11-05", "capabilities": CAN, "serverInfo": {"name": "elder", "version": "1"}}
YOUNGER = {
    "resultType": "complete",
    "supportedVersions": [MODERN],
    "capabilities": CAN,
    "ttlMs": 1,
    "cacheScope": "public",
}
NO_METHOD = {"code": -32601, "message": "what?"}


class Wire:
    """A bridge, and what it has sent in both directions."""

    def __init__(self, memory: EraMemory | None = None) -> None:
        self.memory = memory or EraMemory()
        self.bridge = EraBridge(self.memory)
        self.now = 100.0
        self.worker: list[dict[str, Any]] = []  # what the worker has got
        self.host: list[dict[str, Any]] = []  # what the kernel has got
        self.raw: list[bytes] = []

    def send(self, number: int | None, method: str, params: dict[str, Any] | None = None) -> bytes:
        """The kernel sends a request, or a notification where there is no number."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        return self.pass_on(message | ({} if number is None else {"id": number}), number or 0)

    def ask(self, number: int, method: str, **params: Any) -> bytes:
        """The kernel sends a request that describes itself."""
        return self.send(number, method, {**params, "_meta": {**ME, **params.get("_meta", {})}})

    def pass_on(self, message: dict[str, Any], attempt: int = 0) -> bytes:
        """The kernel sends a message."""
        payload = json.dumps(message).encode()
        if self.bridge.wants(payload):
            self._keep(self.bridge.to_worker(payload, self.now, attempt))
        else:
            self._keep_raw(payload)
        return payload

    def says(self, **message: Any) -> bytes:
        """The worker sends a message."""
        frame = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self.bridge.listens:
            self._keep(self.bridge.from_worker(parse(decode(frame)), frame, self.now))
        else:
            self.host.append(json.loads(frame))
            self.raw.append(frame)
        return frame

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        if self.bridge.due and self.now >= self.bridge.due:
            self._keep(self.bridge.tick(self.now))

    def _keep_raw(self, payload: bytes) -> None:
        self.raw.append(payload)
        self.worker.append(json.loads(payload))

    def _keep(self, flow: Flow) -> None:
        for payload, _ in flow.to_worker:
            self._keep_raw(payload)
        for message, frame in flow.to_host:
            assert parse(decode(frame, halves="kept")) == message
            self.host.append(json.loads(frame))
            self.raw.append(frame)

    @property
    def last(self) -> dict[str, Any]:
        """The last message that the worker has got."""
        return self.worker[-1]

    @property
    def told(self) -> dict[str, Any]:
        """The last message that the kernel has got."""
        return self.host[-1]


def elder(**meta: Any) -> Wire:
    """A worker with a handshake that a client without one has begun to use; its first request is number 1."""
    wire = Wire()
    wire.ask(1, "tools/call", name="a", _meta=meta)
    wire.says(id=wire.last["id"], error=NO_METHOD)
    wire.says(id=wire.last["id"], result=ELDER)
    return wire


def younger(capabilities: dict[str, Any] | None = None, revision: str = "2025-06-18") -> Wire:
    """A worker without a handshake that a client with one has been introduced to, as number 1."""
    wire = Wire()
    params = {
        "protocolVersion": revision,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    wire.send(1, "initialize", params)
    wire.says(id=1, error={"code": -32022, "message": "no", "data": {"supported": [MODERN]}})
    wire.says(id=wire.last["id"], result=YOUNGER)
    return wire
