"""A tool contract from a typed Python function: what the types and the docstring say, nothing guessed.

Importing this module loads neither pydantic nor a schema engine; the first derivation does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.contract.binding import ArgumentsRejected
from holdfast.contract.check import check_contract
from holdfast.contract.docstring import parse_docstring
from holdfast.contract.model import (
    Deprecation,
    ErrorSpec,
    ToolContract,
    check_types,
    error_specs,
    example_list,
    name_list,
)
from holdfast.contract.refusal import refusal
from holdfast.contract.schemas import InputSide, OutputSide, given_input_side, input_side, output_side
from holdfast.contract.signature import Signature, check_importable, read_signature
from holdfast.errors import ContractError
from holdfast.present.dialects import Dialect, reserved_payload_keys
from holdfast.present.normalize import Normalization, NormalizationError
from holdfast.vocabulary.effects import Effect, SessionState, at_most_once

__all__ = ["PRESENTATION_ARGUMENTS", "DerivedTool", "derive_tool"]

PRESENTATION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "render": {
        "type": "string",
        "enum": ["porcelain", "json"],
        "description": "Form of the text of the answer: lines for a reader, or JSON.",
    },
    "detail": {
        "type": "string",
        "enum": ["concise", "full"],
        "description": "How much of the answer to show.",
    },
}

_IDENTITY = Normalization()
_RESERVED = {"not": {}, "description": "Reserved; rejected when set."}


@dataclass(frozen=True, slots=True)
class DerivedTool:
    """A function together with its contract and the two crossings of a call.

    `bind` turns arguments that the published schema accepted, after normalization, into keyword arguments
    without the context; it raises `ArgumentsRejected`. `dump` turns what the function returned into the
    payload, plain JSON values; it raises `OutputRejected`.
    """

    contract: ToolContract
    function: Callable[..., Any]
    is_async: bool
    context_parameter: str | None
    bind: Callable[[dict[str, Any]], dict[str, Any]]
    dump: Callable[[Any], Any]


def derive_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    version: str = "1.0.0",
    schema_version: int = 1,
    effect: Effect | None = None,
    session_state: SessionState = SessionState.STATELESS,
    timeout: float | None = None,
    errors: Iterable[str | ErrorSpec] = (),
    security: str = "",
    examples: Sequence[Mapping[str, Any]] = (),
    output_example: Any = None,
    deprecated: Deprecation | None = None,
    aliases: Sequence[str] = (),
    normalization: Normalization = _IDENTITY,
    reserved: Sequence[str] = (),
    read_only: bool = False,
    isolate: bool = False,
    input_schema: Mapping[str, Any] | None = None,
    dialect: Dialect = Dialect.STATUS,
    presentation_arguments: bool = False,
    context_types: tuple[type, ...] = (),
) -> DerivedTool:
    """The tool that `function` is, or a `ContractError` that says what to write instead.

    Of `context_types` the first is for tools written with `async def` and the last for those with plain `def`.
    """
    tool = name if name is not None else str(getattr(function, "__name__", function))
    _check_first(function, tool, normalization, isolate=isolate)
    signature = read_signature(function, tool, context_types)
    docstring = parse_docstring(function.__doc__)
    extra = _extra_arguments(tool, signature, reserved, presentation_arguments=presentation_arguments)
    if input_schema is None:
        taken = input_side(tool, signature, docstring.parameters)
    else:
        taken = given_input_side(tool, signature, input_schema)
    given = output_side(tool, signature.returns, reserved_payload_keys(dialect))
    contract = ToolContract(
        name=tool,
        title=title,
        description=description if description is not None else docstring.description,
        input_schema=_published(tool, taken.schema, normalization, extra),
        output_schema=given.schema,
        output_example=output_example,
        errors=error_specs(tool, errors),
        effect=effect if effect is not None else at_most_once(),
        session_state=session_state,
        timeout=timeout,
        version=version,
        schema_version=schema_version,
        examples=example_list(tool, examples),
        security=security,
        deprecated=deprecated,
        aliases=name_list(tool, "aliases", aliases),
        normalization=normalization,
        reserved=name_list(tool, "reserved", reserved),
        read_only=read_only,
        isolate=isolate,
    )
    return _checked(contract, function, signature, taken, given)


def _check_first(function: Callable[..., Any], tool: str, normalization: Normalization, *, isolate: bool) -> None:
    """Refuse what would fail in the middle of the derivation; the contract checks everything else at its end."""
    check_types(str(tool), name=tool, normalization=normalization, isolate=isolate)
    if isolate:
        check_importable(function, tool)


def _extra_arguments(
    tool: str, signature: Signature, reserved: Sequence[str], *, presentation_arguments: bool
) -> dict[str, dict[str, Any]]:
    """The properties that are published beside the parameters of the function."""
    extra = dict(PRESENTATION_ARGUMENTS) if presentation_arguments else {}
    parameters = {parameter.name for parameter in signature.parameters}
    for name in sorted(parameters.intersection(extra)):
        raise refusal(
            tool, "the server gives this name to every tool", "choose another name for it", parameter=name
        )
    for name in name_list(tool, "reserved", reserved):
        if name in parameters or name in extra:
            raise refusal(
                tool, "is reserved and in use", "remove it from reserved=(...), or rename it", parameter=name
            )
        extra[name] = dict(_RESERVED)
    return extra


def _published(
    tool: str, schema: dict[str, Any], normalization: Normalization, extra: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """The schema with what normalization also accepts and with the extra properties."""
    try:
        widened = normalization.widen(schema)
    except ContractError as error:
        raise refusal(tool, f"normalization: {error.message}", error.remedy) from None
    for name in extra:
        if name in widened["properties"]:
            raise refusal(tool, "is another name of a parameter and in use", "choose another", parameter=name)
    return {**widened, "properties": {**widened["properties"], **extra}}


def _checked(
    contract: ToolContract, function: Callable[..., Any], signature: Signature, taken: InputSide, given: OutputSide
) -> DerivedTool:
    check_contract(contract)
    for number, example in enumerate(contract.examples, 1):
        try:
            taken.bind(contract.normalization.apply(example))
        except (ArgumentsRejected, NormalizationError) as error:
            raise refusal(
                contract.name,
                f"example {number} is refused by the types of the function: {error}",
                "correct the example; it must be a call that works",
            ) from None
    context = signature.context_parameter
    return DerivedTool(contract, function, signature.is_async, context, taken.bind, given.dump)
