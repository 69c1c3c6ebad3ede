"""The manifests of a product: which files are some, for which platform, and the name and kind that they give it.

Read as data and never run; a `setup.py` is only parsed. A manifest that is broken simply says nothing.
"""

import ast
import configparser
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.launch.elements import sub_elements
from holdfast.launch.module_names import is_unpublished

__all__ = ["Manifest", "is_manifest", "manifest_of", "manifests_among"]

# The name of the file (or its suffix), the platform, and what builds it.
_NAMES = {
    "pyproject.toml": ("python", "pyproject"), "setup.py": ("python", "setuptools"),
    "setup.cfg": ("python", "setuptools"), "package.json": ("javascript", "npm"), "pom.xml": ("java", "maven"),
    "build.gradle": ("java", "gradle"), "build.gradle.kts": ("kotlin", "gradle"), "go.mod": ("go", "go"),
    "cargo.toml": ("rust", "cargo"), "composer.json": ("php", "composer"), "gemfile": ("ruby", "bundler"),
    "package.swift": ("swift", "swiftpm"), "cmakelists.txt": ("cpp", "cmake"), "meson.build": ("cpp", "meson"),
    "conanfile.py": ("cpp", "conan"), "mix.exs": ("elixir", "mix"),
}  # fmt: skip
_SUFFIXES = {
    ".csproj": ("dotnet", "msbuild"), ".fsproj": ("dotnet", "msbuild"), ".sln": ("dotnet", "msbuild"),
    ".gemspec": ("ruby", "rubygems"),
}  # fmt: skip
_DEEPEST = 3
_FRAMEWORKS = re.compile(r"^(?:fastapi|flask|django|uvicorn|gunicorn|aiohttp|tornado|express|koa|hapi|fastify)\b")
_SERVICE = re.compile(r"\b(?:(?:micro|web ?)?service|web ?app(?:lication)?|web ?site)\b", re.IGNORECASE)
_COMMAND = re.compile(r"\b(?:cli|command[- ]line)\b", re.IGNORECASE)
_WRAPPERS = frozenset({"maturin", "setuptools_rust", "puccinialin"})
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)


class Manifest(NamedTuple):
    """What one manifest says; empty where it does not."""

    path: str
    platform: str
    build_system: str
    name: str = ""
    product_type: str = ""
    test_command: str = ""
    wraps: str = ""  # the platform of a core that it publishes in its own language
    is_for_tools: bool = False  # it publishes nothing, and only names what the project is worked on with


def is_manifest(path: str) -> bool:
    """Whether a file of this path is a manifest."""
    return path.count("/") < _DEEPEST and _known(path) is not None


def manifests_among(texts: Mapping[str, str]) -> list[Manifest]:
    """The manifests among these files, the outermost first."""
    paths = sorted((path for path in texts if is_manifest(path)), key=_order)
    return [manifest_of(path, texts[path]) for path in paths]


def manifest_of(path: str, text: str) -> Manifest:
    """What the manifest says."""
    known = _known(path)
    assert known is not None
    plain = Manifest(path, *known)
    reader = {
        "pyproject.toml": _pyproject, "setup.py": _setup_py, "setup.cfg": _setup_cfg,
        "package.json": _package_json, "cargo.toml": _cargo, "go.mod": _go_mod, "composer.json": _composer,
        "pom.xml": _pom,
    }.get(path.rpartition("/")[2].lower())  # fmt: skip
    reader = reader or (_project_file if path.endswith((".csproj", ".fsproj")) else None)
    try:
        return reader(plain, text) if reader else plain
    except (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error, AttributeError, TypeError):
        return plain  # broken, or of another shape than its format has: it says nothing


def _known(path: str) -> tuple[str, str] | None:
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name else ""
    return _NAMES.get(name) or _SUFFIXES.get(suffix)


def _order(path: str) -> tuple[int, int, str]:
    ranks = list(_NAMES)
    name = path.rpartition("/")[2].lower()
    return path.count("/"), ranks.index(name) if name in ranks else len(ranks), path


def _name(value: Any) -> str:
    return value.strip()[:200] if isinstance(value, str) and value.isprintable() else ""


def _pyproject(plain: Manifest, text: str) -> Manifest:
    import tomllib

    data = tomllib.loads(text)
    backend = str(data.get("build-system", {}).get("build-backend", ""))
    project = data.get("project") or data.get("tool", {}).get("poetry") or {}
    builder = re.split(r"[._]", backend)[0] if backend else ("poetry" if "poetry" in data.get("tool", {}) else "")
    wanted = project.get("dependencies", ())
    kind = _python_kind(
        has_scripts=bool(project.get("scripts")), description=str(project.get("description", "")),
        plugs_into=project.get("entry-points") or project.get("plugins") or {},
        dependencies=[str(one).lower() for one in wanted],
    ) if project else ""  # fmt: skip
    test = "python -m pytest" if "pytest" in text else ""
    return plain._replace(
        build_system=builder or "setuptools",
        wraps="rust" if builder in _WRAPPERS else "",
        name=_name(project.get("name")),
        product_type=kind,
        test_command=test,
    )


def _python_kind(
    *, has_scripts: bool, description: str, plugs_into: Mapping[str, Any], dependencies: Iterable[str]
) -> str:
    if any(name not in ("console_scripts", "gui_scripts") for name in plugs_into):
        return "plugin"
    if has_scripts and _COMMAND.search(description):
        return "cli"
    # Libraries build upon frameworks too, so their word is needed as well.
    if any(_FRAMEWORKS.match(name) for name in dependencies) and _SERVICE.search(description):
        return "service"
    return "library"


def _setup_cfg(plain: Manifest, text: str) -> Manifest:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    name = _name(parser.get("metadata", "name", fallback=""))
    return plain._replace(name=name, product_type="library" if name else "")


def _setup_py(plain: Manifest, text: str) -> Manifest:
    """The literal arguments of the call of `setup`; what they are computed from is not looked at."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "setup":
            given = {word.arg: word.value for word in node.keywords}
            value = given.get("name")
            name = _name(value.value) if isinstance(value, ast.Constant) else ""
            return plain._replace(name=name, product_type="library" if name else "")
    return plain


def _package_json(plain: Manifest, text: str) -> Manifest:
    data = json.loads(text)
    wanted = {**data.get("dependencies", {}), **data.get("devDependencies", {})}
    is_command = "bin" in data and not ({"main", "exports", "module"} & set(data))
    is_framed = any(_FRAMEWORKS.match(name) for name in data.get("dependencies", {}))
    is_service = is_framed and _SERVICE.search(str(data.get("description", ""))) is not None
    scripts = data.get("scripts", {})
    return plain._replace(
        platform="typescript" if "typescript" in wanted or "types" in data else "javascript",
        name=_name(data.get("name", "")).rpartition("/")[2],
        product_type="cli" if is_command else "service" if is_service else "library",
        test_command="npm test" if "test" in scripts else "",
        wraps="rust" if "napi" in data or "@napi-rs/cli" in wanted or "wasm-pack" in wanted else "",
        is_for_tools=data.get("private") is True and not ({"main", "exports", "module", "bin"} & set(data)),
    )


def _cargo(plain: Manifest, text: str) -> Manifest:
    import tomllib

    data = tomllib.loads(text)
    package = data.get("package", {})
    return plain._replace(
        name=_name(package.get("name")),
        product_type="cli" if data.get("bin") and "lib" not in data else "library" if package else "",
        test_command="cargo test",
    )


def _go_mod(plain: Manifest, text: str) -> Manifest:
    found = _MODULE.search(text)
    parts = [part for part in (found[1].strip('"').split("/") if found else []) if not re.fullmatch(r"v\d+", part)]
    return plain._replace(name=_name(parts[-1] if parts else ""), test_command="go test ./...")


_OTHERS = "(?P<name>parent|dependencies|build|modules|profiles)"
_TAGS = (re.compile(rf"<!--|<{_OTHERS}\b"), re.compile(rf"-->|</{_OTHERS}\s*>"))


def _pom(plain: Manifest, text: str) -> Manifest:
    own = sub_elements(text, *_TAGS)
    name = re.search(r"<artifactId>\s*+([^<$]+?)(?<!\s)\s*</artifactId>", own)
    is_group = re.search(r"<packaging>\s*pom\s*</packaging>", own) is not None
    return plain._replace(
        name=_name(name[1]) if name else "",
        product_type="library" if name and not is_group else "",
        test_command="mvn test",
    )


def _project_file(plain: Manifest, text: str) -> Manifest:
    """A project of .NET is called by its package, or else by its file; one for tests has no name to give."""
    stem = plain.path.rpartition("/")[2].rpartition(".")[0]
    if "<Project" not in text or is_unpublished(stem):
        return plain
    name = re.search(r"<PackageId>\s*+([^<$]+?)(?<!\s)\s*</PackageId>", text)
    is_command = "<PackAsTool>true" in text
    return plain._replace(name=_name(name[1] if name else stem), product_type="cli" if is_command else "library")


def _composer(plain: Manifest, text: str) -> Manifest:
    data = json.loads(text)
    return plain._replace(name=_name(data.get("name", "")).rpartition("/")[2], product_type="library")
