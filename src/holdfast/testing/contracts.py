"""Holds a server to its own contracts: what a tool declares is what a caller finds.

Examples are run only where running them is harmless by declaration (`replay_safe`), unless asked for.
"""

from typing import Any

from holdfast.contract.model import ToolContract
from holdfast.contract.snapshot import write_snapshot
from holdfast.testing.answers import Reply
from holdfast.testing.clients import ScriptedClient
from holdfast.testing.memory import connect
from holdfast.vocabulary.effects import EffectKind
from holdfast.worker.server import Server
from holdfast.worker.validate import SchemaValidator

__all__ = ["assert_tool_contract"]

_UNKNOWN = "holdfast_unknown_argument"


async def assert_tool_contract(
    server: Server,
    *,
    run: tuple[str, ...] = (),
    elicit: Reply = None,
    sample: Reply = None,
    roots: Reply = None,
) -> None:
    """Fail with the first promise that does not hold. `run` names further tools whose examples may be run.

    `elicit`, `sample` and `roots` answer what these ask, as in `connect`.
    """
    assert write_snapshot(server.surface) == write_snapshot(server.surface), "the snapshot changes on repeat"
    async with connect(server, elicit=elicit, sample=sample, roots=roots) as client:
        listed = (await client.request("tools/list"))["result"]["tools"]
        published = {tool["name"]: tool for tool in listed}
        for contract in server.surface.tools:
            assert contract.name in published, f"{contract.name} is not listed"
            await _refuses_what_the_schema_refuses(client, contract)
            if contract.effect.kind is EffectKind.REPLAY_SAFE or contract.name in run:
                for example in contract.examples:
                    await _keeps_its_promise(client, contract, published[contract.name], dict(example))


async def _refuses_what_the_schema_refuses(client: ScriptedClient, contract: ToolContract) -> None:
    base = dict(contract.examples[0]) if contract.examples else {}
    await _expect_refusal(client, contract, {**base, _UNKNOWN: 1}, _UNKNOWN)
    for name, schema in contract.input_schema.get("properties", {}).items():
        wrong: list[Any] = [[[None]], {"holdfast": [None]}]
        for value in wrong:
            arguments = {**base, name: value}
            if SchemaValidator({**schema, "$defs": contract.input_schema.get("$defs", {})}).violations(value):
                await _expect_refusal(client, contract, arguments, name)
                break
    for reserved in contract.reserved:
        await _expect_refusal(client, contract, {**base, reserved: "set"}, reserved)


async def _expect_refusal(
    client: ScriptedClient, contract: ToolContract, arguments: dict[str, Any], culprit: str
) -> None:
    result = await client.call(contract.name, **arguments)
    assert result.is_error, f"{contract.name} accepts a wrong {culprit!r}"
    assert culprit in str(result.message), f"the refusal of {contract.name} does not name {culprit!r}"


async def _keeps_its_promise(
    client: ScriptedClient, contract: ToolContract, published: dict[str, Any], example: dict[str, Any]
) -> None:
    result = await client.call(contract.name, **example)
    if result.is_error:
        declared = [spec.code for spec in contract.errors]
        assert result.code in declared, f"{contract.name}({example}) ended in {result.code}: {result.text}"
        return
    if "outputSchema" in published:
        violations = SchemaValidator(published["outputSchema"]).violations(result.payload)
        assert not violations, f"{contract.name}({example}) returned {violations}"
