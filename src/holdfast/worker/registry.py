"""What a server offers: its tools, and how it introduces itself.

It knows nothing of pipes and sessions; they are given it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from holdfast.contract.derive import derive_tool
from holdfast.contract.model import Deprecation, ErrorSpec, Surface, semver
from holdfast.contract.wire_form import tool_definitions
from holdfast.errors import ContractError
from holdfast.present.dialects import Dialect
from holdfast.present.normalize import Normalization
from holdfast.present.profile import HANDSHAKE_REVISIONS, MODERN
from holdfast.present.render import Presentation, Renderer, RenderMode
from holdfast.settings import Settings
from holdfast.vocabulary.effects import Effect, SessionState
from holdfast.vocabulary.meta import META_SUPERVISION
from holdfast.worker.context import Context, SyncContext
from holdfast.worker.invoke import RegisteredTool

__all__ = ["Registry"]

_PRESENTATIONS = {mode.value: Presentation(mode) for mode in RenderMode}

Function = TypeVar("Function", bound=Callable[..., Any])


class Registry:
    """A name, a version, and the tools registered with `@server.tool(...)`: everything of a server but its run.

    `surface_version` is the SemVer of all its contracts together; `dialect` the form of its envelopes ("status",
    "poc" or "launch"); `render` the default form of result texts; `protocol` whether handshakes are negotiated or
    pinned to 2024-11-05; `output_schema="off"` publishes none, and results are text alone; `presentation` says
    where callers choose the form: "arguments" (`render`, `detail`) or "meta"; `capabilities` is published as is.
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
    ) -> None:
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
        """
        if _bare is not None:
            raise ContractError("@server.tool is used without parentheses", remedy="write @server.tool()")

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
                input_schema=input_schema,
                dialect=self._dialect,
                presentation_arguments=self._presentation_arguments,
                context_types=(Context, SyncContext),
            )
            self._add(RegisteredTool(derived, porcelain))
            return function

        return register

    def _add(self, tool: RegisteredTool) -> None:
        if tool.contract.isolate:
            tool.derived.function.__holdfast_tool__ = tool.derived  # type: ignore[attr-defined]  # for the child
        names = (tool.contract.name, *tool.contract.aliases)
        for name in names:
            if name in self._by_any_name:
                raise ContractError(f"two tools are named {name!r}", remedy="give one of them another name")
        self._tools[tool.contract.name] = tool
        self._by_any_name.update(dict.fromkeys(names, tool))
        self._surface = None
        self._definitions = None

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
            )
        return self._surface

    @property
    def server_info(self) -> dict[str, Any]:
        """Name and version, as they stand in every handshake."""
        return {"name": self.name, "version": self.version}

    def find_tool(self, name: str) -> RegisteredTool | None:
        """The tool of this name or alias."""
        return self._by_any_name.get(name)

    def limit(self, name: str, seconds: float) -> None:
        """Give a tool another time limit in this process, 0 for none; its contract stays as it is declared."""
        self._tools[name].timeout = seconds
        self._definitions = None

    def tool_definitions(self) -> list[dict[str, Any]]:
        """Every tool as published, with the fields of every revision; the profile takes out what does not fit."""
        if self._definitions is None:
            self._definitions = tool_definitions(self.surface)
            for definition in self._definitions:
                timeout = self._by_any_name[definition["name"]].timeout
                if timeout is not None:  # what supervises this process must know how long to wait
                    definition["_meta"][META_SUPERVISION]["timeoutMs"] = round(timeout * 1000)
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
        return {"tools": {"listChanged": False}, "experimental": {self.name: own}}

    def initialize_result(self, revision: str) -> dict[str, Any]:
        """The answer to `initialize`."""
        result = {"protocolVersion": revision, "capabilities": self.capabilities(), "serverInfo": self.server_info}
        if self._instructions:
            result["instructions"] = self._instructions
        return result

    def discover_result(self) -> dict[str, Any]:
        """The answer to `server/discover`, before it is shaped."""
        result: dict[str, Any] = {"supportedVersions": [MODERN], "capabilities": self.capabilities()}
        if self._instructions:
            result["instructions"] = self._instructions
        return result


def _check_word(option: str, word: str, allowed: Sequence[str]) -> None:
    if word not in allowed:
        raise ContractError(f"{option}={word!r} is not known", remedy=f"use one of {', '.join(allowed)}")
