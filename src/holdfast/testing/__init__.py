"""The test kit, for our own tests and for the tests of your server.

from holdfast.testing import assert_tool_contract, connect

`connect(server)` gives a client that talks to the server in memory, through the same framing, session and call
path as over a pipe. `assert_tool_contract(server)` holds every tool to what it declares, and
`assert_projection_doctrine(server)` its answers to the bounds and rules of what a reader is shown.

For whoever supervises servers: `script(Fault...)` is a hostile worker in a process of its own, `HostUnderTest` a
client at the pipes of a host in front of it, and `ChurnLog` the laws that must hold whatever happens.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.testing.answers import Answers, accept, cancel, decline
    from holdfast.testing.churn import HostUnderTest
    from holdfast.testing.churn_log import ChurnLog
    from holdfast.testing.clients import CallResult, ScriptedClient
    from holdfast.testing.clock import MockClock
    from holdfast.testing.contracts import assert_tool_contract
    from holdfast.testing.faults import FaultPlan
    from holdfast.testing.hostile import Fault, Script, Traces, script
    from holdfast.testing.marked import marked_processes
    from holdfast.testing.memory import MemoryPipe, RecordingLog, connect
    from holdfast.testing.projections import assert_projection_doctrine

__all__ = [
    "Answers",
    "CallResult",
    "ChurnLog",
    "Fault",
    "FaultPlan",
    "HostUnderTest",
    "MemoryPipe",
    "MockClock",
    "RecordingLog",
    "Script",
    "ScriptedClient",
    "Traces",
    "accept",
    "assert_projection_doctrine",
    "assert_tool_contract",
    "cancel",
    "connect",
    "decline",
    "marked_processes",
    "script",
]

_HOMES = {
    "Answers": "answers",
    "CallResult": "clients",
    "ChurnLog": "churn_log",
    "Fault": "hostile",
    "FaultPlan": "faults",
    "HostUnderTest": "churn",
    "MemoryPipe": "memory",
    "MockClock": "clock",
    "RecordingLog": "memory",
    "Script": "hostile",
    "ScriptedClient": "clients",
    "Traces": "hostile",
    "accept": "answers",
    "cancel": "answers",
    "decline": "answers",
    "assert_projection_doctrine": "projections",
    "assert_tool_contract": "contracts",
    "connect": "memory",
    "marked_processes": "marked",
    "script": "hostile",
}


def __getattr__(name: str) -> Any:
    """Each name is imported when it is first used: a client at a host's pipes needs no server of ours."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
