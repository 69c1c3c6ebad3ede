"""Takes secrets and absolute paths out of text and JSON values before they are written down or shown.

Secrets become `[redacted]`: PEM blocks, the user part of URLs, authorization and cookie headers, whatever is
assigned to a name such as `password`, `accessToken` or `x-api-key`, long values of `key=`, bearer tokens, and
the shapes of well-known keys (`sk-...`, `ghp_...`, `AKIA...`, JWTs).

Absolute paths become relative inside the working directory, `~/...` inside the home directory, and otherwise
`<path>/name`. A POSIX path counts as one when it has two segments or more and either begins with a top-level
directory of this machine or ends in a file extension; thus `/arguments/key`, `/v1/search`, `1/2` and the paths of
URLs stay as they are. Windows paths and `file:` URIs always count.

Erring on the side of redacting is meant. It is no defence against somebody who wants to smuggle a secret out.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

__all__ = ["REDACTED", "Redactor", "is_plain"]

REDACTED = "[redacted]"
_MAX_DEPTH = 64
_FLAGS = re.IGNORECASE | re.ASCII

_NAME = (
    r"(?:token|passw(?:or)?d|passphrase|pwd|secret|credential|jwt|api[ _-]?key"
    r"|(?:access|account|auth|encryption|master|private|shared|signing)[ _-]?key)"
    r"(?:s|[_-]?(?:access[_-]?)?(?:key|id|value|hash)(?:[_-]?id)?)?"
)
_SECRET_KEY = rf"(?:{_NAME}|authorization|cookies?|(?:\A|[_-])auth)\Z"
_ASSIGN = r"""\\?["']?\s{0,8}[:=]\s{0,8}(?!["'\\]{0,2}\[redacted\])"""
_VALUE = r"""(?:"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|\\["'][^"'\n]*+|[^\s"'\\,;&)}\]]+)"""
_TOP_LEVEL = {
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home", "lib", "lib64",
    "media", "mnt", "nix", "opt", "private", "proc", "root", "run", "sbin", "snap", "srv", "sys", "tmp", "usr",
    "var",
}  # fmt: skip


class _Rule(NamedTuple):
    """A pattern that can match only where one of `hints` occurs in the lower-case text."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]


def _assigned(found: re.Match[str]) -> str:
    if found["value"].isdigit() and "token" in found["name"].lower():
        return found[0]  # max_tokens=500 is a count
    return f"{found['name']}{found['assign']}{REDACTED}"


@cache
def _secret_rules() -> tuple[_Rule, ...]:
    """The shapes of secrets. Compiled when the first text needs them, which in most processes is never."""
    return (
        _Rule(
            ("-----begin",),
            re.compile(
                r"-----BEGIN [A-Z0-9 ]{1,40}-----.*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)", _FLAGS | re.DOTALL
            ),
            REDACTED,
        ),
        _Rule(("://",), re.compile(r"""(?<=://)(?!\[redacted\]@)[^\s/?#"'<>]{1,256}@""", _FLAGS), f"{REDACTED}@"),
        _Rule(
            ("authorization", "cookie"),
            re.compile(rf"""((?:authorization|cookie){_ASSIGN}\\?["']?)[^\r\n"'\\]+""", _FLAGS),
            rf"\1{REDACTED}",
        ),
        _Rule(
            ("token", "passw", "passphrase", "pwd", "secret", "credential", "jwt", "key"),
            re.compile(rf"(?P<name>{_NAME})(?P<assign>{_ASSIGN})(?P<value>{_VALUE})", _FLAGS),
            _assigned,
        ),
        _Rule(
            ("key",),
            re.compile(rf"""(?<![a-z])(key{_ASSIGN}\\?["']?)[a-z0-9+/_=-]{{20,}}""", _FLAGS),
            rf"\1{REDACTED}",
        ),
        _Rule(
            ("bearer", "basic"),
            re.compile(
                r"\b(bearer|basic)(\s{1,8})(?!(?-i:[A-Za-z]?[a-z.]+)(?![\w~+/=-]))[\w.~+/=-]{6,}", _FLAGS
            ),
            rf"\1\2{REDACTED}",
        ),
        _Rule(
            ("sk-", "sk_", "rk_", "gh", "github_pat_", "glpat-", "xox", "akia", "asia", "aiza", "ya29.", "npm_",
             "pypi-", "hf_", "eyj"),
            re.compile(
                r"(?<![A-Za-z0-9])(?:sk-[\w-]{16,}|[rs]k_(?:live|test)_\w{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
                r"|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}"
                r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|hf_[A-Za-z0-9]{20,}"
                r"|(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?)",
                re.ASCII,
            ),
            REDACTED,
        ),
    )  # fmt: skip


# Too short for the shape of any key, or with no letter that one begins with; no sign that a path or an
# assignment needs. Names, codes and most ids look like this.
_PLAIN = re.compile(r"[\w.-]{0,14}|[0-9a-f-]{0,256}", re.ASCII)


def is_plain(value: object) -> bool:
    """A cheap test: True only for a number or text that every redactor leaves as it is."""
    if type(value) is str:
        return _PLAIN.fullmatch(value) is not None
    return type(value) is int or type(value) is float


class Redactor:
    """Redacts text and JSON values; `cwd`, `home` and `roots` default to those of this process and machine."""

    def __init__(
        self, *, cwd: str | None = None, home: str | None = None, roots: Iterable[str] | None = None
    ) -> None:
        self._bases = {
            "cwd": _as_base(_working_directory() if cwd is None else cwd),
            "home": _as_base(os.path.expanduser("~") if home is None else home),
        }
        self._roots = frozenset(_machine_roots() if roots is None else roots)

    @cached_property
    def _rules(self) -> tuple[_Rule, ...]:
        return (*_secret_rules(), _Rule(("/", "\\"), _path_pattern(self._bases), self._path))

    def text(self, text: str) -> str:
        """`text` without its secrets and absolute paths."""
        lowered = text.lower()
        for rule in self._rules:
            if any(hint in lowered for hint in rule.hints):
                text = rule.pattern.sub(rule.replacement, text)
        return text

    def value(self, value: Any, *, depth: int = _MAX_DEPTH) -> Any:
        """A copy of a JSON value with every text redacted, and whatever stands under the key of a secret."""
        if isinstance(value, str):
            return self.text(value)
        if depth == 0 and isinstance(value, Mapping | list | tuple):
            return REDACTED  # deeper than anything that is worth recording
        if isinstance(value, Mapping):
            return {self.text(str(key)): self._member(str(key), item, depth) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item, depth=depth - 1) for item in value]
        return value

    def _member(self, key: str, item: Any, depth: int) -> Any:
        if item is None or isinstance(item, bool) or not re.search(_SECRET_KEY, key, _FLAGS):
            return self.value(item, depth=depth - 1)
        lowered = key.lower().replace("_", "").replace("-", "")
        harmless = lowered == "progresstoken" or (isinstance(item, int | float) and "token" in lowered)
        return self.value(item, depth=depth - 1) if harmless else REDACTED

    def _path(self, found: re.Match[str]) -> str:
        path, kind = found[0], found.lastgroup
        if kind == "url":
            return path
        if kind == "cwd":
            return "" if path.endswith(("/", "\\")) else "."
        if kind == "home":
            return "~"
        if kind == "file":
            path = re.sub(r"\Afile:(?://[^/]*)?/?(?=[a-z]:|/)", "", unquote(path), flags=_FLAGS)
            inside = found.re.match(path)
            if inside and inside.lastgroup in {"cwd", "home"}:
                return self._path(inside) + path[inside.end() :]
        elif kind == "posix" and not self._is_path(path):
            return path
        return "<path>/" + re.split(r"[\\/]+", path.rstrip("\\/"))[-1]

    def _is_path(self, path: str) -> bool:
        segments = [segment for segment in path.split("/") if segment]
        if len(segments) < 2:
            return False
        return segments[0] in self._roots or re.search(r"\w\.[A-Za-z]\w{0,7}\Z", segments[-1]) is not None


def _as_base(directory: str) -> str:
    """A pattern for the directory, or one that never matches where everything would be inside it."""
    directory = directory.rstrip("\\/")
    return re.escape(directory) if directory and os.path.isabs(directory) else r"(?!)"


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was removed under us; then nothing is inside it


def _machine_roots() -> set[str]:
    try:
        return _TOP_LEVEL | set(os.listdir("/"))
    except OSError:
        return _TOP_LEVEL


def _path_pattern(bases: Mapping[str, str]) -> re.Pattern[str]:
    """Everything that begins like a path, tried in this order; URLs are matched so as to be stepped over."""
    begins = r"""(?<![^\s"'`(\[{<=,;:|])"""
    rest = r"""[^\s"'`<>|*?:;,()\[\]{}\\]"""
    return re.compile(
        rf"""(?P<file>(?<![\w+.-])file:/[^\s"'`<>|]+)"""
        rf"""|(?P<url>(?<![\w+.-])[a-z][\w+.-]*+://[^\s"'`<>]*)"""
        rf"""|{begins}(?P<cwd>{bases["cwd"]}(?:[\\/]++(?={rest})|(?![\w.-])))"""
        rf"""|{begins}(?P<home>{bases["home"]}(?![\w.-]))"""
        rf"""|(?P<windows>(?<!\w)(?:[a-z]:[\\/]|\\\\[\w.$-]+\\)(?:{rest}|\\)+)"""
        rf"""|{begins}(?P<posix>/(?:(?<=["'`]/)[^"'`\r\n\\]++(?=["'`])|{rest}+))""",
        _FLAGS,
    )
