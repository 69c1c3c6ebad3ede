"""The keeper: a small program that stands in front of one command and sees its whole process tree to its end.

It is not imported by the server for its functions; it runs as a process of its own, on the bare standard library
(`python -I -S`), one for each command. It has two links to the server: a socket, whose end of file says that the
server is gone, and on Linux the parent-death signal. It owns the tree in three ways: the command leads a session
and group of its own; on Linux the keeper is the subreaper of everything below it, so that a process which calls
setsid or daemonizes comes back to the keeper as a child; and the command dies by signal when the keeper dies.

    request  -> fork, exec -> started | refused
    "stop g" | end of file | SIGTERM | the command ended  -> TERM, up to g seconds, KILL -> ended

Modules are imported sparingly, since every command waits for this program to start.
"""

import errno
import os
import select
import sys
import time

TYPE_CHECKING = False  # `typing` costs more than all of this program
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
else:
    import _signal as signal  # what `signal` wraps in enums, which cost 4 ms

__all__ = ["KILL_BOUND", "Keeper", "Request", "Row", "execute", "main", "process_table"]

KILL_BOUND = 5.0  # seconds in which SIGKILL must have ended everything; what is left then is told as a survivor
TICK = 0.1  # longest sleep of the stop phase; on Linux every death that matters wakes the keeper earlier
KILL_TICK = 0.05

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Request:
    """What to run, sent as `LENGTH\\n` and NUL-separated fields, since none of them can hold a NUL."""

    def __init__(self, body: bytes) -> None:
        parent, grace, self.cwd, argc, *rest = body.split(b"\0")
        self.parent = int(parent)
        self.grace = float(grace)
        self.argv = rest[: int(argc)]
        self.env = dict(pair.split(b"=", 1) for pair in rest[int(argc) :])

    @staticmethod
    def read(control: int) -> "Request | None":
        """The request, or None when the server went away before it was complete."""
        data = b""
        while b"\n" not in data or len(data) < data.index(b"\n") + 1 + int(data.split(b"\n", 1)[0]):
            chunk = _receive(control, 1 << 20)
            if not chunk:
                return None
            data += chunk
        return Request(data.split(b"\n", 1)[1])


def _receive(control: int, size: int) -> bytes:
    try:
        return os.read(control, size)
    except ConnectionResetError:  # the server died with a record of ours still unread
        return b""


class Row:
    """One line of the process table."""

    __slots__ = ("parent", "group", "zombie")  # noqa: RUF023 - in the order of the table

    def __init__(self, parent: int, group: int, zombie: bool) -> None:
        self.parent = parent
        self.group = group
        self.zombie = zombie


def process_table() -> dict[int, Row]:
    """Every process of the machine, by process id."""
    return _table_of_proc() if os.path.exists("/proc/self/stat") else _table_of_ps()


def _table_of_proc() -> dict[int, Row]:
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb", buffering=0) as file:
                data = file.read()
        except OSError:
            continue  # it ended since the listing
        # The second field is the program's name in brackets and may itself contain spaces and brackets.
        state, parent, group = data[data.rindex(b")") + 2 :].split(None, 3)[:3]
        table[int(name)] = Row(int(parent), int(group), state in b"ZX")
    return table


def _table_of_ps() -> dict[int, Row]:
    import subprocess

    ps = subprocess.Popen(["ps", "-axo", "pid=,ppid=,pgid=,stat="], stdout=subprocess.PIPE)
    lines = ps.communicate()[0].splitlines()
    table = {}
    for line in lines:
        pid, parent, group, state = line.split(None, 3)
        table[int(pid)] = Row(int(parent), int(group), state.startswith(b"Z"))
    table.pop(ps.pid, None)
    return table


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        import ctypes
    except ImportError:  # an interpreter that was built without libffi
        return False
    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def _die_with(parent: int, number: int) -> bool:
    """Ask for signal `number` when `parent` dies; False when it is dead already, so that no signal will come."""
    _prctl(PR_SET_PDEATHSIG, number)
    return os.getppid() == parent


def _send(kill: "Callable[[int, int], None]", target: int, number: int) -> None:
    try:  # noqa: SIM105 - contextlib is not worth its import here
        kill(target, number)
    except (ProcessLookupError, PermissionError):
        pass  # it ended meanwhile, or may not be signalled; the final count tells which


def execute(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """Become the program `argv[0]`, looked up on the PATH of `env`; returns only by raising OSError."""
    if b"/" in argv[0]:
        os.execve(argv[0], argv, env)  # noqa: S606
    failure = OSError(errno.ENOENT, "")
    for directory in env.get(b"PATH", os.defpath.encode()).split(b":"):
        try:
            os.execve((directory or b".") + b"/" + argv[0], argv, env)  # noqa: S606
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as denied:
            failure = denied
    raise failure


class Keeper:
    """The state of one custody: the command, how it ended, and what else still lives."""

    def __init__(self, control: int) -> None:
        self.control = control
        self.wake = _wake_on_signals()
        self.command = 0
        self.status: int | None = None  # how the command ended, as wait(2) tells it
        self.childless = False
        self.adopts = _prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.known: set[int] = set()  # where nothing is adopted: members that may since have lost their parent

    def start(self, request: Request) -> str:
        """Fork the command; "" or the record that says why it could not be executed."""
        reading, writing = os.pipe()
        keeper = os.getpid()
        self.command = os.fork()
        if self.command == 0:
            _become_command(request, keeper, writing)
        os.close(writing)
        # From here on the pipes of the command are the command's alone, so that their end of file is true.
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.close(null)
        failure = os.read(reading, 64).split()  # end of file: exec has closed the other end
        os.close(reading)
        if failure:
            os.waitpid(self.command, 0)
            step, number = failure
            return f'{{"event": "refused", "step": "{step.decode()}", "errno": {int(number)}}}\n'
        return ""

    def watch(self, grace: float) -> tuple[bool, float]:
        """Sleep until the command ends by itself (False) or must be stopped (True), and with how much grace."""
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        poller.register(self.wake, select.POLLIN)
        while True:
            self.reap()
            if self.status is not None:
                return False, grace
            for descriptor, _ in poller.poll():
                if descriptor == self.control:
                    words = _receive(self.control, 64).split()
                    return True, float(words[1]) if words else grace
                if any(number != signal.SIGCHLD for number in os.read(self.wake, 512)):
                    return True, grace

    def end_tree(self, grace: float) -> tuple[bool, list[int]]:
        """TERM, up to `grace` seconds, KILL; whether KILL was needed, and who is alive in spite of it."""
        if self.gone():
            return False, []
        self.signal_tree(signal.SIGTERM, signal.SIGCONT)  # a stopped process must run on to see the request
        if self.wait_gone(grace):
            return False, []
        deadline = time.monotonic() + KILL_BOUND
        while time.monotonic() < deadline:
            self.signal_tree(signal.SIGKILL)  # again each time: the dead may have left children behind
            if self.wait_gone(KILL_TICK):
                return True, []
        alive = [pid for pid, row in self.members().items() if not row.zombie]
        return True, sorted(alive) or [self.command]  # a tree that cannot be listed is told by its root

    def members(self) -> dict[int, Row]:
        """The command and all that descends from it, as far as it exists at this moment."""
        table = process_table()
        children: dict[int, list[int]] = {}
        for pid, row in table.items():
            children.setdefault(row.parent, []).append(pid)
        pending = list(children.get(os.getpid(), ()))
        if not self.adopts:
            pending += [pid for pid, row in table.items() if row.group == self.command or pid in self.known]
        found: dict[int, Row] = {}
        while pending:
            pid = pending.pop()
            if pid not in found:
                found[pid] = table[pid]
                pending += children.get(pid, ())
        self.known.update(found)
        return found

    def signal_tree(self, *numbers: int) -> None:
        """Signal the command's group as one, which no fork escapes, and each member that has left it."""
        members = self.members()
        # An empty group's number can belong to a stranger, so it is used only while a member carries it.
        grouped = any(row.group == self.command for row in members.values())
        outside = [pid for pid, row in members.items() if row.group != self.command]
        for number in numbers:
            if grouped:
                _send(os.killpg, self.command, number)
            for pid in outside:
                _send(os.kill, pid, number)

    def reap(self) -> None:
        """Collect every child that has ended, the adopted ones too."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid == 0:
                return
            if pid == self.command:
                self.status = status

    def gone(self) -> bool:
        """Whether the whole tree has ended."""
        self.reap()
        if self.adopts:  # a subreaper that has no children has no descendants either: the kernel's own word
            return self.childless
        return self.status is not None and all(row.zombie for row in self.members().values())

    def wait_gone(self, seconds: float) -> bool:
        """Wait up to `seconds` for the whole tree to end."""
        poller = select.poll()
        poller.register(self.wake, select.POLLIN)
        deadline = time.monotonic() + seconds
        while not self.gone():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if poller.poll(max(1, int(min(left, TICK) * 1000))):
                os.read(self.wake, 512)
        return True

    def tell(self, record: str) -> None:
        """Send a record to the server, if it is still there."""
        try:  # noqa: SIM105
            os.write(self.control, record.encode())
        except OSError:
            pass  # the server died; the tree is what matters now


def _wake_on_signals() -> int:
    """A descriptor that becomes readable, with the signal's number, on each signal that this program handles."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return reading


def _become_command(request: Request, keeper: int, report: int) -> None:
    """The life of the forked child up to its exec; `report` is closed by the exec itself."""
    step = b"start"
    try:
        signal.set_wakeup_fd(-1)
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # the interpreter ignores them; programs expect them
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if _die_with(keeper, signal.SIGKILL):
            step = b"chdir"
            os.chdir(request.cwd)
            step = b"exec"
            execute(request.argv, request.env)
    except OSError as failure:
        os.write(report, step + b" %d" % (failure.errno or 0))
    finally:
        os._exit(127)


def main(control: int) -> None:
    """Keep one command, from the request on the socket `control` to the report of its end."""
    os.set_inheritable(control, False)  # noqa: FBT003
    request = Request.read(control)
    if request is None:
        return
    keeper = Keeper(control)
    if not _die_with(request.parent, signal.SIGTERM):
        return
    refusal = keeper.start(request)
    if refusal:
        keeper.tell(refusal)
        return
    keeper.tell(f'{{"event": "started", "pid": {keeper.command}}}\n')
    stopped, grace = keeper.watch(request.grace)
    killed, survivors = keeper.end_tree(grace)
    code = "null" if keeper.status is None else os.waitstatus_to_exitcode(keeper.status)
    flags = f'"stopped": {str(stopped).lower()}, "killed": {str(killed).lower()}'
    keeper.tell(f'{{"event": "ended", "code": {code}, {flags}, "survivors": {survivors}}}\n')


if __name__ == "__main__":
    main(int(sys.argv[1]))
    os._exit(0)  # nothing is left to clean up, and the server waits for the end of this process
