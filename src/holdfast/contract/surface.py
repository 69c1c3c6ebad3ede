"""The whole face of one server: its tools, prompts and resources, and what no single one of them can know."""

from dataclasses import dataclass
from functools import cached_property

from holdfast.contract.model import ToolContract, semver
from holdfast.contract.prompt import PromptContract
from holdfast.contract.refusal import refusal
from holdfast.contract.resource import ResourceContract
from holdfast.errors import ContractError
from holdfast.present.dialects import Dialect

__all__ = ["Surface"]


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The whole face of one server. `surface_version` is the SemVer that clients see as its schemaVersion."""

    name: str
    version: str
    surface_version: str = "1.0.0"
    dialect: Dialect = Dialect.STATUS
    protocol_versions: tuple[str, ...] = ()
    tools: tuple[ToolContract, ...] = ()
    instructions: str = ""
    output_schema_published: bool = True
    presentation_arguments: bool = False
    prompts: tuple[PromptContract, ...] = ()
    resources: tuple[ResourceContract, ...] = ()
    title: str | None = None
    website: str | None = None

    def __post_init__(self) -> None:
        if not str(self.name).strip() or not self.name.isprintable():
            raise ContractError(f"{self.name!r} cannot name a server", remedy="use a short printable name")
        object.__setattr__(self, "version", semver(self.version))
        object.__setattr__(self, "surface_version", semver(self.surface_version))
        _check_unique(self.tools)
        _check_references(self.tools)

    @cached_property
    def by_name(self) -> dict[str, ToolContract]:
        """Each tool under its name and under each of its aliases."""
        return {name: tool for tool in self.tools for name in (tool.name, *tool.aliases)}


def _check_unique(tools: tuple[ToolContract, ...]) -> None:
    owner: dict[str, str] = {}
    for tool in tools:
        for name in (tool.name, *tool.aliases):
            if name in owner:
                raise refusal(
                    tool.name,
                    f"the name {name!r} is already taken by tool {owner[name]!r}",
                    "choose another with name=... or aliases=(...)",
                )
            owner[name] = tool.name


def _check_references(tools: tuple[ToolContract, ...]) -> None:
    names = {tool.name for tool in tools}
    for tool in tools:
        probe = tool.effect.probe
        if probe is not None and (probe not in names or probe == tool.name):
            raise refusal(
                tool.name, f"its probe {probe!r} is not another tool of this server", "name one of its other tools"
            )
        replacement = tool.deprecated.replacement if tool.deprecated else None
        if replacement is not None and replacement not in names:
            raise refusal(
                tool.name,
                f"its replacement {replacement!r} is not a tool of this server",
                "name a tool of this server, or say it in the reason",
            )
