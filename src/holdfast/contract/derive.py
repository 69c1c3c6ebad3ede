"""A tool contract from a typed Python function: what the types and the docstring say, nothing guessed.

Importing this module loads neither pydantic nor a schema engine; the first derivation does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from holdfast.present.continuation import CURSOR_ARGUMENT
from holdfast.present.dialects import Dialect, reserved_payload_keys
from holdfast.present.icons import Icon, checked_icons
from holdfast.present.normalize import Normalization, NormalizationError
from holdfast.present.paging import CURSOR_PROPERTY, Paging, declared_paging, paged_schema
from holdfast.present.policy import ProjectionPolicy, declared_violations, policy_violations, surface_policy
from holdfast.present.projection import Projection, ProjectionBroken
from holdfast.present.render import DetailLevel
from holdfast.vocabulary.effects import Effect, SessionState, at_most_once

__all__ = ["PRESENTATION_ARGUMENTS", "DerivedTool", "Reading", "derive_tool"]

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

Reading = tuple[str | ProjectionPolicy, bool | str | Paging]
_IDENTITY = Normalization()
_RESERVED = {"not": {}, "description": "Reserved; rejected when set."}


@dataclass(frozen=True, slots=True)
class DerivedTool:
    """A function together with its contract and the two crossings of a call.

    `bind` turns arguments that the published schema accepted, after normalization, into keyword arguments
    without the context; it raises `ArgumentsRejected`. `dump` turns what the function returned into the
    payload, plain JSON values; it raises `OutputRejected`. `projection` is what a reader is shown of the payload,
    None for all of it.
    """

    contract: ToolContract
    function: Callable[..., Any]
    is_async: bool
    context_parameter: str | None
    bind: Callable[[dict[str, Any]], dict[str, Any]]
    dump: Callable[[Any], Any]
    projection: Projection | None = None
    state_type: Any = None

    def shown(self, payload: Any, detail: DetailLevel) -> Any:
        """What of a payload is sent in this detail; ProjectionBroken where a rule of the surface forbids it."""
        if self.contract.returns_content:
            return payload
        shown = payload if self.projection is None else self.projection.apply(payload, detail)
        violations = policy_violations(self.contract.policy, shown)
        if violations:
            raise ProjectionBroken(violations)
        return shown


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
    reading: Reading = ("read", False),
    input_schema: Mapping[str, Any] | None = None,
    icons: Sequence[Icon] = (),
    dialect: Dialect = Dialect.STATUS,
    presentation_arguments: bool = False,
    context_types: tuple[type, ...] = (),
) -> DerivedTool:
    """The tool that `function` is, or a `ContractError` that says what to write instead.

    Of `context_types` the first is for tools written with `async def` and the last for those with plain `def`.
    `reading` is what a tool says as `surface` and `pages`.
    """
    tool = _checked_name(function, name, normalization, isolate=isolate)
    signature = read_signature(function, tool, context_types)
    docstring = parse_docstring(function.__doc__)
    given, promised = _given(tool, signature.returns, dialect, reading)
    own = _own_arguments(presentation_arguments and not given.content, promised["paging"])
    extra = _extra_arguments(tool, signature, reserved, own)
    taken = _taken(tool, signature, docstring.parameters, input_schema)
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
        icons=checked_icons(f"tool {tool!r}", icons),
        **promised,
    )
    return _checked(contract, function, signature, taken, given)


def _checked_name(
    function: Callable[..., Any], name: str | None, normalization: Normalization, *, isolate: bool
) -> str:
    """The name of the tool. What would fail in the middle of the derivation is refused; the contract checks the
    rest at its end.
    """
    tool = name if name is not None else str(getattr(function, "__name__", function))
    check_types(str(tool), name=tool, normalization=normalization, isolate=isolate)
    if isolate:
        check_importable(function, tool)
    return tool


def _reading(
    tool: str, surface: str | ProjectionPolicy, pages: bool | str | Paging
) -> tuple[ProjectionPolicy, Paging | None]:
    """How answers are read: the kind of surface with its rules, and whether in pages."""
    try:
        policy = surface if isinstance(surface, ProjectionPolicy) else surface_policy(surface)
        return policy, declared_paging(pages)
    except ContractError as error:
        raise refusal(tool, error.message, error.remedy) from None


def _own_arguments(presentation_arguments: bool, paging: Paging | None) -> dict[str, dict[str, Any]]:
    """The arguments that are not the tool's but the server's."""
    own = dict(PRESENTATION_ARGUMENTS) if presentation_arguments else {}
    return own if paging is None else {**own, CURSOR_ARGUMENT: dict(CURSOR_PROPERTY)}


def _taken(
    tool: str, signature: Signature, described: Mapping[str, str], schema: Mapping[str, Any] | None
) -> InputSide:
    if schema is None:
        return input_side(tool, signature, described)
    return given_input_side(tool, signature, schema)


def _given(tool: str, returns: Any, dialect: Dialect, reading: Reading) -> tuple[OutputSide, dict[str, Any]]:
    """The output with the cursor of its pages in it, and what is promised of how it is read.

    A refusal where a field breaks the rules of the surface.
    """
    policy, paging = _reading(tool, *reading)
    given = output_side(tool, returns, reserved_payload_keys(dialect))
    promised: dict[str, Any] = {"policy": policy, "paging": paging, "content": given.content}
    if given.schema is None:
        if paging is not None:
            raise refusal(tool, "has pages, and returns content", "drop pages=...; content has no rows")
        return given, promised
    for place, rule in declared_violations(policy, given.schema):
        raise refusal(
            tool,
            f"the field {place} of its answer breaks the rule {rule} of its surface",
            "mark it with shown(skip=True), rename it, or allow it: surface_policy(..., allowed_ids=(...))",
        )
    if paging is None:
        return given, promised
    try:
        schema, field = paged_schema(given.schema, paging)
    except ContractError as error:
        raise refusal(tool, error.message, error.remedy) from None
    selector = None if given.projection is None else given.projection.selector_of_rows(field)
    paging = replace(paging, field=field, selector=selector)
    return replace(given, schema=schema), {**promised, "paging": paging}


def _extra_arguments(
    tool: str, signature: Signature, reserved: Sequence[str], own: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The properties that are published beside the parameters of the function."""
    extra = dict(own)
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
    return DerivedTool(
        contract,
        function,
        signature.is_async,
        signature.context_parameter,
        taken.bind,
        given.dump,
        given.projection,
        signature.state_type,
    )
