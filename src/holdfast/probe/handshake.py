"""Checks of how a session begins, in both eras of the protocol."""

from typing import Any

from holdfast.present.profile import HANDSHAKE_REVISIONS, META_REVISION, MODERN
from holdfast.probe.bench import Bench
from holdfast.probe.expect import refused_or_served
from holdfast.probe.model import FailedError, check
from holdfast.probe.shapes import complaints_about_discovery, complaints_about_list, complaints_about_welcome
from holdfast.probe.talk import CLIENT, MODERN_META, Talk
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INVALID_PARAMS

__all__ = ["CHECKS"]

UNSUPPORTED_REVISION = -32022


def _initialize(revision: str) -> dict[str, Any]:
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}


async def _ask_first(
    bench: Bench, talk: Talk, method: str, params: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The first request of a process, which may take as long as the start of the process."""
    return await talk.ask(method, params, seconds=bench.options.start_timeout)


@check(
    "handshake.request-before",
    "A request before the handshake is answered, and the handshake still works",
    weight=3,
    why="A client that got the order wrong must learn it, and be able to put it right.",
    how="Sends tools/list as the very first message; wants any answer, then a normal handshake.",
)
async def request_before(bench: Bench) -> None:
    """Asks too early."""
    bench.need_handshake()
    talk = await bench.connect()
    message = encode(talk.request("tools/list", request_id="early"))
    delivery = await talk.write(message)
    limit = bench.options.start_timeout if talk.transport == "http" else bench.options.timeout
    if talk.transport == "stdio":
        await talk.open_session(bench.survey.revision)  # its answer says that the process is up
    await talk.wait(lambda: talk.answers("early") or delivery.status or None, limit)
    if not talk.answers("early") and not any("error" in item for item in talk.inbox) and not delivery.status:
        raise FailedError("a request before the handshake was left without an answer")
    if talk.transport == "http":
        await talk.open_session(bench.survey.revision)
    await talk.alive("a request before the handshake")


@check(
    "handshake.second",
    "A second handshake is answered, and the session goes on",
    weight=2,
    why="Clients that reconnect over a living pipe repeat it; a server that dies of it takes all calls along.",
    how="Sends initialize again in an open session; wants any answer, and one to the next request.",
)
async def second(bench: Bench) -> None:
    """Shakes hands twice."""
    bench.need_handshake()
    talk = await bench.session()
    data = encode(talk.request("initialize", _initialize(bench.survey.revision), "again"))
    await refused_or_served(talk, data, "a second handshake", "again")


@check(
    "handshake.malformed",
    "A handshake without its parameters is refused, and a proper one still works",
    weight=2,
    why="A server that is left half open by a bad first message can never be used again.",
    how="Sends initialize with empty parameters; wants an error, then a normal handshake.",
)
async def malformed(bench: Bench) -> None:
    """Shakes hands badly."""
    bench.need_handshake()
    talk = await bench.connect()
    message = talk.request("initialize", {}, "bad")
    delivery = await talk.write(encode(message))
    look = bench.options.start_timeout
    answers = await talk.wait(lambda: talk.answers("bad") or delivery.status or talk.inbox or None, look)
    if answers is None:
        raise FailedError("a handshake without parameters was left without an answer")
    if any("result" in item for item in talk.answers("bad")):
        raise FailedError("a handshake without parameters was accepted")
    if delivery.status is not None and delivery.status < 400 and not talk.inbox:
        await talk.wait(lambda: talk.inbox or None, bench.options.settle)
    await talk.open_session(bench.survey.revision)
    await talk.alive("a handshake without parameters")


@check(
    "handshake.unknown-revision",
    "A revision that nobody knows is answered with one that the server speaks",
    weight=3,
    why="A server that agrees to what it does not know will be misunderstood later, call by call.",
    how='Sends initialize with the revision "1999-01-01"; wants another revision, or an error.',
)
async def unknown_revision(bench: Bench) -> None:
    """Asks for a revision of old."""
    bench.need_handshake()
    talk = await bench.connect()
    answer = await _ask_first(bench, talk, "initialize", _initialize("1999-01-01"))
    if "result" in answer:
        settled = answer["result"].get("protocolVersion") if isinstance(answer["result"], dict) else None
        if settled not in HANDSHAKE_REVISIONS:
            raise FailedError(f"the server settled on the revision {settled!r}")


@check(
    "handshake.every-revision",
    "Every revision with a handshake gets a welcome of the right form",
    weight=2,
    why="A client of last year is still out there, and reads only what its revision promised.",
    how="Opens a session in each of the four revisions; wants a known revision and the required members.",
)
async def every_revision(bench: Bench) -> None:
    """Shakes hands in every way."""
    bench.need_handshake()
    for revision in HANDSHAKE_REVISIONS:
        talk = await bench.connect()
        answer = await _ask_first(bench, talk, "initialize", _initialize(revision))
        wrong = complaints_about_welcome(answer.get("result"))
        if wrong:
            raise FailedError(f"the welcome in {revision} is not valid: {wrong[0]}")
        await talk.close()


@check(
    "handshake.discover",
    "`server/discover` is answered at once, known or not",
    weight=2,
    why="It is how clients of the new era find out whom they talk to; silence costs each start a time limit.",
    how="Sends server/discover as the first message; wants a result of the right form, or an error.",
)
async def discover(bench: Bench) -> None:
    """Asks in the manner of the new era."""
    talk = await bench.connect()
    talk.meta, talk.revision = MODERN_META, MODERN
    delivery = await talk.send(talk.request("server/discover", request_id="discover"))
    found = await talk.wait(lambda: talk.inbox or delivery.status or None, bench.options.start_timeout)
    await talk.wait(lambda: talk.answers("discover") or None, bench.options.settle)
    answers = talk.answers("discover")
    if found is None or (not answers and not delivery.status):
        raise FailedError("server/discover was left without an answer")
    if bench.survey.modern:
        wrong = complaints_about_discovery(answers[0].get("result") if answers else None)
        if wrong:
            raise FailedError(f"the answer to server/discover is not valid: {wrong[0]}")


@check(
    "handshake.self-describing",
    f"Without a handshake, requests of {MODERN} are served",
    weight=2,
    why="A client that was told of this era uses it without ever shaking hands.",
    how="Sends tools/list with its revision in `_meta` as the first message; wants a result of that era.",
)
async def self_describing(bench: Bench) -> None:
    """Lists tools without a session."""
    bench.need_modern()
    bench.need_tools()
    talk = await bench.connect()
    talk.meta, talk.revision = MODERN_META, MODERN
    answer = await _ask_first(bench, talk, "tools/list")
    wrong = complaints_about_list(answer.get("result"), MODERN)
    if wrong:
        raise FailedError(f"tools/list in {MODERN} is not valid: {wrong[0]}")


@check(
    "handshake.bare-modern",
    "A request that should describe itself, and does not, is refused",
    weight=2,
    why="Guessing the revision of a request means answering in a form that its sender may not read.",
    how="Sends tools/list with a revision in `_meta` but without the capabilities; wants -32602.",
)
async def bare_modern(bench: Bench) -> None:
    """Leaves out what the era requires."""
    bench.need_modern()
    talk = await bench.session(MODERN)
    talk.meta = {META_REVISION: MODERN}
    answer = await talk.ask("tools/list")
    code = answer.get("error", {}).get("code")
    if code != INVALID_PARAMS:
        said = f"refused with code {code}" if code is not None else "served"
        raise FailedError(f"a request without its client's capabilities was {said}, not refused with -32602")


@check(
    "handshake.modern-unknown-revision",
    "A request of an unknown revision is told which ones are known",
    weight=2,
    why="With the list of revisions in hand the client can ask again; without, it can only give up.",
    how="Sends tools/list with the revision 2999-01-01; wants error -32022 with `supported`.",
)
async def modern_unknown_revision(bench: Bench) -> None:
    """Asks in a revision of the future."""
    bench.need_modern()
    talk = await bench.session(MODERN)
    talk.meta = {**MODERN_META, META_REVISION: "2999-01-01"}
    talk.revision = "2999-01-01"
    error = (await talk.ask("tools/list")).get("error", {})
    data = error.get("data")
    if error.get("code") != UNSUPPORTED_REVISION:
        raise FailedError(f"an unknown revision got code {error.get('code')} in place of {UNSUPPORTED_REVISION}")
    if not isinstance(data, dict) or MODERN not in (data.get("supported") or ()):
        raise FailedError("the error does not say which revisions are supported")


CHECKS = (
    request_before, second, malformed, unknown_revision, every_revision, discover, self_describing, bare_modern,
    modern_unknown_revision,
)  # fmt: skip
