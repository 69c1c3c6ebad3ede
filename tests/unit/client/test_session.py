"""A client session against real programs of every temper."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from holdfast.client.noise import MAX_NOISE, Noise
from holdfast.client.peer import PeerEndedError, PeerError, PeerLostError, PeerSilentError
from holdfast.client.session import ClientSession
from holdfast.client.transports import ProcessTransport
from holdfast.errors import ProcessError, SessionError
from holdfast.present.profile import MODERN

FOREIGN = Path(__file__).parents[2] / "cli" / "foreign_server.py"
Scenario = Callable[[ClientSession], Awaitable[Any]]


class Run:
    """One session with a foreign server, and what the server wrote to stderr."""

    def __init__(self, temper: str, grace: float = 0.3) -> None:
        self.stderr: list[str] = []
        argv = [sys.executable, str(FOREIGN), temper]
        self.transport = ProcessTransport(argv, grace=grace, on_stderr=self.stderr.append)

    def __call__(self, scenario: Scenario, **options: Any) -> Any:
        async def main() -> Any:
            async with ClientSession(self.transport, request_timeout=20) as session:
                await session.connect(**options)
                return await scenario(session)

        return asyncio.run(main())


async def echo(session: ClientSession) -> Any:
    return await session.call_tool("echo", {"text": "hi"})


def test_a_handshake_introduces_the_server() -> None:
    async def peer(session: ClientSession) -> Any:
        return session.peer

    found = Run("good")(peer)

    assert (found.name, found.version, found.revision) == ("foreign", "7", "2025-06-18")


def test_a_call_returns_its_whole_result() -> None:
    assert Run("good")(echo)["structuredContent"] == {"arguments": {"text": "hi"}}


def test_a_server_without_a_handshake_is_spoken_to_in_self_describing_requests() -> None:
    async def both(session: ClientSession) -> Any:
        return session.peer, await echo(session)

    peer, result = Run("modern")(both)

    assert (peer.name, peer.revision) == ("modern", MODERN)
    assert result["content"][0]["text"] == "hi"


def test_the_self_describing_era_can_be_asked_for() -> None:
    assert Run("modern")(echo, revision=MODERN)["content"][0]["text"] == "hi"


def test_a_server_that_refuses_both_eras_is_told_with_its_own_words() -> None:
    with pytest.raises(SessionError, match="refuses the handshake: no handshake here"):
        Run("refuses")(echo)


def test_an_unknown_revision_ends_the_session() -> None:
    with pytest.raises(SessionError, match="1999-01-01"):
        Run("odd")(echo)


def test_all_pages_of_tools_are_read() -> None:
    tools = Run("paged")(lambda session: session.list_tools())

    assert [tool["name"] for tool in tools] == ["echo0", "echo1", "echo2"]


def test_a_list_of_tools_without_an_end_is_an_error() -> None:
    with pytest.raises(SessionError, match="no end"):
        Run("endless")(lambda session: session.list_tools())


def test_an_error_answer_carries_code_data_and_violations() -> None:
    with pytest.raises(PeerError) as caught:
        Run("good")(lambda session: session.call_tool("echo", {}))

    assert caught.value.code == -32602
    assert caught.value.violations == ["/text: is missing"]


def test_noise_on_stdout_is_counted_and_not_fatal() -> None:
    async def noise(session: ClientSession) -> Noise:
        await echo(session)
        return session.noise

    found = Run("noisy")(noise)

    assert found.lines == 6
    assert found.first == "Welcome to my server!"


def test_half_a_character_in_an_answer_costs_that_character_alone() -> None:
    result = Run("halves")(echo)

    assert result["content"][0]["text"] == "hi\ufffd"


def test_an_answer_that_cannot_be_read_is_told_at_once_with_the_reason() -> None:
    async def seen(session: ClientSession) -> int:
        with pytest.raises(SessionError, match=r"the server's answer cannot be read: .*NaN is not a JSON value"):
            await echo(session)
        return session.noise.lines

    assert Run("nan")(seen) == 0


def test_endless_noise_ends_the_session() -> None:
    with pytest.raises(SessionError, match="does not speak MCP") as caught:
        Run("flood")(echo)

    assert f"{MAX_NOISE + 1} lines" in str(caught.value)


def test_a_program_that_only_echoes_is_told_as_such() -> None:
    async def main() -> None:
        async with ClientSession(ProcessTransport(["cat"])) as session:
            await session.connect()

    with pytest.raises(PeerLostError, match="echoes what it is sent"):
        asyncio.run(main())


def test_a_server_with_the_older_framing_is_recognized_at_once() -> None:
    with pytest.raises(PeerLostError, match="uses Content-Length framing"):
        Run("legacy")(echo)


def test_a_message_that_is_too_long_fails_what_waits_for_it() -> None:
    with pytest.raises(SessionError, match="longer than"):
        Run("huge")(echo)


def test_a_server_that_dies_at_once_is_told_with_exit_code_and_last_words() -> None:
    with pytest.raises(PeerEndedError, match=r"exit code 1\) before it answered initialize; .*no module"):
        Run("dies")(echo)


def test_a_server_that_dies_in_a_call_fails_the_call() -> None:
    with pytest.raises(SessionError, match=r"exit code 3.*out of memory"):
        Run("dies-in-call")(echo)


def test_a_request_after_the_death_of_the_server_fails_at_once() -> None:
    async def twice(session: ClientSession) -> Any:
        with pytest.raises(SessionError):
            await echo(session)
        return await echo(session)

    with pytest.raises(SessionError, match=r"exit code 3"):
        Run("dies-in-call")(twice)


def test_a_silent_server_times_out() -> None:
    with pytest.raises(PeerSilentError, match=r"did not answer initialize within 0\.2 s"):
        Run("silent")(echo, timeout=0.2)


def test_a_call_that_times_out_is_cancelled_on_the_server() -> None:
    run = Run("silent-call")

    with pytest.raises(SessionError, match="tools/call"):
        run(lambda session: session.call_tool("echo", {"text": "hi"}, timeout=0.1))

    assert any("notifications/cancelled" in line and "timed out" in line for line in run.stderr)


def test_cancelling_the_task_of_a_call_cancels_the_call() -> None:
    async def give_up(session: ClientSession) -> None:
        task = asyncio.create_task(session.call_tool("echo", {"text": "hi"}))
        async with asyncio.timeout(20):
            while not any("tools/call" in line for line in run.stderr):  # noqa: ASYNC110 - a list has no event
                await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.wait([task])

    run = Run("silent-call")
    run(give_up)

    assert any("notifications/cancelled" in line and "gave up" in line for line in run.stderr)


def test_requests_of_the_server_are_answered_politely() -> None:
    run = Run("asks")
    run(echo)

    assert any('"id":"q1","result":{}' in line for line in run.stderr)
    assert any('"id":"q2"' in line and "-32601" in line for line in run.stderr)


def test_progress_reaches_the_caller_that_asked_for_it() -> None:
    notices: list[dict[str, Any]] = []
    Run("good")(lambda session: session.call_tool("echo", {"text": "hi"}, on_progress=notices.append))

    assert [notice["total"] for notice in notices] == [2]


def test_closing_ends_a_server_that_will_not_leave_and_its_children() -> None:
    run = Run("stubborn")
    run(echo)

    child = int(next(line.split()[1] for line in run.stderr if line.startswith("child ")))
    assert not psutil.pid_exists(child)
    assert run.transport.outcome is not None
    assert run.transport.outcome.killed


def test_a_program_that_does_not_exist_is_a_process_error() -> None:
    async def main() -> None:
        async with ClientSession(ProcessTransport(["/nowhere/at-all"])) as session:
            await session.connect()

    with pytest.raises(ProcessError, match="nowhere"):
        asyncio.run(main())
