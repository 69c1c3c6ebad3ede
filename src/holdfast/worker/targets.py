"""From a TARGET, as people type it, to the server object that it names.

    module:object          an installed module, or one in the current directory; the object may be dotted
    path/file.py           the only server at the top level of that file
    path/file.py:object    that one

    search, launch         a server of this package, by its name

The object may be a server, of ours or of FastMCP or the official SDK, or a function without parameters that
returns one. The file is imported, never run as a program, so what stands under `if __name__ == "__main__":` stays
asleep. Modules beside it can be imported, behind the standard library and the installed packages: where two have
one name, the installed one is imported. Every way in which this can fail is one sentence with a remedy; the
traceback of the author's code stays attached as the cause.
"""

import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from holdfast.errors import TargetError, UsageError
from holdfast.interpreter import add_user_paths
from holdfast.worker.foreign import ForeignServer, foreign_server
from holdfast.worker.server import Server

__all__ = ["load_any", "load_target"]

# Named, not imported: a server is loaded when somebody asks for it.
_OWN_MODULES = {"launch": "holdfast.launch.tools:server", "search": "holdfast.search.tools:server"}
_MOST_SIBLINGS = 1000
_FORMS = "write module:object, path/file.py or path/file.py:object"
_ALIEN = "for a program that is not Python, write `-- COMMAND ARGS...` instead"


class _Target(NamedTuple):
    """The two halves of a TARGET; `file` is None in the `module:object` form."""

    text: str
    module: str
    file: Path | None
    attribute: str

    @property
    def place(self) -> str:
        return str(self.file) if self.file else self.module


def load_target(text: str) -> Server:
    """The server of ours that `text` names, whose surface holds together; raises TargetError."""
    server = load_any(text)
    if isinstance(server, ForeignServer):
        kind = _a(type(server.inner).__name__)
        raise TargetError(f"{text} is {kind}, a server of another toolkit", remedy="name a Server of Holdfast")
    return server


def load_any(text: str) -> Server | ForeignServer:
    """The server that `text` names, ours or one of another toolkit; raises TargetError."""
    own = _OWN_MODULES.get(text)
    target = _parse(own or text)
    server = _named_server(target)
    if isinstance(server, Server):
        _run_author_code(target, lambda: server.surface)  # what no single tool can know is checked here
    return server


def _named_server(target: _Target) -> Server | ForeignServer:
    text = target.text
    module = _run_author_code(target, lambda: _import(target))
    found = _find(target, module) if target.attribute else _only_server(target, module)
    if (server := _as_server(found)) is not None:
        return server
    if not _is_factory(found):
        raise TargetError(
            f"{text} is not a server but {_a(type(found).__name__)}",
            remedy=_servers_remedy(target, module)
            or "name a Server, or a function without parameters that returns one",
        )
    made = _run_author_code(target, found)
    if (server := _as_server(made)) is not None:
        return server
    if inspect.iscoroutine(made):
        made.close()
    raise TargetError(
        f"the function {text} returned {_a(type(made).__name__)}, not a server",
        remedy="return a Server from it; it may not be async",
    )


# --- reading the text ----------------------------------------------------------------------------------------


def _parse(text: str) -> _Target:
    if "://" in text:
        raise TargetError(
            f"{text} is an address; only servers on stdio can be spoken to", remedy="-- COMMAND ARGS..."
        )
    before, colon, after = text.rpartition(":")
    if colon and (before.endswith(".py") or _is_path(before)):
        place, attribute = before, after
    elif colon and not text.endswith(".py"):
        return _module_target(text, before, after)
    else:
        place, attribute, colon = text, "", ""
    if not place or not (place.endswith(".py") or _is_path(place) or Path(place).exists()):
        no_file = f"there is no file {text}, and " if text else ""
        raise TargetError(f"{no_file}{text!r} does not say where the server is", remedy=_bare_remedy(text))
    if colon and not _is_dotted_name(attribute):
        raise TargetError(f"{attribute!r} in {text!r} cannot name an object", remedy=_FORMS)
    file = _python_file(place)
    return _Target(text, _module_name(file), file, attribute)


def _module_target(text: str, module: str, attribute: str) -> _Target:
    if not _is_dotted_name(module) or not _is_dotted_name(attribute):
        raise TargetError(f"{text!r} is not a TARGET", remedy=_FORMS)
    return _Target(text, module, None, attribute)


def _is_path(text: str) -> bool:
    return os.sep in text or (os.altsep is not None and os.altsep in text)


def _is_dotted_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _bare_remedy(text: str) -> str:
    if text and Path(text + ".py").is_file():
        return f"write {text}.py or {text}:OBJECT"
    return _FORMS if not _is_dotted_name(text) else f"write {text}:OBJECT, or the path of a file"


def _python_file(place: str) -> Path:
    file = Path(place)
    if "\0" in place:
        raise TargetError(f"{place!r} cannot be looked up: it holds a NUL character", remedy="check the path")
    try:
        if file.is_dir():
            raise TargetError(f"{place} is a directory", remedy="name a Python file in it")
        if not file.exists():
            raise TargetError(
                f"there is no file {place}", remedy="check the path; it is relative to the current directory"
            )
    except OSError as error:  # a name that is too long, a directory we may not enter
        raise TargetError(f"{place!r} cannot be looked up: {error}", remedy="check the path") from None
    if file.suffix != ".py" or not file.is_file():
        raise TargetError(f"{place} is not a Python file", remedy=_ALIEN)
    return file


def _module_name(file: Path) -> str:
    """The name that `import` would give the file, unless that name is taken."""
    name = file.stem
    if name.isidentifier() and name not in sys.stdlib_module_names and _hiding(name, file) is None:
        return name
    return "target_" + re.sub(r"\W", "_", name)


def _hiding(name: str, file: Path) -> str | None:
    """The place of the module that `import` finds under the name of a file, where that is another one."""
    known = sys.modules.get(name)
    spec = (
        getattr(known, "__spec__", None) if known is not None else importlib.machinery.PathFinder.find_spec(name)
    )
    found = spec.origin if spec is not None else getattr(known, "__file__", None)
    return None if found is None or Path(found).resolve() == file.resolve() else found


# --- running what the author wrote ---------------------------------------------------------------------------


def _import(target: _Target) -> ModuleType:
    if target.file is None:
        if target.text not in _OWN_MODULES.values():
            add_user_paths(str(Path.cwd()))
        return importlib.import_module(target.module)
    file = target.file.resolve()
    add_user_paths(str(file.parent))
    loaded = sys.modules.get(target.module)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return loaded
    spec = importlib.util.spec_from_file_location(target.module, file)
    assert spec is not None  # the suffix is .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[target.module] = module  # models look up their own module by name while they are built
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[target.module]
        raise
    return module


def _run_author_code(target: _Target, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except UsageError as error:  # a tool that cannot be registered says itself what to do
        raise TargetError(f"{_where(target, error)}: {error.message}", remedy=error.remedy) from error
    except SystemExit as error:
        raise TargetError(
            f"{_where(target, error)}: the file ended the program while it was imported",
            remedy='put `server.run()` under `if __name__ == "__main__":`',
        ) from error
    except ModuleNotFoundError as error:
        if target.file is None and error.name and (target.module + ".").startswith(error.name + "."):
            raise TargetError(
                f"there is no module {error.name}",
                remedy="check the name; it must be importable from the current directory",
            ) from None
        raise _failure(target, error) from error
    except Exception as error:
        raise _failure(target, error) from error


def _failure(target: _Target, error: Exception) -> TargetError:
    cause = error.msg if isinstance(error, SyntaxError) else str(error)
    first_line = (cause.strip().splitlines() or [""])[0]
    sentence = f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__
    hidden = _hidden_modules(target) if isinstance(error, ImportError | AttributeError) else ""
    return TargetError(f"{_where(target, error)}: {sentence}", remedy=hidden or "correct the file")


def _hidden_modules(target: _Target) -> str:
    """Modules beside the target in whose place installed ones were imported, with the remedy."""
    root = target.file.resolve().parent if target.file else Path.cwd()
    for file in sorted(root.glob("*.py"))[:_MOST_SIBLINGS]:
        if file.stem in sys.modules and (found := _hiding(file.stem, file)) is not None:
            return f"rename {_shown(str(file))}: the installed {file.stem} is imported in its place, {found}"
    return ""


def _where(target: _Target, error: BaseException) -> str:
    """File and line of the author's code that went wrong, as far as they are known."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_shown(error.filename)}, line {error.lineno or 0}"
    root = target.file.resolve().parent if target.file else Path.cwd()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(root) and not _is_library(frame.filename, root):
            return f"{_shown(frame.filename)}, line {frame.lineno}"
    return target.place


def _is_library(filename: str, root: Path) -> bool:
    """Whether the file only happens to lie below the author's directory: an environment, or this package."""
    inner = Path(filename).relative_to(root).parts
    return "site-packages" in inner or Path(filename).is_relative_to(Path(__file__).parents[1])


def _shown(filename: str) -> str:
    try:
        return str(Path(filename).resolve().relative_to(Path.cwd()))
    except ValueError:
        return filename


# --- finding the server --------------------------------------------------------------------------------------


def _find(target: _Target, module: ModuleType) -> Any:
    found: Any = module
    for part in target.attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            remedy = _servers_remedy(target, module) or "check the name of the object"
            message = f"{target.place} has no object {target.attribute!r}"
            raise TargetError(message, remedy=_hidden_target(target, module) or remedy) from None
    return found


def _hidden_target(target: _Target, module: ModuleType) -> str:
    """The remedy where the module is an installed one, and the current directory has a file of that name."""
    file = Path.cwd().joinpath(*target.module.split(".")).with_suffix(".py")
    if target.file is not None or not file.is_file() or str(file) == getattr(module, "__file__", None):
        return ""
    return f"it is the installed {module.__file__}; for the one here write {_shown(str(file))}:{target.attribute}"


def _as_server(found: Any) -> Server | ForeignServer | None:
    return found if isinstance(found, Server | ForeignServer) else foreign_server(found)


def _only_server(target: _Target, module: ModuleType) -> Any:
    servers = _servers_in(module)
    if not servers:
        raise TargetError(
            f"{target.place} has no server at its top level",
            remedy='write `server = Server("name", version="1.0.0")` there, or name another object',
        )
    if len(servers) > 1:
        names = ", ".join(servers)
        raise TargetError(
            f"{target.place} has {len(servers)} servers: {names}",
            remedy=f"name one: {target.place}:{next(iter(servers))}",
        )
    return next(iter(servers.values()))


def _servers_in(module: ModuleType) -> dict[str, Any]:
    """The servers at the top level of a module, each under the first of its names."""
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if _as_server(value) is not None and all(value is not other for other in found.values()):
            found[name] = value
    return found


def _servers_remedy(target: _Target, module: ModuleType) -> str:
    names = list(_servers_in(module))
    return f"it has: {', '.join(f'{target.place}:{name}' for name in names)}" if names else ""


def _is_factory(value: Any) -> bool:
    if not inspect.isroutine(value):
        return False
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # written in C, without a signature
        return False
    return all(
        item.default is not item.empty or item.kind in {item.VAR_POSITIONAL, item.VAR_KEYWORD}
        for item in parameters
    )


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in {*'aeiou'} else 'a'} {noun}"
