"""What prompts and resources have in common: words, errors, a time limit, icons; and a function behind them.

Tools promise more than this and have a model of their own.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

from holdfast.contract.docstring import Docstring, parse_docstring
from holdfast.contract.model import ErrorSpec, error_specs
from holdfast.contract.refusal import Named, refusal
from holdfast.contract.signature import Signature, read_signature
from holdfast.errors import ContractError
from holdfast.present.icons import Icon, checked_icons, icons_to_wire

__all__ = ["DerivedOffer", "OfferContract", "OfferWords", "promised_words", "read_offer"]

_ARGUMENT_CODES = frozenset({"INVALID_REQUEST", "INVALID_INPUT", "NOT_FOUND"})


class OfferWords(TypedDict, total=False):
    """What is said about a prompt or a resource where it is declared."""

    name: str | None
    title: str | None
    description: str | None
    errors: Iterable[str | ErrorSpec]
    timeout: float | None
    icons: Sequence[Icon]


@dataclass(frozen=True, kw_only=True)
class OfferContract:
    """What is promised about one prompt or resource. `timeout` is in seconds; None is the server's default."""

    name: str
    description: str
    title: str | None = None
    errors: tuple[ErrorSpec, ...] = ()
    timeout: float | None = None
    icons: tuple[Icon, ...] = ()

    def __post_init__(self) -> None:
        _check_words(self)
        object.__setattr__(self, "errors", error_specs(self.name, self.errors))
        try:
            object.__setattr__(self, "icons", checked_icons(self.name, self.icons))
        except ContractError as error:
            raise refusal(self.name, error.message, error.remedy) from None
        timeout = self.timeout
        if timeout is not None and (
            type(timeout) not in {int, float} or not math.isfinite(timeout) or timeout < 0
        ):
            raise refusal(
                self.name, f"timeout is {timeout!r}", "use seconds; 0 for no limit, None for the server's default"
            )

    @cached_property
    def allowed_codes(self) -> frozenset[str]:
        """The codes that the function may raise: those declared, and those about what was asked for."""
        return _ARGUMENT_CODES | {spec.code for spec in self.errors}

    def words(self) -> dict[str, Any]:
        """Title, description and icons, as they are published."""
        titled = {} if self.title is None else {"title": self.title}
        return {**titled, "description": self.description, **icons_to_wire(self.icons)}


def _check_words(offer: OfferContract) -> None:
    if not offer.name.strip() or not offer.name.isprintable():
        raise refusal(Named(str(offer.name), "offer"), "has no name", "write a word as name=...")
    if len(offer.name) > 128:
        raise refusal(offer.name, "has a name of more than 128 characters", "write a shorter one as name=...")
    for option in ("description", "title"):
        value = getattr(offer, option)
        if not isinstance(value, str | None):
            raise refusal(offer.name, f"{option} is {value!r:.80}", "write a few words")
    if not offer.description.strip():
        raise refusal(offer.name, "has no description", "write a docstring or pass description=...")
    if offer.title is not None and not offer.title.strip():
        raise refusal(offer.name, "title is empty", "leave it out or write a few words")


@dataclass(frozen=True, slots=True)
class DerivedOffer:
    """The function behind a prompt or a resource, and how it wants to be called."""

    function: Callable[..., Any]
    is_async: bool
    context_parameter: str | None
    state_type: Any


def promised_words(offer: Named, words: OfferWords, docstring: Docstring) -> dict[str, Any]:
    """The part of a contract that is words: what was said, and what the docstring says where nothing was."""
    described = words.get("description")
    icons = words.get("icons", ())
    return {
        "name": offer,
        "title": words.get("title"),
        "description": docstring.description if described is None else described,
        "errors": error_specs(offer, words.get("errors", ())),
        "timeout": words.get("timeout"),
        "icons": tuple(icons) if isinstance(icons, list) else icons,
    }


def read_offer(
    function: Callable[..., Any], words: OfferWords, kind: str, context_types: tuple[type, ...]
) -> tuple[Named, Signature, Docstring]:
    """The name under which something is offered, and what Python and the docstring say about its function."""
    name: object = words.get("name")
    if name is not None and not isinstance(name, str):
        raise refusal(Named(str(name), kind), f"its name is {name!r:.80}", "write a word as name=...")
    offer = Named(name if name is not None else str(getattr(function, "__name__", function)), kind)
    return offer, read_signature(function, offer, context_types), parse_docstring(function.__doc__)
