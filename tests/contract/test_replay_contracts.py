"""Every request has an explicit replay contract, and the host keeps to it when a worker is lost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server_under_test import build

from holdfast.kernel.catalog import NO_CATALOG, read_catalog
from holdfast.kernel.policy import Policy, ToolPolicy
from holdfast.kernel.rules import rule_for
from holdfast.testing import Fault, HostUnderTest, Traces, script
from holdfast.vocabulary.effects import Effect, EffectKind, ReplayWord, at_most_once

SCHEMAS = sorted((Path(__file__).parent / "schemas").glob("*.json"))
CONVERGENT, PROBE, NEVER = ReplayWord.CONVERGENT, ReplayWord.PROBE_REQUIRED, ReplayWord.NEVER_REPLAY
LOST_ONCE = (1, 1)

# What a server keeps for a session (a subscription, a log level) is told to its successor anyway. Tasks live in
# the server that was lost, and nobody knows what asking again would mean.
METHODS = {
    "initialize": CONVERGENT,
    "ping": CONVERGENT,
    "server/discover": CONVERGENT,
    "tools/list": CONVERGENT,
    "tools/call": NEVER,  # of a tool that declares nothing
    "resources/list": CONVERGENT,
    "resources/templates/list": CONVERGENT,
    "resources/read": CONVERGENT,
    "resources/subscribe": CONVERGENT,
    "resources/unsubscribe": CONVERGENT,
    "subscriptions/listen": CONVERGENT,
    "prompts/list": CONVERGENT,
    "prompts/get": CONVERGENT,
    "completion/complete": CONVERGENT,
    "logging/setLevel": CONVERGENT,
    "tasks/get": NEVER,
    "tasks/result": NEVER,
    "tasks/cancel": NEVER,
    "tasks/list": NEVER,
    "acme/launch": NEVER,  # a method of somebody's own
}


def _methods(schema: Path) -> Iterator[str]:
    """The method of every request that a client may send in this revision."""
    document = json.loads(schema.read_text())
    definitions = document.get("$defs") or document["definitions"]
    for option in definitions["ClientRequest"]["anyOf"]:
        yield definitions[option["$ref"].rpartition("/")[2]]["properties"]["method"]["const"]


def _definition(**fields: Any) -> dict[str, Any]:
    return {"name": "tool", "inputSchema": {"type": "object"}, **fields}


def _declared(name: str, /, **recovery: Any) -> dict[str, Any]:
    return _definition(_meta={name: {"recovery": recovery}})


@pytest.mark.requirement("S3-replay-explicit")
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.stem)
def test_every_method_of_every_revision_has_a_contract_that_was_thought_about(schema: Path) -> None:
    assert set(_methods(schema)) <= set(METHODS)


@pytest.mark.requirement("OURS-17-methods")
@pytest.mark.requirement("S3-replay-explicit")
@pytest.mark.parametrize(("method", "word"), METHODS.items())
def test_a_method_is_repeated_as_its_contract_says(method: str, word: ReplayWord) -> None:
    assert rule_for(method, {"name": "tool"}, NO_CATALOG, Policy()).effect.replay is word


@pytest.mark.requirement("OURS-17-words")
@pytest.mark.requirement("S3-replay-vocabulary")
def test_there_are_three_words_and_every_effect_has_one() -> None:
    assert [word.value for word in ReplayWord] == ["Convergent", "ProbeRequired", "NeverReplay"]
    assert {kind: Effect(kind).replay for kind in EffectKind} == {
        EffectKind.REPLAY_SAFE: CONVERGENT,
        EffectKind.DEDUPLICATED: CONVERGENT,
        EffectKind.PROBE_REQUIRED: PROBE,
        EffectKind.AT_MOST_ONCE: NEVER,
    }


@pytest.mark.requirement("S3-replay-explicit")
def test_every_tool_of_a_server_of_ours_carries_its_contract_on_the_wire() -> None:
    kinds = {kind.value for kind in EffectKind}
    for definition in build().tool_definitions():
        assert definition["_meta"]["io.holdfast/effect"]["recovery"]["kind"] in kinds, definition["name"]


@pytest.mark.requirement("OURS-17-undeclared")
@pytest.mark.requirement("OURS-17-read-only")
@pytest.mark.requirement("OURS-17-libmcp")
@pytest.mark.requirement("S3-replay-explicit")
@pytest.mark.parametrize(
    ("definition", "word"),
    [
        (_declared("io.holdfast/effect", kind="replay_safe"), CONVERGENT),
        (_declared("io.holdfast/effect", kind="deduplicated", key="/arguments/key"), CONVERGENT),
        (_declared("io.libmcp/effect", kind="probe_required", probe="ask"), PROBE),
        (_declared("io.holdfast/effect", kind="probe_required"), NEVER),  # nobody could be asked
        (_declared("io.holdfast/effect", kind="at_most_once"), NEVER),
        (_declared("io.holdfast/effect", kind="certainly"), NEVER),
        (_definition(_meta={"io.holdfast/effect": 7}), NEVER),
        (_definition(annotations={"readOnlyHint": True}), CONVERGENT),
        (_definition(annotations={"idempotentHint": True}), NEVER),
        (_definition(), NEVER),
    ],
)
def test_a_tool_is_repeated_only_where_it_says_so(definition: dict[str, Any], word: ReplayWord) -> None:
    params = {"name": "tool", "arguments": {"key": "k"}}
    trusting, wary = Policy(), Policy(trusts_worker=False)
    assert rule_for("tools/call", params, read_catalog([definition], trusting), trusting).effect.replay is word
    assert rule_for("tools/call", params, read_catalog([definition], wary), wary).effect.replay is NEVER


@pytest.mark.requirement("S3-replay-explicit")
def test_a_persons_word_about_a_tool_counts_most() -> None:
    policy = Policy(tools={"tool": ToolPolicy(effect=at_most_once())})
    catalog = read_catalog([_definition(annotations={"readOnlyHint": True})], policy)
    assert rule_for("tools/call", {"name": "tool"}, catalog, policy).effect.replay is NEVER


# --- a worker that is lost ---------------------------------------------------------------------------------------


def _lose(folder: Path, tool: str, fault: str, **arguments: Any) -> tuple[dict[str, Any], int]:
    """The answer to a call whose worker is lost once, and how often the call took effect."""
    worker = script(Fault.on_tool(tool, fault, generations=LOST_ONCE)).command(folder / "worker")
    with HostUnderTest.running(worker, folder) as client:
        client.handshake()
        answer = client.call(tool, arguments)
        client.assert_nothing_left()
    return answer, len(Traces(folder / "worker").effects(tool))


@pytest.mark.requirement("S3-replay-convergent")
@pytest.mark.requirement("S3-topologies-worker-server")
def test_a_convergent_call_is_run_again_by_the_next_worker(tmp_path: Path) -> None:
    answer, _ = _lose(tmp_path, "read", "kill")
    assert answer["result"]["structuredContent"]["generation"] == 2


@pytest.mark.requirement("S3-replay-never")
def test_a_call_that_must_not_be_repeated_fails_and_says_why(tmp_path: Path) -> None:
    answer, effects = _lose(tmp_path, "write", "kill_after_effect", token="t")
    assert answer["error"]["code"] == -32011
    assert answer["error"]["data"]["retry"]["safe"] is False
    assert effects == 1


@pytest.mark.requirement("S3-replay-probe-required")
@pytest.mark.parametrize(("fault", "generation"), [("kill_after_effect", 1), ("kill", 2)])
def test_a_call_with_a_probe_takes_effect_once_wherever_it_was_lost(
    tmp_path: Path, fault: str, generation: int
) -> None:
    answer, effects = _lose(tmp_path, "guarded", fault, token="t")
    assert answer["result"]["structuredContent"] == {"token": "t", "generation": generation}
    assert effects == 1
