"""Gate: code on a page is code of the product's repository, says which language it is, and can be parsed.

Allowed are the snippets that were found there, lines of them in one piece, and what follows from the facts:
install commands, signatures, imports of the product, and asking a command for help. Nothing is ever executed.
"""

import ast
import json
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.launch.code_fences import Fence
from holdfast.launch.evidence import syntax_problem as parsed_problem
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View

__all__ = ["GATE", "Known", "check", "is_install_command", "language_of", "syntax_problem"]

_ALIASES = {
    "py": "python", "python3": "python", "pycon": "python", "sh": "bash", "shell": "bash", "console": "bash",
    "zsh": "bash", "shell-session": "bash", "js": "javascript", "ts": "typescript", "rs": "rust",
    "golang": "go", "cs": "csharp", "c#": "csharp", "yml": "yaml", "plain": "text",
    "plaintext": "text", "txt": "text", "": "text",
}  # fmt: skip
_PROMPT = re.compile(r"^\s*(?:\$|>)\s+")
_EXTRAS = re.compile(r"[\"']?((?<![\w.-])[\w.-]+)\[([\w\s,.-]+)\][\"']?")
_INSTALL = re.compile(
    r"^(?:\$\s+|>\s+|sudo\s+)*(?:python3?\s+-m\s+)?(?:pip3?|pipx|uv(?:\s+pip)?|poetry|conda|npm|yarn|pnpm|gem|cargo|go|"
    r"composer|dotnet|brew)\s+(?:install|add|require|get|i)\b"
)
_DOCTEST = re.compile(r"^\s*(?:>>>|\.\.\.)(?: |$)")
_DEFINITION = re.compile(r"^(?:async\s+def|def|class)\s+")
_IMPORT = re.compile(r"(?:from\s+([\w.]+)\s+import\s++([\w\s,*]+)|import\s+([\w.]+)(?:\s+as\s+\w+)?)")


def check(view: View) -> Checked:
    """Every block of the touched pages."""
    known = Known(view.artifacts["product_facts.json"], view.artifacts["snippet_catalog.json"])
    blocks = [(page, block) for page in view.pages for block in page.blocks]
    found = [finding for page, block in blocks for finding in _block(page, block, known)]
    return Checked(found, notes=[f"code blocks: {len(blocks)}"])


class Known:
    """The code that may be shown."""

    def __init__(self, facts: Mapping[str, Any], catalog: Mapping[str, Any]) -> None:
        self._snippets: list[tuple[str, Mapping[str, Any]]] = [
            (_normalised(snippet["code"]), snippet) for snippet in catalog["snippets"]
        ]
        self._exact: dict[str, Mapping[str, Any]] = dict(reversed(self._snippets))
        self.install_commands = [
            command for entry in facts.get("distribution", ()) for command in entry["install_commands"]
        ]
        self._extras = {extra["name"] for extra in facts.get("extras", ())}
        self._extras |= {entry["extra"] for entry in facts.get("dependencies", ()) if "extra" in entry}
        names = [command["name"] for command in facts.get("commands", ())]
        self._shell = {" ".join(command.split()) for command in self.install_commands}
        self._shell |= {
            " ".join(extra["command"].split()) for extra in facts.get("extras", ()) if "command" in extra
        }
        self._shell |= {f"{name} {option}" for name in names for option in ("--help", "--version", "-h")}
        self._shell.add(f"git clone {facts['repo_url']}")
        self._signatures = _signatures(facts["api_symbols"])
        summary = facts["api_surface_summary"]
        self._modules = {*summary["modules"], *(symbol["module"] for symbol in facts["api_symbols"])}
        self._modules |= {name.partition(".")[0] for name in self._modules}
        self._names = {symbol["name"] for symbol in facts["api_symbols"]}
        self._language = facts.get("ecosystem", {}).get("language", "python")
        self._imports = {" ".join(entry["code"].split()) for entry in facts.get("imports", ())}
        self._declared = {
            _normalised(declared["code"]): language_of(declared["language"])
            for entry in facts.get("distribution", ())
            if (declared := entry.get("declaration"))
        }

    def snippet(self, code: str) -> Mapping[str, Any] | None:
        """The snippet that this is, or is a piece of."""
        wanted = _normalised(code)
        if not wanted:
            return None
        if wanted in self._exact:
            return self._exact[wanted]
        framed = f"\n{wanted}\n"
        return next((snippet for text, snippet in self._snippets if framed in f"\n{text}\n"), None)

    def is_shell(self, line: str) -> bool:
        """Whether the facts know this command; an install command may name extras that they know."""
        plain = " ".join(_PROMPT.sub("", line).split())
        if plain in self._shell:
            return True
        named = _EXTRAS.search(plain)
        if named is None or not {name.strip() for name in named[2].split(",")} <= self._extras:
            return False
        return _EXTRAS.sub(lambda found: found[1], plain) in self._shell

    def follows_from_facts(self, code: str) -> str:
        """The language of code that the facts imply; "" where they do not."""
        if _normalised(code) in self._declared:
            return self._declared[_normalised(code)]
        lines = [line for line in code.split("\n") if line.strip() and not line.strip().startswith("#")]
        if lines and all(" ".join(line.split()) in self._imports for line in lines):
            return language_of(self._language)
        if lines and all(self.is_shell(line) for line in lines):
            return "bash"
        if _bare(code) in self._signatures or (lines and all(_bare(line) in self._signatures for line in lines)):
            return language_of(self._language)
        return "python" if lines and all(self._is_import(line.strip()) for line in lines) else ""

    def _is_import(self, line: str) -> bool:
        found = _IMPORT.fullmatch(line)
        if found is None:
            return False
        if found[3]:
            return found[3] in self._modules
        imported = [name.strip().split(" as ")[0] for name in found[2].split(",")]
        return found[1] in self._modules and all(
            name in self._names or f"{found[1]}.{name}" in self._modules for name in imported
        )


def is_install_command(line: str) -> bool:
    """Whether a line of a shell installs something."""
    return _INSTALL.match(line.strip()) is not None


def language_of(name: str) -> str:
    """One name for each language, whatever a fence calls it."""
    return _ALIASES.get(name.lower(), name.lower())


def syntax_problem(code: str, language: str) -> str:
    """Why the code cannot be parsed; "" where it can, or where nobody here knows the language."""
    parsers: dict[str, Callable[[str], object]] = {
        "python": _python,
        "json": json.loads,
        "toml": _toml,
        "yaml": _yaml,
        "bash": _shell,
    }
    parse = parsers.get(language)
    if parse is None:
        return parsed_problem(language, code) or ""
    try:
        parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'it cannot be parsed'}"
    return ""


def _block(page: Page, block: Fence, known: Known) -> Iterator[Finding]:
    implied = known.follows_from_facts(block.code)
    snippet = None if implied else known.snippet(block.code)
    wanted = implied or (language_of(snippet["language"]) if snippet else "")
    if not block.code.strip():
        yield _finding("SNIPPET_EMPTY", "A code block is empty.", page, block, rule="drop_snippet")
        return
    if not wanted and known.install_commands and _only_installs(block.code):
        return  # another gate says which command is the right one
    if not wanted:
        told = "The code is neither in the product's repository nor does it follow from the facts."
        yield _finding("SNIPPET_UNKNOWN", told, page, block, rule="drop_snippet")
        return
    yield from _language(page, block, wanted)
    problem = "" if implied else syntax_problem(block.code, wanted)
    if problem:
        yield _finding("SNIPPET_SYNTAX", f"The code cannot be parsed: {problem}", page, block, rule="drop_snippet")


def _only_installs(code: str) -> bool:
    lines = [line for line in code.split("\n") if line.strip()]
    return all(map(is_install_command, lines))


def _language(page: Page, block: Fence, wanted: str) -> Iterator[Finding]:
    if not block.language:
        told = f"The code block names no language; it is {wanted}."
        yield _finding("SNIPPET_LANGUAGE_MISSING", told, page, block, "set_fence_language", wanted)
    elif language_of(block.language) not in (wanted, "text"):
        told = f"The code block is called {block.language}, and is {wanted}."
        yield _finding("SNIPPET_LANGUAGE_WRONG", told, page, block, "set_fence_language", wanted)


def _finding(code: str, message: str, page: Page, block: Fence, rule: str, language: str = "") -> Finding:
    fix = {"drop_snippet": "Remove the code block.", "set_fence_language": f"Call it {language}."}
    return Finding(
        code,
        message,
        page.path,
        block.line,
        anchor=block.code_sha256,
        suggested_fix=fix[rule],
        fix_rule=rule,
        data={"code_sha256": block.code_sha256, **({"language": language} if language else {})},
    )


def _signatures(symbols: list[Mapping[str, Any]]) -> set[str]:
    """Every way in which a signature may be written: bare, as a definition, or behind its full name."""
    found = set()
    for symbol in symbols:
        signature = symbol["signature"]
        if not signature:
            continue
        found.add(_bare(signature))
        _, opened, rest = signature.partition("(")
        arguments = opened + rest
        for name in (symbol["name"], symbol["qualified_name"], f"{symbol.get('parent') or ''}.{symbol['name']}"):
            found.add(_bare(f"{name}{arguments}"))
    return found - {""}


def _bare(code: str) -> str:
    """A definition without what varies: decorators, keywords, layout, and the colon at its end."""
    lines = [line for line in code.strip().split("\n") if not line.lstrip().startswith("@")]
    text = _DEFINITION.sub("", " ".join(lines).strip())
    return re.sub(r"\s+", "", text).removesuffix("...").rstrip(":").replace(",)", ")")


def _normalised(code: str) -> str:
    return "\n".join(line.rstrip() for line in code.strip("\n").split("\n")).strip()


def _python(code: str) -> None:
    lines = code.split("\n")
    if any(line.lstrip().startswith(">>>") for line in lines):
        code = "\n".join(_DOCTEST.sub("", line) for line in lines if _DOCTEST.match(line))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of code that is not ours
        ast.parse(code)


def _toml(code: str) -> None:
    import tomllib

    tomllib.loads(code)


def _yaml(code: str) -> None:
    import yaml

    try:
        for _ in yaml.parse(code, Loader=yaml.SafeLoader):  # parsed only: nothing is built from it
            pass
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _shell(code: str) -> None:
    """Quotes and escapes that come to an end; a here-document is not looked into."""
    if "<<" not in code:
        shlex.split(code, comments=True)


GATE = Gate(
    "snippets",
    "snippets",
    check,
    everywhere(
        SNIPPET_EMPTY="error",
        SNIPPET_UNKNOWN="error",
        SNIPPET_SYNTAX="error",
        SNIPPET_LANGUAGE_MISSING="warn error error",
        SNIPPET_LANGUAGE_WRONG="error",
    ),
    seconds(60, 120),
    uses=("product_facts.json", "snippet_catalog.json"),
)
