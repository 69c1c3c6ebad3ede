"""The `requestState` of a call that asked for input: what was answered so far, sealed, and kept by the client.

A call of the 2026-07-28 era is repeated with the answers to its questions, perhaps to another worker, perhaps
after a restart; nobody on this side remembers it. What earlier rounds have brought goes along in a text that the
client cannot change: it is signed with a key of this installation, belongs to one server, method, name, arguments
and client, and is of no use after a while. It is signed, not encrypted: it holds the client's own answers only.
"""

import base64
import binascii
import contextlib
import hashlib
import hmac
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError, WireError
from holdfast.wire.codec import decode, encode

__all__ = ["KEY_FILE", "Sealer", "StateRefusedError", "Subject"]

KEY_FILE = "request-state.key"
_KEY_BYTES = 32
_FORM = b"holdfast request state 1"
_NOT_OURS = "requestState was not given by this server, or was changed; call again without it"


class StateRefusedError(HoldfastError):
    """A `requestState` that cannot be gone on from; the message says why."""


class Subject(NamedTuple):
    """What a state belongs to: the method, what is called by it, with which arguments, and by whom."""

    method: str
    name: str
    arguments: str
    principal: str = ""

    @classmethod
    def of(cls, method: str, params: Mapping[str, Any], principal: object = None) -> "Subject":
        """The subject of a request with these parameters."""
        name = params.get("name", params.get("uri"))
        return cls(method, str(name), _digest(params.get("arguments") or {}), _digest(principal or ""))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Sealer:
    """Seals and opens the states of one server; its key is made when it is first needed."""

    def __init__(
        self, directory: Path, server: str, seconds: float, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._directory = directory
        self._server = server
        self._seconds = seconds
        self._clock = clock
        self._key: bytes | None = None

    def seal(self, subject: Subject, answers: Mapping[str, Any]) -> str:
        """The state that holds these answers."""
        until = round(self._clock() + self._seconds, 3)
        # With something that nobody repeats in it, no two rounds have the same state.
        body = encode(
            {"of": list(subject), "until": until, "answers": dict(answers), "once": secrets.token_hex(8)}
        )
        return f"{_text(body)}.{_text(self._signature(body))}"

    def open(self, state: str, subject: Subject) -> dict[str, Any]:
        """The answers in a state; StateRefusedError unless it is one of ours, for this subject, and in time."""
        body, signature = _parts(state)
        if not hmac.compare_digest(self._signature(body), signature):
            raise StateRefusedError(_NOT_OURS)
        try:
            held = decode(body)
        except WireError as error:  # signed by us, so by another version of us
            raise StateRefusedError(_NOT_OURS) from error
        if held["of"] != list(subject):
            raise StateRefusedError("requestState belongs to another call: repeat the same one that was answered")
        if self._clock() > held["until"]:
            raise StateRefusedError("requestState has expired; call again without it")
        answers: dict[str, Any] = held["answers"]
        return answers

    def _signature(self, body: bytes) -> bytes:
        if self._key is None:
            self._key = _key_of(self._directory)
        return hmac.digest(self._key, b"\0".join((_FORM, self._server.encode(), body)), "sha256")


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _parts(state: str) -> tuple[bytes, bytes]:
    body, _, signature = state.partition(".")
    try:
        return _bytes(body), _bytes(signature)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise StateRefusedError(_NOT_OURS) from error


def _bytes(text: str) -> bytes:
    raw = text.encode("ascii")
    decoded = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
    if _text(decoded) != text:  # the last letter has bits that mean nothing, and so a second way to be written
        raise binascii.Error
    return decoded


# --- the key -----------------------------------------------------------------------------------------------------


def _key_of(directory: Path) -> bytes:
    """The key of this installation, made if there is none that only we can read.

    Where it cannot be kept, there is one for this process alone: states then end with it.
    """
    file = directory / KEY_FILE
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _kept_key(file) or _new_key(file)
    except OSError:
        return secrets.token_bytes(_KEY_BYTES)


def _kept_key(file: Path) -> bytes | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        about = os.fstat(descriptor)
        key = opened.read(_KEY_BYTES + 1) if stat.S_ISREG(about.st_mode) else b""
    # What others could have read is no secret, and half a key is none.
    is_private = not about.st_mode & 0o077
    return key if len(key) == _KEY_BYTES and is_private else None


def _new_key(file: Path) -> bytes:
    """Put a new key in its place in one step; of several workers that do so at once, one wins."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(secrets.token_bytes(_KEY_BYTES))
        opened.flush()
        os.fsync(opened.fileno())
    try:
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
        if _kept_key(file) is None:  # there was something, and it is of no use
            draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    key = _kept_key(file)
    if key is None:
        raise OSError(f"{file} cannot be kept private")
    return key
