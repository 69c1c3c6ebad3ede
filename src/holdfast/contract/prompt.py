"""Prompts: texts for a model that a person asks for by name, made by a typed function."""

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from holdfast.contract.binding import OutputRejected
from holdfast.contract.offer import DerivedOffer, OfferContract, OfferWords, promised_words, read_offer
from holdfast.contract.refusal import refusal
from holdfast.contract.text_arguments import TextArgument, text_side
from holdfast.present.content import CONTENT_TYPES, Message
from holdfast.present.secrets import Place, secret_places

__all__ = ["DerivedPrompt", "PromptContract", "derive_prompt"]

_PIECES = (str, Message, *CONTENT_TYPES)
_LISTS = (list, tuple, Sequence)


@dataclass(frozen=True, kw_only=True)
class PromptContract(OfferContract):
    """Everything that one prompt promises."""

    arguments: tuple[TextArgument, ...] = ()

    def definition(self) -> dict[str, Any]:
        """The prompt as it is listed, with the fields of every revision."""
        told: dict[str, Any] = {"name": str(self.name), **self.words()}
        if self.arguments:
            told["arguments"] = [_argument(argument) for argument in self.arguments]
        return told


def _argument(argument: TextArgument) -> dict[str, Any]:
    described = {"description": argument.description} if argument.description else {}
    return {"name": argument.name, **described, "required": argument.required}


@dataclass(frozen=True, slots=True)
class DerivedPrompt(DerivedOffer):
    """A function together with the contract of its prompt; `bind` takes texts, `dump` gives messages."""

    contract: PromptContract
    bind: Callable[[Mapping[str, str]], dict[str, Any]]

    @property
    def secrets(self) -> tuple[Place, ...]:
        """The arguments that are secrets."""
        return secret_places({"properties": {one.name: one.schema for one in self.contract.arguments}})

    def dump(self, value: Any) -> list[dict[str, Any]]:
        """The messages that the function returned, as they are sent; OutputRejected for anything else."""
        pieces = value if isinstance(value, (list, tuple)) else (value,)
        messages = []
        for piece in pieces:
            if not isinstance(piece, _PIECES):
                raise OutputRejected([f"a prompt returns text, content or messages, not {type(piece).__name__}"])
            messages.append((piece if isinstance(piece, Message) else Message("user", piece)).to_wire())
        return messages


def derive_prompt(
    function: Callable[..., Any],
    *,
    context_types: tuple[type, ...] = (),
    **words: Unpack[OfferWords],
) -> DerivedPrompt:
    """The prompt that `function` makes, or a `ContractError` that says what to write instead."""
    offer, signature, docstring = read_offer(function, words, "prompt", context_types)
    if not _is_pieces(signature.returns):
        raise refusal(
            offer,
            "does not return messages",
            "annotate it with str, Message, list[Message], or content such as Image",
        )
    taken = text_side(offer, signature, docstring.parameters)
    contract = PromptContract(**promised_words(offer, words, docstring), arguments=taken.arguments)
    return DerivedPrompt(
        function, signature.is_async, signature.context_parameter, signature.state_type, contract, taken.bind
    )


def _is_pieces(annotation: Any) -> bool:
    """Whether a type is text, a message, content, a union of these, or a list of them."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None:
        return isinstance(annotation, type) and issubclass(annotation, _PIECES)
    if origin in _LISTS or not isinstance(origin, type) or origin.__name__ == "UnionType":
        return bool(inner) and all(one is Ellipsis or _is_pieces(one) for one in inner)
    return False
