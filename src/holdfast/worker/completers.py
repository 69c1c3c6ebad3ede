"""Functions that know how an argument may go on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from holdfast.contract.offer import DerivedOffer, OfferContract
from holdfast.contract.refusal import Named, refusal
from holdfast.contract.signature import read_signature

__all__ = ["Completer", "derive_completer"]

_PARAMETERS = frozenset({"value", "given"})


@dataclass(frozen=True, slots=True)
class Completer(DerivedOffer):
    """A completing function; `takes_given` says whether it wants the other arguments too."""

    contract: OfferContract
    takes_given: bool

    def keywords(self, value: str, given: Mapping[str, str]) -> dict[str, Any]:
        """What the function is called with."""
        return {"value": value, "given": dict(given)} if self.takes_given else {"value": value}


def derive_completer(
    function: Callable[..., Any], of: str, argument: str, context_types: tuple[type, ...]
) -> Completer:
    """The completer that `function` is, or a refusal."""
    name = Named(f"{argument} of {of}"[:128], "completion")
    signature = read_signature(function, name, context_types)
    types = {parameter.name: parameter.annotation for parameter in signature.parameters}
    if types.get("value") is not str or not types.keys() <= _PARAMETERS:
        raise refusal(name, "takes other parameters", "write (value: str), or (value: str, given: dict[str, str])")
    if get_origin(signature.returns) not in {list, tuple, Sequence} or str not in get_args(signature.returns):
        raise refusal(name, "does not return texts", "annotate it with list[str]")
    contract = OfferContract(name=name, description=f"Completes {argument} of {of}.")
    return Completer(
        function,
        signature.is_async,
        signature.context_parameter,
        signature.state_type,
        contract,
        "given" in types,
    )
