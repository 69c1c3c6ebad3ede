"""Custody of operating-system processes: a command and all that it starts never outlive the call that wanted them.

`run` carries one command from start to end; `spawn` gives the streams of a long-lived one. Both end the whole
tree, whichever way it tried to leave: TERM, a grace, KILL, verified. What could not be ended is reported.
"""

from holdfast.process.custody import Process
from holdfast.process.outcome import Completed, Outcome
from holdfast.process.runner import run
from holdfast.process.starting import spawn

__all__ = ["Completed", "Outcome", "Process", "run", "spawn"]
