"""The test kit, for our own tests and for the tests of your server.

from holdfast.testing import assert_tool_contract, connect

`connect(server)` gives a client that talks to the server in memory, through the same framing, session and call
path as over a pipe. `assert_tool_contract(server)` holds every tool to what it declares.
"""

from holdfast.testing.clients import CallResult, ScriptedClient
from holdfast.testing.clock import MockClock
from holdfast.testing.contracts import assert_tool_contract
from holdfast.testing.faults import FaultPlan
from holdfast.testing.memory import MemoryPipe, RecordingLog, connect

__all__ = [
    "CallResult",
    "FaultPlan",
    "MemoryPipe",
    "MockClock",
    "RecordingLog",
    "ScriptedClient",
    "assert_tool_contract",
    "connect",
]
