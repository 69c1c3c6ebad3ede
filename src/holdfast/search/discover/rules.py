"""The rules by which an entry is left out, for whoever walks a tree and for whoever asks about one path.

Where git answers, it has the last word about what it ignores; these rules are for all the rest.
"""

from collections.abc import Sequence

from holdfast.search.discover.ignore import IgnoreFile
from holdfast.search.discover.sniff import read_start

__all__ = ["Chain", "is_ignored", "read_ignore_file", "reason_of_name"]

# Ignore files with the paths that they stand in, "" or with a slash at the end; the nearest one comes last.
Chain = Sequence[tuple[str, IgnoreFile]]

_DEPENDENCIES = frozenset({"node_modules", "__pycache__"})
_VERSION_CONTROL = frozenset({".bzr", ".hg", ".jj", ".svn"})
_LARGEST_IGNORE_FILE = 1024 * 1024


def reason_of_name(directory: str) -> str | None:
    """Why a directory of this name is left out where git does not decide; None: it is not."""
    if directory in _DEPENDENCIES:
        return "dependencies"
    return "version-control" if directory in _VERSION_CONTROL else None


def read_ignore_file(path: str) -> IgnoreFile | None:
    """The patterns of an ignore file; None where there is none that counts."""
    try:
        content = read_start(path, _LARGEST_IGNORE_FILE)
    except OSError:  # gone, a link, or not ours to read: git takes no rules from it either
        return None
    return None if content is None else IgnoreFile(content)


def is_ignored(chain: Chain, path: str, name: str, is_directory: bool) -> bool:
    """Whether a chain of ignore files leaves an entry out: the nearest file that speaks of it decides."""
    for place, rules in reversed(chain):
        verdict = rules.verdict(path[len(place) :], name, is_directory)
        if verdict is not None:
            return verdict
    return False
