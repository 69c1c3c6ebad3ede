"""The token of a forge: read from the environment when it is needed, kept in memory alone, shown to nobody."""

import os
import re

from holdfast.git.access import access_by_token, encoded
from holdfast.launch.http_client import Answer
from holdfast.launch.publishing.refusal import Refusal
from holdfast.observe.redaction import REDACTED

__all__ = ["ForgeToken"]

_SHAPE = re.compile(r"[!-~]{1,1000}")


class ForgeToken:
    """Whoever prints it, or formats it into a message, has a word in its place."""

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self._value = os.environ.get(variable, "").strip()
        if not self._value:
            raise Refusal(
                "FORGE_TOKEN_MISSING", f"there is no token for the forge: {variable} is not set",
                details={"variable": variable}, remedy=f"put a token into the environment variable {variable}",
            )  # fmt: skip
        if not _SHAPE.fullmatch(self._value):
            raise Refusal(
                "FORGE_TOKEN_MISSING", f"what {variable} holds is no token",
                details={"variable": variable}, remedy=f"put the token alone into {variable}, on one line",
            )  # fmt: skip

    def __repr__(self) -> str:
        return f"ForgeToken({self.variable})"

    def header(self, scheme: str) -> dict[str, str]:
        """The header by which a request says who asks."""
        return {"Authorization": f"{scheme} {self._value}"}

    def for_git(self, address: str) -> dict[str, str]:
        """The environment in which git may enter this repository, and no other place."""
        return access_by_token(address, self._value)

    def unseen_in(self, answer: Answer) -> Answer:
        """What the forge answered, without the token: what it repeats of ours ends here."""
        body = answer.body
        for secret in (self._value, encoded(self._value)):
            body = body.replace(secret.encode(), REDACTED.encode())
        return Answer(answer.status, {name: self.hidden(told) for name, told in answer.headers.items()}, body)

    def hidden(self, text: str) -> str:
        """Text that somebody else wrote, without the token."""
        for secret in (self._value, encoded(self._value)):
            text = text.replace(secret, REDACTED)
        return text
