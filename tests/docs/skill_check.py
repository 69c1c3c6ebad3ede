"""Reads a page of the skill and reports everything that it names and that is not there.

Every fenced block and every piece of inline code must be something that the project has: a command with its
options, a setting, an effect, an error code, an event, a field, a Python name, a file. What cannot be recognized
is reported too, so that nothing is named that was not looked up.
"""

import ast
import dataclasses
import inspect
import json
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click

import holdfast
from holdfast import dedup, testing
from holdfast.cli.app import cli
from holdfast.dedup import KeyTable
from holdfast.errors import CODES, HoldfastError, ToolError
from holdfast.kernel.health import health
from holdfast.present.porcelain import Porcelain
from holdfast.settings import SETTINGS, load_configuration
from holdfast.settings.tools import ToolRule
from holdfast.testing import HostUnderTest
from holdfast.vocabulary.effects import EffectKind, SessionState
from holdfast.vocabulary.events import EVENTS
from holdfast.worker.context import Context, SyncContext
from holdfast.worker.registry import Registry
from holdfast.worker.server import Server

__all__ = ["Block", "blocks", "problems"]

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "holdfast"

# What stands for something of the reader's own.
PLACEHOLDERS = frozenset({"TARGET", "NAME", "COMMAND", "TOOL", "ID", "DIR", "OLD", "NEW"})
# What belongs to Python, the system or the protocol, and not to us.
FOREIGN = frozenset(
    {"holdfast", "subprocess", "os.system", "async", "kill -9", "..", "GET", '"10"', "file", "file:///srv/x"}
)
# Words of messages that stand in no signature, and the file that has them.
WORDS = {
    **dict.fromkeys(("completed", "safe_to_retry", "unknown", "outcome"), "kernel/probes.py"),
    "worker_pid": "host/host.py",
}
FILE = re.compile(r"[\w./-]+\.(md|py|toml|json|jsonl)")


@dataclasses.dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str

    def commands(self) -> list[str]:
        """The command lines in it; in a session those behind the prompt."""
        lines = self.text.splitlines()
        if self.language == "console":
            return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if line and not line.startswith("#")]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, without the indentation of the list that they may stand in."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, flags=re.DOTALL | re.MULTILINE)
    return [
        Block(language, re.sub(f"^{indent}", "", body, flags=re.MULTILINE)) for indent, language, body in found
    ]


def problems(text: str, page: Path) -> list[str]:
    """Everything that this text, as the page of that path, gets wrong."""
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    found: list[str] = []
    for block in blocks(text):
        found += _block_problems(block)
    for code in dict.fromkeys(re.findall(r"`([^`\n]+)`", prose)):
        found += _code_problems(code, page)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        if not (page.parent / target).is_file():
            found.append(f"there is no file {target}")
    return found


def _block_problems(block: Block) -> Iterator[str]:
    if block.language in {"sh", "console"}:
        for line in block.commands():
            yield from _command_problems(line)
    elif block.language == "python":
        yield from _python_problems(block.text)
    elif block.language == "json":
        document = json.loads(block.text)
        for server in document["mcpServers"].values():
            yield from _command_problems(shlex.join([server["command"], *server["args"]]))
    elif block.language == "toml":
        yield from _configuration_problems(block.text)
    else:
        yield f"nobody checks a block of {block.language or 'no language'}"


def _command_problems(line: str, *, may_be_a_name: bool = False) -> Iterator[str]:
    """What click has to say about the line; nothing is run. A name alone need not be a whole command line."""
    words = shlex.split(line)
    if words[0] == "cd":
        return
    if words[0] != "holdfast":
        yield f"{words[0]} is not our command: {line}"
        return
    try:
        _parse(cli, "holdfast", words[1:], None, may_be_a_name=may_be_a_name)
    except (click.UsageError, HoldfastError) as error:
        yield f"{line}: {error}"


def _parse(
    command: click.Command, name: str, words: list[str], parent: click.Context | None, *, may_be_a_name: bool
) -> None:
    if words in (["--help"], ["--version"]) or (may_be_a_name and not words):
        return
    with command.make_context(name, list(words), parent=parent) as context:
        left = [*context._protected_args, *context.args]
        if isinstance(command, click.Group) and left:
            inner_name, inner, rest = command.resolve_command(context, left)
            assert inner is not None
            _parse(inner, inner_name or "", rest, context, may_be_a_name=may_be_a_name)


def _python_problems(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast"):
            module = __import__(node.module or "", fromlist=["_"])
            yield from (
                f"{node.module} has no {name.name}" for name in node.names if not hasattr(module, name.name)
            )


def _configuration_problems(text: str) -> Iterator[str]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "holdfast.toml"
        file.write_text(text, encoding="utf-8")
        try:
            load_configuration({}, {}, file=file)
        except HoldfastError as error:
            yield str(error)


def _code_problems(code: str, page: Path) -> list[str]:
    if code in PLACEHOLDERS or code in FOREIGN:
        return []
    if code in WORDS:
        known = f'"{code}"' in (SOURCE / WORDS[code]).read_text(encoding="utf-8")
        return [] if known else [f"{WORDS[code]} has no `{code}`"]
    if code.startswith("holdfast "):
        return list(_command_problems(_filled(code), may_be_a_name=True))
    for matches, exists in _KINDS:
        if re.fullmatch(matches, code):
            return [] if exists(code, page) else [f"there is no `{code}`"]
    return [f"nobody knows what `{code}` is"]


def _filled(command: str) -> str:
    """The command with something in place of what its reader fills in."""
    return re.sub(r"-- COMMAND\b", "-- npx some-server", command)


# --- what there is -----------------------------------------------------------------------------------------------


@cache
def _options() -> frozenset[str]:
    found: set[str] = set()
    waiting: list[click.Command] = [cli]
    while waiting:
        command = waiting.pop()
        context = click.Context(command)
        for parameter in command.get_params(context):
            found.update((*parameter.opts, *parameter.secondary_opts))
        if isinstance(command, click.Group):
            inner = (command.get_command(context, name) for name in command.list_commands(context))
            waiting += [one for one in inner if one is not None]
    return frozenset(found)


@cache
def _words() -> frozenset[str]:
    """Every word that may stand alone: settings, effects, events, fields, and the names of the library."""
    known = {setting.name for setting in SETTINGS}
    known |= {kind.value for kind in EffectKind}
    for event in EVENTS:
        known |= {event.name, *(field.name for field in dataclasses.fields(event))}
    for function in (Registry.tool, Registry.__init__, ToolError.__init__):
        known |= set(inspect.signature(function).parameters)
    for holder in (Porcelain, SyncContext, HostUnderTest, KeyTable):
        known |= {name for name in vars(holder) if not name.startswith("_")}
    known |= {field.name for field in dataclasses.fields(ToolRule)}
    known |= set(re.findall(r'^ {8}"(\w+)":', inspect.getsource(health), flags=re.MULTILINE))
    known |= {state.name for state in SessionState}
    return frozenset(known | {*holdfast.__all__, *testing.__all__, *dedup.__all__})


def _file_exists(code: str, page: Path) -> bool:
    """A file of the repository or of the skill, or one that a command of ours writes or reads under that name."""
    if (ROOT / code).is_file() or (page.parent / code).is_file():
        return True
    name = re.sub(r"^.*(?=\.lock\.json$)", "", Path(code).name)
    quoted = f'"{name}"' if not name.startswith(".") else f'{name}"'
    return any(quoted in source.read_text(encoding="utf-8") for source in SOURCE.rglob("*.py"))


def _is_attribute(code: str, _page: Path) -> bool:
    holder, _, name = code.partition("(")[0].rpartition(".")
    holders = {"ctx": Context, "server": Server, "effect": holdfast.effect, "normalize": holdfast.normalize}
    return hasattr(holders[holder], name)


def _is_argument(code: str, _page: Path) -> bool:
    name, _, value = code.partition("=")
    known = {**inspect.signature(Registry.tool).parameters, **inspect.signature(Registry.__init__).parameters}
    holder, _, member = value.rpartition(".")
    return name in known and (holder != "SessionState" or member in SessionState.__members__)


_KINDS: tuple[tuple[str, Callable[[str, Path], bool]], ...] = (
    (r"--[a-z-]+( \w+)?", lambda code, _: code.split()[0] in _options()),
    (r"HOLDFAST_[A-Z_]+", lambda code, _: code in {setting.env for setting in SETTINGS}),
    (r"[A-Z]+(_[A-Z]+)*", lambda code, _: code in CODES or code in _words()),
    (r"(ctx|server|effect|normalize)\.\w+(\(.*\))?", _is_attribute),
    (r"\w+=.+", _is_argument),
    (FILE.pattern, _file_exists),
    (r"\w+", lambda code, _: code in _words()),
)
