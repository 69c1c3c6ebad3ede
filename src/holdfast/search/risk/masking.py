"""Source text without its strings and comments: blanks stand where they were, so that every offset stays true.

What a string computes (`f"{name}"`, a template's `${name}`) is code and stays. These are a few regular
expressions, no lexer: a quote inside of a regular expression of JavaScript can blank the rest of its line.
"""

import re
from collections.abc import Callable

__all__ = ["masked"]

_DOUBLE = rb'"(?:\\.|[^"\\\n])*"'
_SINGLE = rb"'(?:\\.|[^'\\\n])*'"
_SLASHES = rb"//[^\n]*|/\*.*?(?:\*/|\Z)"
_TEXT_BLOCK = rb'"""(?:\\.|[^\\])*?"""'
_PYTHON = re.compile(
    rb"#[^\n]*|((?<!\w)[rRbBuUfFtT]{1,2}(?=[\"']))?("
    rb'"""(?:\\.|[^\\])*?"""|'
    rb"'''(?:\\.|[^\\])*?'''|" + _DOUBLE + rb"|" + _SINGLE + rb")",
    re.DOTALL,
)
_SCRIPT = re.compile(_SLASHES + rb"|`(?:\\.|[^`\\])*`|" + _DOUBLE + rb"|" + _SINGLE, re.DOTALL)
_GO = re.compile(_SLASHES + rb"|`[^`]*`|" + _DOUBLE + rb"|" + _SINGLE, re.DOTALL)
_BRACES = re.compile(_SLASHES + rb"|" + _TEXT_BLOCK + rb"|" + _DOUBLE + rb"|" + _SINGLE, re.DOTALL)
_HASHES = re.compile(rb"(?<!\$)#(?!\{)[^\n]*|" + _SLASHES + rb"|" + _DOUBLE + rb"|" + _SINGLE, re.DOTALL)
_PYTHON_HOLE = re.compile(rb"\{\{|\{([^{}\n]*)\}")
_SCRIPT_HOLE = re.compile(rb"\$\{([^{}]*)\}")
_HASH_HOLE = re.compile(rb"[#$]\{([^{}\n]*)\}")
_INK = re.compile(rb"[^\n]")


def _blank(text: bytes) -> bytes:
    return _INK.sub(b" ", text)


def _keep_holes(text: bytes, hole: re.Pattern[bytes], clean: Callable[[bytes], bytes]) -> bytes:
    kept, done = [], 0
    for found in hole.finditer(text):
        start, end = found.span(1)
        if start < 0:  # `{{` is a brace
            continue
        kept += [_blank(text[done:start]), clean(text[start:end])]
        done = end
    return b"".join([*kept, _blank(text[done:])])


def _python(text: bytes) -> bytes:
    def replace(found: re.Match[bytes]) -> bytes:
        if b"f" in (found.group(1) or b"").lower():
            return _keep_holes(found.group(), _PYTHON_HOLE, _python)
        return _blank(found.group())

    return _PYTHON.sub(replace, text)


def _script(text: bytes) -> bytes:
    def replace(found: re.Match[bytes]) -> bytes:
        if found.group().startswith(b"`"):
            return _keep_holes(found.group(), _SCRIPT_HOLE, _script)
        return _blank(found.group())

    return _SCRIPT.sub(replace, text)


def _hashes(text: bytes) -> bytes:
    def replace(found: re.Match[bytes]) -> bytes:
        if found.group().startswith(b'"'):
            return _keep_holes(found.group(), _HASH_HOLE, _hashes)
        return _blank(found.group())

    return _HASHES.sub(replace, text)


def _with(pattern: re.Pattern[bytes]) -> Callable[[bytes], bytes]:
    return lambda text: pattern.sub(lambda found: _blank(found.group()), text)


_WAYS: dict[str, Callable[[bytes], bytes]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "typescript", "tsx", "jsx", "vue", "svelte", "kotlin"), _script),
    "go": _with(_GO),
    **dict.fromkeys(("ruby", "bash", "php", "elixir"), _hashes),
}
_OTHERWISE = _with(_BRACES)


def masked(language: str, text: bytes) -> bytes:
    """The text with blanks instead of strings and comments; as long as before, with the same lines."""
    return _WAYS.get(language, _OTHERWISE)(text)
