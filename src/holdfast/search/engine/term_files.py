"""The files of the term index, as its own list of segments names them.

Whatever else lies beside them was left by a merge that did not come to its end, and is read by nobody.
"""

import json
from collections.abc import Iterator
from pathlib import Path

__all__ = ["files_of_terms"]

_META = "meta.json"


def files_of_terms(directory: Path) -> list[Path]:
    """The list itself, and every file of a segment in it."""
    segments = json.loads((directory / _META).read_bytes())["segments"]
    return [directory / _META, *(path for segment in segments for path in _files(directory, segment))]


def _files(directory: Path, segment: dict[str, object]) -> Iterator[Path]:
    name, deletes = str(segment["segment_id"]).replace("-", ""), segment.get("deletes")
    deleted = f"{name}.{deletes['opstamp']}.del" if isinstance(deletes, dict) else ""
    for path in sorted(directory.glob(f"{name}.*")):
        if path.suffix != ".del" or path.name == deleted:  # lists of deletions before this one may vanish
            yield path
