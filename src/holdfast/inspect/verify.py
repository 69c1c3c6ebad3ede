"""Whether a specification, the code of a server and what it says on the wire are one contract."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.client.session import ClientSession
from holdfast.contract.compare.diff import diff_surfaces
from holdfast.contract.compare.view import read_surface
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.verify import verify_document
from holdfast.inspect.examples import run_examples
from holdfast.inspect.live import live_snapshot

__all__ = ["example_findings", "verify", "wire_findings"]


async def verify(
    session: ClientSession,
    snapshot: Mapping[str, Any],
    document: str,
    *,
    name: str = "",
    run: bool = True,
    timeout: float | None = None,
) -> list[Finding]:
    """Every place where file, code and wire disagree; `run` also runs the examples of tools that are safe."""
    found = verify_document(document, snapshot, name=name)
    found += wire_findings(snapshot, await live_snapshot(session, timeout=timeout))
    if run:
        found += await example_findings(session, snapshot, timeout=timeout)
    return found


def wire_findings(code: Mapping[str, Any], wire: Mapping[str, Any]) -> list[Finding]:
    """What the wire tells differently from the code, in everything that both state."""
    return list(_wire(dict(code), dict(wire)))


def _wire(code: dict[str, Any], wire: dict[str, Any]) -> Iterator[Finding]:
    for item in diff_surfaces(read_surface(code, "the code"), read_surface(wire, "the wire")).changes:
        message = f"the wire differs from the code at {item.path or '/'}: {item.message}"
        yield Finding(
            "wire.differs", "error", message, 0, tool=item.tool or None, file="wire",
            remedy="look for what changes the tool list between the code and the client",
        )  # fmt: skip


async def example_findings(
    session: ClientSession, snapshot: Mapping[str, Any], *, timeout: float | None = None
) -> list[Finding]:
    """Each example of a safe tool that does not work as its contract says."""
    return [
        Finding(
            "example.fails", "error", f"example {ran.number}: {ran.problem}", 0, tool=ran.tool, file="wire",
            remedy="mend the tool, its output schema or the example",
        )
        for ran in await run_examples(session, snapshot, timeout=timeout)
        if ran.problem
    ]  # fmt: skip
