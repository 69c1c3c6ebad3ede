"""The principles of a good tool as checks of plain data: its name, words, version, schemas, errors, risks.

The same checks serve documents and live servers. A check yields problems, without a place; whoever calls it
knows whether the place is a line of a file or a tool of a server.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from holdfast.contract.documents.document import IdempotencyWord
from holdfast.contract.documents.schema_facts import external_references, schema_fault, violations, walk
from holdfast.contract.model import semver
from holdfast.errors import ContractError
from holdfast.vocabulary.effects import EffectKind

__all__ = [
    "Problem",
    "call_problems",
    "description_problems",
    "error_problems",
    "idempotency_problems",
    "name_problems",
    "placeholders",
    "property_problems",
    "schema_problems",
    "security_problems",
    "version_problems",
]


class Problem(NamedTuple):
    """One breach of a rule: the rule without its prefix, the words, and a JSON Pointer where one helps."""

    rule: str
    message: str
    pointer: str = ""


_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_TWO_ACTIONS = re.compile(r"(?:^|[_.-])(?:and|or)(?:[_.-])|[a-z](?:And|Or)[A-Z]")
_MIN_WORDS = 3
_MAX_DESCRIPTION = 2_000
_PLACEHOLDER = re.compile(
    r"\bFILL[ _]IN\b|\bTODO(?=:|\s*$)|\bTBD\b|\bFIXME\b|\bXXX\b|\{\{[^{}\n]{1,80}\}\}|\bYes/No(?:/Partially)?\b"
    r"|\[(?:Describe|Explain|Insert|List|Provide|Your|Tool ?Name|Module ?Name|Fill|Add|Specify|State|Brief|Enter"
    r"|Replace|Yes|Version)\b[^\]\n]{0,120}\](?!\()"
    r"|<(?:your|insert|fill|describe|tool[_ -]?name|module[_ -]?name)\b[^<>\n]{0,60}>"
    r"|\b(?:your_tool_name|tool_name_here|example_tool_name|lorem ipsum)\b",
    re.MULTILINE,
)
_SAYS_A_TYPE = frozenset(
    {"type", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "properties"}
)
_ANYTHING = re.compile(r"\bany\b", re.IGNORECASE)
_FORMATTED = re.compile(
    r"(?:^|_)(?:date|datetime|timestamp|url|uri|email|uuid|ip_address)$|_at$|(?:Date|Url|Uri|Email|Uuid)$"
)
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")

# Words in the names of a tool or its parameters, and words that show that the security section speaks of it.
_RISKS: dict[str, tuple[str, str]] = {
    "files": ("file files filename filepath path paths dir directory folder", "file|path|director|folder|disk"),
    "the network": (
        "url urls uri host hostname endpoint webhook domain",
        "network|url|http|host|ssrf|internet|remote",
    ),
    "running code": (
        "command cmd shell script exec execute eval sql",
        "execut|command|inject|shell|sandbox|runs? |sql",
    ),
    "changing data": (
        "delete remove drop write update insert overwrite rename truncate purge",
        "chang|delet|remov|writ|modif|overwrit|irrevers|destruct|updat|insert|read-only|readonly",
    ),
    "secrets": (
        "password passwd secret secrets credential credentials",
        "secret|credential|password|sensitive|redact",
    ),
}


def placeholders(text: str) -> Iterator[re.Match[str]]:
    """The placeholders that a text still holds."""
    return _PLACEHOLDER.finditer(text)


def name_problems(name: str) -> Iterator[Problem]:
    """What is wrong with the invocation name of a tool."""
    if not _NAME.fullmatch(name):
        shown = name if len(name) <= 60 else name[:57] + "..."
        yield Problem("name-pattern", f"{shown!r} cannot be the invocation name of a tool")
    elif _TWO_ACTIONS.search(name):
        yield Problem("tool-too-broad", f"the name {name!r} joins two actions")


def description_problems(text: str) -> Iterator[Problem]:
    """Whether a description is long enough to choose by and short enough to be read."""
    if len(text.split()) < _MIN_WORDS:
        yield Problem("description-short", f"the description has fewer than {_MIN_WORDS} words")
    elif len(text) > _MAX_DESCRIPTION:
        yield Problem("description-long", f"the description has {len(text)} characters, over {_MAX_DESCRIPTION}")


def version_problems(version: str | None) -> Iterator[Problem]:
    """Whether a version is stated, as three numbers."""
    if not version:
        yield Problem("version-missing", "the tool states no version")
        return
    try:
        semver(version)
    except ContractError:
        yield Problem("version-not-semver", f"the version {version[:60]!r} is not a SemVer version")


def schema_problems(schema: Any, side: str) -> Iterator[Problem]:
    """Whether a schema is valid, needs nothing from outside and, for arguments, describes an object."""
    external = external_references(schema)
    for pointer, reference in external:
        yield Problem("schema-external-ref", f"the {side} schema refers to {reference[:100]!r}", pointer)
    fault = None if external else schema_fault(schema)
    if fault is not None:
        yield Problem("schema-invalid", f"the {side} schema is not valid: {fault}")
    elif side == "input" and not _is_object(schema):
        yield Problem("schema-not-object", "the input schema is not that of an object")


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict) and (schema.get("type") == "object" or "$ref" in schema)


def property_problems(schema: Any, side: str, described: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Which properties lack a description, a type or a format; `described` are those explained elsewhere."""
    for pointer, node in walk(schema):
        members = node.get("properties")
        for name, member in (members if isinstance(members, dict) else {}).items():
            if isinstance(member, dict) and "const" not in member:
                known = name in described and pointer == ""
                yield from _member_problems(f"{pointer}/properties/{name}", name, member, side, is_described=known)


def _member_problems(
    pointer: str, name: str, member: dict[str, Any], side: str, *, is_described: bool
) -> Iterator[Problem]:
    words = member.get("description")
    has_words = isinstance(words, str) and bool(words.strip())
    if not has_words and not is_described and "$ref" not in member:
        yield Problem("property-undescribed", f"the {side} field {name!r} has no description", pointer)
    if not _SAYS_A_TYPE & set(member) and not (has_words and _ANYTHING.search(str(words))):
        yield Problem("property-untyped", f"the {side} field {name!r} has no type", pointer)
    is_free = member.get("type") == "string" and not {"format", "pattern", "enum"} & set(member)
    if is_free and _FORMATTED.search(name):
        yield Problem("format-unstated", f"the {side} field {name!r} states no format", pointer)


def call_problems(schema: Any, arguments: Any) -> Iterator[Problem]:
    """How the arguments of an example break the input schema."""
    if not isinstance(arguments, dict):
        yield Problem("example-invalid", "the arguments of the example are not an object")
        return
    for pointer, message in violations(schema, arguments) if schema is not None else ():
        words = f"the example does not fit the input schema at {pointer}: {message}"
        yield Problem("example-invalid", words, pointer)


def error_problems(errors: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Codes that are declared twice or not explained."""
    listed = list(errors)
    for code, count in Counter(code for code, _ in listed).items():
        if count > 1:
            yield Problem("error-duplicate", f"the error code {code} is declared {count} times", code)
    for code, meaning in listed:
        if not meaning.strip():
            yield Problem("error-unexplained", f"the error code {code} has no meaning", code)


def idempotency_problems(word: IdempotencyWord | None, effect: EffectKind | None) -> Iterator[Problem]:
    """Whether the word is there and agrees with the effect."""
    if word is None:
        yield Problem("idempotency-unclear", "it is not stated whether the tool is idempotent")
    elif effect is not None and effect not in word.effects:
        yield Problem("idempotency-contradiction", f"Idempotent: {word.value}, but the effect is {effect.value}")


def security_problems(name: str, parameters: Iterable[str], text: str) -> Iterator[Problem]:
    """Risks that the names of the tool and its parameters show and the security section does not speak of."""
    tokens = {token.lower() for one in (name, *parameters) for token in _WORD.findall(one[:200])}
    spoken = text.lower()
    for risk, (signs, answers) in _RISKS.items():
        seen = sorted(tokens & set(signs.split()))
        if seen and not re.search(answers, spoken):
            words = f"{seen[0]!r} suggests {risk}, of which the security section does not speak"
            yield Problem("security-missing-risk", words)
