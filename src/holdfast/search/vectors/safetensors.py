"""Reading a safetensors file: tensors by name, with nothing but numpy.

The format is a length, a JSON table, and bytes. A file that says anything else is refused before a byte of it is
used: it comes from elsewhere.
"""

import json
import os
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ToolError

__all__ = ["read_tensors"]

_LARGEST_TABLE = 16 << 20
_TYPES: dict[str, np.dtype[Any]] = {
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
}


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Every tensor of a file that numpy has a type for; those of other types are left out."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        if not 8 < start <= min(size, _LARGEST_TABLE):
            raise _refusal(path, "its table is cut off")
        table = _table(path, file.read(start - 8))
    content = np.memmap(path, dtype=np.uint8, mode="r")[start:]
    tensors = {}
    for name, entry in table.items():
        if name != "__metadata__":
            tensor = _tensor(path, name, entry, content)
            if tensor is not None:
                tensors[name] = tensor
    return tensors


def _table(path: Path, data: bytes) -> dict[str, Any]:
    try:
        table = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _refusal(path, "its table is no JSON") from error
    if not isinstance(table, dict):
        raise _refusal(path, "its table is no object")
    return table


def _tensor(path: Path, name: str, entry: Any, content: NDArray[np.uint8]) -> NDArray[Any] | None:
    try:
        kind, shape, (first, end) = entry["dtype"], [*map(int, entry["shape"])], entry["data_offsets"]
        kept = _TYPES.get(kind)
        is_inside = 0 <= first <= end <= len(content) and min(shape, default=0) >= 0
        if not is_inside or (kept is not None and prod(shape) * kept.itemsize != end - first):
            raise ValueError("it does not fit")
    except (KeyError, TypeError, ValueError) as error:
        raise _refusal(path, f"the tensor {name[:80]} is not where the table says") from error
    if kept is None:
        return None
    # Tensors need not begin at a multiple of their size, so they are copied, not looked at.
    return np.frombuffer(content[first:end].tobytes(), kept).reshape(shape)


def _refusal(path: Path, reason: str) -> ToolError:
    message = f"{os.path.basename(path)} is no safetensors file: {reason}"
    return ToolError("INVALID_REQUEST", message, hint="fetch the model again")
