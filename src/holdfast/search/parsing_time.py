"""Computing time for parsing: a file gets what its size allows, and no more.

The pool gives up on a process that says nothing for a while, which has to be a long while, because a machine may
be busy: what is given up is indexed as plain text until it changes. Computing time is told apart from waiting by
the kernel: a grammar that loops over three lines is ended after seconds, whatever else goes on, and even though it
never comes back to the interpreter.
"""

import signal

from holdfast.search.embedded import HOSTS
from holdfast.search.prepare import FileToPrepare, Unchanged, Vanished, prepare
from holdfast.search.prepared import PreparedFile

__all__ = ["prepare_in_time", "seconds_for"]

_LEAST = 3.0  # loading a grammar and its query takes a good part of a second
_LEAST_OF_A_DOCUMENT = 20.0  # its own library takes the time that it takes
_BYTES_PER_SECOND = 100_000  # a tenth of what is usual for code


def seconds_for(size: int, *, is_code: bool = True) -> float:
    """The computing time that a file of so many bytes may take."""
    return (_LEAST if is_code else _LEAST_OF_A_DOCUMENT) + size / _BYTES_PER_SECOND


def prepare_in_time(task: FileToPrepare) -> PreparedFile | Unchanged | Vanished:
    """What `prepare` gives; the process is ended by SIGPROF when a file takes too long.

    Only for a process of its own: the pool tells this end from a crash.
    """
    try:
        size = task.location.stat().st_size
    except OSError:
        return Vanished(task.path)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    is_code = task.mode == "code" or task.language in HOSTS
    signal.setitimer(signal.ITIMER_PROF, seconds_for(size, is_code=is_code))
    try:
        return prepare(task)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
