"""Effects: counted where they happen. At most once, once per key, or as a probe finds out."""

from pathlib import Path

import pytest
from tests.host.answers import code_of, error_of, is_retry_safe, payload_of
from tests.host.conftest import QUICK, Events, Start

from holdfast.testing import Fault, HostUnderTest, Traces, script

ONCE = (1, 1)


# --- at most once ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "effects"),
    [("kill", 0), ("kill_after_effect", 1), ("exit_mid_answer", 1)],
)
def test_a_write_takes_effect_once_at_most_and_the_client_is_told_that_nobody_knows(
    host: Start, traces: Traces, fault: str, effects: int
) -> None:
    client = host(Fault.on_tool("write", fault, generations=ONCE))

    answer = client.call("write", {"token": "t"})

    data = error_of(answer)
    assert (data["code"], data["class"], data["retryable"]) == ("AMBIGUOUS_OUTCOME", "ambiguous_outcome", False)
    assert (data["generation"], data["attempt"], data["retry"]["safe"]) == (1, 1, False)
    assert len(traces.effects("write")) == effects
    client.assert_nothing_left()
    assert client.log.broken_laws(traces.effects(), is_over=True) == []


def test_many_writes_in_flight_end_ambiguous_each_once(host: Start, traces: Traces) -> None:
    client = host()
    client.call("read")
    numbers = [client.start_call("write", {"token": f"t{n}", "seconds": 5}) for n in range(20)]
    client.until(lambda: len(traces.effects()) == 20)
    client.kill_worker()

    assert {code_of(client.answer_of(number)) for number in numbers} == {"AMBIGUOUS_OUTCOME"}
    assert payload_of(client.call("read"))["generation"] == 2
    assert client.log.broken_laws(traces.effects(), is_over=True) == []


@pytest.mark.requirement("OURS-17-idempotent-hint")
def test_an_idempotent_hint_is_believed_only_where_a_person_says_so(host: Start, traces: Traces) -> None:
    fault = Fault.on_tool("idempotent", "kill_after_effect", generations=ONCE)
    client = host(fault, options=("--trust-idempotent",))

    assert payload_of(client.call("idempotent", {"token": "t"}))["generation"] == 2
    assert len(traces.effects("idempotent")) == 2


@pytest.mark.requirement("OURS-17-read-only")
def test_an_untrusted_worker_is_not_believed_to_be_reading(host: Start) -> None:
    client = host(Fault.on_tool("read", "kill", generations=ONCE), options=("--untrusted",))

    assert code_of(client.call("read")) == "AMBIGUOUS_OUTCOME"


def test_no_replays_means_no_replays(host: Start) -> None:
    client = host(Fault.on_tool("read", "kill", generations=ONCE), options=("--replays", "0"))

    answer = client.call("read")

    assert code_of(answer) == "REPLAY_EXHAUSTED"
    assert is_retry_safe(answer)


# --- once per key ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("OURS-17-deduplicated")
@pytest.mark.parametrize("fault", ["kill", "kill_after_effect", "kill_mid_answer"])
def test_a_call_with_a_key_is_repeated_and_takes_effect_once(host: Start, traces: Traces, fault: str) -> None:
    client = host(Fault.on_tool("add_once", fault, generations=ONCE))

    assert payload_of(client.call("add_once", {"key": "k", "amount": 3})) == {"key": "k", "amount": 3}
    assert len(traces.effects("add_once")) == 1
    assert traces.generations() == 2


def test_a_call_without_its_key_is_not_repeated(host: Start) -> None:
    client = host(Fault.on_tool("add_once", "kill", generations=ONCE))

    assert code_of(client.call("add_once", {"amount": 3})) == "AMBIGUOUS_OUTCOME"


@pytest.mark.requirement("OURS-17-deduplicated")
def test_the_outcome_of_a_key_is_kept_and_survives_the_host(host: Start, traces: Traces, tmp_path: Path) -> None:
    first = host(record=True)
    stored = payload_of(first.call("add_once", {"key": "k", "amount": 3}))
    first.assert_nothing_left()
    second = host(record=True)

    again = payload_of(second.call("add_once", {"amount": 3, "key": "k"}))
    conflict = second.call("add_once", {"key": "k", "amount": 4})

    assert again == stored
    assert code_of(conflict) == "KEY_CONFLICT"
    assert not any("add_once" in line and "tools/call" in line for line in traces.received(2))
    assert len(traces.effects("add_once")) == 1


def test_two_calls_with_the_same_key_at_the_same_time_are_one(host: Start, traces: Traces) -> None:
    client = host(record=True)
    client.call("read")
    first = client.start_call("add_once", {"key": "k", "amount": 3, "seconds": 0.1})
    second = client.start_call("add_once", {"key": "k", "amount": 3, "seconds": 0.1})
    other = client.start_call("add_once", {"key": "k", "amount": 5, "seconds": 0.1})

    assert payload_of(client.answer_of(first)) == payload_of(client.answer_of(second))
    assert code_of(client.answer_of(other)) == "KEY_CONFLICT"
    asked = [line for line in traces.received() if '"add_once"' in line]
    assert len(asked) == len(traces.effects("add_once")) == 1


def test_a_failed_outcome_is_not_kept(host: Start) -> None:
    client = host(Fault.on_tool("add_once", "answer_error", nth=1))

    assert "error" in client.call("add_once", {"key": "k", "amount": 3})
    assert payload_of(client.call("add_once", {"key": "k", "amount": 3}))["amount"] == 3


def kept(client: HostUnderTest, folder: Path) -> Path:
    """Where a host that has ended kept the outcome of a call."""
    client.call("add_once", {"key": "before", "amount": 1})
    client.assert_nothing_left()
    (store,) = (folder / "state" / "scripted_worker").glob("outcomes-*.sqlite")
    return store


def test_servers_that_share_a_name_do_not_share_outcomes(tmp_path: Path) -> None:
    effects = []
    for place in ("test", "live"):
        (tmp_path / place).mkdir()
        command = script().command(tmp_path / place / "worker")
        environment = {**QUICK, "HOLDFAST_STATE_DIR": str(tmp_path / "state")}
        with HostUnderTest.running(command, tmp_path / place, "--name", "pay", environment=environment) as client:
            client.handshake()
            assert payload_of(client.call("add_once", {"key": "order-1", "amount": 3}))["key"] == "order-1"
        effects.append(len(Traces(tmp_path / place / "worker").effects("add_once")))

    assert effects == [1, 1]


def test_a_damaged_store_of_outcomes_is_moved_aside_and_told(
    host: Start, traces: Traces, events: Events, tmp_path: Path
) -> None:
    store = kept(host(), tmp_path)
    store.write_bytes(b"this is no database at all" * 100)
    client = host()

    assert payload_of(client.call("add_once", {"key": "k", "amount": 3}))["key"] == "k"
    assert payload_of(client.call("add_once", {"key": "k", "amount": 3}))["key"] == "k"
    assert len(traces.effects("add_once")) == 2  # one before the damage
    assert list(store.parent.glob("*.corrupt-1"))
    client.until(lambda: events("fault"))
    assert "moved to" in events("fault")[0]["message"]


def test_a_store_that_cannot_be_written_costs_no_call(host: Start, events: Events, tmp_path: Path) -> None:
    store = kept(host(), tmp_path)
    store.unlink()
    store.mkdir()
    client = host()

    assert payload_of(client.call("add_once", {"key": "k", "amount": 3}))["key"] == "k"
    client.until(lambda: events("fault"))


# --- probes ------------------------------------------------------------------------------------------------------


def test_a_probe_finds_that_the_call_took_effect_and_its_result_is_the_answer(host: Start, traces: Traces) -> None:
    client = host(Fault.on_tool("guarded", "kill_after_effect", generations=ONCE))

    assert payload_of(client.call("guarded", {"token": "t"})) == {"token": "t", "generation": 1}
    assert len(traces.effects("guarded")) == 1


def test_a_probe_finds_that_nothing_happened_and_the_call_is_sent_again(host: Start, traces: Traces) -> None:
    client = host(Fault.on_tool("guarded", "kill", generations=ONCE))

    assert payload_of(client.call("guarded", {"token": "t"})) == {"token": "t", "generation": 2}
    assert len(traces.effects("guarded")) == 1


def test_a_probe_that_never_knows_ends_the_call_after_its_bound(host: Start, traces: Traces) -> None:
    client = host(
        Fault.on_tool("guarded", "kill_after_effect", generations=ONCE),
        Fault.on_start("probe_outcome", outcome="unknown"),
        knobs={"probe_hold": 0.5},
    )

    answer = client.call("guarded", {"token": "t"})

    assert code_of(answer) == "AMBIGUOUS_OUTCOME"
    assert not is_retry_safe(answer)
    assert payload_of(client.call("read"))["generation"] == 2


def test_a_worker_lost_while_it_is_probed_is_probed_again(host: Start, traces: Traces) -> None:
    client = host(
        Fault.on_tool("guarded", "kill_after_effect", generations=ONCE),
        Fault.on_tool("guarded_probe", "kill", generations=(2, 2)),
    )

    assert payload_of(client.call("guarded", {"token": "t"})) == {"token": "t", "generation": 1}
    assert len(traces.effects("guarded")) == 1
    assert traces.generations() == 3


def test_a_probe_tool_that_is_gone_ends_the_call_ambiguous(host: Start) -> None:
    client = host(
        Fault.on_tool("guarded", "kill", generations=ONCE),
        Fault.on_start("list_tools", names=["read", "guarded"], generations=(2, None)),
    )

    assert code_of(client.call("guarded", {"token": "t"})) == "AMBIGUOUS_OUTCOME"


def test_other_calls_go_on_while_one_is_held(host: Start) -> None:
    client = host(
        Fault.on_tool("guarded", "kill", generations=ONCE),
        Fault.on_start("probe_outcome", outcome="unknown"),
        knobs={"probe_hold": 0.6},
    )
    held = client.start_call("guarded", {"token": "t"})
    others = [client.start_call("read", {"value": n}) for n in range(3)]

    assert [payload_of(client.answer_of(number))["value"] for number in others] == [0, 1, 2]
    assert code_of(client.answer_of(held)) == "AMBIGUOUS_OUTCOME"


# --- what a person says about a tool -----------------------------------------------------------------------------


def test_a_rule_in_the_configuration_counts_more_than_what_the_tool_says(tmp_path: Path, traces: Traces) -> None:
    config = tmp_path / "holdfast.toml"
    config.write_text('[tools.write]\neffect = "replay_safe"\n[tools.read]\neffect = "at_most_once"\n')
    lost = [
        Fault.on_tool("write", "kill_before_answer", generations=ONCE),
        Fault.on_tool("read", "kill_before_answer", generations=(2, 2)),
    ]
    environment = {**QUICK, "HOLDFAST_CONFIG": str(config)}
    command = script(*lost).command(tmp_path / "worker")
    with HostUnderTest.running(command, tmp_path, environment=environment) as client:
        client.handshake()
        assert payload_of(client.call("write", {"token": "t"}))["generation"] == 2
        assert code_of(client.call("read")) == "AMBIGUOUS_OUTCOME"
    assert len(traces.effects("write")) == 2
