"""The book of a run against a server that is being maltreated, and the laws that it is checked against.

Pure: it is told what was sent and what came back. The laws hold for every server that claims to survive its own
crashes:

1. A request gets exactly one terminal answer; one that was cancelled gets none or one.
2. Nobody gets an answer who did not ask.
3. A request that has its answer makes no more progress, and only tokens that were given make any.
4. What a client reads are messages, and nothing else.
5. What must not happen twice happens once at most; what was told to have happened did happen; and what was told to
   be safe to retry did not.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["ChurnLog", "Entry"]

# Tools whose calls each carry a token of their own that may take effect once at most.
ONCE = frozenset({"write", "guarded"})


class Entry:
    """One request: what it was, and how it ended so far."""

    __slots__ = ("answers", "is_cancelled", "key", "method", "outcome", "safe", "tool")

    def __init__(self, method: str, tool: str | None, key: str | None) -> None:
        self.method = method
        self.tool = tool
        self.key = key  # the token or key under which its effect is noted
        self.answers = 0
        self.is_cancelled = False
        self.outcome = ""  # "result", "tool error", or the code of the JSON-RPC error
        self.safe: bool | None = None  # what the answer says about a retry


class ChurnLog:
    """Requests and what became of them. `broken_laws` is empty as long as all is well."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.outcomes: Counter[str] = Counter()
        self._tokens: dict[str, str] = {}
        self._broken: list[str] = []

    # --- what is told ----------------------------------------------------------------------------------------

    def sent(self, message: Mapping[str, Any]) -> None:
        """A message of the client, as it left."""
        if "method" not in message:
            return
        params = message.get("params") or {}
        if "id" not in message:
            cancelled = self.entries.get(json.dumps(params.get("requestId")))
            if message["method"] == "notifications/cancelled" and cancelled is not None:
                cancelled.is_cancelled = True
            return
        arguments = params.get("arguments") or {}
        key = arguments.get("token", arguments.get("key"))
        number = json.dumps(message["id"])
        self.entries[number] = Entry(message["method"], params.get("name"), key)
        token = (params.get("_meta") or {}).get("progressToken")
        if token is not None:
            self._tokens[json.dumps(token)] = number

    def received(self, message: Any) -> None:
        """A message from the server, as it came."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._break(4, f"the client read something that is no message: {message!r:.200}")
        elif "method" not in message:
            self._answered(message)
        elif message["method"] == "notifications/progress":
            self._progressed(message.get("params") or {})

    def read_noise(self, line: bytes) -> None:
        """A line from the server that is not even JSON."""
        self._break(4, f"the client read something that is no message: {line!r:.200}")

    def _answered(self, message: Mapping[str, Any]) -> None:
        entry = self.entries.get(json.dumps(message.get("id")))
        if entry is None:
            self._break(2, f"an answer to nobody: {message!r:.200}")
            return
        entry.answers += 1
        if entry.answers > 1:
            self._break(1, f"request {message['id']!r} ({_name(entry)}) was answered {entry.answers} times")
            return
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            entry.outcome, told = str(error.get("code")), error.get("data")
        elif isinstance(result, dict):
            entry.outcome = "tool error" if result.get("isError") else "result"
            meta = result.get("_meta")
            told = meta.get("io.holdfast/error") if isinstance(meta, dict) else None
            if result.get("stray"):
                self._break(2, f"request {message['id']!r} ({_name(entry)}) got an answer that was not its own")
        else:
            self._break(4, f"an answer without result or error: {message!r:.200}")
            return
        retry = told.get("retry") if isinstance(told, dict) else None
        entry.safe = retry.get("safe") if isinstance(retry, dict) else None
        self.outcomes[f"{_name(entry)}: {entry.outcome}"] += 1

    def _progressed(self, params: Mapping[str, Any]) -> None:
        number = self._tokens.get(json.dumps(params.get("progressToken")))
        if number is None:
            self._break(3, f"progress for nobody: {params!r:.200}")
        elif self.entries[number].answers:
            self._break(3, f"progress of request {number} after its answer: {params!r:.200}")

    # --- what is asked ---------------------------------------------------------------------------------------

    def open(self) -> list[str]:
        """The ids, as JSON, of requests that still wait: neither answered nor cancelled."""
        return [number for number, entry in self.entries.items() if not entry.answers and not entry.is_cancelled]

    def broken_laws(self, effects: Iterable[Mapping[str, Any]] = (), *, is_over: bool = False) -> list[str]:
        """Every law that was broken, in words. `is_over` says that no answer can come any more."""
        broken = list(self._broken)
        if is_over:
            broken += [
                f"law 1: request {number} ({_name(self.entries[number])}) was not answered"
                for number in self.open()
            ]
        return broken + self._broken_promises(list(effects), is_over=is_over)

    def _broken_promises(self, effects: list[Mapping[str, Any]], *, is_over: bool) -> list[str]:
        done = Counter((note["tool"], note.get("token", note.get("key"))) for note in effects)
        broken = [
            f"law 5: {tool} took effect {count} times for {key!r}"
            for (tool, key), count in done.items()
            if count > 1 and tool in ONCE | {"add_once"}
        ]
        for number, entry in self.entries.items() if is_over else ():
            if entry.tool not in ONCE:
                continue
            happened = bool(done[entry.tool, entry.key])
            if entry.outcome == "result" and not happened:
                broken.append(f"law 5: request {number} ({_name(entry)}) was told to be done and was not")
            elif entry.safe is True and happened:
                broken.append(
                    f"law 5: request {number} ({_name(entry)}) was told to be safe to retry and was done"
                )
        return broken

    def _break(self, law: int, text: str) -> None:
        self._broken.append(f"law {law}: {text}")


def _name(entry: Entry) -> str:
    return entry.tool or entry.method
