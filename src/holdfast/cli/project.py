"""A new server project: checked name, files from the templates beside this module, nothing overwritten."""

import keyword
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template

from holdfast.errors import UsageError
from holdfast.version import __version__

__all__ = ["Project", "write_project"]

_TEMPLATES = Path(__file__).parent / "templates"
_RESERVED = frozenset({"holdfast", "test", "tests", "conftest"})


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
        f"tests/test_{module}.py": "test_server.py",
    }
    words = {"name": name, "module": module, "holdfast": __version__}
    texts = {path: _filled(template, words) for path, template in files.items()}
    _claim(directory)
    for path, text in texts.items():
        file = directory / path
        file.parent.mkdir(exist_ok=True)
        with file.open("x", encoding="utf-8") as handle:  # never over a file that somebody else wrote meanwhile
            handle.write(text)
    steps = (
        f"cd {shlex.quote(str(directory))}",
        f"holdfast call {module}.py lookup sku=A-1",
        "python -m pytest",
        f"holdfast serve {module}.py",
    )
    return Project(directory, tuple(texts), steps)


def _module_name(name: str) -> str:
    module = name.replace("-", "_")
    remedy = "use letters, digits, - and _, such as stock-room"
    if not module.isidentifier() or not module.isascii() or module.startswith("_"):
        raise UsageError(f"{name!r} cannot name a project", remedy=remedy)
    if keyword.iskeyword(module) or module in _RESERVED or module in sys.stdlib_module_names:
        raise UsageError(f"{name!r} is the name of something else in Python", remedy=f"add a word: {name}-server")
    return module


def _claim(directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"{directory} exists already", remedy="choose another name or --dir; nothing was written")
    directory.mkdir(parents=True, exist_ok=True)


def _filled(template: str, words: dict[str, str]) -> str:
    return Template((_TEMPLATES / f"{template}.template").read_text(encoding="utf-8")).substitute(words)
