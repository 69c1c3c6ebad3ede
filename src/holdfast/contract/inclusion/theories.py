"""Which module decides the statements on values of which kind."""

from typing import Any

from holdfast.contract.inclusion.arrays import decide_array
from holdfast.contract.inclusion.nodes import Values
from holdfast.contract.inclusion.numbers import decide_number
from holdfast.contract.inclusion.objects import decide_object
from holdfast.contract.inclusion.solver import EMPTY, Answer, Found, Literal, Solver, Theory
from holdfast.contract.inclusion.strings import decide_string
from holdfast.contract.inclusion.values import key_of

__all__ = ["THEORIES"]


def _one_of(values: tuple[Any, ...]) -> Theory:
    def decide(_: Solver, literals: list[Literal]) -> Answer:
        excluded = {key for node, sign in literals if not sign and isinstance(node, Values) for key in node.keys}
        for value in values:
            if key_of(value) not in excluded:
                return Found(value)
        return EMPTY

    return decide


THEORIES: dict[str, Theory] = {
    "null": _one_of((None,)),
    "boolean": _one_of((True, False)),
    "number": decide_number,
    "string": decide_string,
    "array": decide_array,
    "object": decide_object,
}
