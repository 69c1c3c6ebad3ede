"""What a server offers besides tools: resources, prompts and completions, and how they are declared.

It is the half of the registry that knows nothing of tools. All of it may be changed while the server serves, if it
says that it may (`list_changed`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar, Unpack

from holdfast.contract.offer import OfferWords
from holdfast.contract.prompt import DerivedPrompt, derive_prompt
from holdfast.contract.resource import DerivedResource, derive_resource
from holdfast.contract.text_arguments import TextArgument
from holdfast.contract.uri_template import UnsafeValue, is_template
from holdfast.errors import ContractError, UsageError
from holdfast.present.content import Annotations
from holdfast.worker.changes import Changes
from holdfast.worker.completers import Completer, derive_completer
from holdfast.worker.context import Context, SyncContext

__all__ = ["CONTEXT_TYPES", "Found", "Offers"]

CONTEXT_TYPES = (Context, SyncContext)
Function = TypeVar("Function", bound=Callable[..., Any])


class Found(NamedTuple):
    """The resource that an address leads to, and the values in the address."""

    resource: DerivedResource
    values: dict[str, str]


class Offers:
    """The prompts, resources and completions of a server."""

    def __init__(self, list_changed: bool | Iterable[str]) -> None:
        self.changes = Changes(list_changed)
        self._prompts: dict[str, DerivedPrompt] = {}
        self._resources: dict[str, DerivedResource] = {}  # by address or template
        self._completers: dict[tuple[str, str], Completer] = {}  # by prompt or template, and argument
        self._lists: dict[str, list[dict[str, Any]]] = {}

    # --- declaring -------------------------------------------------------------------------------------------

    def resource(
        self,
        uri: str,
        /,
        *,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Annotations | None = None,
        subscribable: bool = False,
        ttl: float = 0.0,
        cache_scope: str = "private",
        **words: Unpack[OfferWords],
    ) -> Callable[[Function], Function]:
        """Register the function below as what is read under an address, or under all that fit a template.

        Example:
            @server.resource("library://books/{isbn}", mime_type="text/markdown")
            async def book(isbn: str) -> str: ...

        Args:
            uri: The address, or a template: {name} without slashes, {+path} with them, {?a,b} for a query.
            mime_type: The kind of content; JSON for typed values, else text/plain or application/octet-stream.
            size: How many bytes a read gives, where that is known.
            annotations: For whom it is, and how important.
            subscribable: Clients may ask to be told of changes; tell them with `server.resource_updated(uri)`.
            ttl: Seconds for which a client may keep what it has read.
            cache_scope: "public" where everybody reads the same, else "private".
            words: `name` on the wire, the function's own by default; `title` and `icons` for people;
                `description`, the docstring by default; `errors`, the codes that the function may end with
                besides NOT_FOUND; `timeout` in seconds, 0 for no limit, None for the server's default.
        """
        if callable(uri):
            raise ContractError("@server.resource has no address", remedy='write @server.resource("app://thing")')

        def register(function: Function) -> Function:
            derived = derive_resource(
                function,
                uri,
                mime_type=mime_type,
                size=size,
                annotations=annotations,
                subscribable=subscribable,
                ttl=ttl,
                cache_scope=cache_scope,
                context_types=CONTEXT_TYPES,
                **words,
            )
            self._put(self._resources, uri, derived, "resource", "resources")
            return function

        return register

    def prompt(self, _bare: object = None, /, **words: Unpack[OfferWords]) -> Callable[[Function], Function]:
        """Register the function below as a prompt: it returns text, messages or content.

        Example:
            @server.prompt(title="Review a book")
            async def review(isbn: str, tone: Literal["kind", "strict"] = "kind") -> list[Message]: ...

        Args:
            words: The same as of a resource. The docstring also describes the arguments.
        """
        if _bare is not None:
            raise ContractError("@server.prompt is used without parentheses", remedy="write @server.prompt()")

        def register(function: Function) -> Function:
            derived = derive_prompt(function, context_types=CONTEXT_TYPES, **words)
            self._put(self._prompts, str(derived.contract.name), derived, "prompt", "prompts")
            return function

        return register

    def completion(self, of: str, argument: str, /) -> Callable[[Function], Function]:
        """Register the function below as what knows how an argument of a prompt, or of a template, may go on.

        It is given the text so far as `value`, the other arguments as `given` if it asks for them, and returns
        texts. An argument that is a Literal, an Enum or a bool needs none.

        Example:
            @server.completion("review", "isbn")
            async def isbns(value: str) -> list[str]: ...
        """

        def register(function: Function) -> Function:
            known = [one.name for one in self.arguments_of(of)]
            if argument not in known:
                raise ContractError(
                    f"{of!r} has no argument {argument!r} to complete",
                    remedy=f"use one of {', '.join(known)}" if known else "declare the prompt or resource first",
                )
            if (of, argument) in self._completers:
                raise ContractError(f"{argument!r} of {of!r} is completed twice", remedy="remove one of them")
            self._completers[of, argument] = derive_completer(function, of, argument, CONTEXT_TYPES)
            return function

        return register

    def _put(self, place: dict[str, Any], key: str, derived: Any, what: str, kind: str) -> None:
        if key in place:
            raise ContractError(f"two {kind} are called {key!r}", remedy=f"give one {what} another name")
        self.changes.check(kind)
        place[key] = derived
        self._forget(kind)

    # --- changing --------------------------------------------------------------------------------------------

    def remove_prompt(self, name: str) -> None:
        """Offer a prompt no longer."""
        self._take(self._prompts, name, "prompts")

    def remove_resource(self, uri: str) -> None:
        """Offer a resource, or all of a template, no longer."""
        self._take(self._resources, uri, "resources")

    def resource_updated(self, uri: str) -> None:
        """Tell every client that has asked for it that what stands under an address has changed."""
        if not self.is_subscribable(uri):
            raise UsageError(
                f"no resource at {uri!r} can be subscribed to", remedy="declare it with subscribable=True"
            )
        self.changes.resource_updated(uri)

    def _take(self, place: dict[str, Any], key: str, kind: str) -> None:
        if key not in place:
            raise UsageError(f"there is nothing called {key!r} among the {kind}", remedy="check the name")
        self.changes.check(kind)
        del place[key]
        for of, argument in [one for one in self._completers if one[0] == key]:
            del self._completers[of, argument]
        self._forget(kind)

    def _forget(self, kind: str) -> None:
        """What was made of a list does not hold any more; sessions are told."""
        self._lists = {}
        self.changes.list_changed(kind)

    # --- finding ---------------------------------------------------------------------------------------------

    def find_prompt(self, name: str) -> DerivedPrompt | None:
        """The prompt of this name."""
        return self._prompts.get(name)

    def find_resource(self, uri: str) -> Found | None:
        """What is read under an address; UnsafeValue where a value in it is refused."""
        exact = self._resources.get(uri)
        if exact is not None and exact.contract.template is None:
            return Found(exact, {})
        for resource in list(self._resources.values()):
            template = resource.contract.template
            values = template.match(uri) if template is not None else None
            if values is not None:
                return Found(resource, values)
        return None

    def is_subscribable(self, uri: str) -> bool:
        """Whether clients may ask to be told of changes of what stands under an address."""
        try:
            found = self.find_resource(uri)
        except UnsafeValue:
            return False
        return found is not None and found.resource.contract.subscribable

    def arguments_of(self, of: str) -> tuple[TextArgument, ...]:
        """The arguments of a prompt, or the values of a template."""
        offered = self._resources.get(of) if is_template(of) else self._prompts.get(of)
        return () if offered is None else offered.contract.arguments

    def completer_of(self, of: str, argument: str) -> Completer | None:
        """What completes an argument."""
        return self._completers.get((of, argument))

    # --- telling ---------------------------------------------------------------------------------------------

    def definitions(self, kind: str) -> list[dict[str, Any]]:
        """A list as it is published (prompts, resources, resourceTemplates): the same object until it changes."""
        found = self._lists.get(kind)
        if found is None:
            found = self._lists[kind] = [one.contract.definition() for one in self._listed(kind)]
        return found

    def _listed(self, kind: str) -> Sequence[DerivedPrompt | DerivedResource]:
        if kind == "prompts":
            return list(self._prompts.values())
        wants_template = kind == "resourceTemplates"
        return [one for one in self._resources.values() if (one.contract.template is not None) is wants_template]

    def offered_capabilities(self) -> dict[str, Any]:
        """The capabilities that follow from what is offered besides tools."""
        told: dict[str, Any] = {}
        changing = self.changes.declared
        if self._prompts or "prompts" in changing:
            told["prompts"] = {"listChanged": "prompts" in changing}
        if self._resources or "resources" in changing:
            subscribable = any(one.contract.subscribable for one in self._resources.values())
            told["resources"] = {"subscribe": subscribable, "listChanged": "resources" in changing}
        if self._completers or self._has_words():
            told["completions"] = {}
        return told

    def _has_words(self) -> bool:
        offered: list[DerivedPrompt | DerivedResource] = [*self._prompts.values(), *self._resources.values()]
        return any(argument.words for one in offered for argument in one.contract.arguments)
