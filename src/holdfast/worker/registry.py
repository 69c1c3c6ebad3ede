"""What a server offers: its tools, and how it introduces itself.

It knows nothing of pipes and sessions; they are given it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, Unpack, cast

from holdfast.contract.derive import DerivedTool, derive_tool
from holdfast.contract.model import Deprecation, ErrorSpec, semver
from holdfast.contract.surface import Surface
from holdfast.contract.wire_form import tool_definitions
from holdfast.errors import ContractError, UsageError
from holdfast.present.dialects import Dialect
from holdfast.present.icons import Icon, checked_icons, icons_to_wire
from holdfast.present.normalize import Normalization
from holdfast.present.paging import Paging
from holdfast.present.policy import ProjectionPolicy
from holdfast.present.profile import HANDSHAKE_REVISIONS, LIST_TTL_MS, MODERN, Profile, shape_entry
from holdfast.present.render import Presentation, Renderer, RenderMode
from holdfast.settings import Configuration, Settings, ToolRule
from holdfast.vocabulary.effects import Effect, EffectKind, SessionState, at_most_once
from holdfast.vocabulary.meta import META_SUPERVISION
from holdfast.worker.invoke import RegisteredTool
from holdfast.worker.lifespan import Lifespan
from holdfast.worker.offers import CONTEXT_TYPES, Offers
from holdfast.worker.shorten import OutputWords, output_promise

__all__ = ["Registry"]

_PRESENTATIONS = {mode.value: Presentation(mode) for mode in RenderMode}

Function = TypeVar("Function", bound=Callable[..., Any])


_WORDS_APART = frozenset({"icons", "owns_processes"})


class _ToolWords(OutputWords, total=False):
    """What else may be said about a tool."""

    icons: Sequence[Icon]
    owns_processes: bool


class Registry(Offers):
    """A name, a version, and the tools registered with `@server.tool(...)`: everything of a server but its run.

    `surface_version` is the SemVer of all its contracts together; `dialect` the form of its envelopes ("status",
    "poc" or "launch"); `render` the default form of result texts; `protocol` whether handshakes are negotiated or
    pinned to 2024-11-05; `output_schema="off"` publishes none, and results are text alone; `presentation` says
    where callers choose the form: "arguments" (`render`, `detail`) or "meta"; `capabilities` is published as is;
    `logging=False` says that nothing is ever told to a client's log.

    `title`, `icons` and `website` are for people who choose among servers. `lifespan` is an async context manager,
    given the server and entered before the first message: what it gives is `ctx.state`. `list_changed` says which
    of "tools", "prompts" and "resources" may change while it serves; `list_ttl` for how many seconds lists hold.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str | None = None,
        surface_version: str = "1.0.0",
        dialect: str = "status",
        instructions: str = "",
        render: str = "porcelain",
        protocol: str = "negotiate",
        output_schema: str = "on",
        presentation: str = "arguments",
        capabilities: Mapping[str, Any] | None = None,
        title: str | None = None,
        icons: Sequence[Icon] = (),
        website: str | None = None,
        lifespan: Lifespan | None = None,
        list_changed: bool | Sequence[str] = False,
        list_ttl: float = LIST_TTL_MS / 1000,
        logging: bool = True,
    ) -> None:
        super().__init__(list_changed)
        _check_word("dialect", dialect, [item.value for item in Dialect])
        _check_word("render", render, ["porcelain", "json"])
        _check_word("protocol", protocol, ["negotiate", "pinned"])
        _check_word("output_schema", output_schema, ["on", "off"])
        _check_word("presentation", presentation, ["arguments", "meta"])
        if not name:
            raise ContractError("a server needs a name", remedy='Server("inventory", version="1.0.0")')
        if version is None:
            raise ContractError(
                f"server {name!r} has no version", remedy=f'write Server("{name}", version="1.0.0")'
            )
        self.name = name
        self.version = semver(version)
        self._surface_version = semver(surface_version)
        self._dialect = Dialect(dialect)
        self._instructions = instructions
        self._render = render
        self._protocol = protocol
        self._output_schema_published = output_schema == "on"
        self._presentation_arguments = presentation == "arguments"
        self._capabilities = dict(capabilities or {})
        self._title = title
        self._icons = checked_icons(f"server {name!r}", icons)
        self._website = website
        self.lifespan = lifespan
        self.list_ttl_ms = max(0, round(list_ttl * 1000))
        self._logging = logging
        self._of_every_tool: dict[str, Any] = {
            "dialect": self._dialect,
            "presentation_arguments": self._presentation_arguments,
            "context_types": CONTEXT_TYPES,
        }
        self._tools: dict[str, RegisteredTool] = {}
        self._by_any_name: dict[str, RegisteredTool] = {}
        self._surface: Surface | None = None
        self._definitions: list[dict[str, Any]] | None = None

    # --- registration ----------------------------------------------------------------------------------------

    def tool(
        self,
        _bare: object = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        version: str = "1.0.0",
        schema_version: int = 1,
        effect: Effect | None = None,
        session_state: SessionState = SessionState.STATELESS,
        timeout: float | None = None,
        errors: Sequence[str | ErrorSpec] = (),
        security: str = "",
        examples: Sequence[Mapping[str, Any]] = (),
        output_example: Any = None,
        deprecated: Deprecation | None = None,
        aliases: Sequence[str] = (),
        normalize: Normalization | None = None,
        reserved: Sequence[str] = (),
        read_only: bool = False,
        isolate: bool = False,
        input_schema: Mapping[str, Any] | None = None,
        porcelain: Renderer | None = None,
        surface: str | ProjectionPolicy = "read",
        pages: bool | str | Paging = False,
        **words: Unpack[_ToolWords],
    ) -> Callable[[Function], Function]:
        """Register the function below as a tool; what its types and words cannot say is said here.

        Example:
            @server.tool(effect=effect.replay_safe(), errors=("NOT_FOUND",))
            async def lookup(sku: str) -> StockItem: ...

        Args:
            name: The name on the wire; the function's own by default.
            title: A short name for people.
            description: What the tool does; the docstring by default.
            version: SemVer of this tool.
            schema_version: Whole number that rises with every change of its schemas.
            effect: What repeating a call would do: `effect.replay_safe()`, `.deduplicated("/arguments/key")`,
                `.probe_required("tool")` or `.at_most_once()`, which is also what nothing declared means.
            session_state: Whether the tool keeps state in the process between calls.
            timeout: Seconds that a call may take; 0 for no limit, None for the server's default.
            errors: The codes that the tool may end with: known ones as text, others as `ErrorSpec`.
            security: What the tool may read, write, run or reach, in words.
            examples: Arguments of good calls; checked against the input schema.
            output_example: A result; checked against the output schema.
            deprecated: Since when it should not be used, and what to use instead.
            aliases: Older names under which it can still be called.
            normalize: Spellings of arguments that are accepted besides the declared ones (`holdfast.normalize`).
            reserved: Arguments that are refused when set, kept for later.
            read_only: The tool changes nothing; clients need not ask before they call it.
            isolate: Run every call in a child process, which may crash or be killed.
            input_schema: Where a signature cannot say it; the function then takes all arguments as one mapping.
            porcelain: Renders the payload as text: `(payload, presentation) -> str | Porcelain`.
            surface: What is shown, which bounds its porcelain: "overview", "list", "read", "mutation" or "ops";
                or a `surface_policy(...)`, with rules that its answers obey.
            pages: The answer is given in pages of its list: True for its only list, or the name of the field.
                The tool still returns all rows; callers continue with the argument `cursor`.
            words: `owns_processes=True`: what the tool has started ends with the call also when it returns; else
                only a call that is cancelled or times out ends it. `icons`: pictures for clients that show some.
                `output_bytes` and `output_tokens`: how much a caller is given at once, for the host in front of
                the server to see to. `shorten="/items"`: the list or text of the result that is cut at its end
                where it is too much; `shorten_note="/omitted"`: the number that says how much that was.
        """
        _check_called(_bare)

        def register(function: Function) -> Function:
            derived = derive_tool(
                function,
                name=name,
                title=title,
                description=description,
                version=version,
                schema_version=schema_version,
                effect=effect,
                session_state=session_state,
                timeout=timeout,
                errors=errors,
                security=security,
                examples=examples,
                output_example=output_example,
                deprecated=deprecated,
                aliases=aliases,
                normalization=Normalization() if normalize is None else normalize,
                reserved=reserved,
                read_only=read_only,
                isolate=isolate,
                reading=(surface, pages),
                input_schema=input_schema,
                **{**self._of_every_tool, "icons": words.get("icons", ())},
            )
            self._add(_registered(derived, porcelain, words))
            return function

        return register

    def _add(self, tool: RegisteredTool) -> None:
        _check_porcelain(tool.contract.name, tool.renderer)
        if tool.renderer is not None and tool.contract.paging is not None:
            raise ContractError(
                f"tool {tool.contract.name!r}: has pages, and porcelain of its own",
                remedy="drop one of them: of hand-made text nobody knows which rows it shows",
            )
        if tool.contract.isolate and tool.derived.state_type is not None:
            raise ContractError(
                f"tool {tool.contract.name!r}: isolated, it runs in a process that has no state",
                remedy="annotate its context without a type, or drop isolate=True",
            )
        if tool.contract.isolate:
            tool.derived.function.__holdfast_tool__ = tool.derived  # type: ignore[attr-defined]  # for the child
        names = (tool.contract.name, *tool.contract.aliases)
        for name in names:
            if name in self._by_any_name:
                raise ContractError(f"two tools are named {name!r}", remedy="give one of them another name")
        self.changes.check("tools")
        self._tools[tool.contract.name] = tool
        self._by_any_name.update(dict.fromkeys(names, tool))
        self._forget("tools")

    def remove_tool(self, name: str) -> None:
        """Offer a tool no longer; a call of it that runs goes on. Another tool may not need it."""
        tool = self._tools.get(name)
        if tool is None:
            raise UsageError(f"there is no tool {name!r}", remedy="name a tool by its own name, not by an alias")
        self.changes.check("tools")
        for other in self._tools.values():
            replacement = other.contract.deprecated.replacement if other.contract.deprecated else None
            if other is not tool and name in (other.contract.effect.probe, replacement):
                raise UsageError(
                    f"the tool {other.contract.name!r} needs {name!r}",
                    remedy=f"remove {other.contract.name} first",
                )
        del self._tools[name]
        for word in (name, *tool.contract.aliases):
            del self._by_any_name[word]
        self._forget("tools")

    def _forget(self, kind: str) -> None:
        self._surface = None
        self._definitions = None
        super()._forget(kind)

    # --- what it is ------------------------------------------------------------------------------------------

    @property
    def surface(self) -> Surface:
        """Everything that the server promises, as data; checked as a whole when first asked for."""
        if self._surface is None:
            self._surface = Surface(
                name=self.name,
                version=self.version,
                surface_version=self._surface_version,
                dialect=self._dialect,
                protocol_versions=(*HANDSHAKE_REVISIONS, MODERN),
                tools=tuple(tool.contract for tool in self._tools.values()),
                instructions=self._instructions,
                output_schema_published=self._output_schema_published,
                presentation_arguments=self._presentation_arguments,
                prompts=tuple(prompt.contract for prompt in self._prompts.values()),
                resources=tuple(resource.contract for resource in self._resources.values()),
                title=self._title,
                website=self._website,
            )
        return self._surface

    @property
    def server_info(self) -> dict[str, Any]:
        """Name and version, as they stand in every result that names its server."""
        return {"name": self.name, "version": self.version}

    def introduction(self, profile: Profile) -> dict[str, Any]:
        """Who the server is, with what people choose it by: once, when a client meets it."""
        told = {**self.server_info, **icons_to_wire(self._icons)}
        further = {"title": self._title, "websiteUrl": self._website}
        told |= {key: value for key, value in further.items() if value is not None}
        return shape_entry(told, profile)

    def find_tool(self, name: str) -> RegisteredTool | None:
        """The tool of this name or alias."""
        return self._by_any_name.get(name)

    def limit(self, name: str, seconds: float) -> None:
        """Give a tool another time limit in this process, 0 for none; its contract stays as it is declared."""
        self._tools[name].timeout = seconds
        self._definitions = None

    def obey(self, configuration: Configuration) -> None:
        """Run calls again, whose own process died, only as a person allows; the contracts stay as declared."""
        for name, tool in self._tools.items():
            rule = configuration.tools.get(name, ToolRule())
            tool.replays = rule.replays
            tool.output_rule = rule
            if rule.effect is not None:
                tool.effect = Effect(EffectKind(rule.effect), key=rule.key, probe=rule.probe)
            elif configuration.settings.untrusted:
                tool.effect = at_most_once()

    def tool_definitions(self) -> list[dict[str, Any]]:
        """Every tool as published, with the fields of every revision; the profile takes out what does not fit."""
        if self._definitions is None:
            self._definitions = tool_definitions(self.surface)
            for definition in self._definitions:
                tool = self._by_any_name[definition["name"]]
                if tool.timeout is not None:  # what supervises this process must know how long to wait
                    definition["_meta"][META_SUPERVISION]["timeoutMs"] = round(tool.timeout * 1000)
                definition["_meta"][META_SUPERVISION].update(tool.output.to_wire())
        return self._definitions

    def is_pinned(self, settings: Settings) -> bool:
        """Whether every handshake is answered with 2024-11-05."""
        return (settings.protocol or self._protocol) == "pinned"

    def default_presentation(self, settings: Settings) -> Presentation:
        """The form of the text of a result when the caller does not say."""
        return _PRESENTATIONS[settings.render or self._render]

    def capabilities(self) -> dict[str, Any]:
        """What the server can do, with its own namespaced block."""
        own = {
            "schemaVersion": self._surface_version,
            "toolVersion": self.version,
            "capabilities": self._capabilities,
        }
        experimental: dict[str, Any] = {self.name: own}
        if any(tool.output.is_declared for tool in self._tools.values()):
            experimental[META_SUPERVISION] = {"outputBounds": True}  # a host then offers what it leaves out
        tools = {"listChanged": "tools" in self.changes.declared}
        told = {"tools": tools, **self.offered_capabilities(), "experimental": experimental}
        return {"logging": {}, **told} if self.logs else told

    @property
    def logs(self) -> bool:
        """Whether something of the server may tell a client's log something: only what takes a context can."""
        if not self._logging:
            return False
        tools = (tool.derived.context_parameter for tool in self._tools.values())
        prompts = (prompt.context_parameter for prompt in self._prompts.values())
        return any((*tools, *prompts, *(resource.context_parameter for resource in self._resources.values())))

    def tells_changes(self) -> bool:
        """Whether there is anything that a client could listen for."""
        resources = self.offered_capabilities().get("resources", {})
        return bool(self.changes.declared) or resources.get("subscribe") is True

    def listed(self, member: str) -> list[dict[str, Any]]:
        """A list as it is published; the same object until it changes."""
        return self.tool_definitions() if member == "tools" else self.definitions(member)

    def functions(self) -> Iterator[tuple[str, Any]]:
        """The name and the state type of everything that is called: tools, prompts, resources, completions."""
        for name, tool in self._tools.items():
            yield name, tool.derived.state_type
        yield from ((name, prompt.state_type) for name, prompt in self._prompts.items())
        yield from ((uri, resource.state_type) for uri, resource in self._resources.items())
        yield from ((argument, one.state_type) for (_, argument), one in self._completers.items())

    def initialize_result(self, profile: Profile) -> dict[str, Any]:
        """The answer to `initialize`."""
        result = {
            "protocolVersion": profile.revision,
            "capabilities": self.capabilities(),
            "serverInfo": self.introduction(profile),
        }
        if self._instructions:
            result["instructions"] = self._instructions
        return result

    def discover_result(self) -> dict[str, Any]:
        """The answer to `server/discover`, before it is shaped."""
        result: dict[str, Any] = {"supportedVersions": [MODERN], "capabilities": self.capabilities()}
        if self._instructions:
            result["instructions"] = self._instructions
        return result


def _registered(derived: DerivedTool, porcelain: Renderer | None, words: _ToolWords) -> RegisteredTool:
    promise = output_promise(derived.contract, _sizes(words))
    return RegisteredTool(derived, porcelain, promise, owns_processes=words.get("owns_processes", False))


def _sizes(words: _ToolWords) -> OutputWords:
    """What is said about the size of answers, and whatever is no option at all, which is refused there."""
    return cast("OutputWords", {key: value for key, value in words.items() if key not in _WORDS_APART})


def _check_called(bare: object) -> None:
    if bare is not None:
        raise ContractError("@server.tool is used without parentheses", remedy="write @server.tool()")


def _check_porcelain(tool: str, renderer: object) -> None:
    """A renderer that cannot be called with a payload and a presentation would fail at every call."""
    if renderer is None:
        return
    try:
        inspect.signature(renderer).bind(None, None)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ContractError(
            f"tool {tool!r}: porcelain cannot be called with a payload and a presentation: {error}",
            remedy="write porcelain=lambda payload, presentation: ...",
        ) from error


def _check_word(option: str, word: str, allowed: Sequence[str]) -> None:
    if word not in allowed:
        raise ContractError(f"{option}={word!r} is not known", remedy=f"use one of {', '.join(allowed)}")
