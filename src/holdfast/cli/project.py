"""A new server project: checked name, files from the templates beside this module, nothing overwritten."""

import json
import keyword
import shlex
import shutil
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from string import Template

from holdfast.errors import UsageError
from holdfast.interpreter import module_command
from holdfast.version import __version__

__all__ = ["Project", "write_project"]

_TEMPLATES = Path(__file__).parent / "templates"
# What the project imports, or what pytest finds by name, installed or not.
_RESERVED = frozenset({"conftest", "holdfast", "pydantic", "pytest", "test", "tests"})


@dataclass(frozen=True, slots=True)
class Project:
    """What was written, and what to type next."""

    directory: Path
    files: tuple[str, ...]
    next_steps: tuple[str, ...]


def write_project(name: str, directory: Path) -> Project:
    """Write the project `name` into `directory`, which must not exist or be empty."""
    module = _module_name(name)
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{module}.py": "server.py",
        "MCP_TOOL_SPECIFICATION.md": "MCP_TOOL_SPECIFICATION.md",
        f"tests/test_{module}.py": "test_server.py",
    }
    python, holdfast = _typed_commands()
    words = {
        "name": name,
        "module": module,
        "version": __version__,
        "python": python,
        "holdfast": holdfast,
        "configuration": _client_configuration(name, directory.resolve() / f"{module}.py"),
    }
    texts = {path: _filled(template, words) for path, template in files.items()}
    _write(directory, texts)
    steps = (
        f"cd {shlex.quote(str(directory))}",
        f"{holdfast} call {module}.py lookup sku=A-1",
        f"{python} -m pip install pytest",
        f"{python} -m pytest",
        f"{holdfast} contract lock {module}.py",
        f"{holdfast} serve {module}.py",
    )
    return Project(directory, tuple(texts), steps)


def _module_name(name: str) -> str:
    module = name.replace("-", "_")
    remedy = "use letters, digits, - and _, such as stock-room"
    if not module.isidentifier() or not module.isascii() or module.startswith("_"):
        raise UsageError(f"{name!r} cannot name a project", remedy=remedy)
    if keyword.iskeyword(module) or module in _RESERVED or _is_installed(module):
        raise UsageError(f"{name!r} is the name of something else in Python", remedy=f"add a word: {name}-server")
    return module


def _is_installed(module: str) -> bool:
    """Whether `import` finds something else under this name, which the project would hide from itself."""
    here = Path.cwd()
    elsewhere = [place for place in sys.path if place and Path(place) != here]
    return module in sys.stdlib_module_names or PathFinder.find_spec(module, elsewhere) is not None


def _typed_commands() -> tuple[str, str]:
    """How to type the running Python and this program: in short where the shell finds the same ones."""
    script = _script()
    found_python, found_script = shutil.which("python"), shutil.which("holdfast")
    is_ours = found_python is not None and Path(found_python).parent == Path(sys.executable).parent
    python = "python" if is_ours else shlex.quote(sys.executable)
    is_ours = found_script is not None and Path(found_script) == script
    return python, "holdfast" if is_ours else f"{python} -P -m holdfast"


def _script() -> Path | None:
    """The installed command `holdfast` of the running Python, where it has one."""
    found = shutil.which("holdfast", path=sysconfig.get_path("scripts"))
    return Path(found) if found else None


def _client_configuration(name: str, file: Path) -> str:
    """The entry of an MCP client, which starts servers in a directory and with a PATH of its own."""
    script = _script()
    command = [str(script)] if script else module_command("holdfast", user_code=True)
    entry = {"command": command[0], "args": [*command[1:], "serve", str(file)]}
    document = json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False)
    return "\n".join("    " + line for line in document.splitlines())


def _claim(directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"{directory} exists already", remedy="choose another name or --dir; nothing was written")
    directory.mkdir(parents=True, exist_ok=True)


def _write(directory: Path, texts: dict[str, str]) -> None:
    """All of the files; where one cannot be written, those before it go, so that the next attempt finds room."""
    made: list[Path] = []
    try:
        if not directory.exists():
            made.append(directory)
        _claim(directory)
        for path, text in texts.items():
            file = directory / path
            if not file.parent.exists():
                file.parent.mkdir()
                made.append(file.parent)
            # Never over a file that somebody else wrote meanwhile.
            with file.open("x", encoding="utf-8") as handle:
                made.append(file)
                handle.write(text)
    except OSError as error:
        _take_back(made)
        remedy = "check its permissions and the space on its disk, or choose another --dir; nothing was left"
        raise UsageError(f"{directory} cannot be written: {error.strerror or error}", remedy=remedy) from error


def _take_back(made: list[Path]) -> None:
    for place in reversed(made):
        with suppress(OSError):  # somebody else has put something there, or it was not made after all
            place.rmdir() if place.is_dir() else place.unlink()


def _filled(template: str, words: dict[str, str]) -> str:
    return Template((_TEMPLATES / f"{template}.template").read_text(encoding="utf-8")).substitute(words)
