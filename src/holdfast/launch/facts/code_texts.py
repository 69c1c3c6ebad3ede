"""Code as it stands in documents, made into code that can be used: prompts taken off, results kept as comments.

And the checks that need no tool: whether it parses, and what it imports.
"""

import ast
import json
import re
import shlex
import sys
import tomllib
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from holdfast.launch.evidence import syntax_problem

__all__ = ["Checked", "checked", "imports_of", "language_named", "shows_something", "uses_of", "without_prompts"]

_LONGEST = 60_000
_LANGUAGES = {
    "py": "python", "python": "python", "python3": "python", "py3": "python", "pycon": "python",
    "python-console": "python", "ipython": "python",
    "doctest": "python", "sh": "bash", "shell": "bash", "bash": "bash", "zsh": "bash", "console": "bash",
    "shell-session": "bash", "shellsession": "bash",
    "terminal": "bash", "cmd": "bat", "yml": "yaml", "yaml": "yaml", "json": "json", "toml": "toml",
    "ini": "ini", "cfg": "ini", "js": "javascript", "mjs": "javascript", "cjs": "javascript",
    "jsx": "javascript", "node": "javascript", "ts": "typescript", "mts": "typescript",
    "rs": "rust", "golang": "go", "cs": "csharp", "c#": "csharp",
    "txt": "text", "text": "text", "none": "text", "plain": "text", "plaintext": "text", "output": "text",
}  # fmt: skip
_PROMPT = re.compile(r"^(?:\$|%|❯) (?=\S)")
_PYTHON_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.)(?: |$)")
_DOCTEST_FLAG = re.compile(r"(?<!\s)\s*# doctest: ?[+-]\w.*$")
_SHELL_LIKE = re.compile(
    r"^(?:\$ |(?:sudo )?(?:pip3?|pipx|uv|poetry|conda|git|apt|brew|npm|npx|pnpm|"
    r"yarn|cargo|rustup|go (?:get|install|run|mod)|dotnet|mvn|gradle|docker|make|curl|python3?(?: -m)?) )"
)
_PYTHON_LIKE = re.compile(
    r"^(?:from \w|import \w|def \w|class \w|with \w|for \w|if __name__ |@\w|\w+ = |\w[\w.]*\()", re.MULTILINE
)
_CODE_LIKE = re.compile(r"[;{}]\s*$|:=|\w\(.*\)|=>|^[^\S\n]*(?:import|use|using|package)\s", re.MULTILINE)


class Checked(NamedTuple):
    """Whether code parses; `message` says why not, or that nothing here can tell."""

    ok: bool
    message: str = ""


def language_named(info: str, code: str, usual: str = "python") -> str:
    """The language of a block by its label, or by its looks where it has none; `usual` is the product's own."""
    label = re.sub(r"[^a-z0-9+#-].*", "", info.strip().lower())
    if label:
        return _LANGUAGES.get(label, label)[:40]
    if ">>>" in code and _PYTHON_PROMPT.search(code):
        return "python"
    if _SHELL_LIKE.match(code):
        return "bash"
    if usual == "python" and _PYTHON_LIKE.search(code) and checked("python", code).ok:
        return "python"
    if usual != "python" and _CODE_LIKE.search(code) and checked(usual, code).ok:
        return usual
    return "json" if code.lstrip()[:1] in "{[" and checked("json", code).ok else "text"


def without_prompts(language: str, code: str) -> str:
    """The code without prompts; what stands between them is its output and becomes comments."""
    lines = code.split("\n")
    if language == "python" and any(line.lstrip().startswith(">>>") for line in lines):
        return _session(lines, lambda line: bool(_PYTHON_PROMPT.match(line)), _PYTHON_PROMPT)
    if language == "bash" and any(_PROMPT.match(line) for line in lines):
        return _session(lines, lambda line: bool(_PROMPT.match(line)), _PROMPT)
    return code


def _session(lines: list[str], is_input: Callable[[str], bool], prompt: re.Pattern[str]) -> str:
    shown: list[str] = []
    continued = False
    margin = next(len(line) - len(line.lstrip()) for line in lines if is_input(line))
    for line in lines:
        if is_input(line) or continued:
            shown.append(_DOCTEST_FLAG.sub("", prompt.sub("", line)))
            continued = line.rstrip().endswith("\\")
        elif line.strip() and line.strip() != "<BLANKLINE>":
            output = line[margin:] if not line[:margin].strip() else line.strip()
            shown.append(output if output.startswith("#") else f"# {output}")
        else:
            shown.append("")
    text = "\n".join(line.rstrip() for line in shown)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def checked(language: str, code: str) -> Checked:
    """Whether the code parses as this language."""
    check = _CHECKS.get(language)
    if len(code) > _LONGEST or "\0" in code:
        return Checked(ok=False, message="it is too long or no text")
    if check is None:
        problem = syntax_problem(language, code)
        if problem is None:
            return Checked(ok=True, message=f"not checked: there is no parser for {language}")
        return Checked(ok=not problem, message=problem)
    try:
        check(code)
    except RecursionError:
        return Checked(ok=False, message="it is nested too deeply")
    except MemoryError:
        return Checked(ok=False, message="it is nested too deeply")
    except Exception as error:  # noqa: BLE001 (whatever a parser raises means the same)
        return Checked(ok=False, message=f"{type(error).__name__}: {error}".split("\n", 1)[0][:300])
    return Checked(ok=True)


def _check_python(code: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(code, "<snippet>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _check_yaml(code: str) -> None:
    import yaml

    for node in yaml.compose_all(code, Loader=yaml.SafeLoader):  # composed, not built: no alias is multiplied
        del node


def _check_ini(code: str) -> None:
    import configparser

    configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True).read_string(code)


_CHECKS: Mapping[str, Callable[[str], object]] = {
    "python": _check_python,
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": _check_yaml,
    "ini": _check_ini,
    "bash": lambda code: shlex.split(code, comments=True),
}


def shows_something(language: str, code: str) -> bool:
    """Whether there is more to the code than how a file is started: `if __name__ == "__main__": main()`."""
    tree = _tree(code) if language == "python" else None
    return tree is None or any(not _starts_file(node) for node in tree.body)


def _starts_file(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass):
        return True
    return isinstance(node, ast.If) and any(
        isinstance(inner, ast.Name) and inner.id == "__name__" for inner in ast.walk(node.test)
    )


def imports_of(code: str, own: Collection[str]) -> list[str]:
    """The packages that the code needs besides the product and the standard library."""
    tree = _tree(code)
    found: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return sorted(name for name in found if name not in own and name not in sys.stdlib_module_names)


def uses_of(code: str, known: Collection[str], packages: Collection[str]) -> list[str]:
    """The public names of the product that the code uses, by its own imports."""
    tree = _tree(code)
    if tree is None:
        return []
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {
                alias.asname or alias.name.partition(".")[0]: alias.name
                if alias.asname
                else alias.name.partition(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    found = set()
    for node in ast.walk(tree):
        name = _dotted(node)
        head, _, rest = name.partition(".")
        target = bound.get(head, "")
        full = f"{target}.{rest}" if rest else target
        if target.partition(".")[0] in packages and full in known:
            found.add(full)
    return sorted(found)


def _tree(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 8:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
