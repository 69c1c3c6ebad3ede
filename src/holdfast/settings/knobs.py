"""One declaration per knob: name, kind, default, environment variable, flag, help.

The command line, the documentation and the validation all read this table; nothing else in the package
declares a default. Where a value comes from is the business of `sources`.
"""

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.settings.kinds import (
    DIRECTORY,
    FILE,
    PER_SECOND,
    POSITIVE_SECONDS,
    SECONDS,
    SWITCH,
    TEXT,
    WORDS,
    Kind,
    choice,
    integer,
    limit,
)

__all__ = ["FOREIGN_DEFAULTS", "SETTINGS", "Setting", "Settings", "default_cache_dir", "default_state_dir"]

MIB = 1024 * 1024
# A server of another toolkit has no limit of its own that its clients could rely on.
FOREIGN_DEFAULTS = {"max_message_bytes": 64 * MIB}
WEEK = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob. `parse` turns text into the value and raises ValueError with the reason it cannot.

    One that is not `in_file` comes from the environment or a flag alone; one that is `secret` is never shown.
    """

    name: str
    default: Any
    parse: Kind
    help: str
    flag: str | None = None
    in_file: bool = True
    secret: bool = False

    @property
    def env(self) -> str:
        """The environment variable that sets this knob."""
        return "HOLDFAST_" + self.name.upper()

    def value_of(self, raw: Any, source: str) -> Any:
        """The value of what `source` says, as text or as a value of its own; UsageError where it is none."""
        try:
            if not isinstance(raw, str):
                raw = "on" if raw is True else "off" if raw is False else str(raw)
            return self.parse(raw)
        except ValueError as error:
            shown = repr(raw) if isinstance(raw, str) else "too long"  # a number beyond thousands of digits
            shown = "something else" if self.secret else shown
            raise UsageError(f"{source} is {shown}: {error}", remedy=f"correct {source}") from error


def default_state_dir() -> Path:
    """Where state lives when nothing else is said: the user's XDG state directory."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "holdfast"


def default_cache_dir() -> Path:
    """Where indexes live when nothing else is said: the user's XDG cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "holdfast"


def _knob(
    default: Any, parse: Kind, text: str, flag: str | None = None, *, in_file: bool = True, secret: bool = False
) -> Any:
    metadata = {"parse": parse, "help": text, "flag": flag, "in_file": in_file, "secret": secret}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every knob, declared once, with its final value; build it with `load_settings` or `load_configuration`."""

    # A server written with Holdfast.
    mcp_mode: str = _knob(
        "native",
        choice("native", "sdk", "legacy"),
        "How MCP is spoken on stdio: newline JSON, the official SDK, or Content-Length framing.",
        "--mcp-mode",
    )
    protocol: str = _knob(
        "",
        choice("", "pinned", "negotiate"),
        "pinned answers 2024-11-05 to every handshake, negotiate the client's revision. "
        "Default: what the server declares.",
        "--protocol",
    )
    render: str = _knob(
        "",
        choice("", "json", "porcelain"),
        "Form of the text of a result. Default: what the server declares.",
        "--render",
    )
    queue_max: int = _knob(
        64,
        integer(0),
        "Calls that may wait for a free slot; one more is answered QUEUE_OVERLOADED.",
        "--queue-max",
    )
    concurrency: int = _knob(32, integer(1), "Calls that may run at the same time.", "--concurrency")
    list_page: int = _knob(
        500,
        integer(0),
        "Tools, prompts or resources that one page of a list holds; 0 means all of them.",
        "--list-page",
    )
    tool_timeout: float = _knob(
        120.0,
        SECONDS,
        "Seconds that a tool without a timeout of its own may take; 0 means no limit.",
        "--tool-timeout",
    )
    answer_timeout: float = _knob(
        300.0,
        SECONDS,
        "Seconds that a client may take to answer what a tool asks it; they do not count against the tool's own "
        "time. 0 means that they do, with no other limit.",
        "--answer-timeout",
    )
    input_ttl: float = _knob(
        3600.0,
        POSITIVE_SECONDS,
        "Seconds after which a client that describes itself (2026-07-28) comes too late with what it was asked.",
    )
    client_log_rate: int = _knob(
        50, integer(1, 10_000), "Log messages that one call may send its client in a second; others are left out."
    )

    # Every process in our custody.
    kill_grace: float = _knob(
        2.0, SECONDS, "Seconds between asking work or a process tree to stop and killing it.", "--kill-grace"
    )
    drain: float = _knob(
        5.0,
        SECONDS,
        "Seconds that calls in flight may take after the client closed its end; then they are cancelled.",
        "--drain",
    )
    exit_with_parent: bool = _knob(
        True,  # noqa: FBT003
        SWITCH,
        "Stop when the process that started the server dies.",
        "--exit-with-parent",
    )

    # The host: calls to the worker behind it.
    deadline: float = _knob(
        600.0,
        SECONDS,
        "Seconds that a call to a foreign server may take without a sign of progress; 0 means no limit.",
        "--deadline",
    )
    deadline_total: float = _knob(
        3600.0,
        SECONDS,
        "Seconds that a call to a foreign server may take at all, progress or not; 0 means no limit.",
        "--deadline-total",
    )
    heartbeat: float = _knob(
        15.0,
        SECONDS,
        "Seconds of silence after which a call that has a progress token gets a sign of life; 0 means never.",
        "--heartbeat",
    )
    replays: int = _knob(
        2,
        integer(0, 100),
        "How many losses of its worker one call may survive. In the rule of a tool: replays, or restart_budget.",
        "--replays",
    )
    untrusted: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Believe nothing that the worker says about its tools: neither hints nor declared effects. "
        "Rules in a configuration file still count. With `run`, it gets few environment variables: see --env.",
        "--untrusted",
    )
    trust_idempotent: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Believe a worker that calls a tool idempotent (idempotentHint) too; not with --untrusted.",
        "--trust-idempotent",
    )
    probe_hold: float = _knob(
        30.0, SECONDS, "Seconds that a call may be held while a probe finds out whether it took effect."
    )
    pending_max: int = _knob(1024, integer(1), "Requests that may be in flight or wait in the host.")
    pending_bytes: int = _knob(64 * MIB, integer(1024), "Bytes that these requests may have together.")
    dedup_ttl: float = _knob(WEEK, SECONDS, "Seconds that the stored outcome of a deduplicated call is kept.")

    # The host: what a client sees of it. Less than these cannot hold the line that says what was left out.
    output_bytes: int = _knob(
        0,
        limit(1024),
        "Bytes of a result that a client is given at once; text beyond them is cut at a line and kept as a "
        "resource, and JSON is never cut. 0 means no limit.",
        "--output-bytes",
    )
    output_tokens: int = _knob(
        0, limit(256), "The same in tokens, as far as they can be estimated; 0 means no limit.", "--output-tokens"
    )
    health_tools: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Offer the tools holdfast_health and holdfast_telemetry, and resources that say the same.",
        "--health-tools",
    )

    # The host: the worker itself.
    spare: int = _knob(0, integer(0, 1), "Warm standby workers: none, or one that takes over at once.", "--spare")
    start_timeout: float = _knob(
        60.0,
        POSITIVE_SECONDS,
        "Seconds that a worker may take to open its lifespan, and then to answer the handshake.",
        "--start-timeout",
    )
    ping_interval: float = _knob(30.0, SECONDS, "Seconds between two looks at an idle worker; 0 means never.")
    ping_timeout: float = _knob(
        10.0, POSITIVE_SECONDS, "Seconds that a worker may take to answer a ping before it counts as hung."
    )
    liveness_interval: float = _knob(
        5.0,
        SECONDS,
        "Seconds between two pings to a worker that has calls in flight; 0 means that it is never suspected.",
    )
    suspect_after: float = _knob(
        10.0,
        POSITIVE_SECONDS,
        "Seconds of silence after a ping, or without an end of any call, after which a worker counts as blocked.",
        "--suspect-after",
    )
    single: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Never start a second worker while the first lives: for servers that cannot run twice, since they hold a "
        "port, a lock or a profile. While it is blocked, calls are answered NOT_READY.",
        "--single",
    )
    stateful: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "The server keeps state in memory that later calls need: after it was lost with a worker, the first call "
        "of a client is refused once with STATE_LOST instead of being run without it.",
        "--stateful",
    )
    quarantine: float = _knob(
        600.0,
        SECONDS,
        "Seconds for which a call is refused, by its tool and arguments, once it has ended its worker each time "
        "that it was run; 0 refuses none. `holdfast restart` lifts it.",
    )
    noise_max: int = _knob(
        1000,
        integer(0),
        "Lines on stdout that are no message that a worker may write before it is replaced; 0 tolerates none.",
    )
    restart_budget: int = _knob(
        10,
        integer(1),
        "Losses of the worker within the restart window after which the host only tries at a low rate. "
        "In the rule of a tool this word means replays.",
        "--restart-budget",
    )
    restart_window: float = _knob(60.0, SECONDS, "Seconds within which losses count against the restart budget.")
    restart_delay: float = _knob(
        0.1, SECONDS, "Seconds before the second restart in a row; doubles with every loss. The first is at once."
    )
    restart_delay_max: float = _knob(5.0, SECONDS, "Longest pause before a restart, in seconds.")
    restart_slow: float = _knob(30.0, SECONDS, "Seconds between restarts once the budget is used up.")
    restart_reset: float = _knob(30.0, SECONDS, "Seconds of uptime after which earlier losses are forgotten.")

    # The host: upgrades.
    rollout_grace: float = _knob(
        1.0,
        SECONDS,
        "Seconds that clients have to ask for the new list of tools before a release that changes it takes over.",
    )
    probation: float = _knob(
        30.0,
        SECONDS,
        "Seconds that a new release has to hold without a loss; after three it is left for the one before it.",
        "--probation",
    )

    # A file comes with a project, which must not choose that its own code is run.
    code_linters: str = _knob(
        "",
        WORDS,
        "Linters that clients may have run by build_index although they run code of the repository: eslint.",
        in_file=False,
    )

    # Looking on from outside. A file comes with a project, which must not open ports or send anything anywhere.
    metrics: str = _knob(
        "",
        TEXT,
        "Tell figures for Prometheus on this port of this machine, PORT or HOST:PORT; 0 takes any that is free. "
        "Default: no port.",
        "--metrics",
        in_file=False,
    )
    otel: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Send a span per request to OpenTelemetry, as the OTEL_* variables say; needs holdfast[otel].",
        "--otel",
        in_file=False,
    )

    # HTTP beside stdio. A file comes with a project, which must not choose who can reach this machine.
    http: str = _knob(
        "",
        TEXT,
        "Answer HTTP on this address too, HOST:PORT; port 0 takes any that is free. Default: no HTTP.",
        "--http",
        in_file=False,
    )
    http_token: str = _knob(
        "",
        TEXT,
        "What HTTP clients must send as `Authorization: Bearer TOKEN`; needed where others can reach the address.",
        in_file=False,
        secret=True,
    )
    http_token_file: Path | None = _knob(
        None,
        FILE,
        "A file with the token that HTTP clients must send; see --http-tokens for several.",
        "--http-token-file",
        in_file=False,
    )
    http_tokens: Path | None = _knob(
        None,
        FILE,
        "A TOML file of several tokens, each with a name and the tools that it is for.",
        "--http-tokens",
        in_file=False,
    )
    http_hosts: str = _knob(
        "",
        WORDS,
        "Names in the Host header that are answered, besides loopback names and the address itself.",
        "--http-hosts",
        in_file=False,
    )
    http_origins: str = _knob(
        "", WORDS, "Origins of web pages that may ask (CORS).", "--http-origins", in_file=False
    )
    http_trusted_proxies: str = _knob(
        "",
        WORDS,
        "Addresses or networks of reverse proxies whose X-Forwarded-For and Forwarded headers are believed.",
        "--http-trusted-proxies",
        in_file=False,
    )
    http_paths: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Show absolute paths in HTTP answers.",
        "--http-paths",
        in_file=False,
    )
    http_timeout: float = _knob(
        120.0, POSITIVE_SECONDS, "Seconds that an HTTP request may take.", "--http-timeout", in_file=False
    )
    http_concurrency: int = _knob(
        64,
        integer(1, 10_000),
        "HTTP requests that may be worked on at the same time; one more is answered 503.",
        "--http-concurrency",
        in_file=False,
    )
    http_client_concurrency: int = _knob(
        0,
        integer(0, 10_000),
        "Requests of one HTTP client that may be worked on at the same time; one more is answered 429. A client "
        "is a token, or an address where there are no tokens. 0 means half of all where there are several tokens, "
        "and all where there are not.",
        "--http-client-concurrency",
        in_file=False,
    )
    http_client_rate: float = _knob(
        0.0,
        PER_SECOND,
        "Requests a second that one HTTP client may send; 0 means no limit.",
        "--http-client-rate",
        in_file=False,
    )
    http_client_sessions: int = _knob(
        256, integer(1, 10_000), "MCP sessions that one HTTP client may have.", in_file=False
    )
    http_client_connections: int = _knob(
        256,
        integer(0, 10_000),
        "Connections that one address may have, except this machine itself and trusted proxies; 0 means no limit.",
        in_file=False,
    )
    http_client_streams: int = _knob(
        256, integer(1, 10_000), "Event streams that one HTTP client may have open.", in_file=False
    )
    http_session_idle: float = _knob(
        1800.0, POSITIVE_SECONDS, "Seconds after which an MCP session that nobody uses is over.", in_file=False
    )
    http_max_body: int = _knob(
        1_000_000, integer(1024), "Largest body of an HTTP request, in bytes.", "--http-max-body", in_file=False
    )

    # Launch runs. A file comes with a project, which must not choose where we write or what is run.
    launch_dir: Path | None = _knob(
        None,
        DIRECTORY,
        "Directory of launch runs; by the flag or the environment only, not in a file. "
        "Default: `launch` in the state directory.",
        "--launch-dir",
        in_file=False,
    )
    launch_store: str = _knob(
        "",
        TEXT,
        "Database of launch runs, such as postgresql://user@host/name. Default: an SQLite file in --launch-dir.",
        in_file=False,
        secret=True,
    )
    launch_workers: int = _knob(
        4, integer(1, 256), "Pieces of work of launch runs that may be done at the same time.", "--launch-workers"
    )
    launch_offline_links: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Ask no other site about links: what is known from before counts, the rest is told as unchecked.",
        "--offline-links",
    )
    launch_private_links: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Also ask hosts of private networks about links, which pages take from a product's repository.",
        in_file=False,
    )
    launch_trusted_sites: str = _knob(
        "",
        WORDS,
        "Addresses of sites whose own Hugo configuration counts when they are built: it may start programs, read "
        "your files and use the network.",
        "--trusted-sites",
        in_file=False,
    )
    launch_tokens: str = _knob(
        "",
        WORDS,
        "Variables whose tokens launch runs may send, and where: VARIABLE=HOST[:PORT],... beside GITHUB_TOKEN, "
        "GITEA_TOKEN and OPENAI_API_KEY for their own hosts.",
        "--allow-tokens",
        in_file=False,
    )
    launch_engine: str = _knob(
        "local",
        choice("local", "dbos"),
        "Who executes launch runs: a process on this machine, or the machines of a pool on PostgreSQL.",
        "--launch-engine",
        in_file=False,
    )
    launch_lease: int = _knob(
        30,
        integer(3, 86_400),
        "Seconds without a sign of life after which a machine of the pool loses its launch runs to the others.",
        "--launch-lease",
    )
    auto_resume: bool = _knob(
        False,  # noqa: FBT003
        SWITCH,
        "Go on with interrupted launch runs when the launch server starts.",
        "--auto-resume",
    )

    # Messages, the event log, state.
    max_message_bytes: int = _knob(
        8 * MIB,
        integer(1024),
        "Largest message in either direction, in bytes; the default of `holdfast run` is 67108864.",
    )
    max_header_bytes: int = _knob(64 * 1024, integer(64), "Largest header block in legacy framing, in bytes.")
    max_depth: int = _knob(128, integer(8, 128), "Deepest nesting of arrays and objects in a message.")
    progress_interval: float = _knob(
        0.25, SECONDS, "Shortest time, in seconds, between two progress notices of a call."
    )
    event_log: bool = _knob(True, SWITCH, "Write the event log.", "--event-log")  # noqa: FBT003
    event_log_bytes: int = _knob(8 * MIB, integer(4096), "Size at which the event log is rotated, in bytes.")
    event_log_files: int = _knob(4, integer(1), "Number of event log files kept, the current one included.")
    # A file comes with a project, which must not choose where we write and remove.
    state_dir: Path | None = _knob(
        None,
        DIRECTORY,
        "Directory of all state; by the flag or the environment only, not in a file. "
        "Default: $XDG_STATE_HOME/holdfast or ~/.local/state/holdfast.",
        "--state-dir",
        in_file=False,
    )
    cache_dir: Path | None = _knob(
        None,
        DIRECTORY,
        "Directory of what can be made again, such as search indexes; by the flag or the environment only, not in "
        "a file. Default: $XDG_CACHE_HOME/holdfast or ~/.cache/holdfast.",
        "--cache-dir",
        in_file=False,
    )

    def __post_init__(self) -> None:
        for knob in fields(self):
            value = getattr(self, knob.name)
            # The type is compared as well: False equals the number 0 and is none.
            if value != knob.default or type(value) is not type(knob.default):
                setting = Setting(knob.name, knob.default, knob.metadata["parse"], "")
                object.__setattr__(self, knob.name, setting.value_of(value, knob.name))

    def state_path(self) -> Path:
        """The directory that state is kept in."""
        return self.state_dir or default_state_dir()

    def cache_path(self) -> Path:
        """The directory that indexes and other things that can be made again are kept in."""
        return self.cache_dir or default_cache_dir()


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(knob.name, knob.default, **knob.metadata) for knob in fields(Settings)
)
