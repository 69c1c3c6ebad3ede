"""`holdfast install`: a client's configuration, so that it starts a server behind the host; shown, then proved."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from holdfast.errors import UsageError
from holdfast.present.counted import counted

if TYPE_CHECKING:
    from holdfast.setup.client_config import Change
    from holdfast.setup.client_places import Client, Scope
    from holdfast.setup.config_file import Written
    from holdfast.setup.proof import Proof

__all__ = ["command"]

_CLIENTS = ("claude", "claude-desktop", "cursor", "codex", "vscode")
_EXAMPLE = "holdfast install search --client claude"
_WORDS = "holdfast.install.words"  # where the context keeps what stood behind `--`


class _InstallCommand(click.Command):
    """A command that hands on what stands behind `--` as it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_WORDS] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, list(args))


class _Ask(NamedTuple):
    """What was asked for on the command line."""

    client: "Client"
    scope: "Scope"
    path: Path
    name: str
    force: bool
    yes: bool
    dry_run: bool
    check: bool
    keep: bool
    as_json: bool
    is_file_named: bool

    @property
    def project(self) -> Path | None:
        """The directory that the file may not lead out of; None for a file of the user."""
        return Path.cwd() if self.is_file_named or self.scope == "project" else None


@click.command(name="install", cls=_InstallCommand, options_metavar="--client NAME [OPTIONS]")
@click.argument("target", required=False, metavar="TARGET [-- SERVE OPTIONS] | -- COMMAND [ARGS]...")
@click.option("--client", "client_key", type=click.Choice(_CLIENTS), required=True, help="Whose configuration.")
@click.option("--scope", type=click.Choice(("project", "user")), help="For this directory, or for you everywhere. "
              "[default: project; for codex and claude-desktop user]")  # fmt: skip
@click.option("--name", metavar="NAME", help="What the client calls the server. [default: from TARGET or COMMAND]")
@click.option("--env", "-e", "variables", metavar="NAME=VALUE", multiple=True, help="A variable for the server.")
@click.option("--file", metavar="FILE", help="Another file than the one that the client reads.")
@click.option("--undo", is_flag=True, help="Take the entry out again.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Replace another server of that name; with --undo, remove an entry of "
              "ours that was edited.")  # fmt: skip
@click.option(
    "--check/--no-check", default=True, help="Start what was written and ask for its tools. [default: on]"
)
@click.option("--keep", is_flag=True, help="Keep the entry even if it does not work.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object.")
@click.pass_context
def command(ctx: click.Context, /, target: str | None, client_key: str, undo: bool, **options: Any) -> int:
    """Write a client's configuration so that it starts a server behind the host.

    TARGET is what `holdfast serve` takes; its options follow behind `--`. Without TARGET, what stands behind `--`
    is the command of any other server, for `holdfast run`. The change is shown first, nothing else in the file is
    touched, and what was written is started once, to see that it works.

    \b
    Examples:
      holdfast install search --client claude
      holdfast install search --client codex -- --repo ~/src/project
      holdfast install inventory.py --client vscode --dry-run
      holdfast install --client cursor --scope user -- npx -y @modelcontextprotocol/server-everything
      holdfast install search --client claude --undo
    """
    from holdfast.cli.install_line import environment
    from holdfast.setup.client_config import NotEdited
    from holdfast.setup.our_command import check_words

    words: list[str] = ctx.meta.get(_WORDS, [])
    check_words([*words, *options["variables"], target or "", options["name"] or ""])
    ask = _asked(client_key, target, words, undo=undo, options=options)
    try:
        if undo:
            return _undo(ask, target, words)
        return _install(ask, target, words, environment(options["variables"]))
    except NotEdited as error:
        if error.block:
            print(error.block, file=sys.stderr)
        raise


def _asked(key: str, target: str | None, words: list[str], *, undo: bool, options: dict[str, Any]) -> _Ask:
    from holdfast.cli.install_line import name_of
    from holdfast.setup.client_config import check_name
    from holdfast.setup.client_places import CLIENTS

    client = CLIENTS[key]
    if not target and not words and not (undo and options["name"]):
        remedy = f"holdfast install --client {key} --name NAME --undo" if undo else _EXAMPLE
        raise UsageError("which server? give TARGET, or `--` and its command", remedy=remedy)
    scope = options["scope"] or client.default_scope
    named = options["file"]
    path = Path(named).expanduser().absolute() if named else client.file(scope)
    flags = {name: options[name] for name in ("force", "yes", "dry_run", "check", "keep", "as_json")}
    name = check_name(options["name"]) if options["name"] else name_of(target, words)
    return _Ask(client, scope, path, name, **flags, is_file_named=bool(named))


# --- installing --------------------------------------------------------------------------------------------------


def _install(ask: _Ask, target: str | None, words: list[str], env: dict[str, str]) -> int:
    from holdfast.cli.install_line import command_line
    from holdfast.setup.client_config import carry_out, plan_install
    from holdfast.setup.our_command import check_words

    line = command_line(ask.client, ask.scope, target, words)
    check_words([*line, str(ask.path)])
    change = plan_install(
        ask.client, ask.path, ask.name, ask.client.entry(line, env), force=ask.force, project=ask.project
    )
    _show(ask, change)
    if change.action == "none":
        return _tell(ask, change, f"{ask.path} has this entry already; nothing changes")
    if ask.dry_run:
        return _tell(ask, change, "nothing was written")
    if not _agreed(f"Write {ask.path}?", ask.yes):
        return _tell(ask, change, "nothing was written", code=1)
    written = carry_out(change)
    try:
        proof = _proof(ask, line, env)
    except BaseException:
        _roll_back(ask, written)
        raise
    return _tell_proof(ask, change, written, proof)


def _proof(ask: _Ask, line: list[str], env: dict[str, str]) -> "Proof | None":
    """How what was written works; None where it is not tried."""
    from holdfast.setup.proof import PATIENCE, prove

    if not ask.check:
        return None
    if any("${" in word for word in [*line, *env.values()]):
        _say(f"not tried: {ask.client.title} fills in ${{...}} by itself")
        return None
    _say(f"trying it, for {PATIENCE:g} s at most")
    # One for every project is started from anywhere, so it is tried away from this one.
    return prove(line, env, Path.home() if ask.scope == "user" else Path.cwd())


def _roll_back(ask: _Ask, written: "Written") -> None:
    from holdfast.setup.config_file import take_back

    try:
        take_back(written)
    except UsageError as error:  # a client that runs writes its file now and then
        _say(f"the entry is still there: {error.message}; to undo: {_undo_line(ask)}")
    else:
        _say(f"taken back: {ask.path} is as it was before")


def _tell_proof(ask: _Ask, change: "Change", written: "Written", proof: "Proof | None") -> int:
    undo = f"to undo: {_undo_line(ask)}"
    said = f"wrote {ask.path}" + (f" (what it was: {written.backup})" if written.backup else "")
    if proof is None or proof.ok:
        answers = f"; it answers with {counted(proof.tools, 'tool')}" if proof else ""
        _say(said + answers)
        _say(f"next: {ask.client.next_step}")
        return _tell(ask, change, undo, written=written, proof=proof)
    for line in proof.last_lines:
        _say(f"  {line}")
    _say(f"holdfast: what was written does not work: {proof.problem}")
    if ask.keep:
        _say(undo)
        return _tell(ask, change, said, written=written, proof=proof, code=1)
    _roll_back(ask, written)
    return _tell(ask, change, "--keep writes it all the same", proof=proof, code=1)


def _undo_line(ask: _Ask) -> str:
    import shlex

    words = ["holdfast", "install", "--client", ask.client.key, "--name", ask.name, "--undo"]
    words += ["--scope", ask.scope] if ask.scope != ask.client.default_scope else []
    return shlex.join([*words, *(["--file", str(ask.path)] if ask.is_file_named else [])])


# --- undoing -----------------------------------------------------------------------------------------------------


def _undo(ask: _Ask, target: str | None, words: list[str]) -> int:
    from holdfast.cli.install_line import served
    from holdfast.setup.client_config import carry_out, plan_undo

    change = plan_undo(ask.client, ask.path, ask.name, served(target, words), project=ask.project)
    _show(ask, change)
    if change.action == "none":
        return _tell(ask, change, f"{ask.path} has no server {ask.name}; nothing changes")
    if ask.dry_run:
        return _tell(ask, change, "nothing was written")
    is_sure = ask.force or (ask.yes and not change.edited)
    if change.edited:
        _say(f"{ask.name} is not what was written: {change.edited}")
        if not is_sure and not _can_ask():
            raise UsageError(f"{ask.name} was edited: {change.edited}", remedy="--force removes it all the same")
    if not _agreed(f"Remove {ask.name} from {ask.path}?", is_sure):
        return _tell(ask, change, "nothing was written", code=1)
    written = carry_out(change)
    how = "removed it; nothing else was in it" if change.removes_file else f"{ask.name} was taken out"
    return _tell(ask, change, f"{ask.path}: {how}", written=written)


# --- talking -----------------------------------------------------------------------------------------------------


def _show(ask: _Ask, change: "Change") -> None:
    from holdfast.setup.change_view import describe_change

    for line in describe_change(change):
        print(line, file=sys.stderr if ask.as_json else sys.stdout)
    sys.stdout.flush()


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _agreed(question: str, is_sure: bool) -> bool:
    if is_sure:
        return True
    if not _can_ask():
        raise UsageError(
            "nothing was written: there is nobody to ask", remedy="--yes writes, --dry-run only shows"
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _say(line: str) -> None:
    from holdfast.present.bounds import clean_line

    print(clean_line(line), file=sys.stderr)


def _tell(
    ask: _Ask,
    change: "Change",
    words: str,
    *,
    written: "Written | None" = None,
    proof: "Proof | None" = None,
    code: int = 0,
) -> int:
    _say(words)
    if ask.as_json:
        from holdfast.setup.change_view import describe_change
        from holdfast.wire.codec import encode

        document = {
            "client": ask.client.key,
            "scope": ask.scope,
            "file": str(ask.path),
            "name": ask.name,
            "action": change.action,
            "written": written is not None,
            "entry": change.entry,
            "diff": describe_change(change),
            "backup": None if written is None or written.backup is None else str(written.backup),
            "check": None if proof is None else proof.as_json(),
        }
        sys.stdout.write(encode(document).decode() + "\n")
    return code
