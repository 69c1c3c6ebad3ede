"""What Python says about a function that is to become a tool: parameters, their types, what it returns.

Only the shape is judged here: a tool is called with named JSON arguments, so whatever cannot be given by name,
or has no type, is refused. Whether a type has a JSON form is decided where its schema is made.
"""

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.contract.refusal import refusal

__all__ = ["NO_DEFAULT", "Parameter", "Signature", "check_importable", "read_signature"]

NO_DEFAULT: Any = inspect.Parameter.empty

_CONTEXT_NAMES = ("ctx", "context")
_BY_POSITION = {
    inspect.Parameter.POSITIONAL_ONLY: ("is positional-only", "remove the `/` from the signature"),
    inspect.Parameter.VAR_POSITIONAL: ("takes any number of values", "declare one parameter of type list[...]"),
    inspect.Parameter.VAR_KEYWORD: ("takes any keyword", "declare each parameter by name"),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of the tool."""

    name: str
    annotation: Any
    default: Any = NO_DEFAULT


@dataclass(frozen=True, slots=True)
class Signature:
    """The typed shape of a tool function; the context parameter is not among `parameters`.

    `state_type` is what the context is said to hold, as in `Context[Library]`; None where nothing is said.
    """

    parameters: tuple[Parameter, ...]
    context_parameter: str | None
    returns: Any
    is_async: bool
    state_type: Any = None


def read_signature(function: Callable[..., Any], tool: str, context_types: tuple[type, ...] = ()) -> Signature:
    """The signature of `function` with every annotation resolved, or a refusal.

    Of `context_types` the first is for `async def` functions and the last for plain ones.
    """
    _check_kind(function, tool)
    hints = _resolved_hints(function, tool)
    parameters: list[Parameter] = []
    context: str | None = None
    is_async = inspect.iscoroutinefunction(function)
    for name, parameter in inspect.signature(function).parameters.items():
        _check_parameter(parameter, tool, hints, context_types[0 if is_async else -1] if context_types else None)
        if not _is_context(hints[name], context_types):
            parameters.append(Parameter(name, hints[name], parameter.default))
        elif context is None:
            _check_context(name, hints[name], tool, context_types[0 if is_async else -1], is_async=is_async)
            context = name
        else:
            raise refusal(tool, "is a second context", f"keep only {context!r}", parameter=name)
    if "return" not in hints:
        raise refusal(
            tool, "has no return annotation", "annotate what it returns: a model, a dataclass, or None for nothing"
        )
    state = None if context is None else _state_type(hints[context])
    return Signature(tuple(parameters), context, hints["return"], is_async, state)


def check_importable(function: Callable[..., Any], tool: str) -> None:
    """Refuse a function that another process could not find by its module and its qualified name."""
    path = getattr(function, "__qualname__", "<nameless>")
    if "<" in path or inspect.ismethod(function):  # <locals>, <lambda>
        raise refusal(
            tool,
            f"isolate=True needs a function that another process can import, which {path} is not",
            "define it at the top level of its module",
        )


def _check_kind(function: Callable[..., Any], tool: str) -> None:
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise refusal(
            tool, f"{function!r} is not a function", "register a function written with `def` or `async def`"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise refusal(
            tool, "is a generator", "return one value; report what happens on the way with ctx.progress(...)"
        )


def _resolved_hints(function: Callable[..., Any], tool: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:  # noqa: BLE001 - an annotation is arbitrary code and may raise anything
        raise refusal(
            tool,
            f"an annotation cannot be resolved: {type(error).__name__}: {error}",
            "define the type at module level and import it outside `if TYPE_CHECKING:`",
        ) from None


def _check_parameter(
    parameter: inspect.Parameter, tool: str, hints: dict[str, Any], context_type: type | None
) -> None:
    name = parameter.name
    if parameter.kind in _BY_POSITION:
        what, remedy = _BY_POSITION[parameter.kind]
        raise refusal(tool, what, remedy, parameter=name)
    if name in hints:
        return
    if name == "self":
        what = "is the object of a method that is not bound to one"
        raise refusal(tool, what, "register the method of an object, or a function", parameter=name)
    example = context_type.__name__ if context_type is not None and name in _CONTEXT_NAMES else "str"
    raise refusal(tool, "has no type", f"annotate it, such as `{name}: {example}`", parameter=name)


def _check_context(name: str, annotation: Any, tool: str, right: type, *, is_async: bool) -> None:
    if not _is_context(annotation, (right,)):
        kind = "async def" if is_async else "def"
        raise refusal(
            tool,
            f"is a context that cannot be used in a function written with `{kind}`",
            f"annotate it with {right.__name__}",
            parameter=name,
        )


def _is_context(annotation: Any, context_types: tuple[type, ...]) -> bool:
    annotation = _without_none(annotation)
    annotation = typing.get_origin(annotation) or annotation  # Context[Library] is a Context
    return isinstance(annotation, type) and issubclass(annotation, context_types)


def _state_type(annotation: Any) -> Any:
    given = typing.get_args(_without_none(annotation))
    return given[0] if given and given[0] is not Any else None


def _without_none(annotation: Any) -> Any:
    """The only member of a union besides None; the annotation itself where it is no such union."""
    if typing.get_origin(annotation) not in {typing.Union, types.UnionType}:
        return annotation
    members = [member for member in typing.get_args(annotation) if member is not type(None)]
    return members[0] if len(members) == 1 else annotation
