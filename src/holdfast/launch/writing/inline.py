"""Text of a repository as Markdown that is safe anywhere on a page: in a paragraph, a heading, a list or a table.

A sentence in a repository may hold tags, shortcodes, links or half a table. Of all that only code spans and web
addresses stay what they are; the rest becomes words. Nothing here knows what a sentence is about.
"""

import html
import re

from holdfast.launch.code_spans import code_spans

__all__ = [
    "anchor", "as_sentence", "cell", "code", "heading_text", "holds_shortcode", "plain", "prose", "sentences_of",
    "short_slug", "short_title", "slug",
]  # fmt: skip

_SPACES = re.compile(r"\s+")
# Control characters, and those that turn the direction of text around.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_ROLE = re.compile(r":(?:py:)?[a-z]+:`~?\.?([^`<>]+?)(?:(?<!\s)\s*<[^`>]*>)?`")
_RST_LINK = re.compile(r"`([^`<>]+?)\s*<[^`>]+>`__?")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
_ADDRESS = re.compile(r"<?(https?://[A-Za-z0-9][^\s<>\"'`|\\^{}\[\]]*)>?")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^*_]+?)(?<=[^\s*_])\1(?![\w*])")
_WRITTEN = re.compile(r"&(?:amp|lt|gt|quot|nbsp|ndash|mdash|hellip|copy|trade|times|#39);")
_POWER = re.compile(r"<sup>\s*([\w+-]+)\s*</sup>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|b|br|code|em|i|kbd|p|small|span|strong|sub|sup|tt|u)(?:\s+[\w-]+=\"[^\"<>]*\")*\s*/?>", re.IGNORECASE
)
# What is left of a link of reStructuredText whose quotes are lost.
_TARGET = re.compile(r"(?<=\w) <[a-z0-9]+(?:-[a-z0-9]+)+>(?=[\s.,;:)]|$)")
_AFTER_LINK = re.compile(r"`_{0,2}")
_STRAY_STOP = re.compile(r"([.!?]?)[.\s]*\s\.$")
_NUMBERING = re.compile(r"(?:\d{1,2}\.)*\d{1,2}[.)]\s+(?=\S)")
_SPECIAL = re.compile(r"[\\*\[\]`]|~(?=~)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITY = re.compile(r"&(?=#|\w+;)")
_LEADING = re.compile(r"(?=[#>+=:~-])|\d{1,9}(?=[.)](?:\s|$))")
_BRACE = re.compile(r"\{(?=[{#.%<])")
_SHORTCODE = re.compile(r"\{\{[<%]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Za-z`\"'(\[])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|Dr|Mr|Ms|St)|\b[A-Z])\.$")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_LONG_TITLE, _LEAST_TITLE, _LONGEST_SLUG = 40, 4, 48
_NOT_ANCHOR = re.compile(r"[^\w\- ]")


def prose(text: str) -> str:
    """Running text: code spans and addresses are kept, every other syntax is words."""
    text = _SPACES.sub(" ", _UNSEEN.sub("", text)).strip()
    text = _RST_LINK.sub(r"\1", _ROLE.sub(r"`\1`", text))
    pieces: list[str] = []
    end = 0
    for span in code_spans(text):
        pieces += [_words(text[end : span.start]), code(span.code)]
        end = span.end
    made = "".join([*pieces, _words(text[end:])]).strip()
    lead = _LEADING.match(made)
    return made if lead is None else f"{lead[0]}\\{made[lead.end() :]}"


def cell(text: str) -> str:
    """The same inside a table: Markdown that was made safe already, with its bars escaped."""
    return text.replace("|", "\\|")


def code(text: str) -> str:
    """A code span; what a shortcode or a comment could begin in is plain text instead."""
    text = _SPACES.sub(" ", _UNSEEN.sub("", text)).strip()
    if not text:
        return ""
    if holds_shortcode(text) or "<!--" in text:
        return _escaped(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def heading_text(text: str) -> str:
    """A heading of one line, without a full stop, and without what would be read as its attributes."""
    made = prose(text).rstrip(" .:;,#")
    return made.replace("{", "&#123;") if "`" not in made else made


def as_sentence(text: str, names: frozenset[str] = frozenset()) -> str:
    """Safe text that begins with a capital, unless it begins with a name, and ends with a full stop."""
    made = _STRAY_STOP.sub(lambda found: found[1] or ".", prose(text))
    if not made:
        return ""
    first = made.split(" ", 1)[0].rstrip(",.;:")
    if first.isalpha() and first.islower() and first not in names:
        made = made[0].upper() + made[1:]
    if made.endswith((".", "!", "?", "…")):
        return made
    return made.rstrip(" :;,") + "."


def sentences_of(text: str, names: frozenset[str] = frozenset()) -> list[str]:
    """The sentences of running text, as they are written there; one may begin with a name in small letters."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(_SPACES.sub(" ", text).strip()):
        starts = not piece[:1].islower() or piece.split(" ", 1)[0].rstrip(",.;:'’") in names
        if found and (not starts or _ABBREVIATION.search(found[-1]) or found[-1].count("`") % 2):
            found[-1] += " " + piece
        elif piece:
            found.append(piece)
    return found


def plain(text: str) -> str:
    """Words alone, for titles and descriptions: no Markdown at all."""
    text = _SPACES.sub(" ", _UNSEEN.sub("", text)).strip()
    text = _RST_LINK.sub(r"\1", _ROLE.sub(r"\1", text))
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))
    return _SPACES.sub(" ", text.replace("`", "").replace("{{", "{ {")).strip()


def slug(text: str) -> str:
    """The text as part of an address."""
    return _NOT_SLUG.sub("-", text.lower()).strip("-")[:80].strip("-")


def short_title(text: str) -> str:
    """A title as short as it can be said: without its number, and of a long one what comes before the colon."""
    title = _NUMBERING.sub("", plain(text), count=1).rstrip(" .:;,")
    before, colon, _ = title.partition(": ")
    if colon and len(title) > _LONG_TITLE and len(before) >= _LEAST_TITLE:
        title = before
    return title[:1].upper() + title[1:] if title.split(" ", 1)[0].isalpha() else title


def short_slug(text: str) -> str:
    """A short part of an address, cut between words."""
    whole = slug(text)
    return whole if len(whole) <= _LONGEST_SLUG else whole[: _LONGEST_SLUG + 1].rsplit("-", 1)[0].strip("-")


def anchor(text: str) -> str:
    """The fragment under which Hugo puts a heading with this text."""
    return _NOT_ANCHOR.sub("", text.strip().lower()).replace(" ", "-")


def holds_shortcode(text: str) -> bool:
    """Whether Hugo would begin to run something here, even inside code."""
    return _SHORTCODE.search(text) is not None


def _words(text: str) -> str:
    text = _WRITTEN.sub(lambda found: html.unescape(found[0]), _TAG.sub("", _POWER.sub(r"^\1", text)))
    text = _TARGET.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    text = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))
    pieces: list[str] = []
    end = 0
    for found in _ADDRESS.finditer(text):
        address = found[1].rstrip(".,;:!?)*_")
        pieces += [_escaped(text[end : found.start()]), f"<{address}>"]
        end = found.start(1) + len(address)
        if found[0].endswith(">"):
            after = _AFTER_LINK.match(text, found.end())
            end = after.end() if after else found.end()
    return "".join([*pieces, _escaped(text[end:])])


def _escaped(text: str) -> str:
    text = _SPECIAL.sub(lambda found: "\\" + found[0], text)
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;")
    return _BRACE.sub("&#123;", text)
