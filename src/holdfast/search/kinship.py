"""How near two words are in names: the same, an abbreviation, or a verb that programmers use for the same thing.

People ask "return the configuration" where the code says `get_conf`. Only names are compared like this: they are
short and chosen with care, so a near word there says something; in a body it would only add noise.
"""

from collections.abc import Iterable

from holdfast.search.stems import stem

__all__ = ["nearest"]

_ABBREVIATION = 0.7
_SAME_MEANING = 0.35
_SHORTEST = 3  # letters that an abbreviation needs

_MEANINGS = (
    ("get", "return", "retrieve", "fetch", "obtain", "find", "lookup", "give", "yield"),
    ("set", "assign", "store", "update", "put", "change"),
    ("create", "make", "build", "construct", "generate", "new", "instantiate"),
    ("delete", "remove", "drop", "clear", "erase", "discard"),
    (
        "is",
        "has",
        "can",
        "check",
        "test",
        "verify",
        "validate",
        "ensure",
        "assert",
        "determine",
        "whether",
        "true",
    ),
    ("to", "as", "convert", "cast", "transform", "turn"),
    ("compute", "calculate", "calc", "evaluate"),
    ("add", "append", "insert", "push", "include", "register"),
    ("show", "print", "display", "render", "format", "dump", "repr", "representation"),
    ("run", "execute", "exec", "call", "invoke", "perform", "apply"),
    ("parse", "decode", "read", "load", "deserialize"),
    ("write", "save", "encode", "serialize", "emit"),
    ("start", "begin", "open", "launch", "init", "initialize", "setup"),
    ("stop", "close", "end", "finish", "terminate", "shutdown", "cancel"),
    ("copy", "clone", "duplicate"),
    ("count", "number", "num", "len", "length", "size"),
    ("iter", "iterate", "iterator", "each", "all", "over"),
    ("equal", "eq", "same", "compare"),
)
_GROUPS_OF: dict[str, set[int]] = {}
_NOTHING: set[int] = set()
for _number, _group in enumerate(_MEANINGS):
    for _word in _group:
        _GROUPS_OF.setdefault(stem(_word), set()).add(_number)


def nearest(named: str, asked: Iterable[str]) -> tuple[float, str]:
    """The word of the query (stemmed) that is nearest to a word of a name, and how near: 1 the same, 0 nothing."""
    best = (0.0, "")
    meanings = _GROUPS_OF.get(named, _NOTHING)
    start = named[:_SHORTEST]
    for word in asked:
        if word == named:
            return 1.0, word
        if (
            word.startswith(start)
            and len(start) == _SHORTEST
            and (word.startswith(named) or named.startswith(word))
        ):
            best = max(best, (_ABBREVIATION, word))
        elif meanings and meanings & _GROUPS_OF.get(word, _NOTHING):
            best = max(best, (_SAME_MEANING, word))
    return best
