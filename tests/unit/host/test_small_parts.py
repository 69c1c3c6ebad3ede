"""The small parts of the host: batches, names, the policy, the relay of stderr, the input of a worker."""

import asyncio
import os
import re
import select
import threading
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from holdfast.host.batch import Batch
from holdfast.host.naming import server_identity, server_name
from holdfast.host.policy import policy_of
from holdfast.host.stderr_relay import StderrRelay, Tail
from holdfast.host.worker_input import WorkerInput
from holdfast.kernel.policy import Policy
from holdfast.settings import load_configuration
from holdfast.vocabulary.effects import EffectKind

# --- batches -----------------------------------------------------------------------------------------------------


def test_the_answers_of_a_batch_that_are_too_large_together_leave_in_parts() -> None:
    batch = Batch(max_bytes=10)
    for answer in (b"1234", b"5678", b"90", b"x" * 50):
        batch.add(answer)

    assert batch.arrays() == [b"[1234]", b"[5678,90]", b"[" + b"x" * 50 + b"]"]


def test_a_batch_without_answers_is_no_message() -> None:
    assert Batch(10).arrays() == []


# --- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("npx -y @scope/mcp-server-files@1.2.3 /srv", "files"),
        ("npx mcp-remote", "remote"),
        ("uvx mcp-server-git --repository x", "git"),
        ("uv run --with fastmcp fastmcp run server.py", "fastmcp"),
        ("python -m shop", "shop"),
        ("python3.12 /srv/notes.py", "notes"),
        ("node build/index.js", "index"),
        ("docker run -v /a:/b mcp/fetch", "fetch"),
        ("docker run -it --name x -eA=b --mount=type=bind -p 80:80 mcp/fetch:1.2-slim serve", "fetch"),
        ("podman --log-level debug run --rm --network host fetch", "fetch"),
        ("docker run", "docker"),
        ("inventory.py:server", "inventory"),
        ("shop.inventory:server", "shop.inventory"),
        ("docker run -i --rm -e TOKEN=1 ghcr.io/github/github-mcp-server:latest", "github-mcp-server"),
        ("/usr/local/bin/my-server --stdio", "my-server"),
        ("sh -c exec", "sh"),
        ("python", "python"),
        ("./..", "server"),
    ],
)
def test_a_server_that_nobody_named_is_called_after_its_command(command: str, name: str) -> None:
    assert server_name(command.split()) == name


@pytest.mark.parametrize("word", ["../../etc/passwd", "a/b\0c", "é" * 300, "--", "-", ".", "x" * 1000])
def test_a_name_is_short_and_names_no_path(word: str) -> None:
    name = server_name([word])

    assert 0 < len(name) <= 60
    assert not set(name) & set("/\0 ")
    assert not name.startswith(".")


def test_servers_are_told_apart_by_program_arguments_and_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "server").touch(mode=0o755)
    found = set()
    for place, path in (("one", "one"), ("one", "two"), ("two", "two"), ("one", "none")):
        monkeypatch.chdir(tmp_path / place)
        monkeypatch.setenv("PATH", str(tmp_path / path))
        assert server_identity(["server"]) == server_identity(["server"])
        found |= {
            server_identity(["server"]),
            server_identity(["server", "\udcff"]),
            server_identity(["server", ""]),
        }

    assert len(found) == 12
    assert all(re.fullmatch("[0-9a-f]{12}", identity) for identity in found)


# --- the policy --------------------------------------------------------------------------------------------------


def test_every_bound_that_a_person_can_set_reaches_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG", "none")
    settable = load_configuration({}).settings
    same = [bound.name for bound in fields(Policy) if type(getattr(settable, bound.name, None)) in {int, float}]
    numbers = {name: 70 if name == "replays" else 2000 + n for n, name in enumerate(same) if name != "spare"}

    policy = policy_of(load_configuration({**numbers, "kill_grace": 7, "spare": 1}))

    assert {name: getattr(policy, name) for name in numbers} == numbers
    assert (policy.grace, policy.spare) == (7, True)


def test_a_rule_for_a_tool_reaches_the_kernel(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    file = os.path.join(str(tmp_path), "holdfast.toml")
    with open(file, "w") as config:
        config.write('[tools.pay]\neffect = "deduplicated"\nkey = "/arguments/order"\ndeadline = 5\n')
    monkeypatch.setenv("HOLDFAST_CONFIG", file)

    rule = policy_of(load_configuration({})).tools["pay"]

    assert rule.effect is not None
    assert (rule.effect.kind, rule.effect.key) == (EffectKind.DEDUPLICATED, "/arguments/order")
    assert (rule.deadline, rule.replays) == (5, None)


# --- stderr ------------------------------------------------------------------------------------------------------


def test_the_tail_of_a_stream_starts_at_a_line() -> None:
    tail = Tail(limit=10)
    for data in (b"first line\n", b"second\n", b"third\n"):
        tail.add(data)

    assert tail.text() == "third"
    assert Tail().text() == ""


def test_a_short_stream_is_kept_whole_also_when_it_is_no_text() -> None:
    tail = Tail(limit=100)
    tail.add(b"\xff\xfe oh\n")

    assert tail.text() == "\ufffd\ufffd oh"


def test_stderr_is_passed_on_in_order() -> None:
    reader, writer = os.pipe()
    relay = StderrRelay(writer)
    for number in range(100):
        relay.write(b"%d\n" % number)
    relay.close()
    os.close(writer)

    with open(reader, "rb") as pipe:
        assert pipe.read().split() == [b"%d" % number for number in range(100)]


def test_nobody_waits_for_a_stderr_that_nobody_reads() -> None:
    reader, writer = os.pipe()
    relay = StderrRelay(writer)
    for _ in range(64):
        relay.write(b"x" * 65536)  # four times what is kept for later
    relay.close(bound=0.01)

    assert relay.dropped > 0
    assert any(thread.name == "stderr" for thread in threading.enumerate())
    os.close(reader)  # which ends the thread: there is nobody to write to any more


def test_a_stderr_that_is_closed_is_written_to_no_more() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    relay = StderrRelay(writer)
    relay.write(b"lost")
    relay.close()
    relay.write(b"later")

    assert relay.dropped == len(b"lost") + len(b"later")
    os.close(writer)


def test_a_stderr_that_is_full_for_a_moment_is_written_to_again(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, real = threading.Event(), select.select

    def wait(*streams: Any) -> Any:
        waits.set()
        return real(*streams)

    monkeypatch.setattr("select.select", wait)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)  # as somebody else who has the same pipe can make it
    relay = StderrRelay(writer)
    relay.write(b"x" * 200_000)
    relay.write(b"later")
    assert waits.wait(10)
    with open(reader, "rb") as pipe:
        assert pipe.read(200_005) == b"x" * 200_000 + b"later"
    relay.close()
    os.close(writer)

    assert relay.dropped == 0


# --- the input of a worker ---------------------------------------------------------------------------------------


async def open_input(writer: int) -> WorkerInput:
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(writer, "wb", buffering=0))
    return WorkerInput(asyncio.StreamWriter(transport, protocol, None, loop))


def test_what_was_written_in_full_is_not_unsent() -> None:
    async def scene() -> None:
        reader, writer = os.pipe()
        worker = await open_input(writer)
        worker.send(b"one\n", 1)
        worker.send(b"two\n", 2)
        assert os.read(reader, 100) == b"one\ntwo\n"
        os.close(reader)
        worker.close()
        assert worker.unsent == frozenset()

    asyncio.run(scene())


def test_a_full_pipe_holds_back_later_messages_and_they_are_known_to_be_unsent() -> None:
    async def scene() -> None:
        reader, writer = os.pipe()
        worker = await open_input(writer)
        worker.send(b"x" * 200_000, 1)
        worker.send(b"two\n", 2)
        worker.send(b"three\n", 3)
        assert worker.waiting == len(b"two\nthree\n")
        os.close(reader)  # the worker dies with half of the first message
        for _ in range(10):  # turns of the loop, in which it notices
            await asyncio.sleep(0)
        assert worker._transport.is_closing()
        assert worker.unsent == {2, 3}

    asyncio.run(scene())


def test_a_worker_that_reads_again_gets_everything_in_order_and_then_its_end() -> None:
    async def scene() -> bytes:
        reader, writer = os.pipe()
        worker = await open_input(writer)
        messages = [bytes([65 + n]) * 50_000 for n in range(10)]
        for number, message in enumerate(messages, 1):
            worker.send(message, number)
        worker.close()
        pipe = os.fdopen(reader, "rb")
        read = await asyncio.to_thread(pipe.read)
        pipe.close()
        assert read == b"".join(messages)
        assert worker.unsent == frozenset()
        return read

    assert len(asyncio.run(scene())) == 500_000


def test_a_message_to_a_worker_that_is_gone_was_never_sent() -> None:
    async def scene() -> None:
        reader, writer = os.pipe()
        worker = await open_input(writer)
        os.close(reader)
        worker.send(b"one\n", 1)
        worker.send(b"two\n", 2)
        assert worker.unsent == {1, 2}

    asyncio.run(scene())
