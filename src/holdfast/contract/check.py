"""Checks of a contract against its own schemas: examples, defaults, the key of a deduplicated call.

A contract whose own examples break it is refused at registration, where its author sees it, and not found out
by a caller.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.canonical import canonical_json
from holdfast.contract.model import ToolContract
from holdfast.contract.refusal import refusal
from holdfast.errors import ContractError
from holdfast.present.schema_shape import types_of

__all__ = ["check_contract", "check_defaults", "resolve"]


def check_contract(contract: ToolContract) -> None:
    """Refuse a contract whose examples or deduplication key do not fit its schemas."""
    _check_plain(contract)
    _check_examples(contract)
    _check_output_example(contract)
    if contract.effect.key is not None:
        _check_key(contract, contract.effect.key)


def check_defaults(tool: str, schema: dict[str, Any]) -> None:
    """Refuse a parameter whose default its own type would not accept."""
    defaults = {name: prop["default"] for name, prop in schema["properties"].items() if "default" in prop}
    if not defaults:
        return
    for path, message in _violations({**schema, "required": []}, defaults):
        name = path[0] if path else ""
        raise refusal(
            tool,
            f"the default {defaults.get(name)!r} is not a value of its type: {message}",
            "correct the default, or widen the type, such as `int | None = None`",
            parameter=str(name),
        )


def resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """`schema`, or what its chain of references into the definitions of `root` leads to."""
    for _ in range(len(root.get("$defs", ())) + 1):
        if "$ref" not in schema:
            break
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def _violations(schema: dict[str, Any], value: Any) -> Iterator[tuple[list[str | int], str]]:
    import jsonschema_rs

    validator = jsonschema_rs.Draft202012Validator(schema, offline=True)
    for error in validator.iter_errors(value):
        yield list(error.instance_path), error.message


def _check_plain(contract: ToolContract) -> None:
    # A bound of infinity or half a surrogate pair would fail only when the contract is sent.
    for what, value in (
        ("title", contract.title),
        ("description", contract.description),
        ("security", contract.security),
        ("errors", [[spec.meaning, spec.remedy] for spec in contract.errors]),
        ("deprecated", contract.deprecated.sentence if contract.deprecated else ""),
        ("the input schema", contract.input_schema),
        ("the output schema", contract.output_schema),
        ("examples", contract.examples),
        ("output_example", contract.output_example),
    ):
        try:
            canonical_json(value)
        except ContractError as error:
            raise refusal(contract.name, f"{what} is {error.message}", error.remedy) from None


def _check_examples(contract: ToolContract) -> None:
    for number, example in enumerate(contract.examples, 1):
        for path, message in _violations(contract.input_schema, example):
            raise refusal(
                contract.name,
                f"example {number} does not fit the input schema at {_pointer(path)}: {message}",
                "correct the example; it must be a call that works",
                parameter=str(path[0]) if path else None,
            )


def _check_output_example(contract: ToolContract) -> None:
    if contract.output_example is None:
        return
    if contract.output_schema is None:
        raise refusal(contract.name, "has an output_example but no output schema", "remove the example")
    for path, message in _violations(contract.output_schema, contract.output_example):
        raise refusal(
            contract.name,
            f"output_example does not fit the output schema at {_pointer(path)}: {message}",
            "write what the function returns, as JSON",
        )


def _check_key(contract: ToolContract, key: str) -> None:
    schema: dict[str, Any] = contract.input_schema
    parts = [part.replace("~1", "/").replace("~0", "~") for part in key.removeprefix("/arguments/").split("/")]
    for part in parts:
        properties = resolve(schema, contract.input_schema).get("properties", {})
        if part not in properties or part in contract.reserved:
            raise refusal(
                contract.name,
                f"the deduplication key {key!r} points at no argument",
                f"point at one of: {', '.join(sorted(set(properties) - set(contract.reserved))) or 'none'}",
                parameter=parts[0],
            )
        schema = properties[part]
    if parts[0] in dict(contract.normalization.field_aliases).values():
        raise refusal(
            contract.name,
            f"the deduplication key {key!r} also goes by another name, where nobody would look for it",
            "drop the alias of this parameter",
            parameter=parts[0],
        )
    if not types_of(schema, contract.input_schema.get("$defs", {})) <= {"string", "integer", "null"}:
        raise refusal(
            contract.name,
            f"the deduplication key {key!r} is neither text nor a whole number",
            "use a parameter of type str or int",
            parameter=parts[0],
        )


def _pointer(path: list[str | int]) -> str:
    return "/" + "/".join(str(part) for part in path)
