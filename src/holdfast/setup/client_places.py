"""Which MCP clients there are, which file each of them reads, and in which form: one table.

What is written here is what the makers of the clients document. A client that moves its file is mended here; until
then a file can be named.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from holdfast.errors import UsageError
from holdfast.setup.json_text import JsonText
from holdfast.setup.toml_text import TomlText

__all__ = ["CLIENTS", "Client", "Document", "Scope"]

Document = JsonText | TomlText
Scope = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its file per scope, the first being the default; the form of the file, and of an entry.

    `form` is json, jsonc (which may have comments) or toml. `knows_project` says whether a server of scope `user`
    is started in the directory of the project that is worked on.
    """

    key: str
    title: str
    files: Mapping[Scope, Callable[[], Path]]
    container: str
    form: Literal["json", "jsonc", "toml"] = "json"
    fixed: Mapping[str, Any] | None = None
    knows_project: bool = True
    next_step: str = ""

    @property
    def default_scope(self) -> Scope:
        """The scope that is meant when none is said."""
        return next(iter(self.files))

    def file(self, scope: Scope) -> Path:
        """The file that the client reads for a scope, whether it exists or not."""
        if scope not in self.files:
            remedy = f"--scope {self.default_scope}, which is the default"
            raise UsageError(f"{self.title} has no configuration of scope {scope}", remedy=remedy)
        try:
            return self.files[scope]().absolute()
        except RuntimeError:  # nobody knows where home is
            raise UsageError("there is no home directory", remedy="set HOME, or name a file with --file") from None
        except FileNotFoundError:
            raise UsageError("the working directory is gone", remedy="cd to one that exists") from None

    def read(self, text: str) -> Document:
        """The text of the file; TextRefused where it cannot be edited."""
        if self.form == "toml":
            return TomlText(text, self.container)
        return JsonText(text, self.container, lenient=self.form == "jsonc")

    def entry(self, command: list[str], env: Mapping[str, str]) -> dict[str, Any]:
        """What the client is told about one server."""
        entry: dict[str, Any] = {**(self.fixed or {}), "command": command[0], "args": command[1:]}
        return {**entry, "env": dict(env)} if env else entry


def _under(*parts: str) -> Callable[[], Path]:
    return lambda: Path.cwd().joinpath(*parts)


def _at_home(variable: str | None, directory: str, name: str) -> Callable[[], Path]:
    """A file in the directory that a variable names, or in one of the home directory."""

    def place() -> Path:
        named = os.environ.get(variable) if variable else None
        return (Path(named).expanduser() if named else Path.home() / directory) / name

    return place


def _application(*parts: str) -> Callable[[], Path]:
    """A file among the settings of desktop applications, which every system keeps elsewhere."""

    def place() -> Path:
        if sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        elif sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return base.joinpath(*parts)

    return place


CLIENTS: dict[str, Client] = {
    client.key: client
    for client in (
        Client(
            "claude",
            "Claude Code",
            {"project": _under(".mcp.json"), "user": _at_home("CLAUDE_CONFIG_DIR", "", ".claude.json")},
            "mcpServers",
            next_step="start `claude` again; it asks once before it uses a project's server (/mcp shows it)",
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            {"user": _application("Claude", "claude_desktop_config.json")},
            "mcpServers",
            knows_project=False,
            next_step="quit Claude Desktop and start it again",
        ),
        Client(
            "cursor",
            "Cursor",
            {"project": _under(".cursor", "mcp.json"), "user": _at_home(None, ".cursor", "mcp.json")},
            "mcpServers",
            "jsonc",
            next_step="start Cursor again, and switch the server on in its MCP settings",
        ),
        Client(
            "codex",
            "Codex",
            {"user": _at_home("CODEX_HOME", ".codex", "config.toml"), "project": _under(".codex", "config.toml")},
            "mcp_servers",
            "toml",
            next_step="start `codex` again; /mcp shows the server",
        ),
        Client(
            "vscode",
            "VS Code",
            {"project": _under(".vscode", "mcp.json"), "user": _application("Code", "User", "mcp.json")},
            "servers",
            "jsonc",
            {"type": "stdio"},
            next_step="run `MCP: List Servers` in VS Code and start it",
        ),
    )
}
