"""Holds a server to the doctrine of its answers: what a reader is shown is bounded, plain, and obeys its rules.

Each example of a tool is run in both forms and both details. Examples are run only where running them is harmless
by declaration (`replay_safe`), unless asked for.
"""

import unicodedata
from typing import Any

from holdfast.contract.model import ToolContract
from holdfast.present.continuation import CURSOR_ARGUMENT
from holdfast.present.paging import NEXT_CURSOR
from holdfast.present.payload_cap import cap_of
from holdfast.present.policy import policy_violations
from holdfast.present.render import META_PREFIX, DetailLevel, Presentation, RenderMode
from holdfast.testing.clients import CallResult, ScriptedClient
from holdfast.testing.memory import connect
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.events import FaultRecorded
from holdfast.worker.server import Server
from holdfast.worker.validate import SchemaValidator

__all__ = ["assert_projection_doctrine"]

_MOST_PAGES = 1000


async def assert_projection_doctrine(server: Server, *, run: tuple[str, ...] = ()) -> None:
    """Fail with the first answer that breaks a rule. `run` names further tools whose examples may be run."""
    async with connect(server) as client:
        listed = (await client.request("tools/list"))["result"]["tools"]
        published = {tool["name"]: tool.get("outputSchema") for tool in listed}
        for contract in server.surface.tools:
            if contract.effect.kind is not EffectKind.REPLAY_SAFE and contract.name not in run:
                continue
            for example in contract.examples:
                for detail in DetailLevel:
                    reading = _Reading(client, server, contract, dict(example), detail)
                    await reading.check(published[contract.name])


class _Reading:
    """One example of one tool, read in one detail."""

    def __init__(
        self,
        client: ScriptedClient,
        server: Server,
        contract: ToolContract,
        arguments: dict[str, Any],
        detail: DetailLevel,
    ) -> None:
        self._client = client
        self._server = server
        self._contract = contract
        self._arguments = arguments
        self._detail = detail
        self._where = f"{contract.name}({arguments}) in {detail.value} detail"

    async def check(self, schema: dict[str, Any] | None) -> None:
        """Read it as porcelain and as JSON, page by page."""
        lines = await self._read(Presentation(RenderMode.PORCELAIN, self._detail), schema)
        document = await self._read(Presentation(RenderMode.JSON, self._detail), schema)
        if lines is not None:
            assert lines == document, f"{self._where}: the pages of porcelain and of JSON hold different rows"

    async def _read(self, presentation: Presentation, schema: dict[str, Any] | None) -> list[Any] | None:
        """The rows of all pages; None where porcelain comes without data beside it."""
        rows: list[Any] = []
        cursor: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            result = await self._call(presentation, cursor)
            if result is None:
                return rows
            if presentation.render is RenderMode.PORCELAIN:
                self._check_text(result.text, presentation)
                if "structuredContent" not in result.message["result"]:
                    return None
            payload = result.payload
            self._check_payload(payload, schema)
            paging = self._contract.paging
            if paging is None or not isinstance(payload, dict):
                return rows
            rows += payload.get(paging.field, [])
            if NEXT_CURSOR not in payload:
                return rows
            cursor = {CURSOR_ARGUMENT: payload[NEXT_CURSOR]}
        raise AssertionError(f"{self._where}: more than {_MOST_PAGES} pages")

    async def _call(self, presentation: Presentation, cursor: dict[str, Any]) -> CallResult | None:
        words = {"render": presentation.render.value, "detail": presentation.detail.value}
        arguments, meta = {**self._arguments, **cursor}, {}
        if self._server.surface.presentation_arguments:
            arguments |= words
        else:
            meta = {META_PREFIX + word: value for word, value in words.items()}
        request = self._client.start_call(self._contract.name, arguments, meta)
        result = CallResult(await self._client.answer_to(request))
        if not result.is_error:
            return result
        declared = {spec.code for spec in self._contract.errors}
        assert result.code in declared, f"{self._where} ended in {result.code}: {self._reason() or result.text}"
        return None

    def _reason(self) -> str:
        """What the event log has of the last fault: for a broken rule, the places and the rules."""
        faults = [event for event in self._client.events if isinstance(event, FaultRecorded)]
        return f"{faults[-1].cause_class}: {faults[-1].message}" if faults else ""

    def _check_text(self, text: str, presentation: Presentation) -> None:
        bounds = presentation.bounds(self._contract.policy.kind)
        lines = text.split("\n")
        assert len(lines) <= bounds.lines, f"{self._where}: {len(lines)} lines, {bounds.lines} are allowed"
        widest = max(map(len, lines))
        assert widest <= bounds.width, f"{self._where}: {widest} characters in a line of at most {bounds.width}"
        assert cap_of(bounds).holds(text), f"{self._where}: longer than its cap"
        strange = [character for line in lines for character in line if unicodedata.category(character) == "Cc"]
        assert not strange, f"{self._where}: a line holds {strange[0]!r}"

    def _check_payload(self, payload: Any, schema: dict[str, Any] | None) -> None:
        broken = policy_violations(self._contract.policy, payload)
        assert not broken, f"{self._where}: {broken[0].path} breaks {broken[0].rule}"
        if schema is not None:
            violations = SchemaValidator(schema).violations(payload)
            assert not violations, f"{self._where} does not fit its published schema: {violations}"
