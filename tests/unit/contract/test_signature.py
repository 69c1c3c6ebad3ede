"""What a function must look like to become a tool."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Optional

import pytest

from holdfast.contract.signature import NO_DEFAULT, Parameter, read_signature
from holdfast.errors import ContractError


class Context:
    pass


class LocalContext(Context):
    pass


class SyncContext:
    pass


async def lookup(sku: str, ctx: LocalContext, *, limit: int = 10) -> str:
    return f"{sku}{ctx}{limit}"


def test_parameters_keep_their_order_types_and_defaults() -> None:
    found = read_signature(lookup, "lookup", (Context,))
    assert found.parameters == (Parameter("sku", str, NO_DEFAULT), Parameter("limit", int, 10))
    assert (found.context_parameter, found.returns, found.is_async) == ("ctx", str, True)


def test_a_context_that_may_be_missing_is_still_the_context() -> None:
    def one(ctx: Context | None = None) -> None: ...
    def two(ctx: Optional[Context] = None) -> None: ...  # noqa: UP045

    assert read_signature(one, "one", (Context,)).context_parameter == "ctx"
    assert read_signature(two, "two", (Context,)).context_parameter == "ctx"


def test_a_function_gets_the_context_of_its_kind() -> None:
    async def waits(ctx: Context | None) -> None: ...
    def blocks(ctx: SyncContext) -> None: ...

    assert read_signature(waits, "waits", (Context, SyncContext)).context_parameter == "ctx"
    assert read_signature(blocks, "blocks", (Context, SyncContext)).context_parameter == "ctx"


async def waits_with_the_wrong_one(ctx: SyncContext) -> None: ...
async def may_wait_with_the_wrong_one(ctx: SyncContext | None = None) -> None: ...
def blocks_with_the_wrong_one(ctx: LocalContext) -> None: ...


@pytest.mark.parametrize(
    ("function", "kind", "right"),
    [
        (waits_with_the_wrong_one, "`async def`", "with Context"),
        (may_wait_with_the_wrong_one, "`async def`", "with Context"),
        (blocks_with_the_wrong_one, "`def`", "with SyncContext"),
    ],
)
def test_the_context_of_the_other_kind_of_function_is_refused(
    function: Callable[..., Any], kind: str, right: str
) -> None:
    with pytest.raises(ContractError) as caught:
        read_signature(function, "shop.tool", (Context, SyncContext))
    assert caught.value.message.startswith("tool 'shop.tool', parameter 'ctx'")
    assert kind in caught.value.message
    assert right in caught.value.remedy


def test_a_bound_method_is_a_tool_without_self() -> None:
    class Shop:
        def count(self, sku: str) -> int:
            return len(sku)

    found = read_signature(Shop().count, "count")
    assert [parameter.name for parameter in found.parameters] == ["sku"]


def test_a_decorated_function_is_read_through_its_wrapper() -> None:
    @functools.wraps(lookup)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return lookup(*args, **kwargs)

    assert [p.name for p in read_signature(wrapper, "lookup", (Context,)).parameters] == ["sku", "limit"]


def positional(a: int, /) -> None: ...
def many(*values: int) -> None: ...
def keywords(**values: int) -> None: ...
def untyped(a) -> None: ...  # type: ignore[no-untyped-def]
def untyped_context(ctx) -> None: ...  # type: ignore[no-untyped-def]
def method(self, a: int) -> None: ...  # type: ignore[no-untyped-def]
def no_return(a: int): ...  # type: ignore[no-untyped-def]
def unresolved(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def broken(a: "1 +") -> None: ...  # type: ignore[valid-type]  # noqa: F722
def generator() -> Iterator[int]:
    yield 1


async def stream() -> AsyncIterator[int]:
    yield 1


def two_contexts(a: Context, b: Context) -> None: ...


@pytest.mark.parametrize(
    ("function", "said", "remedy"),
    [
        (positional, "parameter 'a': is positional-only", "remove the `/`"),
        (many, "parameter 'values': takes any number", "list"),
        (keywords, "parameter 'values': takes any keyword", "each parameter by name"),
        (untyped, "parameter 'a': has no type", "`a: str`"),
        (untyped_context, "parameter 'ctx': has no type", "`ctx: Context`"),
        (method, "parameter 'self': is the object of a method", "the method of an object"),
        (no_return, "no return annotation", "None for nothing"),
        (unresolved, "name 'Nowhere' is not defined", "module level"),
        (broken, "SyntaxError", "module level"),
        (generator, "is a generator", "return one value"),
        (stream, "is a generator", "ctx.progress"),
        (two_contexts, "parameter 'b': is a second context", "keep only 'a'"),
        (int, "is not a function", "`def`"),
        (len, "is not a function", "`def`"),
        (functools.partial(lookup, "a"), "is not a function", "`def`"),
    ],
)
def test_a_function_that_cannot_be_called_by_name_is_refused(
    function: Callable[..., Any], said: str, remedy: str
) -> None:
    with pytest.raises(ContractError) as caught:
        read_signature(function, "shop.tool", (Context,))
    assert said in caught.value.message
    assert "tool 'shop.tool'" in caught.value.message
    assert remedy in caught.value.remedy
