"""Every rule of the five contracts that servers and hosts are held to, with an id, in our own words, and who
proves it; and what was decided where they disagree or are silent.

`test_requirements.py` enforces it in both directions: every row of a part that is there has a test or an exchange
that names it, every name that is used is a row, and nobody claims a row that is still pending.
"""

from typing import NamedTuple

from tests.contract.requirements_launch import LAUNCH_RULES
from tests.contract.requirements_readings import READINGS

FOUNDATION = "foundation"
HOST = "host"
SEARCH = "search server"
LAUNCH = "launch server"
TOOLCHAIN = "contract toolchain"
HTTP = "HTTP transport"


class Requirement(NamedTuple):
    """One rule: what must hold, where it is written, and which part of the project proves it."""

    sentence: str
    source: str
    owner: str = FOUNDATION

    @property
    def is_pending(self) -> bool:
        """Whether the part that proves it is still to come."""
        return self.owner.endswith("(pending)")


def _stability(section: str, sentence: str, owner: str = FOUNDATION) -> Requirement:
    return Requirement(sentence, f"stability contract, section {section}", owner)


def _tooling(section: str, sentence: str, owner: str = FOUNDATION) -> Requirement:
    return Requirement(sentence, f"tooling contract, section {section}", owner)


def _specification(section: str, sentence: str) -> Requirement:
    return Requirement(sentence, f"specification contract, section {section}", TOOLCHAIN)


def _spine(section: str, sentence: str, owner: str = HOST) -> Requirement:
    return Requirement(sentence, f"spine contract, section {section}", owner)


_STABILITY = {
    "S0-1-all-transports": _stability("1", "The contract holds for legacy framing and for the SDK mode alike."),
    "S0-2.1-name": _stability("2.1", "Each tool definition has a name."),
    "S0-2.1-description": _stability("2.1", "Each tool definition has a description."),
    "S0-2.1-input-schema": _stability("2.1", "Each tool definition has an input schema, a JSON Schema object."),
    "S0-2.1-schema-version": _stability("2.1", "Each tool definition has an integer schemaVersion."),
    "S0-2.1-tooling-version": _stability("2.1", "Each tool definition names the version of the implementation."),
    "S0-2.2-bump-required-argument": _stability("2.2", "A new required argument raises schemaVersion.", TOOLCHAIN),
    "S0-2.2-bump-meaning": _stability("2.2", "A changed meaning of an argument raises schemaVersion.", TOOLCHAIN),
    "S0-2.2-bump-default": _stability("2.2", "A default that changes behaviour raises schemaVersion.", TOOLCHAIN),
    "S0-2.2-bump-result": _stability("2.2", "A changed structure of the result raises schemaVersion.", TOOLCHAIN),
    "S0-2.2-bump-codes": _stability(
        "2.2", "An error code added, removed or renamed raises schemaVersion.", TOOLCHAIN
    ),
    "S0-2.2-bump-semantics": _stability(
        "2.2", "An observable change of cancellation or timeouts raises schemaVersion.", TOOLCHAIN
    ),
    "S0-2.2-no-bump-docs": _stability("2.2", "A clarified description needs no new schemaVersion.", TOOLCHAIN),
    "S0-2.2-no-bump-optional-argument": _stability(
        "2.2", "A new optional argument that does nothing unless it is set breaks nobody.", TOOLCHAIN
    ),
    "S0-2.2-no-bump-optional-field": _stability(
        "2.2", "A new field of the result that is absent by default breaks nobody.", TOOLCHAIN
    ),
    "S0-3.1-stable-names": _stability("3.1", "A renamed tool raises schemaVersion.", TOOLCHAIN),
    "S0-3.1-alias": _stability("3.1", "An old name may stay available; it works and is marked deprecated."),
    "S0-3.2-tool-set": _stability("3.2", "The search server offers its six long-standing tool names.", SEARCH),
    "S0-4.1-unknown-arguments": _stability("4.1", "Unknown arguments are rejected as INVALID_REQUEST."),
    "S0-4.1-reserved-arguments": _stability("4.1", "Reserved arguments are rejected when they are set."),
    "S0-4.2-no-ignored-field": _stability(
        "4.2", "Every field of an input schema changes behaviour or is rejected; none is accepted and ignored."
    ),
    "S0-5.1-success-is-json": _stability("5.1", "The text of a successful result is valid JSON."),
    "S0-5.1-success-is-no-error": _stability("5.1", "A successful result does not set isError to true."),
    "S0-5.2-error-result": _stability("5.2", "A failure is a result with isError true and JSON as its text."),
    "S0-5.2-message": _stability("5.2", "A failure has a message, a text."),
    "S0-5.2-code": _stability("5.2", "A failure has a code, a text from the table of codes."),
    "S0-5.2-output-trimmed": _stability("5.2", "stderr and stdout of a failure are trimmed texts."),
    "S0-5.2-timeout-finite": _stability("5.2", "timeoutMs of a failure is a finite number."),
    "S0-5.2-hint": _stability("5.2", "A hint is a text that suggests a remedy."),
    "S0-6-codes": _stability("6", "Each public code is declared with its meaning and its remedy."),
    "S0-6-invalid-request": _stability("6", "A malformed request has the code INVALID_REQUEST."),
    "S0-6-internal": _stability("6", "An unexpected error has the code INTERNAL."),
    "S0-7.1-cancel-stops": _stability("7.1", "$/cancelRequest stops the work promptly."),
    "S0-7.1-cancel-answers-once": _stability("7.1", "A cancelled request gets exactly one terminal answer."),
    "S0-7.1-cancel-code": _stability("7.1", "That answer has isError true and the code CANCELLED."),
    "S0-7.2-ids-as-text": _stability("7.2", 'A cancellation finds its request whether the id is 1 or "1".'),
    "S0-7.3-no-progress-after-cancel": _stability("7.3", "No progress follows a cancellation."),
    "S0-7.3-no-success-after-cancel": _stability("7.3", "A cancelled request is not answered with a success."),
    "S0-8.1-timeout-aborts": _stability("8.1", "A tool that exceeds its timeout is aborted."),
    "S0-8.1-timeout-code": _stability("8.1", "The answer has isError true and the code TOOL_TIMEOUT."),
    "S0-8.1-timeout-ms": _stability("8.1", "The answer has timeoutMs."),
    "S0-8.2-subprocesses-end": _stability("8.2", "Subprocesses of a tool end with its timeout."),
    "S0-8.2-tree-aware": _stability("8.2", "Descendants of those subprocesses end too."),
    "S0-9-progress-fields": _stability("9", "Progress carries id, tool, message, stream, phase and ts."),
    "S0-9.1-throttled": _stability("9.1", "Progress is throttled to at most four notices per second and call."),
    "S0-9.1-coalesced": _stability("9.1", "Of reports that come too fast only the latest is kept."),
    "S0-9.2-no-progress-after-answer": _stability("9.2", "No progress follows the terminal answer."),
    "S0-10-schema-snapshot": _stability("10", "Names, required fields and schemaVersion are held by a snapshot."),
    "S0-10-argument-mapping": _stability(
        "10", "Every argument of every tool of the search server is tested.", SEARCH
    ),
    "S0-10-cancel-tested": _stability("10", "A cancellation gives CANCELLED, no success, no later progress."),
    "S0-10-timeout-tested": _stability("10", "A timeout gives TOOL_TIMEOUT and leaves no orphans."),
    "S0-P2-1-all-descendants": _stability("part 2, 1", "All descendants of a tool's subprocess are ended."),
    "S0-P2-1-no-orphans": _stability("part 2, 1", "No orphans are left after cancellations and timeouts."),
    "S0-P2-2-one-primitive": _stability(
        "part 2, 2", "One primitive ends processes; nothing else kills on its own."
    ),
    "S0-P2-3.1-own-group": _stability("part 2, 3.1", "A subprocess leads a process group of its own."),
    "S0-P2-3.2-ladder": _stability("part 2, 3.2", "TERM to the group, a bounded grace, then KILL to the group."),
    "S0-P2-3.3-already-gone": _stability("part 2, 3.3", "A process that ends in between is no error."),
    "S0-P2-4.1-taskkill": _stability(
        "part 2, 4.1", "The command that ends a tree on Windows is taskkill /T /F; it is not run on Windows here."
    ),
    "S0-P2-4.2-already-exited": _stability(
        "part 2, 4.2", "A taskkill that fails because the process has ended is no error; proven with a stand-in."
    ),
    "S0-P2-5-tree-test": _stability("part 2, 5", "After an abort parent and child end quickly."),
    "S0-P2-5-exit-event": _stability("part 2, 5", "The end of an aborted parent is told to whoever waits for it."),
    "S0-P2-5-no-output-after-abort": _stability("part 2, 5", "Nothing is said by the tree after the abort."),
}

_TOOLING = {
    "S1-3.2-tool-version": _tooling("3.2", "toolVersion is a SemVer text."),
    "S1-3.2-schema-version": _tooling("3.2", "schemaVersion of the surface is a SemVer text."),
    "S1-3.3-major": _tooling("3.3", "A breaking change raises the major version of the surface.", TOOLCHAIN),
    "S1-3.3-minor": _tooling("3.3", "A compatible addition raises the minor version.", TOOLCHAIN),
    "S1-3.3-patch": _tooling("3.3", "An editorial change raises the patch version.", TOOLCHAIN),
    "S1-3.4-single-source": _tooling("3.4", "One constant is the surface's version everywhere it is published."),
    "S1-3.4-package-version": _tooling("3.4", "toolVersion is the version of the search package.", SEARCH),
    "S1-4.1-http": _tooling("4.1", "HTTP answers are {ok, repo, result} or {ok, code, message}.", SEARCH),
    "S1-4.2-success": _tooling("4.2", "The text of a success is the payload of the tool, as JSON."),
    "S1-4.2-error": _tooling("4.2", "The text of an error is JSON with code and message."),
    "S1-4.2-documented": _tooling("4.2", "The envelope is documented in the generated contract files.", SEARCH),
    "S1-5.1-registry": _tooling("5.1", "Codes come from one registry; an undeclared one never leaves the server."),
    "S1-5.1-registry-page": _tooling("5.1", "The registry is documented in the generated page of codes.", SEARCH),
    "S1-5.1-unknown-tool": _tooling("5.1", "An unknown tool is NOT_FOUND."),
    "S1-5.2-protocol-error-code": _tooling("5.2", "Every protocol error has a text code in error.data.code."),
    "S1-5.2-tool-error-envelope": _tooling(
        "5.2", "Every tool error has isError true and an envelope with ok false."
    ),
    "S1-6.1-json-rpc": _tooling("6.1", "The server speaks JSON-RPC 2.0."),
    "S1-6.1-revision": _tooling("6.1", "The server implements revision 2024-11-05."),
    "S1-6.1-other-revision": _tooling(
        "6.1", "A pinned server answers 2024-11-05 to another revision and goes on."
    ),
    "S1-6.2-sdk-fails-fast": _tooling("6.2", "SDK mode fails fast with a clear error when the SDK is missing."),
    "S1-6.2-sdk-framing": _tooling(
        "6.2", "SDK mode uses the SDK's server and stdio transport, no framing of its own."
    ),
    "S1-6.2-one-line": _tooling("6.2", "Each message is one line of JSON."),
    "S1-6.2-line-feed": _tooling("6.2", "Messages are delimited by a single line feed."),
    "S1-6.2-no-raw-newline": _tooling("6.2", "No message contains an unescaped newline."),
    "S1-6.2-stdout-reserved": _tooling("6.2", "stdout carries protocol messages only."),
    "S1-6.2-logs-to-stderr": _tooling("6.2", "Everything else goes to stderr or a file."),
    "S1-6.3-legacy-selected": _tooling("6.3", "Legacy framing is available when it is chosen explicitly."),
    "S1-6.3-no-fallback": _tooling("6.3", "There is no automatic fallback from SDK mode."),
    "S1-6.4-capability-block": _tooling("6.4", "capabilities.experimental has a block under the server's name."),
    "S1-6.4-versions": _tooling("6.4", "The block has schemaVersion and toolVersion."),
    "S1-6.4-content": _tooling(
        "6.4", "The block of the search server is `pairofcleats`, with its capabilities.", SEARCH
    ),
    "S1-6.5.1-one-registry": _tooling("6.5.1", "Tool definitions come from a single place."),
    "S1-6.5.1-full-list": _tooling("6.5.1", "tools/list returns all tools."),
    "S1-6.5.1-stable-names": _tooling("6.5.1", "Names are stable within a major version.", TOOLCHAIN),
    "S1-6.5.2-tool-set": _tooling("6.5.2", "The seventeen tools of the search server exist.", SEARCH),
    "S1-6.5.2-removal": _tooling("6.5.2", "A removed or renamed tool raises the major version.", TOOLCHAIN),
    "S1-6.6-validated": _tooling("6.6", "Arguments are validated against the tool's input schema."),
    "S1-6.6-invalid-params": _tooling("6.6", "Invalid arguments are the JSON-RPC error -32602."),
    "S1-6.6-data-code": _tooling("6.6", "Its data.code is INVALID_REQUEST."),
    "S1-6.6-details": _tooling("6.6", "Its data.details lists every violation with path, keyword and message."),
    "S1-6.7-not-error": _tooling("6.7", "A successful result has isError false."),
    "S1-6.7-one-text": _tooling("6.7", "A successful result has exactly one text item, the payload as JSON."),
    "S1-6.7-failure": _tooling("6.7", "A failed result has isError true and JSON with code and message."),
    "S1-6.7-compact": _tooling("6.7", "The JSON is stable and parseable, without pretty printing."),
    "S1-6.8-method": _tooling("6.8", "Progress uses the method notifications/progress."),
    "S1-6.8-legacy-fields": _tooling("6.8", "In legacy mode it carries id, tool, message, stream, phase, ts."),
    "S1-6.8-token-fields": _tooling(
        "6.8", "Elsewhere it carries progressToken in place of id, when the client gave one."
    ),
    "S1-6.8-no-extras": _tooling("6.8", "Its other fields are those that MCP permits."),
    "S1-6.9-cancel-request": _tooling("6.9", "$/cancelRequest is supported for calls in flight."),
    "S1-6.9-abort": _tooling("6.9", "A cancellation aborts the execution of the tool."),
    "S1-6.9-progress-stops": _tooling("6.9", "A cancelled request reports no further progress."),
    "S1-6.9-answer": _tooling("6.9", "The cancelled request is answered with isError true and CANCELLED."),
    "S1-6.10.1-overload": _tooling("6.10.1", "A full queue is the JSON-RPC error -32001."),
    "S1-6.10.1-overload-data": _tooling(
        "6.10.1", "Its data has QUEUE_OVERLOADED, a message, and the queue's max and size."
    ),
    "S1-6.10.1-queue-max": _tooling("6.10.1", "By default 64 calls may wait."),
    "S1-6.10.1-buffer": _tooling("6.10.1", "By default a message may have 8 MiB."),
    "S1-6.10.2-abort": _tooling("6.10.2", "A call beyond its timeout is aborted."),
    "S1-6.10.2-tool-error": _tooling("6.10.2", "It ends in a tool error with TOOL_TIMEOUT and timeoutMs."),
    "S1-6.10.2-default": _tooling("6.10.2", "The default timeout is 120000 ms."),
    "S1-6.10.2-per-tool": _tooling(
        "6.10.2", "The long-running tools of the search server have their own.", SEARCH
    ),
    "S1-7.1-envelope": _tooling("7.1", "Every JSON answer over HTTP is an envelope with ok and _meta.", SEARCH),
    "S1-7.1-errors": _tooling("7.1", "Every error over HTTP is an envelope with ok false and error.", SEARCH),
    "S1-7.1-json-bodies": _tooling("7.1", "The body of a POST is JSON, and says so in its content type.", SEARCH),
    "S1-7.1-other-bodies": _tooling("7.1", "Any other content type is 415 INVALID_REQUEST.", SEARCH),
    "S1-7.2.1-health": _tooling("7.2.1", "GET /health tells the uptime.", SEARCH),
    "S1-7.2.2-status": _tooling("7.2.2", "GET /status tells repo and status.", SEARCH),
    "S1-7.2.3-envelopes": _tooling("7.2.3", "Every event of /status/stream carries an envelope.", SEARCH),
    "S1-7.2.3-events": _tooling("7.2.3", "/status/stream sends start, result or error, and done.", SEARCH),
    "S1-7.2.3-done": _tooling("7.2.3", "done carries no error, also after one.", SEARCH),
    "S1-7.2.4-search": _tooling("7.2.4", "POST /search tells repo and search, the payload of the tool.", SEARCH),
    "S1-7.2.5-envelopes": _tooling("7.2.5", "Every event of /search/stream carries an envelope.", SEARCH),
    "S1-7.2.5-events": _tooling(
        "7.2.5", "/search/stream sends start, progress, result or error, and done.", SEARCH
    ),
    "S1-7.3-invalid": _tooling("7.3", "What is no JSON, or not by the schema, is 400 INVALID_REQUEST.", SEARCH),
    "S1-7.3-forbidden": _tooling("7.3", "A repository that is not served is 403 FORBIDDEN.", SEARCH),
    "S1-7.3-too-large": _tooling("7.3", "A body that is too large is 413 INVALID_REQUEST.", SEARCH),
    "S1-7.3-media-type": _tooling("7.3", "Another media type is 415 INVALID_REQUEST.", SEARCH),
    "S1-7.3-no-index": _tooling("7.3", "A repository without an index is 409 NO_INDEX.", SEARCH),
    "S1-7.3-internal": _tooling("7.3", "What nobody expected is 500 INTERNAL.", SEARCH),
    "S1-8-parity": _tooling(
        "8", "A search has the same payload over MCP, over HTTP and on the command line, errors included.", SEARCH
    ),
    "S1-9-mapping": _tooling("9", "Every argument of a search is a flag of the command line too.", SEARCH),
    "S1-9-none-ignored": _tooling("9", "Every argument changes the answer or is refused.", SEARCH),
    "S1-9.1-query": _tooling("9.1", "query is required.", SEARCH),
    "S1-9.1-repo-path": _tooling("9.1", "repoPath is optional; the server has a default.", SEARCH),
    "S1-9.1-mode": _tooling("9.1", "mode is one of code, prose, extracted-prose, records, all, both.", SEARCH),
    "S1-9.1-output": _tooling("9.1", "output is compact, full or json.", SEARCH),
    "S1-9.1-ann": _tooling("9.1", "ann is true, false, or null for the default.", SEARCH),
    "S1-9.1-top": _tooling("9.1", "top below 1 means 1.", SEARCH),
    "S1-9.1-context": _tooling("9.1", "context gives lines around a hit.", SEARCH),
    "S1-9.1-lists": _tooling("9.1", "path, file and ext take one text or a list.", SEARCH),
    "S1-9.1-meta": _tooling("9.1", "meta takes an object, a list or a text.", SEARCH),
    "S1-9.1-meta-json": _tooling("9.1", "metaJson takes an object or a text of JSON.", SEARCH),
    "S1-10-snapshot": _tooling("10", "The committed snapshot of the tools is what the server says.", SEARCH),
    "S1-10-validation": _tooling("10", "Every tool validates its arguments against its schema.", SEARCH),
}

_SPINE = {
    "S3-topologies-worker-server": _spine(
        "topologies",
        "A stable host owns the public MCP session and passes it on to a worker that is an MCP server.",
    ),
    "S3-topologies-private-worker": _spine(
        "topologies",
        "A process that owns the public MCP session can have work done by a worker over a private protocol, and "
        "outlives it.",
    ),
    "S3-topologies-private-replay": _spine(
        "topologies", "A call lost by a worker behind a private protocol follows its replay contract."
    ),
    "S3-topologies-invariants": _spine(
        "topologies",
        "The same list of exchanges holds for a server that stands alone and for one behind the host.",
    ),
    "S3-topologies-no-transport": _spine(
        "topologies", "No wire shape is mandatory: hosts speak lines and Content-Length framing, to any program."
    ),
    "S3-topologies-http": _spine(
        "topologies",
        "A host that owns an HTTP listener keeps the same laws: ids of each client apart, one answer, replay by "
        "contract, and sessions that outlive their worker.",
        HTTP,
    ),
    "S3-replay-explicit": _spine(
        "replay", "Every request, of every method and tool, has an explicit replay contract; none has no word."
    ),
    "S3-replay-vocabulary": _spine("replay", "The words are Convergent, ProbeRequired and NeverReplay."),
    "S3-replay-convergent": _spine("replay", "A Convergent request that was lost with its worker is run again."),
    "S3-replay-probe-required": _spine(
        "replay",
        "A ProbeRequired request is run again only once it is proven that the first attempt did not take effect; "
        "where it did, its result is reconstructed.",
    ),
    "S3-replay-never": _spine("replay", "A NeverReplay request fails rather than run again by itself."),
    "S3-faults-typed": _spine("faults", "A failure is a typed fault with a class and a code, not merely a text."),
    "S3-faults-taxonomy": _spine(
        "faults",
        "Told apart are failures of transport, process, protocol, time, the downstream, resources, replay, "
        "rollout and invariants; an ambiguous outcome is a class of its own.",
    ),
    "S3-faults-policy": _spine(
        "faults", "A fault says whether a retry is safe, and the loss of a worker restarts."
    ),
    "S3-faults-health": _spine("faults", "A fault is told by health."),
    "S3-faults-telemetry": _spine("faults", "A fault can be counted by class and code from the event log."),
    "S3-faults-shaping": _spine(
        "faults", "A fault is told to a model in few words, with its category and a hint on retrying."
    ),
    "S3-health-exposed": _spine("health", "A running host tells its health to whoever may ask."),
    "S3-health-lifecycle": _spine(
        "health", "Health tells the state of the host's life: starting, ready, recovering."
    ),
    "S3-health-generation": _spine("health", "Health tells the generation of the worker."),
    "S3-health-uptime": _spine("health", "Health tells the uptime."),
    "S3-health-failures": _spine("health", "Health tells the failures in a row."),
    "S3-health-restarts": _spine("health", "Health tells the number of restarts."),
    "S3-health-rollout": _spine("health", "Health tells whether a replacement of the worker is under way."),
    "S3-health-last-fault": _spine("health", "Health tells the last fault."),
    "S3-health-extended": _spine("health", "Health may have further fields beside the common ones."),
    "S3-telemetry-exposed": _spine("telemetry", "A running host tells its telemetry to whoever may ask."),
    "S3-telemetry-hot-paths": _spine(
        "telemetry", "The log says from time to time which tools and paths are hot, and where errors gather."
    ),
    "S3-telemetry-events": _spine(
        "telemetry", "Events are appended to a log of JSON lines, which outlives a crash."
    ),
    "S3-telemetry-counts": _spine("telemetry", "Telemetry counts requests, successes, errors and retries."),
    "S3-telemetry-methods": _spine("telemetry", "Telemetry aggregates per method."),
    "S3-telemetry-last-error": _spine("telemetry", "Telemetry has the last error of a method."),
    "S3-telemetry-restart-fault": _spine("telemetry", "Telemetry has the fault that last led to a restart."),
    "S3-rollout-replacement": _spine(
        "rollout", "A worker is replaced by a successor that is ready, without a request being lost."
    ),
    "S3-rollout-release": _spine("rollout", "A new release is taken up while the session goes on."),
    "S3-rollout-reinstall": _spine(
        "rollout", "The host itself is replaced by another version while the session goes on."
    ),
    "S3-scope-identity": _spine(
        "scope", "A request is known by its id as the client wrote it, number or text, and by nothing else."
    ),
    "S3-scope-frames": _spine("scope", "Messages are framed and read by parts that need no server around them."),
    "S3-scope-kit": _spine(
        "scope", "There is a kit with which the tests of any server kill, delay and garble its worker."
    ),
    "S3-scope-no-domain": _spine("scope", "A server offers what its author registered, and no tool of ours."),
    "S3-scope-no-routing": _spine(
        "scope", "The host passes on methods, tools and results of which it knows nothing, as they are."
    ),
    "S3-scope-no-obligation": _spine(
        "scope", "No tool has to offer batches, previews, dry runs or levels of detail; it may have its own."
    ),
    "S3-porcelain-default": _spine("porcelain", "The text of a result is porcelain where nobody asks otherwise."),
    "S3-porcelain-json": _spine(
        "porcelain", "JSON is there for whoever asks; a tiny structured server may have it as its default."
    ),
    "S3-porcelain-lines": _spine("porcelain", "Porcelain is made of lines that no value can break."),
    "S3-porcelain-deterministic": _spine("porcelain", "The same data gives the same porcelain."),
    "S3-porcelain-bounded": _spine(
        "porcelain", "Porcelain is bounded in lines and width, whatever the size of the data."
    ),
    "S3-porcelain-summary": _spine("porcelain", "The first line of porcelain says what the result is."),
    "S3-porcelain-loops": _spine(
        "porcelain", "In a long loop porcelain stays short: it carries no times, ids or counters of the runtime."
    ),
    "S3-porcelain-mode": _spine(
        "porcelain", "The form is chosen per call, by argument or metadata, and per server."
    ),
    "S3-porcelain-truncation": _spine("porcelain", "What was cut from a text is counted; JSON is never cut."),
    "S3-porcelain-notes": _spine("porcelain", "Notes stand at the end, in order, each once, and not too many."),
    "S3-porcelain-paths": _spine("porcelain", "Paths are rendered alike: relative to their root, with slashes."),
    "S3-porcelain-patterns": _spine(
        "porcelain", "Sections, fields, lists and tables have one form, which an author can use."
    ),
    "S3-porcelain-no-taxonomy": _spine(
        "porcelain", "A server may do without levels of detail, and a tool may add its own."
    ),
    "S3-normalization-aliases": _spine("normalization", "A field can have further names."),
    "S3-normalization-integers": _spine("normalization", "The text of a whole number is taken for the number."),
    "S3-normalization-uris": _spine("normalization", "A file:// URI is taken for the path that it means."),
    "S3-normalization-paths": _spine("normalization", "Paths are brought to one style."),
    "S3-normalization-tokens": _spine(
        "normalization", "The words of a choice count in any case and by their common other names."
    ),
    "S3-normalization-unambiguous": _spine(
        "normalization", "What is not declared, or could mean two things, is refused and not guessed."
    ),
    "S3-shaping-concise": _spine("shaping", "The message of a failure is one short line."),
    "S3-shaping-category": _spine("shaping", "Under the message lies a typed category, for programs too."),
    "S3-shaping-retry": _spine(
        "shaping", "Whether trying again can help is said, and what to do, where something can be done."
    ),
    "S3-shaping-no-spew": _spine(
        "shaping", "Neither a stack trace nor the raw output of a backend reaches the caller; the log has them."
    ),
    "S3-skill-owned": _spine("skill", "The bootstrap skill lives in this repository and agrees with it."),
    "S3-skill-linked": _spine("skill", "The skill is installed by a link to its source."),
    "S3-skill-shipped": _spine("skill", "The skill has the version of the library: it is part of the package."),
    "S3-versioning-public": _spine(
        "versioning", "What can be depended on is declared by name, and every declared name is there."
    ),
    "S3-versioning-consumers": _spine("versioning", "Real servers stand on the parts that authors are given."),
}

_SPECIFICATION = {
    "S2-1-parsable": _specification("1", "A specification can be read by machines."),
    "S2-2-template": _specification("2", "A specification follows the canonical template, which is shipped."),
    "S2-2-copy": _specification("2", "A template that is filled in is complete."),
    "S2-3-eight": _specification("3", "Every tool has all eight sections."),
    "S2-3-order": _specification("3", "The sections stand in the order of the template."),
    "S2-3.1-purpose": _specification("3.1", "The purpose of a tool is stated."),
    "S2-3.2-name": _specification("3.2", "The invocation name is unique and machine-readable."),
    "S2-3.3-input": _specification(
        "3.3", "Parameters have name, type, required mark, description and an example value."
    ),
    "S2-3.4-output": _specification("3.4", "Result fields have name, type, description and an example value."),
    "S2-3.5-errors": _specification(
        "3.5", "Error conditions and codes are described, or it is said that there are none."
    ),
    "S2-3.6-idempotency": _specification(
        "3.6", "It is stated whether the tool is idempotent, with an explanation."
    ),
    "S2-3.7-example": _specification(
        "3.7", "There is at least one complete JSON call with tool_name and arguments."
    ),
    "S2-3.8-security": _specification("3.8", "Risks and their limits are discussed."),
    "S2-4-schema": _specification("4", "Inputs and outputs are defined by JSON Schema."),
    "S2-4-both": _specification("4", "Table and schema stand side by side and agree."),
    "S2-5-error-form": _specification(
        "5", "A failure is told in one form, apart from success: status, type, message, details."
    ),
    "S2-5-codes": _specification("5", "A code that is used is declared."),
    "S2-6-version": _specification("6", "Each tool states a version."),
    "S2-6-major": _specification(
        "6",
        "A removed, retyped or newly required input, or a changed output, raises the major version.",
    ),
    "S2-6-minor": _specification("6", "A new optional input or output field is a minor change."),
    "S2-6-stable-name": _specification("6", "The invocation name stays stable; a renamed tool is noticed."),
    "S2-6-protocol": _specification("6", "The protocol has versions of its own, which a contract names."),
    "S2-7.1-clarity": _specification(
        "7.1", "The description is long enough to choose by and short enough to read."
    ),
    "S2-7.2-granular": _specification("7.2", "A tool is one action."),
    "S2-7.3-schemas": _specification("7.3", "Schemas give types, formats, required marks and descriptions."),
    "S2-7.4-errors": _specification("7.4", "Errors are specific and declared once."),
    "S2-7.5-effect": _specification("7.5", "The word on idempotency agrees with the effect."),
    "S2-7.6-security": _specification("7.6", "The security section is detailed and actionable."),
    "S2-7.7-examples": _specification("7.7", "Examples are valid JSON and fit the schema."),
    "S2-7.8-testable": _specification(
        "7.8", "A tool can be tested: its documented calls are checked against the server."
    ),
    "S2-8-all-tools": _specification("8", "Every tool that a module exposes is specified."),
    "S2-8-adhere": _specification("8", "A good file passes every rule."),
    "S2-8-accurate": _specification("8", "The specification says what the tool really does."),
    "S2-8-versioned": _specification("8", "The documented version is that of the tool."),
    "S2-9-evolve": _specification("9", "Older files can be brought to the current form without loss."),
}

_LAUNCH = {
    name: Requirement(sentence, f"launch contract, section {section}", LAUNCH)
    for name, (section, sentence) in LAUNCH_RULES.items()
}

_READINGS = {
    name: Requirement(sentence, f"reading of the contracts, point {name.split('-')[1]}")
    for name, sentence in READINGS.items()
}

_OFFERS = {
    f"MCP-features-{name}": Requirement(sentence, "MCP, server features")
    for name, sentence in {
        "resources": "Resources and templates are listed and read, as text, bytes and JSON.",
        "resource-not-found": "A missing resource is -32602 with its uri in 2026-07-28, and -32002 before.",
        "resource-traversal": "A value in an address that leads elsewhere never reaches a function.",
        "prompts": "Prompts are listed with their arguments, and given as messages.",
        "completion": "Arguments of prompts and values of templates are completed.",
        "content": "Results hold text, images, audio, resources and links.",
        "cache-hints": "Results of 2026-07-28 that may be kept say for how long, and for whom.",
        "subscriptions": "A client that subscribed to a resource is told when it changes.",
        "list-changed": "A client is told when a list changes of which the server said that it may.",
        "listen": "A stream of 2026-07-28 is acknowledged, and all that is told on it carries its id.",
        "pages": "Every list can be given in pages.",
        "reads-are-repeated": "A read that loses its worker is answered by the next one.",
        "subscriptions-survive": "Subscriptions and streams outlive the worker that they were made with.",
    }.items()
}

REQUIREMENTS: dict[str, Requirement] = {
    **_STABILITY,
    **_TOOLING,
    **_SPECIFICATION,
    **_SPINE,
    **_LAUNCH,
    **_READINGS,
    **_OFFERS,
}
