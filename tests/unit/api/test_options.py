"""The line that a front is started with: what it may say, and what is refused."""

import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.api.callers import Token, digest_of_token
from holdfast.api.options import FrontOptions, MountedRepository, parse_options, read_options_line
from holdfast.errors import UsageError

LEAST: dict[str, Any] = {"schemaVersion": "1.0.0", "repositories": [{"alias": "a", "root": "/"}]}


def parsed(**more: Any) -> FrontOptions:
    return parse_options(json.dumps({**LEAST, **more}).encode())


DIGEST = digest_of_token("t")
TOKEN = {"name": "ci", "digest": DIGEST, "tools": ["search", "index_*"]}


def test_the_least_is_a_version() -> None:
    options = parsed()

    assert options.repositories == (MountedRepository("a", "/"),)
    assert (options.tokens, options.max_body_bytes, options.show_paths) == ((), 1_000_000, False)
    assert parse_options(b'{"schemaVersion":"1"}').repositories == ()


def test_every_option_has_a_name_in_camel_case() -> None:
    options = parsed(
        tokens=[TOKEN],
        pinned=True,
        clientConcurrency=1,
        clientRate=0,
        clientSessions=2,
        clientStreams=3,
        maxSessions=4,
        sessionIdle=0.5,
        allowedHosts=["h"],
        corsOrigins=["o"],
        maxBodyBytes=9,
        timeout=1,
        bodyTimeout=2.5,
        headerTimeout=3,
        writeTimeout=4,
        idleTimeout=5,
        keepAlive=6,
        concurrency=7,
        maxConnections=8,
        drain=0.5,
        showPaths=True,
    )

    assert options.tokens == (Token("ci", DIGEST, ("search", "index_*")),)
    assert (options.allowed_hosts, options.cors_origins, options.client_sessions) == (("h",), ("o",), 2)
    assert (options.body_timeout, options.max_connections, options.show_paths) == (2.5, 8, True)


@each_row(
    "wrong",
    [
        {"tokens": ["t"]},
        {"tokens": [{"name": "ci"}]},
        {"tokens": [{"name": "", "digest": DIGEST}]},
        {"tokens": [{"name": "ci", "digest": "t"}]},
        {"tokens": [{**TOKEN, "tools": "search"}]},
        {"tokens": [{**TOKEN, "more": 1}]},
        {"tokens": [TOKEN, TOKEN]},
        {"clientSessions": 0},
        {"clientRate": -1},
        {"pinned": "yes"},
        {"allowedHosts": "h"},
        {"allowedHosts": [""]},
        {"corsOrigins": [1]},
        {"maxBodyBytes": 1.5},
        {"maxBodyBytes": 0},
        {"timeout": -1},
        {"timeout": True},
        {"showPaths": 1},
        {"schemaVersion": ""},
        {"repositories": [{"alias": "a"}]},
        {"repositories": [{"alias": "a", "root": "relative"}]},
        {"repositories": [{"alias": "a/b", "root": "/"}]},
        {"repositories": [{"alias": "", "root": "/"}]},
        {"repositories": [{"alias": "a", "root": "/\0"}]},
        {"repositories": [{"alias": "a", "root": "/"}, {"alias": "a", "root": "/tmp"}]},
        {"unknown": 1},
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        parsed(**wrong)


def test_a_refusal_and_a_printed_options_object_never_show_the_token() -> None:
    with pytest.raises(UsageError) as refused:
        parsed(tokens=[{**TOKEN, "digest": "hunter2"}])

    assert "hunter2" not in str(refused.value)
    assert DIGEST not in repr(parsed(tokens=[TOKEN]))


@given(st.binary(max_size=200))
def test_bytes_that_nobody_meant_are_refused(line: bytes) -> None:
    with pytest.raises(UsageError, match="options of the HTTP front"):
        parse_options(line)


def test_what_follows_the_line_is_left_for_the_protocol() -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"a": 1}\n{"jsonrpc"')
    os.close(writer)

    assert read_options_line(reader) == b'{"a": 1}'
    assert os.read(reader, 100) == b'{"jsonrpc"'
    os.close(reader)
