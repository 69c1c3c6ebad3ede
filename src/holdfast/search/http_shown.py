"""What of the answers of the tools is told over HTTP: no absolute path, and no repository that is not served.

Text of files stays byte for byte. The text of a result is the same document as its structured content, so what is
taken out of one is taken out of the other.
"""

import os
from collections.abc import Mapping
from typing import Any

from holdfast.api.options import FrontOptions
from holdfast.api.redact import PathRedactor
from holdfast.errors import WireError
from holdfast.search.filed import FILED, PACKS
from holdfast.wire.codec import decode, encode

__all__ = ["CONTENT", "Shown", "of_what_is_served"]

# Parts of a payload that are not ours to change: what was asked, and what stands in the files.
CONTENT: Mapping[str, frozenset[str]] = {
    "search": frozenset({"query", "code", "prose", "extractedProse", "records", "bundles"}),
    "show_file": frozenset({"text"}),
}
_NONE: frozenset[str] = frozenset()
# What triage writes into the cache, and where `show_file` has it.
_FILED = {"outPath": PACKS, "mdPath": FILED}


def of_what_is_served(options: FrontOptions, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """A report without the other repositories of the cache: even their names are none of a caller's business."""
    roots = {one.root for one in options.repositories}
    listed = payload.get("allRepos")
    if not isinstance(listed, list):
        return payload
    return {**payload, "allRepos": [one for one in listed if isinstance(one, dict) and one.get("root") in roots]}


def _as_shown(value: Any) -> Any:
    """An answer of triage whose files have the paths that `show_file` takes, so that a caller can read them."""
    if isinstance(value, list):
        return [_as_shown(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: _FILED[key] + os.path.basename(one) if key in _FILED and isinstance(one, str) else _as_shown(one)
        for key, one in value.items()
    }


class Shown:
    """What callers of a front with these options are shown."""

    def __init__(self, options: FrontOptions) -> None:
        self._options = options
        self._redactor = PathRedactor(options.repositories, show_paths=options.show_paths)

    def text(self, text: str) -> str:
        """A text for people."""
        return self._redactor.text(text)

    def error(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """An error of JSON-RPC."""
        told: dict[str, Any] = self._redactor.value(error)
        return told

    def result(self, tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """The result of `tools/call`."""
        told, items, payload = dict(result), result.get("content"), result.get("structuredContent")
        if isinstance(items, list):
            told["content"] = [self._item(tool, item) for item in items]
        if isinstance(payload, dict):
            told["structuredContent"] = shown = self._payload(tool, payload)
            if of_what_is_served(self._options, payload) != payload:  # porcelain still has what was left out
                told["content"] = [{"type": "text", "text": encode(shown).decode()}]
        return told

    def _payload(self, tool: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        content = CONTENT.get(tool, _NONE)
        if tool.startswith("triage_") and not self._options.show_paths:
            payload = _as_shown(payload)
        told: dict[str, Any] = self._redactor.value(of_what_is_served(self._options, payload), content=content)
        return told

    def _item(self, tool: str, item: Any) -> Any:
        text = item.get("text") if isinstance(item, dict) else None
        if not isinstance(text, str):
            return item
        try:
            payload = decode(text.encode())
        except (WireError, UnicodeEncodeError):
            payload = None
        if isinstance(payload, dict):
            return {**item, "text": encode(self._payload(tool, payload)).decode()}
        return {**item, "text": "\n".join(map(self._line, text.split("\n")))}

    def _line(self, line: str) -> str:
        """One line of porcelain: `name: value`, or a value alone."""
        name, mark, value = line.partition(": ")
        return f"{name}{mark}{self._redactor.text(value)}" if mark else self._redactor.text(line)
