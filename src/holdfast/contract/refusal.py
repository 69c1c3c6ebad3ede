"""How a declaration is refused: one sentence that names the tool and what is wrong, one that says what to write.

Refusals are made here so that all of them read alike; deciding whether to refuse is not the business of this
module.
"""

from holdfast.errors import ContractError

__all__ = ["refusal"]


def refusal(tool: str, what: str, remedy: str, *, parameter: str | None = None) -> ContractError:
    """The error to raise for `tool`, and for one of its parameters where the fault lies in one."""
    place = f"tool {tool!r}" if parameter is None else f"tool {tool!r}, parameter {parameter!r}"
    return ContractError(f"{place}: {what}", remedy=remedy)
