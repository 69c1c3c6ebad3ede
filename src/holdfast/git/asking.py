"""The one way in which git is asked: nothing that a repository says in its configuration can start a program.

A repository may come from anybody, and its `.git/config` names programs: filters, hooks, monitors, helpers of
transports. All of them are switched off here, the network too, and git neither answers for a repository around
the one that is meant nor waits for a terminal. What it prints comes in pieces; it ends with whoever asked, when
its time is over, and within a blink of a `stop`. What the answers mean is not known here.
"""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

from holdfast.errors import HoldfastError
from holdfast.process.group import end_group

if TYPE_CHECKING:
    import subprocess

__all__ = ["PLAIN_LOG", "Git", "GitError", "GitOutput", "GitStoppedError", "GitTimeoutError", "never"]

_LONGEST = 300.0  # seconds after which git is given up; a cold, huge tree on a network disk may take a minute
_LONGEST_LOOK = 30.0  # the same for the configuration alone, which is small, unless it includes a pipe
_POLL_SECONDS = 0.05
_SILENCE = 2.0  # seconds without a word, after which it is looked for what git may be waiting for
_PIECE = 1 << 16
_LARGEST_FIELD = 1 << 20
_LARGEST_WHOLE = 1 << 28
_LONGEST_COMPLAINT = 4096
_MOST_FILTERS = 500
_FOREVER = float("inf")
_RULES = (".gitattributes", ".gitignore", ".mailmap", ".git/info/exclude", ".git/info/attributes")
_RULES_BELOW = frozenset({".gitattributes", ".gitignore"})  # those that count in every directory
_EXCLUDES = b"core.excludesfile"

# Neither a user nor a repository changes what is printed, starts other programs, or makes git read without an end.
_CONFIGURATION = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false", "color.ui=false",
    "log.showRoot=true", "log.follow=false", "log.showSignature=false", "diff.relative=false",
    "diff.orderFile=/dev/null", "core.attributesFile=/dev/null", "mailmap.file=", "mailmap.blob=",
    "fetch.bundleURI=",
)  # fmt: skip
# Git runs these on the files of a work tree whenever it compares them with what is committed.
_FILTER_PROGRAMS = ("clean", "smudge", "process")

PLAIN_LOG = ("--no-ext-diff", "--no-textconv", "--no-color", "--encoding=UTF-8", "--ignore-submodules=all")
"""Arguments of every `log`: these programs of a configuration have no setting that switches them off."""


class GitError(HoldfastError):
    """Git could not be started, or ended with a complaint: its text."""


class GitStoppedError(GitError):
    """Git was ended by us, since the caller asked for it."""


class GitTimeoutError(GitStoppedError):
    """Git was ended by us, since its time was over."""


def never() -> bool:
    """The `stop` of a caller who does not stop."""
    return False


class Git:
    """Git at one directory. `deadline` (as of `monotonic`) is for all that is asked together."""

    def __init__(self, root: str | Path, *, stop: Callable[[], bool] = never, deadline: float = _FOREVER) -> None:
        self._root = os.fspath(root)
        self._stop = stop
        self._deadline = deadline
        self._without_filters: list[str] | None = None

    def check(self) -> None:
        """Raise when the caller wants to stop, or when there is no time left."""
        _check(self._stop, self._deadline)

    def start(self, *arguments: str, seconds: float = _LONGEST) -> "GitOutput":
        """Start git; what it prints is read from the answer, which ends git when it is left."""
        if self._without_filters is None:
            _refuse_waiting(self._root)
            self._without_filters = self._settled()
        return self._start([*self._without_filters, *arguments], seconds)

    def whole(self, *arguments: str, seconds: float = _LONGEST) -> bytes:
        """All that git prints, where that is known to be little."""
        with self.start(*arguments, seconds=seconds) as output:
            return output.whole()

    def _settled(self) -> list[str]:
        """Settings against what the configuration says that could start a program or make git wait."""
        with self._start(["config", "-z", "--name-only", "--list"], _LONGEST_LOOK) as output:
            keys = list(output.fields())
        return [*_filters_off(keys), *(self._no_pipe_of_rules() if _EXCLUDES in keys else ())]

    def _no_pipe_of_rules(self) -> list[str]:
        """A setting without the user's own rules, where these are no file: a pipe would never end."""
        asked = ["config", "-z", "--type=path", "--get", "core.excludesFile"]
        with self._start(asked, _LONGEST_LOOK) as output:
            path = os.fsdecode(output.whole().rstrip(b"\0"))
        with suppress(OSError, ValueError):  # it is not there, which git takes for no rules
            if stat.S_ISREG(os.stat(os.path.join(self._root, path)).st_mode):
                return []
        return _options(["core.excludesFile=/dev/null"])

    def _start(self, arguments: list[str], seconds: float) -> "GitOutput":
        import subprocess

        self.check()
        command = ["git", "--no-pager", "-C", self._root, *_options(_CONFIGURATION), *arguments]
        try:
            process = subprocess.Popen(
                command, env=_environment(self._root), bufsize=0, process_group=0,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise GitError(f"git cannot be started: {error.strerror}") from error
        except ValueError as error:  # a NUL in a path
            raise GitError(f"git cannot be started: {error}") from error
        return GitOutput(process, self._root, self._stop, min(self._deadline, monotonic() + seconds))


class GitOutput:
    """What one git prints. Reading it to its end raises GitError when git failed; leaving it ends git."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", root: str, stop: Callable[[], bool], deadline: float
    ) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._root = root
        self._out = process.stdout
        self._err = process.stderr
        self._stop = stop
        self._deadline = deadline

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End git and all that it started, if it is still there."""
        if self._process.poll() is None:
            end_group(self._process)
        self._process.wait()
        self._out.close()
        self._err.close()

    def pieces(self) -> Generator[bytes, None, None]:
        """The output as it comes."""
        import selectors

        out, err = self._out.fileno(), self._err.fileno()
        said = b""
        patient_until = monotonic() + _SILENCE
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            selector.register(err, selectors.EVENT_READ)
            while selector.get_map():
                _check(self._stop, self._deadline)
                ready = selector.select(_POLL_SECONDS)
                if not ready and monotonic() > patient_until:
                    self._refuse_waiting_below()
                    patient_until = _FOREVER  # it is a large tree, or a slow disk
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        selector.unregister(key.fd)
                    elif key.fd == out:
                        yield piece
                    else:
                        said = (said + piece)[:_LONGEST_COMPLAINT]
        code = self._code()
        if code:
            raise GitError(_complaint(said) or f"git ended with {code}")

    def fields(self, separator: bytes = b"\0") -> Generator[bytes, None, None]:
        """The parts of the output, each of which ends with the separator."""
        rest = b""
        for piece in self.pieces():
            *ended, rest = (rest + piece).split(separator)
            if len(rest) > _LARGEST_FIELD:
                raise GitError(f"git gave one answer of more than {_LARGEST_FIELD} bytes")
            yield from ended

    def whole(self) -> bytes:
        """All of the output."""
        said = bytearray()
        for piece in self.pieces():
            said += piece
            if len(said) > _LARGEST_WHOLE:
                raise GitError(f"git gave more than {_LARGEST_WHOLE} bytes")
        return bytes(said)

    def _refuse_waiting_below(self) -> None:
        """Look for a pipe in all directories, now that git is silent: most trees need not be gone through."""
        for place, directories, names in os.walk(self._root):
            _check(self._stop, self._deadline)
            for name in _RULES_BELOW.intersection(names):
                _refuse_pipe(self._root, os.path.relpath(os.path.join(place, name), self._root))
            if ".git" in directories:
                directories.remove(".git")

    def _code(self) -> int:
        """How git ended: having closed its output, it may still be at work."""
        import subprocess

        while True:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(_POLL_SECONDS)
            _check(self._stop, self._deadline)


def _filters_off(keys: "list[bytes]") -> list[str]:
    """Settings that empty every filter of a configuration with these keys: their names are free."""
    named = [os.fsdecode(key) for key in keys if key.startswith(b"filter.")]
    split = [key.removeprefix("filter.").rpartition(".") for key in named]
    names = dict.fromkeys(name for name, _, key in split if key in _FILTER_PROGRAMS)
    if len(names) > _MOST_FILTERS or any("=" in name for name in names):
        # Such a name cannot be written on the command line, so its program could not be switched off.
        raise GitError("the configuration has filters that cannot be switched off, so git is not asked")
    settings = [f"filter.{name}.{key}=" for name in names for key in _FILTER_PROGRAMS]
    settings += [f"filter.{name}.required=false" for name in names]
    return _options(settings)


def _check(stop: Callable[[], bool], deadline: float) -> None:
    if stop():
        raise GitStoppedError("stopped")
    if monotonic() > deadline:
        raise GitTimeoutError("out of time")


def _options(settings: "list[str] | tuple[str, ...]") -> list[str]:
    return [word for setting in settings for word in ("-c", setting)]


def _environment(root: str) -> dict[str, str]:
    """Our environment without what a hook or a caller says about another repository, and without the network."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG_") or name == "GIT_EXEC_PATH"
    }
    # A broken repository would make git answer for the one around it.
    ceiling = os.path.dirname(root) if os.path.lexists(os.path.join(root, ".git")) else ""
    # A partial clone would fetch what is missing with whatever program it names; no protocol is allowed to it.
    return kept | {
        "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_CEILING_DIRECTORIES": ceiling,
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C",
    }  # fmt: skip


def _refuse_waiting(root: str) -> None:
    """Git would wait for ever for the other end of a pipe that is called like a file with its rules."""
    for name in _RULES:
        _refuse_pipe(root, name)


def _refuse_pipe(root: str, name: str) -> None:
    with suppress(OSError, ValueError):  # most repositories lack some
        mode = os.lstat(os.path.join(root, name)).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
            raise GitError(f"its {name} is no file that could be read")


def _complaint(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").splitlines()
    worst = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    return worst.removeprefix("fatal: ").removeprefix("error: ").strip()
