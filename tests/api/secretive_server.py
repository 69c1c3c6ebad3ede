"""A server whose tools take secrets, and treat them badly."""

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
