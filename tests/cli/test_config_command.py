"""`holdfast config`, and that the other commands follow the file."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

DOCS = Path(__file__).parents[2] / "docs"
FILE = """
heartbeat = 5
[tools.fetch]
effect = "replay_safe"
[servers.shop]
restart_budget = 7
[servers.shop.tools.fetch]
deadline = 7
"""


@pytest.fixture
def configured(tmp_path: Path) -> Path:
    file = tmp_path / "holdfast.toml"
    file.write_text(FILE)
    return file


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(" | ")]


def test_every_value_is_shown_with_where_it_comes_from(cli: Cli, configured: Path) -> None:
    done = cli("config", "show", "--server", "shop", env={"HOLDFAST_REPLAYS": "7"})
    rows = [cells(line) for line in done.stdout.splitlines()]

    assert (done.returncode, done.stderr, rows[0]) == (0, "", [f"file: {configured}"])
    assert ["restart_budget", "7", "holdfast.toml [servers.shop]"] in rows
    assert ["heartbeat", "5", "holdfast.toml"] in rows
    assert ["replays", "7", "HOLDFAST_REPLAYS"] in rows
    assert ["untrusted", "false", "default"] in rows
    assert ["fetch", "deadline", "7", "holdfast.toml [servers.shop.tools.fetch]"] in rows
    assert ["fetch", "effect", "replay_safe", "holdfast.toml [tools.fetch]"] in rows


def test_programs_get_every_setting_as_json(cli: Cli, configured: Path) -> None:
    from holdfast.settings import SETTINGS

    shown = json.loads(cli("config", "show", "--json", "--server", "shop").stdout)

    assert (shown["file"], shown["server"]) == (str(configured), "shop")
    assert list(shown["settings"]) == [setting.name for setting in SETTINGS]
    assert shown["settings"]["restart_budget"] == {"value": 7, "origin": "holdfast.toml [servers.shop]"}
    assert shown["settings"]["state_dir"]["origin"] == "HOLDFAST_STATE_DIR"
    assert shown["tools"]["fetch"]["deadline"]["value"] == 7


def test_without_a_file_everything_is_shown_too(cli: Cli) -> None:
    done = cli("config", "show")

    assert done.stdout.startswith("file: none\n")
    assert "\ntool " not in done.stdout
    assert json.loads(cli("config", "show", "--json").stdout)["file"] is None


def test_a_server_that_the_file_does_not_know_is_noted(cli: Cli, configured: Path) -> None:
    done = cli("config", "show", "--server", "shopp")

    assert done.returncode == 0
    assert done.stderr == f"note: {configured} says nothing about server 'shopp'; did you mean 'shop'?\n"


def test_a_file_can_be_named(cli: Cli, configured: Path, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("replays = 5")
    done = cli("config", "show", "--config", "other.toml")

    assert ["replays", "5", "other.toml"] in [cells(line) for line in done.stdout.splitlines()]
    assert cli("config", "show", "--config", "gone.toml").stderr.startswith("holdfast: there is no file ")


def test_the_path_is_data_and_no_file_is_a_negative_answer(cli: Cli, tmp_path: Path) -> None:
    without = cli("config", "path")
    (tmp_path / "holdfast.toml").touch()
    inner = tmp_path / "inner"
    inner.mkdir()

    assert (without.returncode, without.stdout) == (1, "")
    assert without.stderr.startswith("no configuration file is in use")
    assert cli("config", "path", cwd=inner).stdout == f"{tmp_path}/holdfast.toml\n"


@pytest.mark.parametrize(
    "command",
    [
        "config show",
        "config path",
        "tools shop.py",
        "call shop.py lookup sku=A",
        "serve shop.py",
        "events path shop",
    ],
)
def test_a_slip_in_the_file_is_told_by_every_command(cli: Cli, shop: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "holdfast.toml").write_text("spair = 1")
    done = cli(*command.split())
    complaint = [line for line in done.stderr.splitlines() if not line.startswith("printed ")]

    assert (done.returncode, done.stdout) == (2, "")
    assert complaint[0] == f"holdfast: {tmp_path}/holdfast.toml: unknown key spair; did you mean spare?"
    assert len(complaint) == 2


def test_a_call_follows_what_the_file_says_about_its_server(cli: Cli, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("event_log = true\n[servers.shop]\nevent_log = false\n")

    assert cli("call", "shop.py", "lookup", "sku=A").returncode == 0

    assert not list(tmp_path.rglob("events.jsonl"))


def test_a_file_that_chooses_where_we_write_is_refused_by_a_call(cli: Cli, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text('[servers.shop]\nstate_dir = "own"\n')

    written = cli("call", "shop.py", "lookup", "sku=A")

    assert (written.returncode, (tmp_path / "own").exists()) == (2, False)
    assert "state_dir cannot be set in a file" in written.stderr


def test_serve_follows_the_file_unless_a_flag_says_otherwise(program: Cli, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text('[servers.shop]\nprotocol = "pinned"\n')
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    handshake = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    for flags, revision in [((), "2024-11-05"), (("--protocol", "negotiate"), "2025-11-25")]:
        done = program("serve", "shop.py", "--standalone", *flags, input=json.dumps(handshake) + "\n")

        assert json.loads(done.stdout)["result"]["protocolVersion"] == revision


@pytest.mark.parametrize("command", ["config", "config show", "config path"])
def test_help_has_an_example(cli: Cli, command: str) -> None:
    done = cli(*command.split(), "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "Example" in done.stdout
    assert "holdfast config" in done.stdout


def test_the_file_on_the_reference_page_is_in_order(cli: Cli, tmp_path: Path) -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "holdfast.toml").write_text(example[0])
    done = cli("config", "show", "--server", "everything")

    assert len(example) == 1
    assert (done.returncode, done.stderr) == (0, "")
    assert "holdfast.toml [servers.everything.tools.echo]" in done.stdout
