"""What the run store refuses, each with what a caller needs to answer it. Light: no database is loaded here."""

from holdfast.errors import HoldfastError

__all__ = [
    "Busy",
    "ChainBroken",
    "IllegalTransition",
    "KeyConflict",
    "LeaseLost",
    "NoSuchRun",
    "ObjectLost",
    "StoreError",
    "WorkItemError",
]


class StoreError(HoldfastError):
    """The database could not do it; nothing of it was done.

    `reason` is full, disk, busy, unavailable, unwritable, damaged or failed; `retryable` whether waiting may help.
    """

    def __init__(self, reason: str, message: str, *, remedy: str = "") -> None:
        super().__init__(f"{message} ({remedy})" if remedy else message)
        self.reason = reason
        self.message = message
        self.remedy = remedy
        self.retryable = reason in {"full", "disk", "busy", "unavailable"}


class NoSuchRun(HoldfastError):  # noqa: N818 - an answer, not a defect
    """There is no run with this id."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there is no run {run_id[:100]!r}")
        self.run_id = run_id


class KeyConflict(HoldfastError):  # noqa: N818 - an answer, not a defect
    """The idempotency key belongs to a run of another configuration."""

    def __init__(self, existing_run_id: str, existing_config_sha256: str, given_config_sha256: str) -> None:
        super().__init__(f"the key was used for {existing_run_id}, which has another configuration")
        self.existing_run_id = existing_run_id
        self.existing_config_sha256 = existing_config_sha256
        self.given_config_sha256 = given_config_sha256


class Busy(HoldfastError):  # noqa: N818 - an answer, not a defect
    """Somebody executes the run now."""

    def __init__(self, run_id: str, holder: str) -> None:
        super().__init__(f"{run_id} is being executed by {holder}")
        self.run_id = run_id
        self.holder = holder


class LeaseLost(HoldfastError):  # noqa: N818 - an answer, not a defect
    """The run was taken from whoever asks: what it wanted to write is void."""

    def __init__(self, run_id: str, token: int) -> None:
        super().__init__(f"{run_id} is no longer executed under the token {token}")
        self.run_id = run_id
        self.token = token


class IllegalTransition(HoldfastError):  # noqa: N818 - an answer, not a defect
    """A run cannot go from the one state to the other."""

    def __init__(self, run_id: str, before: str, after: str, reason: str = "") -> None:
        super().__init__(f"{run_id} cannot go from {before} to {after}")
        self.run_id = run_id
        self.before = before
        self.after = after
        self.reason = reason


class WorkItemError(HoldfastError):
    """A work item that does not exist, or whose status does not allow this."""

    def __init__(self, work_item_id: str, status: str | None, wanted: str) -> None:
        what = "does not exist" if status is None else f"is {status}"
        super().__init__(f"the work item {work_item_id} {what}: it cannot be {wanted}")
        self.work_item_id = work_item_id
        self.status = status


class ChainBroken(HoldfastError):  # noqa: N818 - an answer, not a defect
    """The events are not those that were written: `seq` is the first one that cannot be believed."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"the chain of events is broken at {seq}: {why}")
        self.seq = seq
        self.why = why


class ObjectLost(HoldfastError):  # noqa: N818 - an answer, not a defect
    """The content of an object is not there any more, or is not what it was."""

    def __init__(self, sha256: str, why: str) -> None:
        super().__init__(f"the object {sha256} {why}")
        self.sha256 = sha256
        self.why = why
