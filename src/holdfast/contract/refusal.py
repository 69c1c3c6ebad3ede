"""How a declaration is refused: one sentence that names the tool and what is wrong, one that says what to write.

Refusals are made here so that all of them read alike; deciding whether to refuse is not the business of this
module.
"""

from typing import Self

from holdfast.errors import ContractError

__all__ = ["Named", "refusal"]


class Named(str):  # noqa: SLOT000 - it is there to carry one more word
    """A name that knows what it names: a prompt, a resource. Any other name is a tool's."""

    kind: str

    def __new__(cls, name: str, kind: str) -> Self:
        """The name, with its kind."""
        made = super().__new__(cls, name)
        made.kind = kind
        return made


def refusal(tool: str, what: str, remedy: str, *, parameter: str | None = None) -> ContractError:
    """The error to raise for `tool`, and for one of its parameters where the fault lies in one."""
    kind = tool.kind if isinstance(tool, Named) else "tool"
    place = f"{kind} {tool!r}" if parameter is None else f"{kind} {tool!r}, parameter {parameter!r}"
    return ContractError(f"{place}: {what}", remedy=remedy)
