"""Every history of a small world up to a depth: no law is broken, and everybody gets an answer in the end."""

from itertools import combinations_with_replacement
from typing import get_args

import pytest
from tests.unit.kernel.explorer import EFFECTS, explore, follow, happenings, start

from holdfast.kernel.inputs import Input

PAIRS = list(combinations_with_replacement(EFFECTS, 2))


@pytest.mark.parametrize("tools", PAIRS, ids="+".join)
def test_two_requests_of_any_effect_survive_everything_that_can_happen(tools: tuple[str, str]) -> None:
    seen = explore(start(tools), depth=6)

    assert seen.nodes > 500
    assert seen.steps > 1500


@pytest.mark.parametrize("tool", [*EFFECTS, "ours"])
def test_one_request_survives_everything_to_a_greater_depth(tool: str) -> None:
    assert explore(start((tool,)), depth=7).nodes > 300


@pytest.mark.parametrize("tool", EFFECTS)
def test_one_request_survives_replacements_and_spares(tool: str) -> None:
    assert explore(start((tool,), may_restart=True, spare=True), depth=5).nodes > 300


@pytest.mark.parametrize("tools", [("read",), ("write",), ("read", "read"), ("read", "write")], ids="+".join)
def test_requests_survive_a_worker_that_is_blocked(tools: tuple[str, ...]) -> None:
    assert explore(start(tools, may_block=True), depth=6 if len(tools) == 1 else 5).nodes > 100


@pytest.mark.parametrize(("tool", "depth"), [("read", 5), ("put", 5), ("write", 6), ("pay", 5)])
def test_one_request_survives_another_release_and_the_way_back(tool: str, depth: int) -> None:
    seen = explore(start((tool,), may_roll_out=True, probation_losses=1, rollout_grace=1.0), depth=depth)

    assert seen.nodes > 300


@pytest.mark.parametrize("tool", ["read", "write"])
def test_a_handshake_and_a_call_survive_everything_that_can_happen(tool: str) -> None:
    assert explore(start(("initialize", tool)), depth=6).nodes > 300


@pytest.mark.parametrize("tool", [*EFFECTS, "ours"])
def test_one_request_survives_the_end_of_the_host_at_any_time(tool: str) -> None:
    assert explore(start((tool,), may_end=True), depth=5).nodes > 100


@pytest.mark.parametrize("tool", [*EFFECTS, "ours"])
def test_one_request_survives_peers_that_do_everything_wrong(tool: str) -> None:
    assert explore(start((tool,), may_disturb=True), depth=5).nodes > 100


def test_every_kind_of_input_is_among_what_can_happen() -> None:
    node = start(("put",), may_restart=True, may_end=True, may_disturb=True, may_roll_out=True, may_block=True)
    seen = set()
    way = ("send 0", "clear 0", "roll out", "up successor", "serve initialize", "serve list_tools", "judge fine")
    for wanted in (*way, "lose active", "up active"):
        found = list(happenings(node))
        seen |= {type(given) for _, _, given in found}
        node = follow(node, *next(one for one in found if one[0] == wanted))

    assert seen == set(get_args(Input))
