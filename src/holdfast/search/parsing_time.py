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

__all__ = ["EXCESS_USED", "excess_of", "most_excess", "prepare_in_time", "seconds_for"]

EXCESS_USED = "the computing time of the whole build for slow files is used up"

_LEAST = 3.0  # loading a grammar and its query takes a good part of a second
_LEAST_OF_A_DOCUMENT = 20.0  # its own library takes the time that it takes
_BYTES_PER_SECOND = 100_000  # a tenth of what is usual for code
# A whole build: what a file takes beyond a quarter of the usual pace is summed up. Repositories that were not made
# slow on purpose have 0.2 seconds of it, most of which loads grammars.
_FAIR, _FAIR_BYTES_PER_SECOND = 0.05, 250_000
_EXCESS, _EXCESS_PER_FAIR = 4.0, 0.02

_own_excess = 0.0  # of the files that this process has parsed


def seconds_for(size: int, *, is_code: bool = True) -> float:
    """The computing time that a file of so many bytes may take."""
    return (_LEAST if is_code else _LEAST_OF_A_DOCUMENT) + size / _BYTES_PER_SECOND


def excess_of(seconds: float, size: int) -> float:
    """How much longer a file took than it may when all are like it."""
    return max(0.0, seconds - _fair(1, size))


def most_excess(files: int, size: int) -> float:
    """How much of that a build of so many files with so many bytes may have; the rest becomes plain text.

    One file that hangs its parser is within it, several that do are not.
    """
    return _EXCESS + _EXCESS_PER_FAIR * _fair(files, size)


def _fair(files: int, size: int) -> float:
    return files * _FAIR + size / _FAIR_BYTES_PER_SECOND


def prepare_in_time(task: FileToPrepare) -> PreparedFile | Unchanged | Vanished:
    """What `prepare` gives; the process is ended by SIGPROF when a file takes too long.

    Only for a process of its own: the pool tells this end from a crash.
    """
    try:
        size = task.location.stat().st_size
    except OSError:
        return Vanished(task.path)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    global _own_excess  # noqa: PLW0603 - a parser process does nothing else
    if _own_excess > task.most_excess and not task.plain:  # the build does not know yet of what was sent ahead
        task = task._replace(plain=EXCESS_USED)
    is_code = task.mode == "code" or task.language in HOSTS
    signal.setitimer(signal.ITIMER_PROF, seconds_for(size, is_code=is_code))
    try:
        done = prepare(task)
        if isinstance(done, PreparedFile) and is_code:
            _own_excess += excess_of(sum(done.costs.values()), size)
        return done
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
