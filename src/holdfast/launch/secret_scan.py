"""Credentials in foreign text: found, and replaced before anything else of a run sees the text.

Pages, snippets, claims and their citations are made of redacted text only. The number of lines never changes, so
a line of the redacted text has the number that it has in the file. What is left alone: digests, commit ids, UUIDs,
images and other long values that nothing calls a secret, and values that documentation uses as placeholders.
"""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import unquote

from holdfast.launch.secret_formats import (
    ASSIGNMENT,
    AUTHORIZATION,
    FORMATS,
    PAGE_TOKEN,
    PLACEHOLDER,
    URL_PASSWORD,
)

__all__ = ["Secret", "find_secrets", "redact_secrets"]

_REDACTED = "REDACTED"
_KEY_BEGIN = "-----BEGIN "
_KEY_WORDS = ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----")
_KEY_END = "-----END "
_MOST_KEY_LINES = 400
_LEAST_KEY_BODY = 64  # characters of base64; fewer are an outline of a key
_LEAST_REST = 32
_KEY_DATA = re.compile(r"(\\[nr])?(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{2,}={1,2}|=[A-Za-z0-9+/]{4}\b)")
_DIGEST = re.compile(r"(?i)sha\d{1,3}[-:=]|md5[-:=]|blake")
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[A-Za-z]*[0-9]{0,2}")
_SEPARATOR = re.compile(r"[-_./+=~!@#$%^&*?]+")
_EXAMPLE_CLAIMS = re.compile(rb'(?i)1234567890|john doe|"some"|"foo"|"hello"|example|"name":"test|"a":"b"')


class Secret(NamedTuple):
    """What looks like a credential: the line it is on, and the kind of it; never its value."""

    line: int
    kind: str


def redact_secrets(text: str) -> str:
    """Replace what looks like a credential; the same text, and as many lines, where nothing does."""
    return _scan(text)[0]


def find_secrets(text: str, *, is_excerpt: bool = False) -> list[Secret]:
    """List what looks like a credential, by line. In an excerpt, only what is known by its shape alone."""
    return sorted(set(_scan(text, is_excerpt=is_excerpt)[1]))


def _scan(text: str, *, is_excerpt: bool = False) -> tuple[str, list[Secret]]:
    found: list[Secret] = []
    if _KEY_BEGIN in text:
        text = "\n".join(_private_keys(text.split("\n"), found))
    text = _replace(
        _expression("|".join(rf"(?:\b|_){one.prefix}{one.body}" for one in FORMATS)), text, _format, found
    )
    if not is_excerpt:
        text = _replace(_expression(URL_PASSWORD), text, _url_password, found)
        text = _replace(_expression(AUTHORIZATION), text, _authorization, found)
        text = _replace(_expression(ASSIGNMENT), text, _assignment, found)
    return text, found


def _replace(
    expression: Any, text: str, judge: Callable[[Any], tuple[str, str] | None], found: list[Secret]
) -> str:
    """The text with each match that `judge` gives a kind and another text; None leaves it as it is."""
    pieces, end, line = [], 0, 1
    for match in expression.finditer(text):
        verdict = judge(match)
        if verdict is None:
            continue
        start = match.start()
        line += text.count("\n", end, start)
        pieces += [text[end:start], verdict[1]]
        found.append(Secret(line, verdict[0]))
        line += match[0].count("\n")
        end = match.end()
    return "".join([*pieces, text[end:]]) if pieces else text


def _format(match: Any) -> tuple[str, str] | None:
    whole = match[0].removeprefix("_")
    before = match[0].removesuffix(whole)
    for one in FORMATS:
        parts = _expression(f"({one.prefix})({one.body})").fullmatch(whole)
        if parts is None:
            continue
        is_example = _is_example_jwt(whole) if one.prefix == "eyJ" else _is_example(parts[2])
        return None if is_example or _entropy(parts[2]) < 2.5 else (one.kind, f"{before}{parts[1]}{_REDACTED}")
    return None


def _url_password(match: Any) -> tuple[str, str] | None:
    if not _is_random(unquote(match[2])):
        return None
    return "password in a URL", f"{match[1]}{_REDACTED}{match[3]}"


def _authorization(match: Any) -> tuple[str, str] | None:
    value = match[2]
    if match[1].rstrip().lower().endswith("basic"):
        value = _decoded(value).partition(b":")[2].decode("utf-8", "replace")
    return ("Authorization header", f"{match[1]}{_REDACTED}{match[3]}") if _is_random(value) else None


def _assignment(match: Any) -> tuple[str, str] | None:
    named, value, after = match[1], match[2], match[3]
    name = re.split(r"[^\w-]", named, maxsplit=1)[0]
    is_quoted = named[-1] in "\"'`"
    if _DIGEST.match(value) or _expression(PAGE_TOKEN).search(name) or (after and after in "(["):
        return None
    is_password = name.lower().endswith(("passwd", "password", "passphrase"))
    if len(value) < (12 if is_password else 16) or not _is_random(value):
        return None
    if not is_quoted and _CHAIN.fullmatch(value):
        return None  # code that looks a value up
    if not is_quoted and not re.search(r"[=:>]|^--", named) and not re.search(r"\d.*\d.*\d", value):
        return None  # prose: a word after the word, such as an address or the name of a thing
    return "value of a secret", f"{named}{_REDACTED}{after}"


def _private_keys(lines: list[str], found: list[Secret]) -> Iterator[str]:
    """The lines, those of private keys without their data."""
    at = 0
    while at < len(lines):
        begin = lines[at].find(_KEY_BEGIN)
        if begin < 0 or not any(word in lines[at][begin:] for word in _KEY_WORDS):
            yield lines[at]
            at += 1
            continue
        last = _key_end(lines, at, begin)
        first = lines[at][: begin + len(_KEY_BEGIN)], lines[at][begin + len(_KEY_BEGIN) :]
        body = [first[1], *lines[at + 1 : last + 1]]
        bare = [_KEY_DATA.sub(lambda data: f"{data[1] or ''}{_REDACTED}", line) for line in body]
        size = sum(len(data[0]) for line in body for data in _KEY_DATA.finditer(line))
        if size >= _LEAST_KEY_BODY and _entropy("".join(body)) > 3:
            found.append(Secret(at + 1, "private key"))
            body = bare
        yield first[0] + body[0]
        yield from body[1:]
        at = last + 1


def _key_end(lines: list[str], at: int, begin: int) -> int:
    """The last line of the key: with its end mark, or, where that is missing, with data."""
    if _KEY_END in lines[at][begin:]:
        return at
    last = at
    for number in range(at + 1, min(len(lines), at + _MOST_KEY_LINES)):
        if _KEY_END in lines[number]:
            return number
        if _KEY_BEGIN in lines[number]:
            break
        if _KEY_DATA.search(lines[number]) and last == number - 1:
            last = number
    return last


def _is_random(value: str) -> bool:
    """Whether nobody would write the value by hand: mixed, and neither a word, an identifier nor a placeholder."""
    value = value.rstrip(".,;:!?*")
    if len(value) < 8 or _is_placeholder(value):
        return False
    parts = _SEPARATOR.split(value)
    if len(parts) > 2 and all(map(_WORD.fullmatch, parts)):
        return False  # an identifier, such as `v2.core.AccountPerson`
    kinds = ["d" if one.isdigit() else "u" if one.isupper() else "l" for one in "".join(parts)]
    changes = sum(one != other for one, other in pairwise(kinds))
    if "d" not in kinds:  # of words in one, such as `clientTokenFromCache`, capitals stand alone
        pairs = sum(one == other == "u" for one, other in pairwise(kinds))
        return len(kinds) >= 20 and changes >= len(kinds) / 3 and pairs >= len(kinds) / 10
    if len(set(kinds)) < 2 or changes < len(kinds) / (4 if len(kinds) < 24 else 6):
        return False
    return _entropy(value) >= min(3.0, math.log2(len(value)) * 0.8)


def _is_example(body: str) -> bool:
    """Whether the body of a known format was made up; a word in it may be chance where the rest is long enough."""
    rest = _expression(PLACEHOLDER).sub("", body)
    return _is_placeholder(body) and not (len(rest) >= _LEAST_REST and _is_random(rest))


def _is_placeholder(value: str) -> bool:
    return _expression(PLACEHOLDER).search(value) is not None or _has_series(value)


def _has_series(value: str) -> bool:
    """Whether five characters in a row are the same, or follow each other as in `12345` and `abcde`."""
    steps = [ord(other) - ord(one) for one, other in pairwise(value)]
    return any(
        steps[at] in (0, 1) and steps[at] == steps[at + 1] == steps[at + 2] == steps[at + 3]
        for at in range(len(steps) - 3)
    )


def _entropy(value: str) -> float:
    """Bits per character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def _is_example_jwt(token: str) -> bool:
    """Whether the token carries the claims of a well-known example."""
    payload = _decoded(token.split(".")[1])
    if _EXAMPLE_CLAIMS.search(payload):
        return True
    try:
        return json.loads(payload) in ({}, [])
    except (ValueError, RecursionError):
        return False


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.translate({45: 43, 95: 47}) + "==")
    except ValueError:
        return b""


@cache
def _expression(pattern: str) -> Any:
    import re2

    return re2.compile(pattern)
