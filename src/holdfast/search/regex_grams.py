"""Regular expressions over an index of trigrams: what the text of any match must contain.

A trigram is three characters of the text in lower case without white space among them. An index that knows the
trigrams of each file rules out most files without reading them; the pattern itself decides on the rest. Everything
here is therefore an approximation to one side: a file with a match is never ruled out.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from holdfast.search.regex import Tree, parsed

__all__ = ["grams_of", "required_grams"]

_MOST_ALTERNATIVES = 16
_MOST_GRAMS = 32
_WIDEST_CLASS = 4
_MOST_REPEATED = 4
# Letters that a pattern that ignores case takes for s and i, but which keep their form in lower case.
_ODD_CASES = str.maketrans("ſıİ", "sii")


def grams_of(text: str) -> set[str]:
    """All trigrams of a text.

    Trigrams do not reach across white space, so that equal words need to be taken apart only once: in source text
    this leaves less than half of the characters.
    """
    folded = text.lower() if text.isascii() else text.translate(_ODD_CASES).lower()
    words = " ".join(set(folded.split()))
    return {gram for gram in map("".join, set(zip(words, words[1:], words[2:], strict=False))) if " " not in gram}


def required_grams(pattern: str, flags: str = "") -> tuple[frozenset[str], ...]:
    """Sets of trigrams of which any matching text holds at least one completely; () if there is no such demand.

    The pattern must be one that `regex.compiled` accepts.
    """
    alternatives = {path.grams for path in _through(parsed(pattern, flags), {_Path()})}
    if frozenset() in alternatives:
        return ()
    minimal = [one for one in alternatives if not any(other < one for other in alternatives)]
    return tuple(sorted((frozenset(sorted(one)[:_MOST_GRAMS]) for one in minimal), key=sorted))


class _Path(NamedTuple):
    """One way through a pattern: the trigrams met on it, and its last characters, at most two, where known."""

    grams: frozenset[str] = frozenset()
    tail: str = ""

    def then(self, character: str | None) -> "_Path":
        """The path one character further on; None stands for an unknown one."""
        if character is None or character.isspace():
            return _Path(self.grams)
        tail = self.tail + character
        return _Path(self.grams | {tail} if len(tail) == 3 else self.grams, tail[-2:])


def _through(tree: Tree, paths: set[_Path]) -> set[_Path]:
    """All ways of going through a sequence of nodes after each of the given paths."""
    for operator, value in tree:
        further = _after(str(operator), value, paths)
        # Never more than a few: forgetting what a node demands is always right.
        paths = further if len(further) <= _MOST_ALTERNATIVES else {path.then(None) for path in paths}
    return paths


def _after(operator: str, value: Any, paths: set[_Path]) -> set[_Path]:
    match operator:
        case "LITERAL":
            return _one_of([value], paths)
        case "IN":
            return _one_of(_members(value), paths)
        case "SUBPATTERN":
            return _through(value[3], paths)
        case "BRANCH":
            return set[_Path]().union(*(_through(alternative, paths) for alternative in value[1]))
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeated(value, paths)
        case "AT":  # takes no character
            return paths
        case _:
            return {path.then(None) for path in paths}


def _one_of(codes: Sequence[int], paths: set[_Path]) -> set[_Path]:
    characters = {_in_grams(chr(code)) for code in codes}
    if not characters or len(characters) > _WIDEST_CLASS:
        characters = {None}
    return {path.then(character) for path in paths for character in characters}


def _in_grams(character: str) -> str | None:
    """How a literal stands in trigrams; None if that depends on its case or on the characters around it."""
    if character.isascii():
        return character.lower()
    return character if character.lower() == character.upper() == character else None


def _repeated(repeat: tuple[int, int, Tree], paths: set[_Path]) -> set[_Path]:
    least, most, body = repeat
    if least == 0:
        return paths | _through(body, paths) if most == 1 else {path.then(None) for path in paths}
    times = min(least, _MOST_REPEATED) if len(body) == 1 and str(body[0][0]) == "LITERAL" else 1
    for _ in range(times):
        paths = _through(body, paths)
    return paths if times == most else {path.then(None) for path in paths}


def _members(items: Iterable[tuple[Any, Any]]) -> list[int]:
    """The characters of a small class; nothing for one that is large, negated or made of categories."""
    codes: list[int] = []
    for operator, value in items:
        match str(operator):
            case "LITERAL":
                codes.append(value)
            case "RANGE" if value[1] - value[0] < 2 * _WIDEST_CLASS:
                codes.extend(range(value[0], value[1] + 1))
            case _:
                return []
    return codes
