"""How far versions must move, and what is wrong with those that do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.contract.compare.surfaces import compared, deep, tool_edit

from holdfast.contract.compare.versions import floor_of, is_far_enough
from holdfast.contract.inclusion.bump import Bump

WORDS = {"description": "Other words."}
TIMEOUT = {"timeoutMs": 9000}  # minor
TIGHT = {"timeoutMs": 10}  # major


@pytest.mark.parametrize(
    ("old", "bump", "floor"),
    [
        ("1.2.3", Bump.NONE, "1.2.3"),
        ("1.2.3", Bump.PATCH, "1.2.4"),
        ("1.2.3", Bump.MINOR, "1.3.0"),
        ("1.2.3", Bump.MAJOR, "2.0.0"),
        ("0.2.3", Bump.PATCH, "0.2.4"),
        ("0.2.3", Bump.MINOR, "0.2.4"),
        ("0.2.3", Bump.MAJOR, "0.3.0"),
        ("2.0.0-rc.1", Bump.MAJOR, "2.0.0"),
        ("rubbish", Bump.MAJOR, "1.0.0"),
    ],
)
def test_the_least_next_version_follows_from_the_change(old: str, bump: Bump, floor: str) -> None:
    assert floor_of(old, bump) == floor


@pytest.mark.parametrize(
    ("old", "new", "bump", "enough"),
    [
        ("1.2.3", "2.0.0-rc.1", Bump.MAJOR, True),
        ("2.0.0-rc.1", "2.0.0-rc.2", Bump.MAJOR, True),
        ("2.0.0-rc.2", "2.0.0-rc.10", Bump.PATCH, True),
        ("2.0.0-rc.10", "2.0.0-rc.2", Bump.PATCH, False),
        ("2.0.0-alpha", "2.0.0", Bump.MAJOR, True),
        ("1.2.3", "1.2.3+build", Bump.PATCH, False),
        ("1.2.3", "1.3.0", Bump.MAJOR, False),
        ("1.2.3", "3.0.0", Bump.PATCH, True),
        ("1.2.3", "1.2.2", Bump.NONE, False),
    ],
)
def test_a_step_is_as_large_as_its_change(old: str, new: str, bump: Bump, enough: bool) -> None:
    assert is_far_enough(old, new, bump) is enough


@given(st.tuples(*[st.integers(0, 50)] * 3), st.sampled_from(Bump))
def test_the_floor_is_always_far_enough(numbers: tuple[int, int, int], bump: Bump) -> None:
    old = ".".join(map(str, numbers))

    assert is_far_enough(old, floor_of(old, bump), bump)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (WORDS, {"version.reused@lookup/version"}),
        ({**WORDS, "version": "1.0.1"}, set()),
        (TIMEOUT, {"version.reused@lookup/version", "version.reused@lookup/schemaVersion"}),
        ({**TIMEOUT, "version": "1.0.1", "schemaVersion": 2}, {"version.below_floor@lookup/version"}),
        ({**TIMEOUT, "version": "1.1.0", "schemaVersion": 2}, set()),
        ({**TIGHT, "version": "1.1.0", "schemaVersion": 2}, {"version.below_floor@lookup/version"}),
        ({**TIGHT, "version": "2.0.0"}, {"version.reused@lookup/schemaVersion"}),
        ({**TIGHT, "version": "2.0.0", "schemaVersion": 2}, set()),
        ({"version": "0.9.0"}, {"version.decreased@lookup/version"}),
        (
            {"schemaVersion": 0},
            {"version.malformed@lookup/schemaVersion", "version.decreased@lookup/schemaVersion"},
        ),
        ({"version": None, **WORDS}, {"version.missing@lookup/version"}),
        ({"schemaVersion": None, **WORDS, "version": "1.0.1"}, {"version.missing@lookup/schemaVersion"}),
        ({"version": "one", **WORDS}, {"version.malformed@lookup/version", "version.decreased@lookup/version"}),
        ({"schemaVersion": "2", **WORDS, "version": "1.0.1"}, {"version.malformed@lookup/schemaVersion"}),
    ],
)
def test_what_is_wrong_with_the_versions_of_a_tool_is_told(edit: dict[str, Any], told: set[str]) -> None:
    diff = compared(tool_edit(**edit))
    found = {item.address for item in diff.violations if item.tool == "lookup"}

    assert found == told


@pytest.mark.requirement("S1-3.3-major")
@pytest.mark.requirement("S1-3.3-minor")
@pytest.mark.requirement("S1-3.3-patch")
@pytest.mark.parametrize(
    ("edit", "least"), [(TIGHT, "2.0.0"), (TIMEOUT, "1.1.0"), (WORDS, "1.0.1")], ids=["major", "minor", "patch"]
)
def test_the_version_of_the_surface_moves_as_far_as_its_worst_change(edit: dict[str, Any], least: str) -> None:
    told = [item for item in compared(tool_edit(**edit)).violations if not item.tool]

    assert [item.address for item in told] == ["version.reused@/schemaVersion"]
    assert f"must be at least {least}" in told[0].message

    def moved(document: dict[str, Any]) -> None:
        tool_edit(**edit)(document)
        document["schemaVersion"] = least

    assert not [item for item in compared(moved).violations if not item.tool]


def test_a_server_that_keeps_no_version_of_its_surface_is_held_to_its_own() -> None:
    def strangers(words: str, version: str) -> Any:
        def edit(document: dict[str, Any]) -> None:
            document.pop("schemaVersion")
            document["server"]["version"] = version
            tool_edit(description=words, version=None, schemaVersion=None)(document)

        return edit

    def told(version: str, before: str = "1.0.0") -> set[str]:
        diff = compared(strangers("New words.", version), strangers("Old words.", before))
        return {item.address for item in diff.violations}

    assert told("1.0.0") == {"version.reused@/server/version"}
    assert told("1.0.1") == set()
    assert told("seven") == {"version.missing@/server/version"}
    assert told("1.0.0", before="dev") == set()  # the first version that it states


def test_a_version_of_the_surface_that_goes_back_is_told() -> None:
    found = {item.address for item in compared(deep("schemaVersion", "0.9.0")).violations}

    assert found == {"version.decreased@/schemaVersion"}
