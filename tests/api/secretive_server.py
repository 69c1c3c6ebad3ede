"""A server whose tools take secrets, and treat them badly."""

import os
import sys
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from holdfast import Server, ToolError, effect
from holdfast.present.marks import secret

server = Server("vault", version="1.0.0")


class Login(BaseModel):
    """Who opens it."""

    user: str
    password: Annotated[str, secret(), Field(max_length=40)]


@dataclass
class Opened:
    """What came of it."""

    said: str


class Code(BaseModel):
    """What a secret is not."""

    code: int


@dataclass
class Counted:
    """A number."""

    value: int


@server.tool(errors=["NOT_FOUND"])
async def refuse(password: Annotated[str, secret()]) -> Opened:
    """Fail with the secret in every word."""
    raise ToolError("NOT_FOUND", f"nothing opens with {password}", details={"tried": [password]}, hint=password)


@server.tool()
async def stumble(password: Annotated[str, secret()]) -> Opened:
    """Fail in a way that nobody declared."""
    raise ValueError(f"cannot parse {password!r}")


@server.tool(isolate=True)
async def stumble_apart(password: Annotated[str, secret()]) -> Opened:
    """The same in a process of its own."""
    raise ValueError(f"cannot parse {password!r}")


@server.tool()
async def stumble_in_pair(pair: tuple[Annotated[str, secret()], int]) -> Opened:
    """Fail with a secret that is a part of something."""
    raise ValueError(f"cannot parse {pair!r}")


@server.tool()
async def stumble_elsewhere(password: Annotated[str, secret()]) -> Opened:
    """Fail in words of others, who quote the secret in part."""
    return Opened(str(Code.model_validate({"code": password}).code))


@server.tool()
async def collapse(password: Annotated[str, secret()]) -> Opened:
    """Take the whole server along, with the secret as the last words."""
    print(f"collapsed over {password}", file=sys.stderr, flush=True)
    os._exit(3)


@server.prompt()
async def advise(password: Annotated[str, secret()], times: int = 1) -> str:
    """Fail with the secret of a prompt."""
    raise ValueError(f"cannot parse {password * times!r}")


@server.tool(effect=effect.deduplicated("/arguments/key"))
async def count(key: str, pin: Annotated[int, secret()]) -> Counted:
    """Return a secret that is a number, once per key."""
    return Counted(pin)


@server.tool(effect=effect.deduplicated("/arguments/key"))
async def repeat(key: str, login: Login) -> Opened:
    """Return the secret, once per key."""
    return Opened(f"{login.user}: {login.password}")


@server.tool(effect=effect.deduplicated("/arguments/password"))
async def repeat_by_secret(password: Annotated[str, secret()]) -> Opened:
    """Take effect once per secret."""
    return Opened(str(len(password)))


@server.tool(effect=effect.replay_safe())
async def read(path: Annotated[str, secret()]) -> Opened:
    """Take a secret under the name of a path, which is counted elsewhere."""
    return Opened(str(len(path)))
