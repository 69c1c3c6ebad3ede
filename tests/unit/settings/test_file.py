"""A configuration file: hostile ones first, then where it is found."""

import os
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.settings import Configuration, load_configuration


def load(directory: Path, text: str | bytes, name: str = "holdfast.toml") -> Configuration:
    (directory / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_configuration({}, {}, start=directory)


def refusal(directory: Path, text: str | bytes, name: str = "holdfast.toml") -> UsageError:
    with pytest.raises(UsageError) as refused:
        load(directory, text, name)
    error = refused.value
    assert str(error).isprintable()  # one line, no control characters
    assert len(error.message) < 500
    assert error.remedy
    assert error.message.startswith(str(directory / name))
    return error


WRONG = [
    ('spare = "yes"', 'spare is "yes": expected a whole number from 0 to 1, without quotes'),
    ('spare = "1"', 'spare is "1": expected a whole number from 0 to 1, without quotes'),
    ("spare = true", "spare is true: expected a whole number"),
    ("spare = false", "spare is false: expected a whole number"),
    ("spare = 1.0", "spare is 1.0: expected a whole number"),
    ("spare = 2", "spare is 2: expected a whole number from 0 to 1"),
    ("spare = []", "spare is an array: expected a whole number"),
    ("[spare]", "spare is a table: expected a whole number"),
    ("spare = 2020-01-01", "spare is 2020-01-01: expected a whole number"),
    (f"spare = 0x{'f' * 9000}", "spare is a huge number: expected a whole number"),
    ("deadline = -1", "deadline is -1: expected a number of seconds, 0 or more"),
    ("deadline = nan", "deadline is nan: expected a number of seconds"),
    ("deadline = inf", "deadline is inf: expected a number of seconds"),
    ("deadline = true", "deadline is true: expected a number of seconds"),
    ("ping_timeout = 0", "ping_timeout is 0: expected a number of seconds, more than 0"),
    ("untrusted = 1", "untrusted is 1: expected true or false"),
    ('untrusted = "on"', 'untrusted is "on": expected true or false, without quotes'),
    ("mcp_mode = 1", "mcp_mode is 1: expected one of native, sdk, legacy"),
    ('mcp_mode = "tcp"', 'mcp_mode is "tcp": expected one of native, sdk, legacy'),
    ('state_dir = "/home"', "state_dir cannot be set in a file: it comes with a project"),
    ('cache_dir = "/home"', "cache_dir cannot be set in a file: it comes with a project"),
    ('cache_dir = ""', "cache_dir cannot be set in a file"),
    ('[servers.everything]\ncache_dir = "cache"', "cache_dir cannot be set in a file"),
    ("spair = 1", "unknown key spair; did you mean spare?"),
    ("tool-timeout = 1", "unknown key tool-timeout; did you mean tool_timeout?"),
    ("[server.everything]", "unknown key server; did you mean servers?"),
    ('"" = 1', 'unknown key ""'),
    ('"a\\nb" = 1', 'unknown key "a?b"'),
    (f"{'k' * 100_000} = 1", "unknown key"),
    ("[tool.holdfast]\nspare = 1", "tool has no meaning here"),
    ('effect = "replay_safe"', "effect has no meaning here"),
    ("tools = 3", "tools is 3: expected a table"),
    ("[[tools]]\nname = 1", "tools is an array: expected a table"),
    ("[tools]\nfetch = 3", "[tools]: fetch is 3: expected a table"),
    ("servers = []", "servers is an array: expected a table"),
    ("[servers]\neverything = 1", "[servers]: everything is 1: expected a table"),
    ("[servers.other]\nspair = 1", "[servers.other]: unknown key spair; did you mean spare?"),
    ("[servers.other.servers.more]", "unknown key servers"),
    ('[servers."a b".tools."c.d"]\nx = 1', '[servers."a b".tools."c.d"]: unknown key x'),
    ("a", "is not valid TOML: "),
    ("spare = 1\nspare = 2", "is not valid TOML: Cannot overwrite a value"),
    ("spare = " + "9" * 5000, "is not valid TOML: "),
    ("spare = " + "[" * 100_000, "is nested too deeply"),
    (b"spare = 1 # \xff\xfe", "is not UTF-8"),
    (b"\0" * 100, "is not valid TOML"),
    (b"#" * (1024 * 1024 + 1), "is larger than 1048576 bytes"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG, ids=[str(text)[:30] for text, _ in WRONG])
def test_a_slip_in_the_file_is_one_line_that_names_file_and_key(
    tmp_path: Path, text: str | bytes, reason: str
) -> None:
    assert reason in refusal(tmp_path, text).message


WRONG_RULES = [
    ("deadline = -1", "deadline is -1: expected a number of seconds"),
    ("deadline_total = true", "deadline_total is true: expected"),
    ("restart_budget = 101", "restart_budget is 101: expected a whole number from 0 to 100"),
    ("restart_budget = 1\nreplays = 1", "restart_budget and replays say the same thing"),
    ("spare = 1", "unknown key spare"),
    ("efect = 1", "unknown key efect; did you mean effect?"),
    ('effect = "idempotent"', 'effect is "idempotent": expected one of replay_safe, at_most_once, deduplicated'),
    ("effect = []", "effect is an array: expected one of replay_safe"),
    ('effect = "deduplicated"', "deduplicated needs the argument that holds the key"),
    ('effect = "deduplicated"\nkey = ""', "deduplicated needs the argument"),
    ('effect = "deduplicated"\nkey = 1', "key is 1: expected text"),
    ('effect = "deduplicated"\nkey = "key"', "deduplicated key 'key' does not point at an argument"),
    (
        'effect = "deduplicated"\nkey = "/arguments/"',
        "deduplicated key '/arguments/' does not point at an argument",
    ),
    (f'effect = "deduplicated"\nkey = "{"k" * 9000}"', "deduplicated key 'kkkk"),
    ('effect = "probe_required"', "probe_required needs the name of the probe tool"),
    ('effect = "probe_required"\nprobe = ""', "probe_required needs the name of the probe tool"),
    ('effect = "probe_required"\nprobe = "fetch"', "its probe is the tool itself"),
    ('effect = "replay_safe"\nkey = "/arguments/key"', 'key belongs to effect = "deduplicated"'),
    ('key = "/arguments/key"', 'key belongs to effect = "deduplicated"'),
    ('probe = "look"', 'probe belongs to effect = "probe_required"'),
    (
        'effect = "deduplicated"\nkey = "/arguments/k"\nprobe = "look"',
        'probe belongs to effect = "probe_required"',
    ),
]


@pytest.mark.parametrize("table", ["[tools.fetch]", "[servers.other.tools.fetch]"])
@pytest.mark.parametrize(("text", "reason"), WRONG_RULES, ids=[text[:40] for text, _ in WRONG_RULES])
def test_a_slip_in_a_rule_names_its_table(tmp_path: Path, table: str, text: str, reason: str) -> None:
    assert f"{table}: {reason}" in refusal(tmp_path, f"{table}\n{text}\n").message


def test_the_same_slip_in_a_pyproject_names_the_whole_table(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[tool.holdfast.tools.fetch]\ndeadline = -1", "pyproject.toml")

    assert "[tool.holdfast.tools.fetch]: deadline is -1" in error.message
    assert (
        "[tool]: holdfast is 3: expected a table"
        in refusal(tmp_path, "[tool]\nholdfast = 3", "pyproject.toml").message
    )


# --- what is no file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["holdfast.toml", "pyproject.toml"])
def test_a_directory_of_that_name_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=r"\.toml is a directory"):
        load_configuration({}, {}, start=tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "holdfast.toml")
    with pytest.raises(UsageError, match="is a pipe"):
        load_configuration({}, {}, start=tmp_path)


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").symlink_to("gone.toml")
    with pytest.raises(UsageError, match="there is no file"):
        load_configuration({}, {}, start=tmp_path)


def test_a_link_to_itself_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").symlink_to("holdfast.toml")
    with pytest.raises(UsageError, match=r"cannot be read: .*symbolic links"):
        load_configuration({}, {}, start=tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").touch(mode=0)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        load_configuration({}, {}, start=tmp_path)


def test_an_endless_device_is_too_large() -> None:
    with pytest.raises(UsageError, match="/dev/zero is larger than 1048576 bytes"):
        load_configuration({}, {"HOLDFAST_CONFIG": "/dev/zero"})


@pytest.mark.parametrize("path", ["/dev/null/holdfast.toml", "a\0b"])
def test_a_path_that_cannot_be_is_told(path: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_configuration({}, {}, file=Path(path))


# --- where it is found ------------------------------------------------------------------------------------------


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / "holdfast.toml").write_text("replays = 1")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.holdfast]\nreplays = 2")
    (tmp_path / "a" / "b" / "pyproject.toml").write_text('[project]\nname = "holdfast"')  # says nothing to us

    assert load_configuration({}, {}, start=inner).settings.replays == 2
    assert load_configuration({}, {}, start=tmp_path).settings.replays == 1


def test_in_one_directory_our_own_file_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.holdfast]\nreplays = 2\nheartbeat = 1")
    configuration = load(tmp_path, "replays = 1")

    assert configuration.settings.replays == 1
    assert configuration.settings.heartbeat == 15


@pytest.mark.parametrize(
    "text",
    [
        b"[tool.other]\nbroken = ",
        b"\xff\xfe",
        pytest.param(b"#" * 2_000_000, id="huge"),
        b"[project]\nname='x'",
        b"tool = 'holdfast'",
    ],
)
def test_a_pyproject_that_is_not_about_us_is_nobodys_error(tmp_path: Path, text: bytes) -> None:
    assert load(tmp_path, text, "pyproject.toml").file is None


def test_a_mark_in_front_and_windows_line_ends_are_no_error(tmp_path: Path) -> None:
    assert load(tmp_path, b"\xef\xbb\xbfspare = 1\r\nreplays = 3\r\n").settings.replays == 3


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    configuration = load(tmp_path, "")

    assert configuration.file == tmp_path / "holdfast.toml"
    assert set(configuration.origins.values()) == {"default"}


@pytest.mark.parametrize("knob", ["cache_dir", "state_dir"])
@pytest.mark.parametrize(("file", "header"), [("holdfast.toml", ""), ("pyproject.toml", "[tool.holdfast]\n")])
def test_a_cloned_project_cannot_choose_where_we_write(tmp_path: Path, file: str, header: str, knob: str) -> None:
    (tmp_path / file).write_text(f'{header}{knob} = "{tmp_path}"')

    with pytest.raises(UsageError) as refused:
        load_configuration({}, {}, start=tmp_path)
    flag = f"--{knob.replace('_', '-')}"
    assert f"{knob} cannot be set in a file" in refused.value.message
    assert refused.value.remedy == f"remove it; set HOLDFAST_{knob.upper()} or give {flag}"


def test_a_deleted_working_directory_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert load_configuration({}, {}).file is None
    with pytest.raises(UsageError, match="the working directory is gone"):
        load_configuration({}, {"HOLDFAST_CONFIG": "x.toml"})


# --- a file that is named ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", "none"])
def test_the_variable_can_switch_the_file_off(tmp_path: Path, word: str) -> None:
    (tmp_path / "holdfast.toml").write_text("not even TOML")

    assert load_configuration({}, {"HOLDFAST_CONFIG": word}, start=tmp_path).file is None


def test_a_named_file_may_have_any_name_and_wins_over_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("replays = 1")
    (tmp_path / "my.toml").write_text("replays = 2")
    (tmp_path / "mine.toml").write_text("replays = 3")
    environ = {"HOLDFAST_CONFIG": str(tmp_path / "my.toml")}

    assert load_configuration({}, environ, start=tmp_path).origins["replays"] == "my.toml"
    assert load_configuration({}, environ, file=tmp_path / "mine.toml").settings.replays == 3


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone.toml", "HOLDFAST_CONFIG names .*gone.toml, which does not exist"),
        ("~nobody-there/x", "HOLDFAST_CONFIG is"),
    ],
)
def test_a_named_file_that_is_not_there_is_an_error(name: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        load_configuration({}, {"HOLDFAST_CONFIG": name})


def test_a_named_pyproject_must_have_our_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]")
    with pytest.raises(UsageError, match=r"has no \[tool\.holdfast\]"):
        load_configuration({}, {}, file=tmp_path / "pyproject.toml")


def test_a_key_of_a_million_parts_is_refused_at_once(tmp_path: Path) -> None:
    text = "[tool.holdfast]\n" + "a." * 500_000 + "b = 1"

    for name in ("pyproject.toml", "holdfast.toml"):
        assert "has a key of more than 100 parts" in refusal(tmp_path, text, name).message
