"""`holdfast serve search` as a person types it: what is refused, in one line, before anything is started."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.served_search import announce_served, front_plan
from holdfast.interpreter import serve_command
from holdfast.search.served import SERVED_ENV, served
from holdfast.search.workspace import read_workspace
from holdfast.settings import load_configuration
from holdfast.testing import HostUnderTest, marked_processes
from holdfast.worker.targets import load_target

Cli = Callable[..., Any]


Refusal = Callable[..., str]


@pytest.fixture
def refusal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Refusal:
    """What a command says that does not start; it runs in this process, because there is nothing to start."""

    def told(*words: str, **environ: str) -> str:
        monkeypatch.setenv(SERVED_ENV, "")  # so that it is put back
        done = cli("serve", *words, env={"HOLDFAST_CONFIG": "none", **environ})
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
        return str(done.stderr)

    return told


def test_a_refusal_is_the_end_of_the_program(program: Cli, environment: dict[str, str]) -> None:
    done = program("serve", "search", "--http", "7345", env={"HOLDFAST_CONFIG": "none"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not an address to listen on" in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("search", "--http", "7345"), "is not an address to listen on"),
        (("search", "--http", "0.0.0.0:0"), "there is no token"),
        (("search", "--http", "127.0.0.1:0", "--standalone"), "HTTP needs the host"),
        (("search", "--http", "127.0.0.1:0", "--http-token-file", "missing"), "the token cannot be read"),
        (("search", "--repo", "missing"), "Repo path not found"),
        (("search", "--workspace", "missing.jsonc"), "there is no workspace file"),
        (("server.py", "--http", "0.0.0.0:0"), "there is no token"),
        (("server.py", "--repo", "."), "--repo is for the search server"),
        (("server.py", "--workspace", "w"), "--workspace is for the search server"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    tmp_path: Path, refusal: Refusal, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "server.py").write_text("")
    said = refusal(*words)
    assert told in said
    assert len(said.splitlines()) == 2  # what is wrong, and what to do


def test_all_that_is_wrong_with_a_workspace_file_is_told_at_once(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "shop.jsonc").write_text(
        '{"schemaVersion": 2, "repos": [{"root": "api", "prio": 1}], "nme": "shop"}'
    )
    said = refusal("search", "--workspace", "shop.jsonc")

    for wrong in ("unknown key 'nme'", "/schemaVersion: must be 1", "/repos/0: unknown key 'prio'"):
        assert f"shop.jsonc: {wrong}" in said
    assert said.splitlines()[1] == "  try: correct the file"


def test_a_token_file_of_several_words_is_refused(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "token").write_text("open sesame\n")
    said = refusal("search", "--http", "127.0.0.1:0", "--http-token-file", "token")
    assert "does not hold one token" in said


def test_a_token_is_never_shown(cli: Cli) -> None:
    shown = cli("config", "show", env={"HOLDFAST_HTTP_TOKEN": "sesame", "HOLDFAST_CONFIG": "none"}).stdout
    assert "http_token" in shown
    assert "sesame" not in shown


@pytest.mark.parametrize("token", ["two words", "ü", "tab\tbed", "x" * 5000])
def test_a_token_that_no_client_can_send_is_refused_and_not_shown(
    tmp_path: Path, refusal: Refusal, token: str
) -> None:
    said = refusal("search", "--http", "127.0.0.1:0", HOLDFAST_HTTP_TOKEN=token)
    (tmp_path / "token").write_text(token)
    by_file = refusal("search", "--http", "127.0.0.1:0", "--http-token-file", "token")

    assert "HOLDFAST_HTTP_TOKEN" in said
    assert "token" in by_file
    assert token not in said + by_file


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--http-hosts", "https://search.example"),
        ("--http-hosts", "*"),
        ("--http-hosts", "*.example"),
        ("--http-hosts", "fine.example,search.example/path"),
        ("--http-hosts", "search.example:99999"),
        ("--http-origins", "*"),
        ("--http-origins", "null"),
        ("--http-origins", "https://app.example/path"),
        ("--http-origins", "https://app.example:443"),
        ("--http-origins", "ftp://app.example"),
    ],
)
def test_a_name_that_can_never_match_is_refused_with_an_example(refusal: Refusal, option: str, value: str) -> None:
    said = refusal("search", "--http", "127.0.0.1:0", option, value)
    assert option in said
    assert ".example or " in said


def test_a_proxy_that_is_no_address_is_refused_with_an_example(refusal: Refusal) -> None:
    assert "10.0.0.0/8" in refusal("search", "--http", "127.0.0.1:0", "--http-trusted-proxies", "proxy.example")


def test_a_workspace_is_served_under_the_names_that_a_search_in_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG", "none")
    monkeypatch.setenv(SERVED_ENV, "")  # so that it is put back
    for name in ("off", "on", "beside"):
        (tmp_path / name / "shop").mkdir(parents=True)
    repos = [{"root": "off/shop", "enabled": False, "priority": 1}, {"root": "on/shop"}]
    (tmp_path / "all.jsonc").write_text(json.dumps({"schemaVersion": 1, "repos": repos}))
    announce_served(
        [str(tmp_path / "beside" / "shop")], str(tmp_path / "all.jsonc"), load_configuration({}).settings
    )
    names = read_workspace(tmp_path / "all.jsonc").names()

    assert names == ["shop", "shop-2"]
    assert {alias: root.parent.name for alias, root in served().aliases.items()} == {
        "shop-3": "beside",
        "shop-2": "on",
    }


def test_a_body_is_never_larger_than_a_message_can_carry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG", "none")
    for message, body in ((65536, 65536 - 8192), (1024, 512), (8_000_000, 1_000_000)):
        options = {"max_message_bytes": message, "http": "127.0.0.1:0"}
        settings = load_configuration(options).settings
        announce_served([str(tmp_path)], None, settings)
        plan = front_plan(settings)
        plan.listener.close()
        assert plan.options["maxBodyBytes"] == body


@pytest.mark.parametrize("words", [(), ("--http", "127.0.0.1:0")])
def test_no_worker_is_told_the_token(tmp_path: Path, words: tuple[str, ...]) -> None:
    surroundings = {"HOLDFAST_HTTP_TOKEN": "open-sesame", "HOLDFAST_CONFIG": "none"}
    command = [sys.executable, "-m", "holdfast", "serve", "search", "--repo", str(tmp_path), *words]
    with HostUnderTest(command, tmp_path, environment=surroundings) as host:
        host.handshake()
        below = [pid for pid in marked_processes(host.mark) if pid != host.process.pid]
        told = [Path(f"/proc/{pid}/environ").read_bytes() for pid in below]
        host.assert_nothing_left()

    assert told
    assert not any(b"open-sesame" in environment for environment in told)


def test_a_file_of_the_repository_that_cannot_be_read_is_told_by_every_call_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repo"
    repository.mkdir()
    monkeypatch.chdir(repository)
    file = repository / "holdfast.toml"
    file.write_text("[search\n")
    cache = f"--cache-dir={tmp_path / 'cache'}"
    program = [sys.executable, "-m", "holdfast", "serve"]
    command = ["env", "-u", "HOLDFAST_CONFIG", *program, "search", cache]
    worker = serve_command("--standalone", cache, "--name=search", target="search")
    with HostUnderTest(command, tmp_path, worker=worker) as host:
        host.handshake()
        before = _code_of(host.call("search", {"query": "x"}))
        killed = host.kill_worker()
        after = _code_of(host.call("search", {"query": "x"}))
        file.write_text("")
        mended = _code_of(host.call("search", {"query": "x"}))
        said = host.stderr()
        host.assert_nothing_left()

    assert len(killed) == 1
    assert (before, after, mended) == ("INVALID_REQUEST", "INVALID_REQUEST", "NO_INDEX")
    assert said.count("is not valid TOML") == 1
    assert "served without it, every call says so" in said


@pytest.mark.requirement("S1-6.3-legacy-selected")
@pytest.mark.parametrize(
    ("text", "words", "is_legacy"),
    [
        ('{"mcp": {"mode": "legacy"}}', (), True),
        ('{"mcp": {"mode": "legacy"}}', ("--mcp-mode", "native"), False),  # whoever starts it has the last word
        ("{}", ("--mcp-mode", "legacy"), True),
        ("{}", (), False),
    ],
)
def test_the_framing_is_chosen_by_the_option_or_by_the_repository(
    program: Cli, tmp_path: Path, text: str, words: tuple[str, ...], is_legacy: bool
) -> None:
    (tmp_path / ".pairofcleats.json").write_text(text)
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    said = b"Content-Length: %d\r\n\r\n%b" % (len(ping), ping) if is_legacy else ping + b"\n"
    command = ["serve", "search", "--standalone", "--repo", str(tmp_path), "--cache-dir", str(tmp_path / "cache")]

    done = program(*command, *words, input=said.decode(), env={"HOLDFAST_CONFIG": "none"})

    pong = '{"jsonrpc":"2.0","id":1,"result":{}}'
    assert done.stdout.strip() == (f"Content-Length: {len(pong)}\n\n{pong}" if is_legacy else pong)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("nonsense = 1", (), "unknown key nonsense"),  # it can be read: a slip of the operator
        ("[search", ("--repo", "elsewhere"), "is not valid TOML"),  # no call would tell
        ("[search", ("--workspace", "w.jsonc"), "is not valid TOML"),
    ],
)
def test_any_other_file_that_is_wrong_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.delenv(SERVED_ENV, raising=False)
    (tmp_path / "elsewhere" / ".git").mkdir(parents=True)
    (tmp_path / "elsewhere" / ".git" / "HEAD").write_text("ref: refs/heads/trunk\n")
    (tmp_path / "holdfast.toml").write_text(text)
    done = cli("serve", "search", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def _code_of(answer: dict[str, Any]) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])["code"]


def test_a_file_called_search_does_not_stand_in_the_way(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "search").write_text("")
    said = refusal("search", "--repo", "missing")
    assert "Repo path not found" in said
    assert "not a Python file" in refusal("./search", "--standalone")  # a host may end before its worker says so


def test_the_worker_takes_the_name_for_the_server_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "search").write_text("")
    monkeypatch.chdir(tmp_path)
    assert load_target("search").name == load_target("holdfast.search.tools:server").name


def test_up_tells_once_why_it_cannot_serve(tmp_path: Path) -> None:
    outer = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
    own = {"HOLDFAST_STATE_DIR": str(tmp_path / "state"), "HOLDFAST_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "a.py").write_text("def a(): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "up", "--http", "0.0.0.0:0"],
        cwd=tmp_path,
        env={**outer, **own, "HOLDFAST_CONFIG": "none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("there is no token") == 1
    assert done.stderr.splitlines()[-1].startswith("  try: ")


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_a_token_that_can_be_guessed_is_refused_where_others_can_try(refusal: Refusal, address: str) -> None:
    told = refusal("search", "--http", address, HOLDFAST_HTTP_TOKEN="guess-me-if-you")
    assert "can be guessed" in told
    assert "openssl rand" in told
    assert "guess-me" not in told


@pytest.mark.parametrize("target", ["search", "launch"])
def test_no_plugin_of_some_package_has_a_say_in_our_contracts(program: Cli, tmp_path: Path, target: str) -> None:
    about = tmp_path / "meddler-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: meddler\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[pydantic]\nmeddler = meddler:plugin\n", encoding="utf-8")
    (tmp_path / "meddler.py").write_text("raise SystemExit('a plugin was loaded')\n", encoding="utf-8")

    done = program("serve", "--standalone", target, env={"PYTHONPATH": str(tmp_path), "HOLDFAST_CONFIG": "none"})

    assert done.returncode == 0, done.stderr
