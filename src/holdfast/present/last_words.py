"""The last words of a program that ended: the line of its stderr that tells most.

That is the last one, except where it is a remedy, as our own programs print it below an error: then the line above
it is the reason, and both are told.
"""

from holdfast.present.bounds import clean_line, truncate_chars

__all__ = ["last_words", "own_complaint"]

_REMEDY = "try: "
_SPEAKER = "holdfast: "
_LONGEST = 300


def last_words(stderr: str) -> str:
    """The reason in what a program wrote, in one bounded line; nothing where it wrote nothing."""
    lines = _lines(stderr)
    if not lines:
        return ""
    is_remedy = lines[-1].startswith(_REMEDY) and len(lines) > 1
    told = f"{lines[-2].removeprefix(_SPEAKER)}; {lines[-1]}" if is_remedy else lines[-1]
    return _bounded(told)


def own_complaint(stderr: str) -> tuple[str, str] | None:
    """The error and the remedy with which one of our own programs ended; None for any other end."""
    lines = _lines(stderr)[-2:]
    if len(lines) < 2 or not (lines[0].startswith(_SPEAKER) and lines[1].startswith(_REMEDY)):
        return None
    return _bounded(lines[0].removeprefix(_SPEAKER)), _bounded(lines[1].removeprefix(_REMEDY))


def _lines(stderr: str) -> list[str]:
    return [line.strip() for line in stderr.splitlines() if line.strip()]


def _bounded(text: str) -> str:
    return truncate_chars(clean_line(text), _LONGEST)
