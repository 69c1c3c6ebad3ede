"""The whole surface of a server as one document, byte-identical for the same surface.

It is what reviews and tools compare between two versions. It says more than the wire does: errors with their
remedies, examples, security, what is normalized.
"""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from holdfast.contract.canonical import canonical_json, fingerprint
from holdfast.contract.model import ErrorSpec, ToolContract
from holdfast.contract.offer import OfferContract
from holdfast.contract.prompt import PromptContract
from holdfast.contract.resource import ResourceContract
from holdfast.contract.surface import Surface
from holdfast.contract.wire_form import deprecation_to_wire
from holdfast.present.dialects import published_output_schema
from holdfast.present.normalize import Normalization

__all__ = ["SNAPSHOT_VERSION", "snapshot", "write_snapshot"]

SNAPSHOT_VERSION = 1


def write_snapshot(surface: Surface) -> bytes:
    """The snapshot of a surface in canonical form."""
    return canonical_json(snapshot(surface))


def snapshot(surface: Surface) -> dict[str, Any]:
    """The snapshot of a surface; `fingerprint` covers everything else in it."""
    document: dict[str, Any] = {
        "snapshotVersion": SNAPSHOT_VERSION,
        "schemaVersion": surface.surface_version,
        "server": _server(surface),
        "dialect": surface.dialect.value,
        "protocolVersions": list(surface.protocol_versions),
        "outputSchemaPublished": surface.output_schema_published,
        "presentationArguments": surface.presentation_arguments,
        "tools": [_tool(tool, surface) for tool in sorted(surface.tools, key=lambda tool: tool.name)],
        "prompts": [_prompt(prompt) for prompt in sorted(surface.prompts, key=lambda prompt: prompt.name)],
        "resources": [_resource(one) for one in _by_address(surface) if one.template is None],
    }
    templates = [_resource(one) for one in _by_address(surface) if one.template is not None]
    if templates:  # what has none keeps its fingerprint
        document["resourceTemplates"] = templates
    document["fingerprint"] = fingerprint(document)
    return document


def _server(surface: Surface) -> dict[str, Any]:
    told = {"name": surface.name, "version": surface.version, "instructions": surface.instructions}
    further = {"title": surface.title, "websiteUrl": surface.website}
    return told | {key: value for key, value in further.items() if value is not None}


def _by_address(surface: Surface) -> list[ResourceContract]:
    return sorted(surface.resources, key=lambda resource: resource.uri)


def _prompt(prompt: PromptContract) -> dict[str, Any]:
    arguments = [
        {
            "name": argument.name,
            "description": argument.description,
            "required": argument.required,
            "schema": argument.schema,
        }
        for argument in prompt.arguments
    ]
    return {**_offer(prompt), "arguments": arguments}


def _resource(resource: ResourceContract) -> dict[str, Any]:
    told = {**_offer(resource), "mimeType": resource.mime_type, "subscribable": resource.subscribable}
    if resource.template is None:
        return {"uri": resource.uri, **told}
    values = {argument.name: argument.schema for argument in resource.arguments}
    return {"uriTemplate": resource.uri, **told, "values": values}


def _offer(offer: OfferContract) -> dict[str, Any]:
    return {
        "name": str(offer.name),
        "title": offer.title,
        "description": offer.description,
        "errors": [_error(spec) for spec in sorted(offer.errors, key=lambda spec: spec.code)],
        "timeoutMs": None if offer.timeout is None else round(offer.timeout * 1000),
    }


def _tool(tool: ToolContract, surface: Surface) -> dict[str, Any]:
    payload = tool.output_schema
    content = {"content": list(tool.content)} if tool.content else {}
    return {
        **content,
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "version": tool.version,
        "schemaVersion": tool.schema_version,
        "toolingVersion": surface.version,
        "inputSchema": tool.input_schema,
        "outputSchema": None if payload is None else published_output_schema(surface.dialect, payload),
        "payloadSchema": payload,
        "outputExample": tool.output_example,
        "errors": [_error(spec) for spec in sorted(tool.errors, key=lambda spec: spec.code)],
        "effect": tool.effect.to_wire(tool.session_state)["recovery"],
        "idempotency": tool.idempotency,
        "sessionState": tool.effect.to_wire(tool.session_state)["state"]["kind"],
        "timeoutMs": None if tool.timeout is None else round(tool.timeout * 1000),
        "readOnly": tool.read_only,
        "isolate": tool.isolate,
        "examples": list(tool.examples),
        "security": tool.security,
        "deprecated": deprecation_to_wire(tool.deprecated) if tool.deprecated else None,
        "aliases": sorted(tool.aliases),
        "normalization": _normalization(tool.normalization),
        "reserved": sorted(tool.reserved),
    }


def _error(spec: ErrorSpec) -> dict[str, Any]:
    return {
        "code": spec.code,
        "meaning": spec.meaning,
        "remedy": spec.remedy,
        "retryable": spec.retryable,
    }


def _normalization(declared: Normalization) -> dict[str, Any]:
    return {
        "aliases": dict(declared.field_aliases),
        "rules": {field: _rule(rule) for field, rule in declared.rules},
    }


def _rule(rule: object) -> dict[str, Any]:
    assert is_dataclass(rule)
    # The root of a path rule is where this server happens to run; it is not promised to anybody.
    return {
        field.name: value.value if isinstance(value, Enum) else value
        for field in fields(rule)
        if field.name != "root"
        for value in [getattr(rule, field.name)]
    }
