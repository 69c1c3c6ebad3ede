"""State of a session that calls build again: who may declare it, and what a host reads."""

import pytest

from holdfast import Server, SessionState, effect
from holdfast.errors import ContractError
from holdfast.kernel.catalog import read_catalog
from holdfast.kernel.policy import Policy


def test_a_host_reads_what_a_tool_declares() -> None:
    server = Server("shop", version="1.0.0")

    @server.tool(effect=effect.replay_safe().journaled("/arguments/name"))
    def choose(name: str) -> str:
        """Choose a basket."""
        return name

    catalog = read_catalog(server.tool_definitions(), Policy())

    assert catalog.tools["choose"].state is SessionState.JOURNALED
    assert catalog.tools["choose"].state_key == "/arguments/name"


@pytest.mark.parametrize("declared", [effect.at_most_once(), effect.probe_required("look")])
def test_calls_that_may_not_be_repeated_cannot_build_state_again(declared: effect.Effect) -> None:
    with pytest.raises(ContractError, match="calls that can be repeated"):
        declared.journaled("/arguments/name")


@pytest.mark.parametrize("key", ["", "/", "/arguments/", "arguments/name", "/name"])
def test_a_journal_without_a_key_is_refused(key: str) -> None:
    with pytest.raises(ContractError, match="needs a key"):
        effect.replay_safe().journaled(key)


def test_a_key_that_points_at_no_argument_is_refused() -> None:
    server = Server("shop", version="1.0.0")

    with pytest.raises(ContractError, match="there is no argument 'nmae' for its journal"):

        @server.tool(effect=effect.replay_safe().journaled("/arguments/nmae"))
        def choose(name: str) -> str:
            """Choose a basket."""
            return name


@pytest.mark.parametrize("state", [SessionState.JOURNALED, SessionState.GENERATION_PINNED])
def test_one_tool_cannot_keep_state_in_two_ways(state: SessionState) -> None:
    server = Server("shop", version="1.0.0")
    declared = effect.replay_safe().journaled("basket") if state is not SessionState.JOURNALED else None

    with pytest.raises(ContractError, match="session_state is"):

        @server.tool(effect=declared, session_state=state)
        def choose(name: str) -> str:
            """Choose a basket."""
            return name


def test_the_key_reaches_the_wire_only_where_there_is_one() -> None:
    assert effect.replay_safe().to_wire(SessionState.STATELESS)["state"] == {"kind": "stateless"}
    assert effect.replay_safe().journaled("a").to_wire(SessionState.STATELESS)["state"] == {
        "kind": "journaled",
        "key": "a",
    }
