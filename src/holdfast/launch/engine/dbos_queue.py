"""The queue of a pool, kept by DBOS: which machine carries out which request, and how many at the same time.

The only module that imports DBOS. Nothing here is the truth about a run. A request that stands in the queue twice,
late, or not at all is harmless: the store lets one process take it, and every machine puts what is pending there
into the queue again. So the queue's own tables can be dropped at any time.

What DBOS does not do, and we do not expect of it (measured with 3.3): it starts nothing again that another
executor id has left behind; under one executor id it starts what still runs a second time; a hash of the sources
as version would leave everything behind after an update. So every process has an executor id of its own that no
other ever has, dead ones are found by the leases of our store, and the version is ours. Its own serializer is
pickle, which runs code of whoever can write to the database; ours is JSON, and rows that are pickled are refused.
"""

import importlib.util
import warnings
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, UsageError
from holdfast.launch.store.records import LASTING

if TYPE_CHECKING:
    from dbos import DBOSConfig

    from holdfast.launch.store.records import AskedRequest

__all__ = ["DbosQueue", "QueueLostError", "check_is_installed"]

QUEUE = "holdfast-launch"
VERSION = "holdfast-launch-1"
"""Of what stands in the queue, which is the id of a request and nothing else; not of our code."""
_POLLING = 0.25  # seconds between two looks of DBOS at its queue
_MOST = 1000  # requests that stand in the queue at the same time; the others wait in the store
_SOON = 1  # whoever waits for an answer comes before a run that was queued with hundreds of others
_MAY_NOT = "give the user of the database the right to make a schema: GRANT CREATE ON DATABASE"
_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)


class QueueLostError(HoldfastError):
    """The tables of the queue cannot be used; they are made again when it is opened again."""

    def __init__(self, what: str, cause: Exception) -> None:
        # Of what the driver said, its first line: the rest is SQL and addresses of manuals.
        said = getattr(cause, "orig", None) or cause
        super().__init__(f"{what}: {(str(said).splitlines() or [''])[0] or type(said).__name__}")
        is_forbidden = type(said).__name__ == "InsufficientPrivilege"
        self.remedy = _MAY_NOT if is_forbidden else "check that the database server runs and can be reached"


def check_is_installed() -> None:
    """UsageError with what to do about it where DBOS is not there."""
    if importlib.util.find_spec("dbos") is None:
        raise UsageError("the engine `dbos` is not installed", remedy="pip install 'holdfast[scale]'")


class DbosQueue:
    """This process in the queue of its pool. DBOS has one of them per process."""

    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._schema = schema
        self._carry_out: Callable[..., Any] | None = None
        self._shape: tuple[int, int] | None = None

    def open(self, executor_id: str, carry_out: Callable[[str], str]) -> None:
        """Make what is missing of the tables, and be given requests from now on, each in a thread of its own."""
        from dbos import DBOS, DBOSPortableJSONSerializer

        def carry(request_id: str) -> str:  # DBOS takes functions only, no methods
            return carry_out(request_id)

        self.close()
        _refuse_pickle()
        config: DBOSConfig = {
            "name": QUEUE, "system_database_url": self._url, "dbos_system_schema": self._schema,
            "executor_id": executor_id, "application_version": VERSION, "log_level": "CRITICAL",
            "use_listen_notify": False, "enable_otlp": False, "serializer": DBOSPortableJSONSerializer(),
        }  # fmt: skip
        try:
            DBOS(config=config)
            self._carry_out = DBOS.workflow(name="carry_out")(carry)
            DBOS.listen_queues([QUEUE])
            DBOS.launch()
        except Exception as error:
            self.close()
            raise QueueLostError("the queue cannot be opened", error) from error

    def close(self) -> None:
        """Be given nothing any more; what this process still does ends by itself."""
        from dbos import DBOS

        self._shape = None
        with warnings.catch_warnings(action="ignore"):
            DBOS.destroy(destroy_registry=True)

    def arrange(
        self, pending: Iterable["AskedRequest"], alive: Collection[str], *, per_member: int, in_all: int
    ) -> int:
        """Bring the queue up to date with the store; how many requests were put into it.

        `alive` are the executor ids that the store knows: what stands under another one holds a place for nobody.
        """
        from dbos import DBOS

        try:
            self._bound(per_member, in_all)
            queued = DBOS.list_workflows(
                queue_name=QUEUE, status=["ENQUEUED", "PENDING"], load_input=False, load_output=False
            )
            dead = [one.workflow_id for one in queued if one.status == "PENDING" and one.executor_id not in alive]
            if dead:
                DBOS.cancel_workflows(dead)
            known = {one.deduplication_id for one in queued if one.workflow_id not in dead}
            missing = [request for request in pending if request.request_id not in known]
            for request in missing[: max(0, _MOST - len(known))]:
                self._enqueue(request)
        except Exception as error:
            raise QueueLostError("the queue cannot be used", error) from error
        return len(missing)

    def _enqueue(self, request: "AskedRequest") -> None:
        from dbos import DBOS, SetEnqueueOptions

        assert self._carry_out is not None
        # What was asked first comes first, also when it was interrupted and comes here again.
        age = int((datetime.fromisoformat(request.asked_at) - _EPOCH).total_seconds())
        priority = _SOON + max(1, age) if request.kind in LASTING else _SOON
        # Of several machines that put it there at the same moment, one does.
        with SetEnqueueOptions(
            deduplication_id=request.request_id, duplication_policy="return-existing", priority=priority
        ):
            DBOS.enqueue_workflow(QUEUE, self._carry_out, request.request_id)

    def _bound(self, per_member: int, in_all: int) -> None:
        """How many requests are carried out at the same time: by one member, and by all of them (0: no bound)."""
        from dbos import DBOS

        if self._shape == (per_member, in_all):
            return
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=min(per_member, in_all) if in_all else per_member,
            global_concurrency=in_all or None,
            polling_interval_sec=_POLLING,
            on_conflict="always_update",
        )
        self._shape = (per_member, in_all)


def _refuse_pickle() -> None:
    """A row names its serializer itself, so setting another one is not enough: DBOS must not unpickle any."""
    from dbos import _serialization

    def refuse(text: str) -> Any:
        raise ValueError(f"a pickled row of {len(text)} characters is not read")

    vars(_serialization.DBOSDefaultSerializer)["deserialize"] = refuse
