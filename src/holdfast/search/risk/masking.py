"""Source text without its strings and comments: blanks stand where they were, so that every offset stays true.

What a string computes (`f"{name}"`, a template's `${name}`) is code and stays. These are a few regular
expressions, no lexer: a quote inside of a regular expression of JavaScript can blank the rest of its line.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["blank", "masked"]

_DOUBLE = rb'"(?:\\.|[^"\\\n])*"'
_SINGLE = rb"'(?:\\.|[^'\\\n])*'"
_LONG_DOUBLE = rb'"(?:\\.|[^"\\])*"'  # may go on in the next line
_LONG_SINGLE = rb"'(?:\\.|[^'\\])*'"
_TICKS = rb"`(?:\\.|[^`\\])*`"
_SLASHES = rb"//[^\n]*|/\*.*?(?:\*/|\Z)"
_HASH = rb"(?<![\w$&{(#\\])#(?!\{)[^\n]*"
_TEXT_BLOCK = rb'"""(?:\\.|[^\\])*?(?:"""|\Z)'
_LETTER = rb"'(?:\\[^\n']{1,8}|[^'\\\n])'"  # one character; a lone quote is something else: a lifetime
_INK = re.compile(rb"[^\n]")


@dataclass(frozen=True, slots=True)
class _Way:
    """How one language writes what is to be blanked, and which parts of a string are code."""

    blanked: re.Pattern[bytes]
    hole: re.Pattern[bytes] | None = None  # its first group that matched is code
    with_holes: bytes = b'"'  # strings that end with one of these signs have holes
    marked: bytes = b""  # and only those whose prefix holds this letter, in whatever case
    kept: bytes = b""  # quotes that stay, because a rule looks for them


def _way(*parts: bytes, hole: bytes = b"", **more: bytes) -> _Way:
    return _Way(re.compile(b"|".join(parts), re.DOTALL), re.compile(hole) if hole else None, **more)


_PYTHON = _way(
    rb"#[^\n]*",
    rb"(?:(?<!\w)[rRbBuUfFtT]{1,2}(?=[\"']))?(?:"
    + rb"|".join((_TEXT_BLOCK, rb"'''(?:\\.|[^\\])*?(?:'''|\Z)", _DOUBLE, _SINGLE))
    + rb")",
    hole=rb"\{\{|\{([^{}\n]*)\}",
    with_holes=b"\"'",
    marked=b"f",
)
_SCRIPT = _way(_SLASHES, _TICKS, _DOUBLE, _SINGLE, hole=rb"\$\{([^{}]*)\}", with_holes=b"`")
_BRACES = _way(_SLASHES, _TEXT_BLOCK, _DOUBLE, _SINGLE)
_DOLLARS = rb"\$\{([^{}]*)\}|\$([A-Za-z_]\w*)"
_WAYS: dict[str, _Way] = {
    "python": _PYTHON,
    **dict.fromkeys(("javascript", "typescript", "tsx", "jsx", "vue", "svelte"), _SCRIPT),
    "go": _way(_SLASHES, rb"`[^`]*`", _DOUBLE, _SINGLE),
    "kotlin": _way(_SLASHES, _TEXT_BLOCK, _DOUBLE, _LETTER, hole=_DOLLARS),
    "scala": _way(_SLASHES, _TEXT_BLOCK, _DOUBLE, _LETTER, hole=_DOLLARS),
    "swift": _way(_SLASHES, _TEXT_BLOCK, _DOUBLE, hole=rb"\\\(((?:[^()]|\([^()]*\))*)\)"),
    "csharp": _way(
        _SLASHES,
        rb'@\$?"(?:""|[^"])*"',
        rb'\$@?"(?:\\.|""|[^"\\])*"',
        _TEXT_BLOCK,
        _DOUBLE,
        _LETTER,
        hole=rb"\{\{|\{([^{}]*)\}",
        marked=b"$",
    ),
    "rust": _way(_SLASHES, rb'r#*".*?"#*', _LONG_DOUBLE, _LETTER, hole=rb"\{\{|\{([a-z_]\w*)(?::[^{}]*)?\}"),
    "php": _way(
        _SLASHES, _HASH, _LONG_DOUBLE, _LONG_SINGLE, _TICKS,
        hole=rb"\{(\$[^{}]*)\}|(\$[A-Za-z_]\w*(?:->\w+)?)", with_holes=b'"`', kept=b"`",
    ),
    "ruby": _way(_HASH, _LONG_DOUBLE, _LONG_SINGLE, _TICKS, hole=rb"#\{([^{}\n]*)\}", with_holes=b'"`', kept=b"`"),
    "elixir": _way(_HASH, _TEXT_BLOCK, _LONG_DOUBLE, _LONG_SINGLE, hole=rb"#\{([^{}\n]*)\}"),
    "shell": _way(
        rb"\\.", _HASH, _LONG_DOUBLE, rb"'[^']*'", hole=rb"(\$\{[^{}]*\}|\$\w+|\$[@*])"
    ),
    "lua": _way(rb"--\[\[.*?(?:\]\]|\Z)|--[^\n]*", rb"\[\[.*?(?:\]\]|\Z)", _DOUBLE, _SINGLE),
    "sql": _way(rb"--[^\n]*|/\*.*?(?:\*/|\Z)", rb"'(?:''|[^'])*'"),
}  # fmt: skip

_BRACED = re.compile(rb"\$\{([^{}]*)\}")
# A dot that puts texts together must not look like one in a name.
_CONCATENATES = {"php": re.compile(rb"(?<![\d.])\.(?![\d.=])"), "lua": re.compile(rb"(?<!\.)\.\.(?!\.)")}


def masked(language: str, text: bytes) -> bytes:
    """The text with blanks instead of strings and comments; as long as before, with the same lines.

    What a language writes in its own way is written as others do: `..` between texts is `++`, `${x}` is `$x`.
    """
    way = _WAYS.get(language, _BRACES)
    plain = way.blanked.sub(_replacement(way), text)
    if language in _CONCATENATES:
        plain = _CONCATENATES[language].sub(lambda found: b"+" * len(found.group()), plain)
    return _BRACED.sub(rb" $\1 ", plain) if language == "shell" else plain


def _replacement(way: _Way) -> Callable[[re.Match[bytes]], bytes]:
    def replace(found: re.Match[bytes]) -> bytes:
        text = found.group()
        if way.hole is None or text[-1:] not in way.with_holes or not _is_marked(text, way):
            return blank(text)
        kept = _keep_holes(text, way.hole, lambda inner: way.blanked.sub(replace, inner))
        return text[:1] + kept[1:-1] + text[-1:] if text[:1] in way.kept and way.kept else kept

    return replace


def _is_marked(text: bytes, way: _Way) -> bool:
    if not way.marked:
        return text[:1] not in b"#/-"  # a comment may end with a quote
    quote = min(place for sign in (b'"', b"'") if (place := text.find(sign)) >= 0)
    return way.marked in text[:quote].lower()


def blank(text: bytes) -> bytes:
    """Nothing but its lines."""
    return _INK.sub(b" ", text)


def _keep_holes(text: bytes, hole: re.Pattern[bytes], clean: Callable[[bytes], bytes]) -> bytes:
    kept, done = [], 0
    for found in hole.finditer(text):
        if found.lastindex is None:  # `{{` is a brace
            continue
        start, end = found.span(found.lastindex)
        kept += [blank(text[done:start]), clean(text[start:end])]
        done = end
    return b"".join([*kept, blank(text[done:])])
