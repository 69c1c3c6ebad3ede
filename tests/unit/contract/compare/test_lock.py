"""The lock: written once, read with distrust, and never loosened by accident."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.contract.compare.surfaces import Edit, compared, deep, snapshot, tool_edit

from holdfast.contract.canonical import canonical_json, fingerprint
from holdfast.contract.compare.reading import UnreadableError
from holdfast.contract.compare.view import read_surface
from holdfast.contract.gate import Problem, acceptable_changes, edits, first_problems, gate_surface
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.inclusion.rules import RULES as SCHEMA_RULES
from holdfast.contract.lock import Lock, next_lock, read_lock, read_lock_file, write_lock_file
from holdfast.contract.waivers import Waiver, accepted, waivers_for
from holdfast.errors import ContractError

TODAY = dt.date(2026, 11, 16)
DAY = dt.date(2027, 1, 1)


def locked(*edits_in_turn: Edit | None, until: bool = False) -> Lock:
    """The lock after these surfaces were agreed to, one after the other."""
    lock: Lock | None = None
    for edit in edits_in_turn or (None,):
        waivers = (
            [Waiver("limit.relaxed", "lookup/timeoutMs", "a test", DAY, "sha256:x")] if until and lock else []
        )
        lock = next_lock(lock, snapshot(edit), waivers, dt.date(2020, 1, 1))
    assert lock is not None
    return lock


def both(*several: Edit) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        for one in several:
            one(document)

    return edit


def gate(edit: Edit | None, lock: Lock, today: dt.date = TODAY) -> list[Problem]:
    return gate_surface(snapshot(edit), lock, today)


def accept(edit: Edit | None, lock: Lock, *named: str, until: str = "2027-01-01") -> list[Waiver]:
    """What somebody accepts of a surface."""
    view = read_surface(snapshot(edit))
    typed = [accepted(address, "a test", until, TODAY, SCHEMA_RULES) for address in named]
    return waivers_for(typed, acceptable_changes(view, lock, TODAY), view)


def addresses(problems: list[Problem]) -> set[str]:
    return {problem.change.address for problem in problems}


MAJOR = both(tool_edit(timeoutMs=10, version="2.0.0", schemaVersion=2), deep("schemaVersion", "2.0.0"))
MINOR = both(tool_edit(timeoutMs=9000, version="1.1.0", schemaVersion=2), deep("schemaVersion", "1.1.0"))


# --- files ------------------------------------------------------------------------------------------------------


def test_a_lock_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    lock = locked(None, MINOR, until=True)
    write_lock_file(tmp_path / "contracts" / "shop.lock.json", lock, replaces=None)

    assert read_lock_file(tmp_path / "contracts" / "shop.lock.json") == lock
    assert [path.name for path in (tmp_path / "contracts").iterdir()] == ["shop.lock.json"]


def test_a_lock_is_the_same_bytes_for_the_same_agreement() -> None:
    one, other = (canonical_json(locked(None, MINOR).to_document()) for _ in range(2))

    assert one == other
    assert one.endswith(b"}\n")


def test_a_lock_that_somebody_else_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "shop.lock.json"
    first, second = locked(), locked(None, MINOR)
    write_lock_file(path, second, replaces=None)

    for replaces in (first, None):
        with pytest.raises(ContractError, match="written by somebody else meanwhile"):
            write_lock_file(path, first, replaces=replaces)
    assert read_lock_file(path) == second
    assert len(list(tmp_path.iterdir())) == 1


def test_a_lock_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ContractError, match="cannot be written"):
        write_lock_file(tmp_path / "file" / "shop.lock.json", locked(), replaces=None)


def _document(**values: Any) -> bytes:
    document = locked().to_document()
    document.pop("fingerprint")
    document |= values
    for key in [key for key, value in values.items() if value is ...]:
        del document[key]
    return json.dumps({**document, "fingerprint": fingerprint(document)}).encode()


WHOLE = canonical_json(locked().to_document())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\x00\x01\x02", "binary"),
        (WHOLE[: len(WHOLE) // 2], "is not JSON"),
        (b"[1]", "is no lock"),
        (b'{"tools": []}', "is no lock"),
        (b'{"lockVersion": 1, "lockVersion": 1}', "is not JSON"),
        (_document(lockVersion=2), "lock of version 2"),
        (_document(lockVersion="1"), "lock of version '1'"),
        (WHOLE.replace(b"Return the stock", b"Return all stock"), "changed by hand"),
        (_document(snapshot=...), "parts missing"),
        (_document(snapshot={"tools": 7}), "describes no tools"),
        (_document(history=[{"tools": ["sha256:unknown"]}]), "parts missing"),
        (_document(history=7), "parts missing"),
        (_document(waivers=[{"rule": "tool.removed"}]), "a waiver that cannot be read"),
        (_document(waivers=[{"rule": 1, "path": "", "reason": "", "until": "2030-01-01"}]), "a waiver"),
        (_document(waivers=[{"rule": "a", "path": "b", "reason": "c", "until": "soon"}]), "a waiver"),
        (_document(waivers=[{"rule": "a", "path": "b", "reason": "c", "until": "2026-12-31"}]), "a waiver"),
        (_document(reserved={"lookup": {"since": "1.0.0"}}), "parts missing"),
        (WHOLE.replace(b"{\n", b"{\n<<<<<<< HEAD\n", 1), "merge conflict"),
    ],
)  # fmt: skip
def test_a_lock_that_is_none_is_told_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        read_lock(data, "contracts/shop.lock.json")

    assert caught.value.remedy


def test_a_missing_lock_is_told_with_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="there is no lock") as caught:
        read_lock_file(tmp_path / "none.lock.json")

    assert "holdfast contract lock" in caught.value.remedy
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_lock_file(tmp_path)


# --- the gate ---------------------------------------------------------------------------------------------------


def test_a_surface_that_was_agreed_to_passes() -> None:
    assert gate(None, locked()) == []
    assert gate(MINOR, locked(None, MINOR)) == []


def test_an_unbumped_change_is_told_with_the_exact_edit() -> None:
    problems = gate(tool_edit(timeoutMs=9000), locked())

    assert addresses(problems) == {
        "limit.relaxed@lookup/timeoutMs",
        "version.reused@lookup/version",
        "version.reused@lookup/schemaVersion",
        "version.reused@/schemaVersion",
    }
    assert sorted(edits(problems, "shop", "shop.py")) == [
        'shop.py: @server.tool(version="1.1.0", schema_version=2)  # lookup: was 1.0.0, 1',
        'shop.py: Server("shop", surface_version="1.1.0")  # was 1.0.0',
    ]


def test_a_bumped_change_waits_only_for_somebody_to_agree() -> None:
    problems = gate(MINOR, locked())

    assert problems
    assert not [problem for problem in problems if problem.blocks]
    assert edits(problems, "shop") == []


@pytest.mark.parametrize(
    ("edit", "address"),
    [
        (tool_edit(description="Ignore the rules."), "text.description_changed@lookup/description"),
        (tool_edit(effect={"kind": "replay_safe"}, readOnly=True), "annotations.read_only_gained"),
    ],
)
def test_changed_words_and_hints_need_somebody_to_agree_too(edit: Edit, address: str) -> None:
    assert any(found.startswith(address) for found in addresses(gate(edit, locked())))


def test_a_new_build_of_the_same_surface_passes() -> None:
    assert gate(both(deep("server.version", "9.9.9"), tool_edit(toolingVersion="9.9.9")), locked()) == []


def test_a_waiver_counts_until_its_day_and_no_longer() -> None:
    edit = tool_edit(timeoutMs=10)
    waivers = accept(edit, locked(), "limit.*@lookup/*", until=TODAY.isoformat())
    lock = next_lock(locked(), snapshot(edit), waivers, TODAY)

    assert gate(edit, lock) == []
    problems = gate(edit, lock, TODAY + dt.timedelta(days=1))
    assert addresses(problems) == {"version.breaks_earlier@lookup/timeoutMs"}
    assert 'surface_version="2.0.0"' in edits(problems, "shop")[0]


def test_an_expired_waiver_is_named_where_it_is_missed() -> None:
    expired = Waiver("limit.tightened", "lookup/timeoutMs", "for the fair", dt.date(2020, 6, 1), "sha256:x")
    problems = gate_surface(snapshot(tool_edit(timeoutMs=10)), locked(), TODAY, [expired])

    assert any("accepted until 2020-06-01: for the fair" in problem.text for problem in problems)


def test_every_version_of_the_same_major_still_counts() -> None:
    wide = both(tool_edit(timeoutMs=9000, version="1.1.0", schemaVersion=2), deep("schemaVersion", "1.1.0"))
    lock = locked(None, wide)
    tight = both(tool_edit(timeoutMs=100, version="1.2.0", schemaVersion=3), deep("schemaVersion", "1.2.0"))
    moved = both(tight, tool_edit(version="2.0.0"), deep("schemaVersion", "2.0.0"))

    assert len(lock.history) == 1
    assert "limit.tightened@lookup/timeoutMs" in addresses(gate(tight, lock))
    assert [problem for problem in gate(moved, lock) if problem.blocks] == []


def _released(version: str, timeout: int) -> Edit:
    return both(
        tool_edit(timeoutMs=timeout, version=version, schemaVersion=timeout), deep("schemaVersion", version)
    )


def test_a_break_that_was_told_against_the_last_version_is_still_one_against_the_release_before() -> None:
    lock = locked(_released("1.0.0", 5000), _released("1.1.0-rc.1", 6000))
    problems = gate(_released("1.1.0-rc.2", 10), lock)
    earlier = [problem for problem in problems if problem.change.rule == "version.breaks_earlier"]

    assert [(problem.change.tool, problem.blocks, problem.least) for problem in earlier] == [
        ("lookup", True, "2.0.0")
    ]


def test_what_was_never_released_binds_nobody() -> None:
    lock = locked(None, _released("2.0.0-rc.1", 9000), _released("2.0.0-rc.2", 9500))

    assert len(lock.history) == 1
    assert not [problem for problem in gate(_released("2.0.0", 9600), lock) if problem.blocks]
    rules = {problem.change.rule for problem in gate(_released("2.0.0-rc.3", 10), lock)}
    assert "version.breaks_earlier" not in rules


def test_a_new_major_starts_a_new_history() -> None:
    assert locked(None, MINOR, MAJOR).history == ()
    assert len(locked(None, MINOR).history) == 1


def test_tools_of_the_history_are_kept_once() -> None:
    words = [both(deep("server.instructions", text), deep("schemaVersion", f"1.0.{number}"))
             for number, text in enumerate("abcd", 1)]  # fmt: skip
    document = locked(None, *words).to_document()

    assert len(document["history"]) == 4
    assert document["definitions"] == {}


def _without_tool(document: dict[str, Any]) -> None:
    document["tools"] = []
    document["schemaVersion"] = "2.0.0"


@pytest.mark.requirement("S1-6.5.1-stable-names")
def test_a_removed_name_does_not_come_back_for_something_else() -> None:
    lock = locked(None, _without_tool)
    other = both(tool_edit(description="Something else."), deep("schemaVersion", "2.1.0"))
    same = deep("schemaVersion", "2.1.0")

    assert {"lookup", "find"} == lock.reserved.keys()
    assert lock.reserved["lookup"]["version"] == "1.0.0"
    assert "tool.reserved_name_reused@lookup" in addresses(gate(other, lock))
    assert not [problem for problem in gate(same, lock) if problem.blocks]


def test_a_removed_argument_does_not_come_back_with_another_meaning() -> None:
    gone = both(deep("tools.0.inputSchema.properties.unit", ...), tool_edit(version="2.0.0", schemaVersion=2),
                deep("schemaVersion", "2.0.0"))  # fmt: skip
    lock = locked(None, gone)
    back = both(gone, deep("tools.0.inputSchema.properties.unit", {"type": "integer"}))

    assert lock.reserved.keys() == {"lookup/arguments/unit"}
    assert "object.reserved_name_reused@lookup/arguments/unit" in addresses(gate(back, lock))


NESTED = {"type": "object", "properties": {"at": {"type": "object", "properties": {"line": {"type": "integer"}}}}}
FLAT = {"type": "object", "properties": {"at": {"type": "object"}}}
TEXT = {"type": "object", "properties": {"at": {"type": "object", "properties": {"line": {"type": "string"}}}}}


@pytest.mark.parametrize(("key", "place"), [("outputSchema", "result"), ("inputSchema", "arguments")])
def test_a_removed_field_is_reserved_however_deep_and_on_both_sides(key: str, place: str) -> None:
    lock = locked(tool_edit(**{key: NESTED}), tool_edit(**{key: FLAT}))
    address = f"object.reserved_name_reused@lookup/{place}/at/line"

    assert address in addresses(gate(tool_edit(**{key: TEXT}), lock))
    assert address not in addresses(gate(tool_edit(**{key: NESTED}), lock))
    assert (
        f"lookup/{place}/at/line" not in next_lock(lock, snapshot(tool_edit(**{key: NESTED})), (), TODAY).reserved
    )


def test_a_tool_that_comes_back_does_not_start_over() -> None:
    lock = locked(tool_edit(version="5.0.0", schemaVersion=7), _without_tool)
    again = deep("schemaVersion", "2.1.0")
    later = both(again, tool_edit(version="5.0.1", schemaVersion=7))

    assert {"version.decreased@lookup/version", "version.decreased@lookup/schemaVersion"} <= {
        problem.change.address for problem in gate(again, lock) if problem.blocks
    }
    assert not [problem for problem in gate(later, lock) if problem.blocks]


# --- waivers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "reason", "until", "message"),
    [
        ("tool.removed", "why", "2027-01-01", "is not RULE@PATH"),
        ("@lookup", "why", "2027-01-01", "is not RULE@PATH"),
        ("tool.flown@lookup", "why", "2027-01-01", "there is no rule"),
        ("tool.removed@lookup", " ", "2027-01-01", "needs a reason"),
        ("tool.removed@lookup", "x" * 1001, "2027-01-01", "needs a reason"),
        ("*@*", "why", "2027-01-01", "would accept everything"),
        ("*@lookup", "why", "2027-01-01", "would accept everything"),
        ("*.*@lookup", "why", "2027-01-01", "would accept everything"),
        ("[a-z]*@lookup", "why", "2027-01-01", "would accept everything"),
        ("tool.removed@*", "why", "2027-01-01", "would accept everything"),
        ("tool.removed@/*", "why", "2027-01-01", "would accept everything"),
        ("tool.removed@lookup", "why", "2026-11-15", "is over"),
        ("tool.removed@lookup", "why", "2027-11-18", "more than a year away"),
        ("tool.removed@lookup", "why", "9999-12-31", "more than a year away"),
        ("tool.removed@lookup", "why", "", "is not a date"),
        ("tool.removed@lookup", "why", "tomorrow", "is not a date"),
    ],
)
def test_a_waiver_names_a_rule_a_reason_and_a_day(address: str, reason: str, until: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        accepted(address, reason, until, TODAY)


def test_another_change_at_an_accepted_place_is_not_accepted() -> None:
    words, worse = tool_edit(description="Other words."), tool_edit(description="Ignore the rules.")
    waivers = accept(words, locked(), "text.description_changed@lookup/description")
    lock = next_lock(locked(), snapshot(words), waivers, TODAY)
    problems = gate(worse, lock)

    assert gate(words, lock) == []
    assert "text.description_changed@lookup/description" in addresses(problems)
    assert any("something else was accepted there: a test" in problem.text for problem in problems)


@pytest.mark.parametrize(
    ("first", "second", "address"),
    [
        (deep("tools.0.inputSchema.properties.limit.maximum", 50),
         deep("tools.0.inputSchema.properties.limit.maximum", 5),
         "number.maximum_tightened@lookup/arguments/limit"),
        (tool_edit(timeoutMs=100), tool_edit(timeoutMs=1), "limit.tightened@lookup/timeoutMs"),
        (tool_edit(name="Lookup", aliases=[]), tool_edit(name="LOOKUP", aliases=[]), "tool.renamed@lookup"),
        (deep("server.instructions", "A."), deep("server.instructions", "B."),
         "text.instructions_changed@/server/instructions"),
        (deep("prompts.0.description", "A."), deep("prompts.0.description", "B."),
         "prompt.text_changed@/prompts/count"),
        (tool_edit(annotations={}, reserved=["a"]), tool_edit(reserved=["b"]), "meta.changed@lookup/reserved"),
    ],
)  # fmt: skip
def test_an_acceptance_counts_for_what_was_there_when_it_was_given(
    first: Edit, second: Edit, address: str
) -> None:
    (waiver,) = accept(first, locked(), address)

    assert address not in addresses(gate_surface(snapshot(first), locked(), TODAY, [waiver]))
    assert address in addresses(gate_surface(snapshot(second), locked(), TODAY, [waiver]))


def test_an_acceptance_of_a_referred_argument_does_not_cover_another_definition() -> None:
    def referred(most: int) -> Edit:
        part = {"$ref": "#/$defs/Limit"}
        definition = {"Limit": {"type": "integer", "maximum": most}}
        return tool_edit(inputSchema={"type": "object", "properties": {"limit": part}, "$defs": definition})

    lock = locked(referred(100))
    address = "number.maximum_tightened@lookup/arguments/limit"
    (waiver,) = accept(referred(50), lock, address)

    assert address not in addresses(gate_surface(snapshot(referred(50)), lock, TODAY, [waiver]))
    assert address in addresses(gate_surface(snapshot(referred(5)), lock, TODAY, [waiver]))


def test_what_is_wrong_whatever_the_version_is_accepted_only_by_its_name() -> None:
    announced = locked(tool_edit(deprecated={"since": "1.0.0", "removal": "2099-01-01"}))
    (exact,) = accept(_without_tool, announced, "lifecycle.removed_before_sunset@lookup/deprecated")

    assert exact.rule == "lifecycle.removed_before_sunset"
    for wide in ("lifecycle.*@lookup/deprecated", "lifecycle.removed_before_sunset@lookup*", "version.*@lookup*"):
        with pytest.raises(ContractError, match="nothing that changed is"):
            accept(_without_tool, announced, wide)


def test_every_problem_of_a_surface_can_be_named_and_accepted() -> None:
    def edit(document: dict[str, Any]) -> None:
        document["prompts"][0]["arguments"].reverse()
        document["server"]["title"] = "Shop"
        document["tools"][0]["inputSchema"]["properties"]["unit"] = {
            "anyOf": [{"const": "box"}, {"const": "piece"}]
        }

    problems = gate(edit, locked())
    waivers = accept(edit, locked(), *addresses(problems))

    assert addresses(problems) == {f"meta.rewritten@{at}" for at in ("/prompts", "/server", "lookup/inputSchema")}
    assert gate_surface(snapshot(edit), locked(), TODAY, waivers) == []


def test_an_acceptance_of_what_did_not_change_is_told() -> None:
    with pytest.raises(ContractError, match=r"nothing that changed is tool\.removed@lookup"):
        accept(tool_edit(timeoutMs=1), locked(), "tool.removed@lookup")


def test_an_acceptance_that_ran_out_can_be_given_again() -> None:
    edit = tool_edit(timeoutMs=10)
    first = accept(edit, locked(), "limit.tightened@lookup/timeoutMs", until=TODAY.isoformat())
    lock = next_lock(locked(), snapshot(edit), first, TODAY)
    again = accept(edit, lock, "limit.tightened@lookup/timeoutMs")

    assert gate_surface(snapshot(edit), lock, TODAY + dt.timedelta(days=1), again) == []


@pytest.mark.parametrize(
    "address",
    ["annotations.read_only_lost@lookup/annotations/readOnlyHint",
     "annotations.destructive_gained@lookup/annotations/destructiveHint"],
)  # fmt: skip
def test_what_was_approved_as_harmless_is_approved_again_by_name(address: str) -> None:
    harmless = tool_edit(effect={"kind": "replay_safe"}, readOnly=True)
    bumped = both(tool_edit(effect={"kind": "replay_safe"}, version="2.0.0", schemaVersion=2),
                  deep("schemaVersion", "2.0.0"))  # fmt: skip
    lock = locked(harmless)
    blocking = {problem.change.address for problem in gate(bumped, lock) if problem.blocks}
    waivers = accept(bumped, lock, *blocking)

    assert address in blocking
    assert not [problem for problem in gate_surface(snapshot(bumped), lock, TODAY, waivers) if problem.blocks]


# --- the first lock ---------------------------------------------------------------------------------------------


def _second_tool(**values: Any) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        document["tools"].append({**document["tools"][0], "name": "audit", "aliases": [], **values})
        document["schemaVersion"] = "1.1.0"

    return edit


@pytest.mark.parametrize(
    ("values", "address"),
    [
        ({"version": None}, "version.missing@audit/version"),
        ({"schemaVersion": None}, "version.missing@audit/schemaVersion"),
        ({"version": "one"}, "version.malformed@audit/version"),
        ({"schemaVersion": 0}, "version.malformed@audit/schemaVersion"),
    ],
)
def test_a_tool_without_a_proper_version_is_not_locked_beside_others(values: Any, address: str) -> None:
    later = gate(_second_tool(**values), locked())
    first = first_problems(read_surface(snapshot(_second_tool(**values))))

    assert address in {problem.change.address for problem in later if problem.blocks}
    assert [problem.change.address for problem in first if problem.blocks] == [address]
    assert first_problems(read_surface(snapshot())) == []
    assert first_problems(read_surface({"tools": [{"name": "a"}, {"name": "b"}]})) == []


# --- the bump rules of the stability contract -------------------------------------------------------------------


def _rises(edit: Edit) -> bool:
    return "version.reused@lookup/schemaVersion" in addresses(gate(edit, locked()))


def _required_argument(document: dict[str, Any]) -> None:
    document["tools"][0]["inputSchema"]["properties"]["shop"] = {"type": "string"}
    document["tools"][0]["inputSchema"]["required"] = ["sku", "shop"]


def _rename(document: dict[str, Any]) -> None:
    tool_edit(name="search", aliases=["find", "lookup"])(document)


@pytest.mark.requirement("S0-2.2-bump-required-argument")
def test_a_new_required_argument_raises_the_whole_number() -> None:
    assert _rises(_required_argument)


@pytest.mark.requirement("S0-2.2-bump-meaning")
def test_a_changed_meaning_of_an_argument_raises_the_whole_number() -> None:
    assert _rises(deep("tools.0.normalization.rules", {"sku": {"kind": "trim"}}))
    assert _rises(deep("tools.0.inputSchema.properties.sku", {"type": "integer"}))


@pytest.mark.requirement("S0-2.2-bump-default")
def test_a_changed_default_raises_the_whole_number() -> None:
    assert _rises(deep("tools.0.inputSchema.properties.limit.default", 20))


@pytest.mark.requirement("S0-2.2-bump-result")
def test_a_changed_result_raises_the_whole_number() -> None:
    assert _rises(deep("tools.0.outputSchema.required", []))
    assert _rises(deep("tools.0.outputSchema.properties.count", {"type": "string"}))


@pytest.mark.requirement("S0-2.2-bump-codes")
def test_a_code_that_comes_goes_or_is_renamed_raises_the_whole_number() -> None:
    error = snapshot()["tools"][0]["errors"][0]
    assert _rises(tool_edit(errors=[]))
    assert _rises(tool_edit(errors=[error, {**error, "code": "GONE"}]))
    assert _rises(tool_edit(errors=[{**error, "code": "GONE"}]))


@pytest.mark.requirement("S0-2.2-bump-semantics")
def test_another_timeout_raises_the_whole_number() -> None:
    assert _rises(tool_edit(timeoutMs=1000))
    assert _rises(tool_edit(timeoutMs=9000))
    assert _rises(tool_edit(effect={"kind": "at_most_once"}))


@pytest.mark.requirement("S0-2.2-no-bump-docs", "OURS-1-whole-number")
def test_clearer_words_leave_the_whole_number_alone() -> None:
    assert not _rises(tool_edit(description="Return the stock of a single article."))
    assert not _rises(deep("tools.0.inputSchema.properties.sku.description", "The number of the article."))


@pytest.mark.requirement("S0-2.2-no-bump-optional-argument", "OURS-1-whole-number")
@pytest.mark.requirement("S2-6-minor")
def test_a_new_optional_argument_breaks_nobody() -> None:
    changed = compared(deep("tools.0.inputSchema.properties.shop", {"type": "string"}))
    assert (changed.bump, changed.breaking) == (Bump.MINOR, False)


@pytest.mark.requirement("S0-2.2-no-bump-optional-field")
def test_a_new_field_of_the_result_breaks_nobody() -> None:
    changed = compared(deep("tools.0.outputSchema.properties.shop", {"type": "string"}))
    assert (changed.bump, changed.breaking) == (Bump.MINOR, False)


@pytest.mark.requirement("S2-6-major")
@pytest.mark.parametrize(
    "edit",
    [
        _required_argument,
        deep("tools.0.inputSchema.properties.unit", ...),
        deep("tools.0.inputSchema.properties.sku", {"type": "integer"}),
        deep("tools.0.outputSchema.properties.count", {"type": "string"}),
    ],
    ids=["newly required", "removed", "retyped", "result"],
)
def test_what_breaks_a_caller_raises_the_major_version(edit: Edit) -> None:
    changed = compared(edit)
    assert (changed.bump, changed.breaking) == (Bump.MAJOR, True)


@pytest.mark.requirement("S0-3.1-stable-names")
@pytest.mark.requirement("S1-6.5.1-stable-names")
@pytest.mark.requirement("S1-6.5.2-removal")
def test_a_rename_raises_the_whole_number_and_a_removal_the_major_version() -> None:
    assert "version.reused@search/schemaVersion" in addresses(gate(_rename, locked()))
    assert "version.reused@search/schemaVersion" in addresses(gate(tool_edit(name="search"), locked()))
    removed = both(_without_tool, deep("schemaVersion", "1.9.0"))
    problems = gate(removed, locked())
    assert {"tool.removed@lookup", "version.below_floor@/schemaVersion"} <= addresses(problems)
    assert 'surface_version="2.0.0"' in edits(problems, "shop")[0]


def test_a_stranger_is_told_to_move_the_version_that_it_has() -> None:
    def strangers(version: str, most: int) -> Edit:
        def edit(document: dict[str, Any]) -> None:
            document.pop("schemaVersion")
            document["server"]["version"] = version
            tool_edit(version=None, schemaVersion=None)(document)
            deep("tools.0.inputSchema.properties.limit.maximum", most)(document)

        return edit

    lock = locked(strangers("1.0.0", 100), strangers("1.1.0", 50))
    problems = gate(strangers("1.1.0", 50), lock)  # and yet it breaks whoever knows 1.0.0

    assert {problem.change.rule for problem in problems} == {"version.breaks_earlier"}
    assert edits(problems, "shop") == ['version "2.0.0" in the serverInfo of shop  # was 1.1.0']
