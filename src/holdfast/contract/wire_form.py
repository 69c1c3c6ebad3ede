"""The definition of a tool as it is published: every field of every protocol revision.

Which of them a revision or a transport really gets is decided where an answer is shaped, not here.
"""

from typing import Any

from holdfast.contract.model import Deprecation, ToolContract
from holdfast.contract.surface import Surface
from holdfast.present.dialects import published_output_schema
from holdfast.present.icons import icons_to_wire
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.meta import META_CONTRACT, META_EFFECT, META_SUPERVISION

__all__ = [
    "alias_definition",
    "deprecation_to_wire",
    "tool_definition",
    "tool_definitions",
]


def tool_definitions(surface: Surface) -> list[dict[str, Any]]:
    """All definitions in the order of registration, each tool followed by its aliases."""
    definitions = []
    for contract in surface.tools:
        definitions.append(tool_definition(contract, surface))
        definitions += [alias_definition(contract, alias, surface) for alias in contract.aliases]
    return definitions


def tool_definition(contract: ToolContract, surface: Surface) -> dict[str, Any]:
    """The definition of one tool under its own name."""
    return _definition(contract, surface, contract.name, contract.deprecated)


def alias_definition(contract: ToolContract, alias: str, surface: Surface) -> dict[str, Any]:
    """The definition of one tool under an older name: the same tool, marked deprecated in favour of its name."""
    deprecation = Deprecation(contract.version, f"Another name of `{contract.name}`", contract.name)
    return _definition(contract, surface, alias, deprecation)


def _definition(
    contract: ToolContract, surface: Surface, name: str, deprecated: Deprecation | None
) -> dict[str, Any]:
    definition: dict[str, Any] = {"name": name}
    if contract.title is not None:
        definition["title"] = contract.title
    # A model that chooses a tool reads the description and nothing else, so a deprecation stands in it too.
    definition["description"] = (
        f"{contract.description}\n\n{deprecated.sentence}" if deprecated else contract.description
    )
    definition["inputSchema"] = contract.input_schema
    if surface.output_schema_published and contract.output_schema is not None:
        definition["outputSchema"] = published_output_schema(surface.dialect, contract.output_schema)
    definition["annotations"] = _annotations(contract)
    definition["schemaVersion"] = contract.schema_version
    definition["toolingVersion"] = surface.version
    definition["_meta"] = _meta(contract, surface, deprecated)
    return {**definition, **icons_to_wire(contract.icons)}


def _annotations(contract: ToolContract) -> dict[str, Any]:
    annotations: dict[str, Any] = {
        "readOnlyHint": contract.read_only,
        "destructiveHint": not contract.read_only,  # nothing declared otherwise: the careful answer
        "idempotentHint": contract.effect.kind in {EffectKind.REPLAY_SAFE, EffectKind.DEDUPLICATED},
    }
    return annotations if contract.title is None else {"title": contract.title, **annotations}


def _meta(contract: ToolContract, surface: Surface, deprecated: Deprecation | None) -> dict[str, Any]:
    versions: dict[str, Any] = {
        "version": contract.version,
        "schemaVersion": contract.schema_version,
        "toolingVersion": surface.version,
        "surfaceVersion": surface.surface_version,
    }
    if deprecated is not None:
        versions["deprecated"] = deprecation_to_wire(deprecated)
    supervision: dict[str, Any] = {"dialect": surface.dialect.value}
    if contract.timeout is not None:
        supervision["timeoutMs"] = round(contract.timeout * 1000)
    return {
        META_CONTRACT: versions,
        META_EFFECT: contract.effect.to_wire(contract.session_state),
        META_SUPERVISION: supervision,
    }


def deprecation_to_wire(deprecated: Deprecation) -> dict[str, Any]:
    """A deprecation as data; what was not said is left out."""
    stated = {
        "since": deprecated.since,
        "reason": deprecated.reason,
        "replacement": deprecated.replacement,
        "removal": deprecated.removal,
    }
    return {key: value for key, value in stated.items() if value}
