"""The contract of one tool and the surface of one server, as frozen data.

Whoever builds a contract by hand gets the same checks of its words as one that is derived from a function.
Checks that need a schema engine (examples against schemas) are in `contract/check.py`, so that importing this
module stays cheap.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.contract.refusal import refusal
from holdfast.errors import CODES, ContractError
from holdfast.present.icons import Icon, checked_icons
from holdfast.present.normalize import Normalization
from holdfast.present.paging import Paging
from holdfast.present.policy import ProjectionPolicy
from holdfast.vocabulary.effects import Effect, EffectKind, SessionState, at_most_once

__all__ = [
    "Deprecation",
    "ErrorSpec",
    "ToolContract",
    "check_types",
    "error_specs",
    "example_list",
    "name_list",
    "semver",
]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_PYTHON_PRERELEASE = re.compile(rf"({_NUMBER}\.{_NUMBER}\.{_NUMBER})(a|b|rc|\.dev)({_NUMBER})")
_PRERELEASE_WORD = {"a": "alpha", "b": "beta", "rc": "rc", ".dev": "dev"}
# A tool may check its arguments further than a schema can, and so always answer with these.
_ALWAYS_ALLOWED = frozenset({"INVALID_REQUEST", "INVALID_INPUT"})
# These say what the runtime did to a call; from a tool they would mislead whoever decides about a retry.
# QUEUE_OVERLOADED is not among them: a tool says it when somebody else holds what it needs, and nothing was begun.
_RUNTIME_ONLY = frozenset({"TOOL_TIMEOUT", "RESULT_TOO_LARGE"})


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
        if not _text(self.meaning).strip() or not _text(self.remedy).strip():
            raise ContractError(
                f"error code {self.code!r} has no meaning or no remedy",
                remedy=f'write ErrorSpec("{self.code}", "what it means", "what the caller can do")',
            )
        if not isinstance(self.retryable, bool):
            raise ContractError(
                f"error code {self.code!r}: retryable is {self.retryable!r}", remedy="write True or False"
            )


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Since which version a tool should no longer be used, why, what to use instead, and when it will be gone.

    `removal` is a version of the server or a day, such as 2027-06-30; it is not removed earlier than that.
    """

    since: str
    reason: str = ""
    replacement: str | None = None
    removal: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "since", semver(self.since))
        if not isinstance(self.reason, str):
            raise ContractError(f"deprecation: reason is {self.reason!r}", remedy="say why, or leave it out")
        if self.replacement is not None and not _text(self.replacement).strip():
            raise ContractError(
                f"deprecation: replacement is {self.replacement!r}", remedy="name a tool, or leave it out"
            )

        if self.removal is not None:
            object.__setattr__(self, "removal", _removal(self.removal))

    @property
    def sentence(self) -> str:
        """The deprecation in words, for readers that see only the description of a tool."""
        words = [f"Deprecated since {self.since}."]
        if self.reason:
            words.append(self.reason.rstrip(".") + ".")
        if self.replacement:
            words.append(f"Use `{self.replacement}` instead.")
        if self.removal:
            words.append(f"It will be removed: {self.removal}.")
        return " ".join(words)


def _removal(given: object) -> str:
    """A day as it was written, or a version."""
    text = _text(given)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return text
    try:
        return semver(text)
    except ContractError as error:
        raise ContractError(
            f"deprecation: removal is {given!r}",
            remedy="write a version, such as 2.0.0, or a day, such as 2027-06-30",
        ) from error


# Option of a tool -> its type, and what to write instead of anything else.
_TYPES: dict[str, tuple[Any, str]] = {
    "name": (str, "write a word as name=..., or leave it out"),
    "title": (str | None, "leave it out or write a few words"),
    "description": (str, "write a docstring or pass text as description=..."),
    "security": (str, "say in words what the tool may read and touch"),
    "effect": (Effect, "use one such as effect.replay_safe()"),
    "session_state": (SessionState, "use SessionState.STATELESS or SessionState.GENERATION_PINNED"),
    "deprecated": (Deprecation | None, 'write Deprecation("1.0.0", "the reason")'),
    "normalization": (Normalization, 'use one such as normalize.integers("limit")'),
    "read_only": (bool, "write True or False"),
    "isolate": (bool, "write True or False"),
    "policy": (ProjectionPolicy, 'use a kind, such as surface="list", or surface_policy("list", ...)'),
    "paging": (Paging | None, 'write pages=True, or pages="rows"'),
}


def check_types(tool: str, **options: object) -> None:
    """Refuse an option of the wrong type: the code that declares a tool may have seen no type checker."""
    for option, value in options.items():
        expected, remedy = _TYPES[option]
        if not isinstance(value, expected):
            raise refusal(tool, f"{option} is {value!r}", remedy)


def name_list(tool: str, option: str, given: Iterable[str]) -> tuple[str, ...]:
    """The names that an option lists, each once, or a refusal."""
    if isinstance(given, str):
        raise refusal(tool, f"{option} is the text {given!r}", f'write a tuple: {option}=("{given}",)')
    if not isinstance(given, (tuple, list)) or not all(isinstance(name, str) for name in given):
        raise refusal(tool, f"{option} is {given!r}", f'write a tuple of names: {option}=("one", "two")')
    if len(set(given)) != len(given):
        raise refusal(tool, f"{option} lists a name twice", "list it once")
    return tuple(given)


def example_list(tool: str, given: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The calls that a tool shows, or a refusal."""
    if not isinstance(given, (tuple, list)):
        raise refusal(tool, f"examples is {given!r}", 'write a list of calls: examples=[{"limit": 5}]')
    for number, example in enumerate(given, 1):
        if not isinstance(example, Mapping):
            raise refusal(tool, f"example {number} is {example!r}", "write a dict of arguments")
    return tuple(dict(example) for example in given)


def error_specs(tool: str, declared: Iterable[str | ErrorSpec]) -> tuple[ErrorSpec, ...]:
    """The declared errors of a tool with meaning and remedy; a plain string must be a code that is known."""
    if isinstance(declared, str):
        raise refusal(tool, f"errors is the text {declared!r}", f'write a tuple: errors=("{declared}",)')
    if not isinstance(declared, Iterable):
        raise refusal(tool, f"errors is {declared!r}", 'write a tuple of codes: errors=("NOT_FOUND",)')
    specs = tuple(_error_spec(tool, error) for error in declared)
    codes = [spec.code for spec in specs]
    for code in codes:
        if codes.count(code) > 1:
            raise refusal(tool, f"the error code {code!r} is declared twice", "declare it once")
        if code in _RUNTIME_ONLY:
            raise refusal(
                tool,
                f"the error code {code!r} is not for tools",
                "the runtime answers with it; declare a code of your own",
            )
    return specs


def _error_spec(tool: str, error: str | ErrorSpec) -> ErrorSpec:
    if isinstance(error, ErrorSpec):
        return error
    if not isinstance(error, str):
        raise refusal(
            tool,
            f"errors holds {error!r}, which is neither a code nor an ErrorSpec",
            'write a known code, such as "NOT_FOUND", or ErrorSpec("CODE", "meaning", "remedy")',
        )
    row = CODES.get(error)
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
    `policy` bounds what a reader is shown; it is no promise, so it is not published. `content` are the
    kinds of items, such as images, that a tool without a payload answers with.
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
    policy: ProjectionPolicy = ProjectionPolicy()
    paging: Paging | None = None
    content: tuple[str, ...] = ()
    icons: tuple[Icon, ...] = ()

    def __post_init__(self) -> None:
        _check_name(self.name, self.name)
        check_types(self.name, **{option: getattr(self, option) for option in _TYPES})
        object.__setattr__(self, "version", _version(self.name, self.version))
        object.__setattr__(self, "errors", error_specs(self.name, self.errors))
        object.__setattr__(self, "examples", example_list(self.name, self.examples))
        object.__setattr__(self, "aliases", name_list(self.name, "aliases", self.aliases))
        object.__setattr__(self, "reserved", name_list(self.name, "reserved", self.reserved))
        object.__setattr__(self, "icons", checked_icons(f"tool {self.name!r}", self.icons))
        _check_words(self)
        _check_numbers(self)
        _check_aliases(self)
        _check_effect(self)
        _check_state(self)
        _check_journal(self)

    @property
    def idempotency(self) -> str:
        """The sentence on idempotency that follows from the effect."""
        return self.effect.idempotency

    @property
    def returns_content(self) -> bool:
        """Whether the tool answers with items of its own making, and has no payload."""
        return bool(self.content)

    @cached_property
    def allowed_codes(self) -> frozenset[str]:
        """The codes that the tool may raise: those declared, and those that say its arguments are wrong."""
        return _ALWAYS_ALLOWED | {spec.code for spec in self.errors}


def _version(tool: str, version: str) -> str:
    try:
        return semver(version)
    except ContractError as error:
        raise refusal(tool, f"version: {error.message}", error.remedy) from None


def _check_name(tool: str, name: object) -> None:
    if not _NAME.fullmatch(_text(name)):
        raise refusal(
            tool, f"{name!r} cannot name a tool", "use 1 to 128 of the characters A-Z a-z 0-9 _ . - in name=..."
        )


def _check_words(contract: ToolContract) -> None:
    if not contract.description.strip():
        raise refusal(contract.name, "has no description", "write a docstring or pass description=...")
    if contract.title is not None and not contract.title.strip():
        raise refusal(contract.name, "title is empty", "leave it out or write a few words")


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
    for alias in contract.aliases:
        _check_name(contract.name, alias)
        if alias == contract.name:
            raise refusal(contract.name, "is an alias of itself", "remove its own name from aliases")


def _check_state(tool: "ToolContract") -> None:
    if tool.session_state is SessionState.JOURNALED or (
        tool.effect.journal is not None and tool.session_state is not SessionState.STATELESS
    ):
        raise refusal(
            tool.name,
            f"session_state is {tool.session_state}",
            'leave it out and write effect=effect.replay_safe().journaled("/arguments/name")',
        )


def _check_journal(tool: "ToolContract") -> None:
    """A journal whose key points at no argument would keep only the last call."""
    pointer = tool.effect.journal or ""
    properties = tool.input_schema.get("properties")
    name = pointer.removeprefix("/arguments/").split("/")[0].replace("~1", "/").replace("~0", "~")
    if pointer.startswith("/") and isinstance(properties, dict) and name not in properties:
        known = ", ".join(f"/arguments/{one}" for one in properties) or "a constant text"
        raise refusal(tool.name, f"there is no argument {name!r} for its journal", f"use {known}")


def _check_effect(contract: ToolContract) -> None:
    if contract.read_only and contract.effect.kind is not EffectKind.REPLAY_SAFE:
        raise refusal(
            contract.name,
            f"is read-only but its effect is {contract.effect.kind.value}",
            "declare effect=effect.replay_safe(), or drop read_only=True",
        )
    if contract.paging is not None and contract.effect.kind is not EffectKind.REPLAY_SAFE:
        raise refusal(
            contract.name,
            f"has pages but its effect is {contract.effect.kind.value}",
            "declare effect=effect.replay_safe(): each page is another call of the tool",
        )
