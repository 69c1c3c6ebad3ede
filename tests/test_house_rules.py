"""The rules of the house, enforced: sizes, names, docstrings, a true `__all__`, no import of the root.

A limit that only warns is no limit. What these tests refuse is refused in the same commit that breaks it.
"""

import ast
import importlib
import importlib.util
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "holdfast").rglob("*.py"))
EVERYTHING = sorted(
    path for folder in ("src", "tests", "benchmarks", "examples", "docs") for path in (ROOT / folder).rglob("*.py")
)
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base", "base2"}

MAX_FILE = 600
MAX_FUNCTION = 60


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function; what its docstring explains does not make it longer."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def methods(owner: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", EVERYTHING, ids=names(EVERYTHING))
def test_no_file_and_no_function_outgrows_a_readers_patience(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert text.count("\n") <= MAX_FILE
    for function in functions(ast.parse(text)):
        assert length(function) <= MAX_FUNCTION, function.name


@pytest.mark.parametrize("path", SOURCES, ids=names(SOURCES))
def test_every_module_and_public_name_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))

    assert ast.get_docstring(tree), "the module has no docstring"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name
            for method in methods(node):
                assert method.name.startswith("_") or ast.get_docstring(method), f"{node.name}.{method.name}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


@pytest.mark.parametrize("path", SOURCES, ids=names(SOURCES))
def test_all_lists_the_public_names_of_the_module_and_they_exist(path: Path) -> None:
    if "templates" in path.parts or path.name in {"__main__.py", "keeper.py"}:
        return
    dotted = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    has_code = any(isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Assign) for node in tree.body)
    module = importlib.import_module(dotted)
    listed = getattr(module, "__all__", None)

    assert listed is not None or not has_code, "a module with code lists its public names"
    for name in listed or ():
        assert hasattr(module, name), name
    assert len(set(listed or ())) == len(listed or ())
    defined = [
        node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    # The functions of a command group are reached through the group.
    hidden = [name for name in defined if not name.startswith("_") and name not in (listed or ())]
    assert not hidden or path.parent.name == "cli", hidden


@pytest.mark.parametrize("path", SOURCES, ids=names(SOURCES))
def test_rooms_take_from_each_other_only_what_is_listed(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast."):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                is_module = hasattr(module, "__path__") and importlib.util.find_spec(f"{node.module}.{alias.name}")
                assert is_module or alias.name in module.__all__, f"{node.module}.{alias.name}"


@pytest.mark.parametrize("path", SOURCES, ids=names(SOURCES))
def test_nothing_inside_imports_the_package_root(path: Path) -> None:
    if path.name == "__init__.py" and path.parent.name == "holdfast":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.module != "holdfast", f"line {node.lineno}"
        elif isinstance(node, ast.Import):
            assert all(alias.name != "holdfast" for alias in node.names), f"line {node.lineno}"


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
