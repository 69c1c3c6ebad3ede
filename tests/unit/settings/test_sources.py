"""Which source wins, and that a value is the same whichever way it is said."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.settings import SETTINGS, Settings, ToolRule, load_configuration, load_settings

FLAG, VARIABLE, SERVER, GENERAL = (
    {"replays": "4"},
    {"HOLDFAST_REPLAYS": "3"},
    "[servers.shop]\nreplays = 7\n",
    "replays = 1\n",
)


@pytest.mark.parametrize(
    ("overrides", "environ", "text", "server", "replays", "origin"),
    [
        (FLAG, VARIABLE, GENERAL + SERVER, "shop", 4, "--replays"),
        ({}, VARIABLE, GENERAL + SERVER, "shop", 3, "HOLDFAST_REPLAYS"),
        ({"replays": None}, VARIABLE, GENERAL + SERVER, "shop", 3, "HOLDFAST_REPLAYS"),
        ({}, {}, GENERAL + SERVER, "shop", 7, "holdfast.toml [servers.shop]"),
        ({}, {}, GENERAL + SERVER, "other", 1, "holdfast.toml"),
        ({}, {}, GENERAL + SERVER, None, 1, "holdfast.toml"),
        ({}, {}, SERVER, "other", 2, "default"),
        ({}, {}, "", "shop", 2, "default"),
        ({"replays": 0}, VARIABLE, GENERAL + SERVER, "shop", 0, "--replays"),
    ],
)
def test_the_nearer_source_wins(
    tmp_path: Path,
    overrides: dict[str, Any],
    environ: dict[str, str],
    text: str,
    server: str | None,
    replays: int,
    origin: str,
) -> None:
    (tmp_path / "holdfast.toml").write_text(text)
    configuration = load_configuration(overrides, environ, server=server, start=tmp_path)

    assert (configuration.settings.replays, configuration.origins["replays"]) == (replays, origin)
    assert configuration.origins.keys() == {setting.name for setting in SETTINGS}


RULES = """
[tools.fetch]
deadline = 300
effect = "deduplicated"
key = "/arguments/key"
restart_budget = 1
[tools.other]
replays = 0
[servers.shop.tools.fetch]
deadline = 30
effect = "probe_required"
probe = "look"
[servers.shop.tools.own]
deadline_total = 5
"""


def test_rules_for_a_tool_of_a_server_win_field_by_field(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(RULES.replace("[tools", "[tool.holdfast.tools").replace(
        "[servers", "[tool.holdfast.servers"))  # fmt: skip
    shop = load_configuration({}, {}, server="shop", start=tmp_path)
    general, own = (
        "pyproject.toml [tool.holdfast.tools.fetch]",
        "pyproject.toml [tool.holdfast.servers.shop.tools.fetch]",
    )

    assert shop.tools["fetch"] == ToolRule(deadline=30.0, effect="probe_required", probe="look", replays=1)
    assert shop.tool_origins["fetch"] == {"deadline": own, "effect": own, "probe": own, "replays": general}
    assert shop.tools["other"] == ToolRule(replays=0)
    assert shop.tools["own"] == ToolRule(deadline_total=5.0)
    assert shop.servers == ("shop",)


def test_another_server_gets_the_general_rules_only(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(RULES)
    other = load_configuration({}, {}, server="other", start=tmp_path)

    assert other.tools["fetch"] == ToolRule(300.0, None, "deduplicated", "/arguments/key", None, 1)
    assert other.tools.keys() == {"fetch", "other"}


def test_settings_alone_look_at_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "holdfast.toml").write_text("not even TOML")
    monkeypatch.chdir(tmp_path)

    assert load_settings({"spare": 1}, {"HOLDFAST_CONFIG": "/nowhere"}).spare == 1


def test_no_toml_reader_is_loaded_where_there_is_no_file(tmp_path: Path) -> None:
    script = (
        "import sys; from holdfast.settings import load_configuration; load_configuration({}, {});"
        "print(sorted({'tomllib', 'difflib', 'asyncio', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spare", False),  # equals the default 0
        ("spare", 2),
        pytest.param("spare", 10**5000, id="spare-huge"),
        ("replays", True),
        ("deadline", float("nan")),
        ("deadline", -1),
        ("start_timeout", 0),
        ("restart_budget", 0),
        ("untrusted", 2),
        ("mcp_mode", None),
    ],
)
def test_settings_cannot_be_built_with_what_they_cannot_hold(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} is "):
        Settings(**{name: value})


def test_settings_hold_values_of_the_declared_type_however_they_are_given(tmp_path: Path) -> None:
    settings = Settings(event_log="off", deadline=5, state_dir=str(tmp_path))  # type: ignore[arg-type]

    assert settings.event_log is False
    assert isinstance(settings.deadline, float)
    assert settings.state_path() == tmp_path


def test_an_unknown_override_is_an_error() -> None:
    with pytest.raises(UsageError, match="unknown setting 'spair'"):
        load_configuration({"spair": 1}, {})


SECONDS = st.floats(0, 1e6) | st.integers(0, 10**6)
KNOBS = {
    "spare": st.integers(0, 1),
    "replays": st.integers(0, 100),
    "deadline": SECONDS,
    "heartbeat": SECONDS,
    "restart_delay": SECONDS,
    "noise_max": st.integers(0, 2**31),
    "untrusted": st.booleans(),
    "event_log": st.booleans(),
    "mcp_mode": st.sampled_from(["native", "sdk", "legacy"]),
    "render": st.sampled_from(["", "json", "porcelain"]),
}


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


@given(values=st.fixed_dictionaries({}, optional=KNOBS))
def test_a_value_is_the_same_from_a_file_the_environment_or_a_flag(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    file = tmp_path_factory.getbasetemp() / "round-trip.toml"
    file.write_text("".join(f"{name} = {toml(value)}\n" for name, value in values.items()))
    environ = {f"HOLDFAST_{name.upper()}": str(value) for name, value in values.items()}

    read = load_configuration({}, {}, file=file).settings
    assert read == load_settings({}, environ) == load_settings(values, {}) == Settings(**values)
