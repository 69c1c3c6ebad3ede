"""Whether the libraries for vectors are installed; found out without loading them."""

import importlib.util

from holdfast.errors import ToolError

__all__ = ["INSTALL", "has_libraries", "require_libraries"]

INSTALL = "pip install 'holdfast[vector]'"
_TO_SEARCH = ("numpy", "onnxruntime", "tokenizers", "usearch")
_TO_CONVERT = ("onnx",)


def has_libraries() -> bool:
    """Whether a search can use vectors here."""
    return not _missing(_TO_SEARCH)


def require_libraries(*, converting: bool = False) -> None:
    """ToolError CAPABILITY_MISSING, with what to install, unless everything is there."""
    missing = _missing((*_TO_SEARCH, *(_TO_CONVERT if converting else ())))
    if missing:
        message = f"vectors need what is not installed here: {', '.join(missing)}"
        raise ToolError("CAPABILITY_MISSING", message, details={"missing": missing}, hint=f"run {INSTALL}")


def _missing(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not _is_there(name)]


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # a half of an installation
        return False
