"""Resources: what can be read under an address, or under every address that fits a template.

What the function returns decides what is sent: text, bytes, `ResourceContents` that say more, or any typed value,
which is sent as JSON.
"""

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from holdfast.contract.binding import OutputRejected
from holdfast.contract.offer import DerivedOffer, OfferContract, OfferWords, promised_words, read_offer
from holdfast.contract.refusal import Named, refusal
from holdfast.contract.schemas import output_side
from holdfast.contract.text_arguments import TextArgument, TextSide, text_side
from holdfast.contract.uri_template import UriTemplate, check_scheme, is_template, parse_template
from holdfast.errors import ContractError
from holdfast.present.compact import compact_json
from holdfast.present.content import Annotations, ResourceContents
from holdfast.present.secrets import secret_places

__all__ = ["DerivedResource", "ResourceContract", "derive_resource"]

JSON_TYPE = "application/json"
_RAW = (str, bytes, ResourceContents)


@dataclass(frozen=True, kw_only=True)
class ResourceContract(OfferContract):
    """Everything that one resource promises. `ttl` is how many seconds a client may keep what it has read."""

    uri: str
    template: UriTemplate | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    subscribable: bool = False
    ttl: float = 0.0
    cache_scope: str = "private"
    arguments: tuple[TextArgument, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cache_scope not in {"private", "public"}:
            raise refusal(self.name, f"cache_scope is {self.cache_scope!r}", "use private or public")
        if type(self.ttl) not in {int, float} or not 0 <= self.ttl <= 10**9:
            raise refusal(self.name, f"ttl is {self.ttl!r}", "use seconds; 0 where every read may differ")
        if self.size is not None and (type(self.size) is not int or self.size < 0):
            raise refusal(self.name, f"size is {self.size!r}", "use the number of bytes, or leave it out")
        if self.size is not None and self.template is not None:
            raise refusal(self.name, "has a size and a template", "leave out the size")
        if self.mime_type is not None and "/" not in str(self.mime_type):
            raise refusal(self.name, f"mime_type is {self.mime_type!r}", 'write one such as "text/markdown"')

    def definition(self) -> dict[str, Any]:
        """The resource or template as it is listed, with the fields of every revision."""
        key = "uri" if self.template is None else "uriTemplate"
        told: dict[str, Any] = {key: self.uri, "name": str(self.name), **self.words()}
        if self.mime_type is not None:
            told["mimeType"] = self.mime_type
        if self.size is not None:
            told["size"] = self.size
        if self.annotations is not None:
            told["annotations"] = self.annotations.to_wire()
        return told


@dataclass(frozen=True, slots=True)
class DerivedResource(DerivedOffer):
    """A function together with the contract of its resource; `bind` takes the values in an address."""

    contract: ResourceContract
    bind: Callable[[Mapping[str, str]], dict[str, Any]]
    dump_value: Callable[[Any], Any] | None

    def dump(self, value: Any, uri: str) -> list[dict[str, Any]]:
        """What the function returned, as contents of the address that was read."""
        kind = self.contract.mime_type
        if self.dump_value is not None:
            text = compact_json(self.dump_value(value))
            return [ResourceContents(text, kind or JSON_TYPE).to_wire(uri)]
        pieces = value if isinstance(value, (list, tuple)) else (value,)
        if not all(isinstance(piece, _RAW) for piece in pieces):
            names = ", ".join(sorted({type(piece).__name__ for piece in pieces}))
            raise OutputRejected([f"a resource that is declared to return text or bytes returned {names}"])
        parts = [piece if isinstance(piece, ResourceContents) else ResourceContents(piece) for piece in pieces]
        return [part.to_wire(uri, kind) for part in parts]


def derive_resource(
    function: Callable[..., Any],
    uri: str,
    *,
    mime_type: str | None = None,
    size: int | None = None,
    annotations: Annotations | None = None,
    subscribable: bool = False,
    ttl: float = 0.0,
    cache_scope: str = "private",
    context_types: tuple[type, ...] = (),
    **words: Unpack[OfferWords],
) -> DerivedResource:
    """The resource that `function` reads, or a `ContractError` that says what to write instead."""
    offer, signature, docstring = read_offer(function, words, "resource", context_types)
    template = _template(offer, uri)
    taken = text_side(offer, signature, docstring.parameters)
    _check_values(offer, template, taken)
    dump = None if _is_raw(signature.returns) else _value_dumper(offer, signature.returns)
    contract = ResourceContract(
        uri=uri,
        template=template,
        mime_type=mime_type if mime_type is not None or dump is None else JSON_TYPE,
        size=size,
        annotations=annotations,
        subscribable=subscribable,
        ttl=ttl,
        cache_scope=cache_scope,
        arguments=taken.arguments,
        **promised_words(offer, words, docstring),
    )
    return DerivedResource(
        function, signature.is_async, signature.context_parameter, signature.state_type, contract, taken.bind, dump
    )


def _value_dumper(offer: Named, returns: Any) -> Callable[[Any], Any]:
    given = output_side(offer, returns, frozenset())
    if given.content:
        raise refusal(offer, "returns content, which is for tools and prompts", "return bytes, and set mime_type")
    return given.dump


def _template(offer: Named, uri: str) -> UriTemplate | None:
    try:
        if not is_template(str(uri)):
            check_scheme(uri)
            return None
        return parse_template(uri)
    except ContractError as error:
        raise refusal(offer, error.message, error.remedy) from None


def _check_values(offer: Named, template: UriTemplate | None, taken: TextSide) -> None:
    """Each value of the template is a parameter, and each parameter is a value of the template."""
    names = () if template is None else template.names
    parameters = {argument.name: argument for argument in taken.arguments}
    for name in parameters.keys() - set(names):
        raise refusal(offer, "is no value of its address", f"write {{{name}}} into the address", parameter=name)
    for name in names:
        if name not in parameters:
            raise refusal(offer, f"the value {{{name}}} of its address is no parameter", f"add `{name}: str`")
        if template is not None and name in template.optional and parameters[name].required:
            raise refusal(offer, "may be missing in an address", "give it a default", parameter=name)
        if secret_places({"properties": {name: parameters[name].schema}}):
            raise refusal(
                offer,
                "is a secret, and addresses are told and logged",
                "make it an argument of a tool",
                parameter=name,
            )


def _is_raw(annotation: Any) -> bool:
    """Whether a type is text, bytes, contents, a union of these, or a list of contents."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None:
        return isinstance(annotation, type) and issubclass(annotation, _RAW)
    if origin in {list, tuple, Sequence}:
        return bool(inner) and all(one is Ellipsis or one is ResourceContents for one in inner)
    is_union = not isinstance(origin, type) or origin.__name__ == "UnionType"
    return is_union and bool(inner) and all(_is_raw(one) for one in inner)
