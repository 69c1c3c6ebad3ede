"""The rules of the house, enforced: sizes, names, docstrings, a true `__all__`, no import of the root.

A limit that only warns is no limit. What these tests refuse is refused in the same commit that breaks it. Each
rule looks at all files at once, and lists everything that breaks it.
"""

import ast
import importlib
import importlib.util
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "holdfast").rglob("*.py"))
EVERYTHING = sorted(
    path for folder in ("src", "tests", "benchmarks", "examples", "docs") for path in (ROOT / folder).rglob("*.py")
)
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base", "base2"}

MAX_FILE = 600
MAX_FUNCTION = 60

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

# The files are read once for all rules, which only works in one process.
pytestmark = pytest.mark.xdist_group("house-rules")


class Read(NamedTuple):
    """What the rules want to know of a file."""

    lines: int
    too_long: tuple[str, ...]
    unexplained: tuple[str, ...]
    imports: tuple[tuple[str, str | None, int], ...]
    defined: tuple[str, ...]
    has_code: bool


@cache
def read(path: Path) -> Read:
    """Everything about a file; it is parsed once."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    inner = list(statements(tree))
    functions = [node for node in inner if isinstance(node, Function)]
    return Read(
        text.count("\n"),
        tuple(f"{one.name} has {length(one)} lines" for one in functions if length(one) > MAX_FUNCTION),
        tuple(unexplained(tree)),
        tuple(imports(inner)),
        tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef | Function)),
        any(isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Assign) for node in tree.body),
    )


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement inside, at any depth; neither functions nor imports are ever parts of an expression."""
    for block in _BLOCKS:
        for inner in getattr(node, block, ()):
            yield inner
            yield from statements(inner)


def found(paths: Iterable[Path], problems: Callable[[Path], Iterable[str]]) -> list[str]:
    """What a rule finds in the files, each with the file that it was found in."""
    return [f"{path.relative_to(ROOT)}: {problem}" for path in paths for problem in problems(path)]


def length(function: Function) -> int:
    """The lines of a function; what its docstring explains does not make it longer."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def methods(owner: ast.ClassDef) -> Iterator[Function]:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def unexplained(tree: ast.Module) -> Iterator[str]:
    """The public names without a docstring."""
    if not ast.get_docstring(tree):
        yield "the module has no docstring"
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            yield node.name
        for method in methods(node) if isinstance(node, ast.ClassDef) else ():
            if not method.name.startswith("_") and not ast.get_docstring(method):
                yield f"{node.name}.{method.name}"


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str | None, int]]:
    """The modules that a file imports, with the name that it takes from them, and the line."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None, node.lineno) for alias in node.names)


def test_no_file_and_no_function_outgrows_a_readers_patience() -> None:
    def too_long(path: Path) -> Iterator[str]:
        if read(path).lines > MAX_FILE:
            yield f"{read(path).lines} lines"
        yield from read(path).too_long

    assert found(EVERYTHING, too_long) == []


def test_every_module_and_public_name_says_what_it_is() -> None:
    assert found(SOURCES, lambda path: read(path).unexplained) == []


def test_all_lists_the_public_names_of_the_module_and_they_exist() -> None:
    def untrue(path: Path) -> Iterator[str]:
        if "templates" in path.parts or path.name in {"__main__.py", "keeper.py"}:
            return
        dotted = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(dotted)
        listed = getattr(module, "__all__", None)
        if listed is None and read(path).has_code:
            yield "a module with code lists its public names"
        yield from (f"{name} is listed, and is not there" for name in listed or () if not hasattr(module, name))
        if len(set(listed or ())) != len(listed or ()):
            yield "a name is listed twice"
        hidden = [name for name in read(path).defined if not name.startswith("_") and name not in (listed or ())]
        # The functions of a command group are reached through the group, checks of the probe through its table.
        if path.parent.name not in {"cli", "probe"}:
            yield from (f"{name} is not listed" for name in hidden)

    assert found(SOURCES, untrue) == []


def test_rooms_take_from_each_other_only_what_is_listed() -> None:
    @cache
    def is_listed(module: str, name: str) -> bool:
        owner = importlib.import_module(module)
        is_module = hasattr(owner, "__path__") and importlib.util.find_spec(f"{module}.{name}") is not None
        return is_module or name in owner.__all__

    def unlisted(path: Path) -> Iterator[str]:
        for module, name, _ in read(path).imports:
            if module.startswith("holdfast.") and name is not None and not is_listed(module, name):
                yield f"{module}.{name}"

    assert found(SOURCES, unlisted) == []


def test_nothing_inside_imports_the_package_root() -> None:
    def of_the_root(path: Path) -> Iterator[str]:
        return (f"line {line}" for module, _, line in read(path).imports if module == "holdfast")

    root = ROOT / "src" / "holdfast" / "__init__.py"
    assert found([path for path in SOURCES if path != root], of_the_root) == []


def test_one_place_builds_the_command_lines_of_our_own_programs() -> None:
    # Anywhere else, `-P` or `-I` is forgotten one day, and a module of the working directory is imported.
    def built(path: Path) -> Iterator[str]:
        text = path.read_text(encoding="utf-8")
        if "sys.executable" not in text and '"-m"' not in text:
            return
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.List | ast.Tuple) and any(starts_python(item) for item in node.elts):
                yield f"line {node.lineno} builds a command line: use holdfast.interpreter"

    def starts_python(item: ast.expr) -> bool:
        is_module = isinstance(item, ast.Constant) and isinstance(item.value, str) and item.value == "-m"
        return is_module or "sys.executable" in ast.unparse(item)

    exempt = {
        "interpreter.py",
        "search/blame.py",  # an option of git
        "search/linting/linters.py",  # the directory of Python, to look for linters in
    }
    package = ROOT / "src" / "holdfast"
    assert found([path for path in SOURCES if path.relative_to(package).as_posix() not in exempt], built) == []


def test_git_is_started_by_one_room_that_trusts_no_repository() -> None:
    # A repository's own configuration names programs: only there are all of them switched off.
    def starts_git(path: Path) -> Iterator[str]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "git" in text else ():
            if isinstance(node, ast.List | ast.Tuple) and node.elts[1:] and ast.unparse(node.elts[0]) == "'git'":
                yield f"line {node.lineno}: use holdfast.git"

    package = ROOT / "src" / "holdfast"
    rest = [path for path in SOURCES if package / "git" not in path.parents]
    assert found(rest, starts_git) == []


def test_one_module_writes_to_terminals() -> None:
    # Foreign text in between is made printable there; nobody else has sequences of control, or a way around it.
    ways = ("\\x1b[", "\\033[", "__stdout__", "__stderr__", "/dev/tty", "os.write(1,", "os.write(2,")

    def around(path: Path) -> Iterator[str]:
        text = path.read_text(encoding="utf-8")
        return (f"{way}: use holdfast.stdio.terminal" for way in ways if way in text)

    package = ROOT / "src" / "holdfast"
    own = {package / "stdio" / "terminal.py"}
    rest = [path for path in SOURCES if path not in own and package / "testing" not in path.parents]
    assert found(rest, around) == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [str(path) for path in SOURCES if path.stem in FORBIDDEN_NAMES] == []


def test_the_tree_names_no_package_registry_and_no_workplace() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # Spelled in pieces so that this file does not contain what it forbids.
    forbidden = [
        "py" + "pi.org",
        "python" + "hosted.org",
        "registry." + "npmjs",
        "deb." + "debian.org",
        "/work" + "/shared",
    ]
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path.stat().st_size < 2_000_000:
            text = path.read_bytes().decode("utf-8", "replace")
            assert not [word for word in forbidden if word in text], name


def test_whoever_limits_the_size_of_files_writes_no_compiled_modules() -> None:
    # Python writes them in one go and does not notice that only a part was taken: every later import would fail.
    limit, reads = "RLIMIT_" + "FSIZE", "getrlimit(resource.RLIMIT_" + "FSIZE)"  # to read a limit sets none
    limiting = [path for path in EVERYTHING if limit in path.read_text(encoding="utf-8").replace(reads, "")]
    careless = [str(path) for path in limiting if "dont_write_bytecode" not in path.read_text(encoding="utf-8")]
    assert (len(limiting) > 5, careless) == (True, [])
