"""A home of its own for each scenario, and the list of what a watched program may do in it."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.tracer import Event

__all__ = ["HOLDFAST", "Place", "make_place"]

HOLDFAST = str(Path(sys.executable).with_name("holdfast"))
# Files that the C library, Python and Git open for writing or connect to in any program.
_ANYBODYS_FILES = ("/dev/null", "/dev/tty", "/dev/shm/", "/proc/self/", "/proc/thread-self/")
_ANYBODYS_SOCKETS = ("unix:/var/run/nscd/", "unix:/run/systemd/", "family 16", "family 0")


@dataclass
class Place:
    """Directories of one scenario; the environment holds a secret that nobody may get."""

    root: Path
    secret: str = "correct-horse-battery-staple"
    programs: set[str] = field(default_factory=set)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the person at the keyboard, with a password in it."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "LANG": "C.UTF-8",
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def unlisted(
        self, events: Iterable[Event], *, writes: Iterable[Path] = (), connections: Iterable[str] = ()
    ) -> list[str]:
        """The events that nothing here allows, as text."""
        own = tuple(f"{self.root / name}/" for name in ("state", "cache", "tmp"))
        writable = (*own, *map(str, writes))
        sockets = (*_ANYBODYS_SOCKETS, *(f"unix:{folder}" for folder in own), *connections)
        return [str(event) for event in dict.fromkeys(events) if not self._is_listed(event, writable, sockets)]

    def _is_listed(self, event: Event, writable: tuple[str, ...], sockets: tuple[str, ...]) -> bool:
        subject = event.subject
        if event.kind == "write":
            return f"{subject}/".startswith(writable) or subject.startswith(_ANYBODYS_FILES)
        if event.kind in {"connect", "bind"}:
            # Port 0 of a loopback address is a look for a free port; nothing is sent.
            return subject.startswith(sockets) or (event.kind == "bind" and subject.startswith(("127.", "[::1]")))
        if event.kind == "exec":
            return os.path.realpath(subject) in self.programs
        if event.kind == "map":
            return subject.startswith(_libraries())
        return False


def _libraries() -> tuple[str, ...]:
    """Where code may be mapped from: this environment, its Python and the system."""
    paths = {sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"], "/usr/", "/lib/", "/lib64/"}
    return tuple(f"{path.rstrip('/')}/" for path in {*paths, *map(os.path.realpath, paths)})


def make_place(root: Path) -> Place:
    """An empty home, and the programs that Holdfast itself needs: its Python, its script and Git."""
    place = Place(root)
    for name in ("home", "state", "cache", "tmp", "outside", "repository"):
        (root / name).mkdir(mode=0o700)
    git = shutil.which("git")
    assert git is not None
    place.programs = {os.path.realpath(program) for program in (sys.executable, HOLDFAST, git)}
    (place.outside / "secret.txt").write_text(f"password = {place.secret}\n")
    return place
