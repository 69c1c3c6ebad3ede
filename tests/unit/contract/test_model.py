"""The words of a contract: names, versions, errors, effects, and a surface whose parts fit together."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.contract.model import Deprecation, ErrorSpec, ToolContract, error_specs, semver
from holdfast.contract.surface import Surface
from holdfast.errors import CODES, ContractError
from holdfast.vocabulary.effects import at_most_once, probe_required, replay_safe


def contract(**changes: Any) -> ToolContract:
    return ToolContract(**{"name": "lookup", "description": "Look up.", "input_schema": {}, **changes})


@pytest.mark.requirement("OURS-1-prerelease")
@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.0.0", "1.0.0"),
        ("0.0.0", "0.0.0"),
        ("1.2.3-alpha.1+build.5", "1.2.3-alpha.1+build.5"),
        ("1.0.0-0a", "1.0.0-0a"),
        ("1.0.0rc1", "1.0.0-rc.1"),
        ("1.0.0a2", "1.0.0-alpha.2"),
        ("2.1.0b10", "2.1.0-beta.10"),
        ("1.0.0.dev3", "1.0.0-dev.3"),
    ],
)
def test_semver_versions_and_python_prereleases_are_read(text: str, version: str) -> None:
    assert semver(text) == version


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "1.0.0.0",
        "01.0.0",
        "1.0.0-",
        "1.0.0-01",
        "1.0.0 ",
        "1.0.0\n",
        "1.0rc1",
        "1.0.0.post1",
        1,
        None,
    ],
)
def test_what_is_not_semver_is_refused(text: Any) -> None:
    with pytest.raises(ContractError, match=r"not a SemVer version.*1\.0\.0"):
        semver(text)


@given(st.tuples(*[st.integers(0, 10**6)] * 3))
def test_semver_does_not_change_a_version(parts: tuple[int, int, int]) -> None:
    text = ".".join(map(str, parts))
    assert semver(semver(text)) == text


@each_row(
    ("changes", "said", "remedy"),
    [
        ({"name": ""}, "cannot name a tool", "name="),
        ({"name": "a b"}, "cannot name a tool", "A-Z a-z 0-9"),
        ({"name": "a" * 129}, "cannot name a tool", "1 to 128"),
        ({"name": "naïve"}, "cannot name a tool", "name="),
        ({"name": "<lambda>"}, "cannot name a tool", "name="),
        ({"name": "a\n"}, "cannot name a tool", "name="),
        ({"name": None}, "cannot name a tool", "name="),
        ({"description": " \n"}, "no description", "docstring"),
        ({"description": 5}, "description is 5", "docstring"),
        ({"title": ""}, "title", "leave it out"),
        ({"title": 5}, "title is 5", "leave it out"),
        ({"security": None}, "security is None", "in words"),
        ({"session_state": "stateless"}, "session_state is 'stateless'", "SessionState.STATELESS"),
        ({"deprecated": "1.0.0"}, "deprecated is '1.0.0'", 'Deprecation("1.0.0"'),
        ({"normalization": {"a": "b"}}, "normalization is {'a': 'b'}", "normalize.integers"),
        ({"read_only": "yes"}, "read_only is 'yes'", "True or False"),
        ({"isolate": 1}, "isolate is 1", "True or False"),
        ({"errors": 5}, "errors is 5", "tuple of codes"),
        ({"errors": (KeyError,)}, "errors holds <class 'KeyError'>", "ErrorSpec"),
        ({"examples": {"sku": "a"}}, "examples is {'sku': 'a'}", "list of calls"),
        ({"examples": 5}, "examples is 5", "list of calls"),
        ({"examples": ({}, "a")}, "example 2 is 'a'", "dict of arguments"),
        ({"version": "1.0"}, "version", "1.0.0"),
        ({"schema_version": 0}, "schema_version is 0", "from 1 on"),
        ({"schema_version": True}, "schema_version is True", "whole number"),
        ({"schema_version": 1.0}, "schema_version is 1.0", "whole number"),
        ({"timeout": -1}, "timeout is -1", "seconds"),
        ({"timeout": float("nan")}, "timeout is nan", "seconds"),
        ({"timeout": float("inf")}, "timeout is inf", "0 for no limit"),
        ({"timeout": True}, "timeout is True", "seconds"),
        ({"timeout": "5"}, "timeout is '5'", "seconds"),
        ({"aliases": "find"}, "aliases is the text", '("find",)'),
        ({"aliases": ("find", 5)}, "aliases is ('find', 5)", "tuple of names"),
        ({"aliases": 5}, "aliases is 5", "tuple of names"),
        ({"reserved": (None,)}, "reserved is (None,)", "tuple of names"),
        ({"reserved": {"x"}}, "reserved is {'x'}", "tuple of names"),
        ({"aliases": ("find", "find")}, "twice", "once"),
        ({"aliases": ("lookup",)}, "alias of itself", "remove"),
        ({"aliases": ("a b",)}, "cannot name a tool", "A-Z"),
        ({"reserved": ("x", "x")}, "twice", "once"),
        ({"effect": "replay_safe"}, "effect is 'replay_safe'", "replay_safe()"),
        ({"read_only": True, "effect": at_most_once()}, "read-only", "replay_safe()"),
    ],
)
def test_a_word_that_is_wrong_is_refused_with_what_to_write(
    changes: dict[str, Any], said: str, remedy: str
) -> None:
    with pytest.raises(ContractError) as caught:
        contract(**changes)
    assert said in caught.value.message
    assert remedy in caught.value.remedy


def test_a_known_code_brings_its_meaning_and_its_remedy() -> None:
    (spec,) = error_specs("lookup", ["NOT_FOUND"])
    assert (spec.meaning, spec.remedy) == (CODES["NOT_FOUND"].meaning, CODES["NOT_FOUND"].remedy)


@pytest.mark.parametrize(
    ("declared", "said", "remedy"),
    [
        (["OUT_OF_STOCK"], "'OUT_OF_STOCK' is not known", 'ErrorSpec("OUT_OF_STOCK"'),
        (["not_found"], "is not known", "NOT_FOUND"),
        ([5], "errors holds 5", "ErrorSpec"),
        ([None], "errors holds None", "ErrorSpec"),
        ("NOT_FOUND", "is the text", '("NOT_FOUND",)'),
        (["NOT_FOUND", "NOT_FOUND"], "twice", "once"),
        (["NOT_FOUND", ErrorSpec("NOT_FOUND", "m", "r")], "twice", "once"),
    ],
)
def test_an_error_that_says_nothing_is_refused(declared: Any, said: str, remedy: str) -> None:
    with pytest.raises(ContractError) as caught:
        error_specs("lookup", declared)
    assert said in caught.value.message
    assert "tool 'lookup'" in caught.value.message
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    "fields",
    [
        ("lower", "m", "r"),
        ("", "m", "r"),
        (5, "m", "r"),
        ("A", "", "r"),
        ("A", "m", " "),
        ("A", 5, "r"),
        ("A", "m", ["r"]),
        ("A", "m", "r", "yes"),
    ],
)
def test_an_error_spec_needs_a_code_and_words(fields: tuple[Any, ...]) -> None:
    with pytest.raises(ContractError, match="error code") as caught:
        ErrorSpec(*fields)
    assert caught.value.remedy


@pytest.mark.parametrize("fields", [(1,), ("1.0.0", None), ("1.0.0", 5), ("1.0.0", "", 5), ("1.0.0", "", "")])
def test_a_deprecation_is_made_of_a_version_and_words(fields: tuple[Any, ...]) -> None:
    with pytest.raises(ContractError) as caught:
        Deprecation(*fields)
    assert caught.value.remedy


def test_a_tool_may_end_with_what_it_declares_or_say_that_its_arguments_are_wrong() -> None:
    own = ErrorSpec("OUT_OF_STOCK", "None left.", "Come back.")
    assert contract(errors=(own,)).allowed_codes == {"OUT_OF_STOCK", "INVALID_REQUEST", "INVALID_INPUT"}


@pytest.mark.parametrize("code", ["TOOL_TIMEOUT", "RESULT_TOO_LARGE"])
@pytest.mark.parametrize("words", [False, True])
def test_a_code_that_tells_what_the_runtime_did_is_not_a_tools_to_declare(code: str, words: bool) -> None:
    declared = ErrorSpec(code, "Too slow.", "Wait.") if words else code
    with pytest.raises(ContractError) as caught:
        contract(errors=(declared,))
    assert code in caught.value.message
    assert caught.value.remedy == "the runtime answers with it; declare a code of your own"


def test_a_tool_about_runs_may_declare_that_a_run_was_cancelled_or_broke() -> None:
    declared = error_specs("run", ("CANCELLED", "INTERNAL"))
    assert contract(errors=declared).allowed_codes > {"CANCELLED", "INTERNAL"}


def test_lists_become_tuples_so_that_a_contract_cannot_change() -> None:
    tool = contract(aliases=["find"], reserved=["cursor"], examples=[{}], errors=["NOT_FOUND"])
    assert (tool.aliases, tool.reserved, tool.examples) == (("find",), ("cursor",), ({},))
    assert [spec.code for spec in tool.errors] == ["NOT_FOUND"]


def test_the_idempotency_sentence_follows_from_the_effect() -> None:
    assert contract(effect=replay_safe()).idempotency.startswith("Yes.")
    assert contract(effect=probe_required("status")).idempotency.startswith("Partially.")
    assert contract().idempotency.startswith("No.")


def test_a_surface_finds_tools_by_name_and_by_alias() -> None:
    tool = contract(aliases=("find",))
    surface = Surface(name="shop", version="1.0.0rc1", tools=(tool,))
    assert surface.by_name == {"lookup": tool, "find": tool}
    assert surface.version == "1.0.0-rc.1"


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ((contract(), contract()), "'lookup' is already taken"),
        ((contract(name="find"), contract(aliases=("find",))), "'find' is already taken by tool 'find'"),
        ((contract(aliases=("a",)), contract(name="b", aliases=("a",))), "'a' is already taken"),
        ((contract(effect=probe_required("status")),), "probe 'status' is not another tool"),
        ((contract(effect=probe_required("lookup")),), "probe 'lookup' is not another tool"),
        ((contract(deprecated=Deprecation("1.0.0", "", "gone")),), "replacement 'gone'"),
    ],
)
def test_a_surface_whose_tools_do_not_fit_together_is_refused(tools: tuple[ToolContract, ...], said: str) -> None:
    with pytest.raises(ContractError) as caught:
        Surface(name="shop", version="1.0.0", tools=tools)
    assert said in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("changes", [{"name": ""}, {"name": "a\nb"}, {"version": "1"}, {"surface_version": "one"}])
def test_a_surface_needs_a_name_and_versions(changes: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        Surface(**{"name": "shop", "version": "1.0.0", **changes})


def test_a_deprecation_says_in_words_since_when_why_and_what_instead() -> None:
    assert Deprecation("1.2.0", "Too slow.", "find").sentence == (
        "Deprecated since 1.2.0. Too slow. Use `find` instead."
    )


def test_the_model_loads_neither_pydantic_nor_a_schema_engine() -> None:
    script = (
        "import sys, holdfast.contract.model, holdfast.contract.derive, holdfast.contract.snapshot\n"
        "print([name for name in ('pydantic', 'pydantic_core', 'jsonschema_rs') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("removal", ["2.0.0", "2027-06-30"])
def test_a_deprecation_can_say_when_the_tool_will_be_gone(removal: str) -> None:
    deprecated = Deprecation("1.2.0", "Too slow", "find", removal)
    assert deprecated.sentence == (
        f"Deprecated since 1.2.0. Too slow. Use `find` instead. It will be removed: {removal}."
    )


@pytest.mark.parametrize("removal", ["soon", "", "2027-6-3", 7])
def test_a_removal_is_a_version_or_a_day(removal: Any) -> None:
    with pytest.raises(ContractError, match="removal"):
        Deprecation("1.2.0", removal=removal)
