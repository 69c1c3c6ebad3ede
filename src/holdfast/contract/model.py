"""The contract of one tool and the surface of one server, as frozen data.

Whoever builds a contract by hand gets the same checks of its words as one that is derived from a function.
Checks that need a schema engine (examples against schemas) are in `contract/check.py`, so that importing this
module stays cheap.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.contract.refusal import refusal
from holdfast.errors import CODES, RUNTIME_CODES, ContractError
from holdfast.present.dialects import Dialect
from holdfast.present.normalize import Normalization
from holdfast.vocabulary.effects import Effect, EffectKind, SessionState, at_most_once

__all__ = ["Deprecation", "ErrorSpec", "Surface", "ToolContract", "error_specs", "semver"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_PYTHON_PRERELEASE = re.compile(rf"({_NUMBER}\.{_NUMBER}\.{_NUMBER})(a|b|rc|\.dev)({_NUMBER})")
_PRERELEASE_WORD = {"a": "alpha", "b": "beta", "rc": "rc", ".dev": "dev"}


def _text(value: object) -> str:
    """`value`, or no text where it is none: declarations come from code that no type checker may have seen."""
    return value if isinstance(value, str) else ""


def semver(text: str) -> str:
    """`text` as a SemVer version; a Python pre-release such as `1.0.0rc1` becomes `1.0.0-rc.1`."""
    words = _text(text)
    if _SEMVER.fullmatch(words):
        return words
    python = _PYTHON_PRERELEASE.fullmatch(words)
    if python:
        return f"{python[1]}-{_PRERELEASE_WORD[python[2]]}.{python[3]}"
    raise ContractError(f"{text!r} is not a SemVer version", remedy='write three numbers, such as "1.0.0"')


@dataclass(frozen=True, slots=True)
class ErrorSpec:
    """One error code that a tool may end with: what it means there and what the caller can do."""

    code: str
    meaning: str
    remedy: str
    retryable: bool = False

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(_text(self.code)):
            raise ContractError(
                f"error code {self.code!r} is not an upper-case word", remedy='write a word such as "OUT_OF_STOCK"'
            )
        if not self.meaning or not self.remedy:
            raise ContractError(
                f"error code {self.code!r} has no meaning or no remedy",
                remedy=f'write ErrorSpec("{self.code}", "what it means", "what the caller can do")',
            )


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Since which version a tool should no longer be used, why, and what to use instead."""

    since: str
    reason: str = ""
    replacement: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "since", semver(self.since))

    @property
    def sentence(self) -> str:
        """The deprecation in words, for readers that see only the description of a tool."""
        words = [f"Deprecated since {self.since}."]
        if self.reason:
            words.append(self.reason.rstrip(".") + ".")
        if self.replacement:
            words.append(f"Use `{self.replacement}` instead.")
        return " ".join(words)


def error_specs(tool: str, declared: Iterable[str | ErrorSpec]) -> tuple[ErrorSpec, ...]:
    """The declared errors of a tool with meaning and remedy; a plain string must be a code that is known."""
    if isinstance(declared, str):
        raise refusal(tool, f"errors is the text {declared!r}", f'write a tuple: errors=("{declared}",)')
    specs = tuple(_error_spec(tool, error) for error in declared)
    codes = [spec.code for spec in specs]
    for code in codes:
        if codes.count(code) > 1:
            raise refusal(tool, f"the error code {code!r} is declared twice", "declare it once")
    return specs


def _error_spec(tool: str, error: str | ErrorSpec) -> ErrorSpec:
    if isinstance(error, ErrorSpec):
        return error
    row = CODES.get(_text(error))
    if row is None:
        raise refusal(
            tool,
            f"the error code {error!r} is not known",
            f'declare it with its words: ErrorSpec("{error}", "what it means", "what the caller can do"); '
            "or use a known code, such as NOT_FOUND",
        )
    return ErrorSpec(row.code, row.meaning, row.remedy, row.retryable)


@dataclass(frozen=True, kw_only=True)
class ToolContract:
    """Everything that one tool promises.

    `input_schema` is the published one: with what normalization also accepts, and with reserved arguments.
    `output_schema` and `output_example` are of the payload, without the envelope of the server's dialect.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    output_example: Any = None
    title: str | None = None
    errors: tuple[ErrorSpec, ...] = ()
    effect: Effect = at_most_once()
    session_state: SessionState = SessionState.STATELESS
    timeout: float | None = None
    version: str = "1.0.0"
    schema_version: int = 1
    examples: tuple[dict[str, Any], ...] = ()
    security: str = ""
    deprecated: Deprecation | None = None
    aliases: tuple[str, ...] = ()
    normalization: Normalization = Normalization()
    reserved: tuple[str, ...] = ()
    read_only: bool = False
    isolate: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name, self.name)
        object.__setattr__(self, "version", _version(self.name, self.version))
        _check_words(self)
        _check_numbers(self)
        _check_aliases(self)
        _check_effect(self)

    @property
    def idempotency(self) -> str:
        """The sentence on idempotency that follows from the effect."""
        return self.effect.idempotency

    @cached_property
    def allowed_codes(self) -> frozenset[str]:
        """The codes that a call may end with: those declared, and those of the runtime itself."""
        return RUNTIME_CODES | {spec.code for spec in self.errors}


def _version(tool: str, version: str) -> str:
    try:
        return semver(version)
    except ContractError as error:
        raise refusal(tool, f"version: {error.message}", error.remedy) from error


def _check_name(tool: str, name: object) -> None:
    if not _NAME.fullmatch(_text(name)):
        raise refusal(
            tool, f"{name!r} cannot name a tool", "use 1 to 128 of the characters A-Z a-z 0-9 _ . - in name=..."
        )


def _check_words(contract: ToolContract) -> None:
    if not _text(contract.description).strip():
        raise refusal(contract.name, "has no description", "write a docstring or pass description=...")
    if not isinstance(contract.security, str):
        raise refusal(contract.name, "security is not text", "say in words what the tool may read and touch")
    if contract.title is not None and not _text(contract.title).strip():
        raise refusal(contract.name, "title is empty or not text", "leave it out or write a few words")


def _check_numbers(contract: ToolContract) -> None:
    if type(contract.schema_version) is not int or contract.schema_version < 1:
        raise refusal(
            contract.name,
            f"schema_version is {contract.schema_version!r}",
            "use a whole number from 1 on; it rises with each change of the schemas",
        )
    timeout = contract.timeout
    if timeout is None:
        return
    if type(timeout) not in {int, float} or not math.isfinite(timeout) or timeout < 0:
        raise refusal(
            contract.name, f"timeout is {timeout!r}", "use seconds; 0 for no limit, None for the server's default"
        )


def _check_aliases(contract: ToolContract) -> None:
    for group, words in (("aliases", contract.aliases), ("reserved", contract.reserved)):
        if isinstance(words, str):
            raise refusal(contract.name, f"{group} is the text {words!r}", f'write a tuple: {group}=("{words}",)')
        if len(set(words)) != len(words):
            raise refusal(contract.name, f"{group} lists a name twice", "list it once")
    for alias in contract.aliases:
        _check_name(contract.name, alias)
        if alias == contract.name:
            raise refusal(contract.name, "is an alias of itself", "remove its own name from aliases")


def _check_effect(contract: ToolContract) -> None:
    if not isinstance(contract.effect, Effect):
        raise refusal(contract.name, f"effect is {contract.effect!r}", "use one such as effect.replay_safe()")
    if contract.read_only and contract.effect.kind is not EffectKind.REPLAY_SAFE:
        raise refusal(
            contract.name,
            f"is read-only but its effect is {contract.effect.kind.value}",
            "declare effect=effect.replay_safe(), or drop read_only=True",
        )


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

    def __post_init__(self) -> None:
        if not _text(self.name).strip() or not self.name.isprintable():
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
