"""Signatures as people read them: a long one has a line for each parameter."""

__all__ = ["wrapped"]

_WIDEST = 76
_OPENING = "([{"
_CLOSING = ")]}"
_NO_LAST_COMMA = frozenset({"java", "csharp"})


def wrapped(signature: str, language: str = "python") -> str:
    """The signature itself where it is short; else with each parameter on its own line. Several may follow."""
    if language == "python":
        return _wrapped(" ".join(signature.split()) if "\n" in signature else signature.strip(), ",")
    last = "" if language in _NO_LAST_COMMA else ","
    lines = signature.strip("\n").split("\n")
    shown = [line if line[:1] in (" ", "}", "{") else _wrapped(line, last) for line in lines]
    # Several that take several lines each are easier to tell apart with space between them.
    is_apart = any("\n" in one for one in shown) and not any(line[:1] in (" ", "}") for line in lines)
    return ("\n\n" if is_apart else "\n").join(shown)


def _wrapped(text: str, last: str) -> str:
    begin = _parameters_at(text)
    if len(text) <= _WIDEST or begin < 0:
        return text
    parameters, end = _split(text, begin)
    if not parameters or end < 0:
        return text
    inner = ",\n".join(f"    {one}" for one in parameters)
    return f"{text[: begin + 1]}\n{inner}{last}\n{text[end:]}"


def _parameters_at(text: str) -> int:
    """The bracket before the parameters: the receiver of a method of Go stands in brackets, too."""
    begin = text.find("(")
    if text.startswith("func (") and begin >= 0:
        _, end = _split(text, begin)
        begin = text.find("(", end) if end > 0 else begin
    return begin


def _split(text: str, begin: int) -> tuple[list[str], int]:
    """The parameters between the bracket at `begin` and the one that closes it, and where that is."""
    depth, quote, start = 0, "", begin + 1
    found: list[str] = []
    at = begin
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
            if not depth:
                found.append(text[start:at].strip())
                return [one for one in found if one], at
        elif char == "," and depth == 1:
            found.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [], -1
