"""The keys under which this package puts its own facts into `_meta`, where the protocol leaves room for them."""

__all__ = [
    "FOREIGN_EFFECT",
    "META_CONTRACT",
    "META_EFFECT",
    "META_ERROR",
    "META_GENERATION",
    "META_OMITTED",
    "META_PRINCIPAL",
    "META_REQUEST",
    "META_RESTARTED",
    "META_SUPERVISION",
    "STUCK_WORK",
]

META_CONTRACT = "io.holdfast/contract"  # of a tool: its versions
META_EFFECT = "io.holdfast/effect"  # of a tool: what repeating it would do
META_SUPERVISION = "io.holdfast/supervision"  # of a tool: its timeout, and how its server words a failure
META_ERROR = "io.holdfast/error"  # of a result: the code of the failure, whatever form its text has
META_GENERATION = "io.holdfast/generation"  # of a result: of the worker that it is from, once state was lost
META_RESTARTED = "io.holdfast/restarted"  # of a result, once: the restart by which state was lost
FOREIGN_EFFECT = "io.libmcp/effect"  # of a tool of another toolkit: the same as META_EFFECT
META_REQUEST = "io.holdfast/request"  # of a question or a log message: the id of the request that it is about
META_OMITTED = "io.holdfast/omitted"  # of a log message: how many before it were left out
META_PRINCIPAL = (
    "io.holdfast/principal"  # of a request that is passed on: who its client is, if that was found out
)
# From a worker to its host: the threads of `count` stopped calls do not end, so a fresh process is due.
STUCK_WORK = "notifications/io.holdfast/stuck_work"
