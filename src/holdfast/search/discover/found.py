"""The words of discovery: what was found, what was left out and why, and what is known from before.

Plain data; the walk fills it, the index keeps it, `index status` shows it.
"""

from dataclasses import dataclass, field

__all__ = ["Discovery", "FoundFile", "KnownFile", "Limits", "Skipped"]

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest files that are indexed, in bytes, by what they are searched as."""

    code: int = 4 * _MIB
    prose: int = 4 * _MIB
    records: int = 16 * _MIB

    def of(self, mode: str) -> int:
        """The limit for files of one mode."""
        return {"code": self.code, "prose": self.prose}.get(mode, self.records)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to index; `path` is relative to the root, with `/`, and always valid Unicode."""

    path: str
    size: int
    mtime_ns: int
    mode: str  # code, prose or records
    language: str
    place: str = ""  # where it really lies, if not there
    ctime_ns: int = (
        0  # when anything about it last changed; a program can set back the other time, and not this one
    )


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not indexed; the path of a directory ends with `/`.

    `reason` is one of: ignored (by git), holdfastignore, configured (the configuration of the repository leaves it
    out), dependencies, version-control, nested-repository, submodule, symlink, special, name, binary, document,
    oversized, minified, unreadable. `size` and `mtime_ns` are those of a file that was looked at, so that it need
    not be looked at again; otherwise -1.
    """

    path: str
    reason: str
    detail: str = ""
    size: int = -1
    mtime_ns: int = -1


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What an earlier discovery said about a file: while size and time stay the same, it is not opened again."""

    size: int
    mtime_ns: int
    mode: str = ""
    language: str = ""
    skipped_reason: str | None = None
    detail: str = ""


@dataclass(slots=True)
class Discovery:
    """All that was seen below a root, sorted by path.

    `directories` holds the time of change of every directory that was listed (the root is "", one elsewhere its
    whole path), taken before it was listed; -1: it changed meanwhile and must be looked at again.
    `remarks` are for people.
    """

    files: list[FoundFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    directories: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def known(self) -> dict[str, KnownFile]:
        """What the next discovery may take over."""
        known = {f.path: KnownFile(f.size, f.mtime_ns, f.mode, f.language) for f in self.files}
        for one in self.skipped:
            if one.mtime_ns >= 0:
                known[one.path] = KnownFile(one.size, one.mtime_ns, skipped_reason=one.reason, detail=one.detail)
        return known
