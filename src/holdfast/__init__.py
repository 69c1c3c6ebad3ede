"""Holdfast: MCP servers that survive crashes, with tool contracts that do not drift.

    from holdfast import Server, Context, ToolError, effect

Names are loaded when they are first used, so that `import holdfast` and `holdfast --help` cost next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.contract.model import Deprecation, ErrorSpec
    from holdfast.errors import ContractError, HoldfastError, ProcessError, StopWork, ToolError, UsageError
    from holdfast.present import normalize
    from holdfast.present.porcelain import Porcelain
    from holdfast.present.render import Presentation
    from holdfast.settings import Settings, load_settings
    from holdfast.vocabulary import effects as effect
    from holdfast.vocabulary.effects import SessionState
    from holdfast.worker.context import Context, SyncContext
    from holdfast.worker.server import Server

__all__ = [
    "Context",
    "ContractError",
    "Deprecation",
    "ErrorSpec",
    "HoldfastError",
    "Porcelain",
    "Presentation",
    "ProcessError",
    "Server",
    "SessionState",
    "Settings",
    "StopWork",
    "SyncContext",
    "ToolError",
    "UsageError",
    "__version__",
    "effect",
    "load_settings",
    "normalize",
]

_HOMES = {
    "Context": "holdfast.worker.context",
    "ContractError": "holdfast.errors",
    "Deprecation": "holdfast.contract.model",
    "ErrorSpec": "holdfast.contract.model",
    "HoldfastError": "holdfast.errors",
    "Porcelain": "holdfast.present.porcelain",
    "Presentation": "holdfast.present.render",
    "ProcessError": "holdfast.errors",
    "Server": "holdfast.worker.server",
    "SessionState": "holdfast.vocabulary.effects",
    "Settings": "holdfast.settings",
    "StopWork": "holdfast.errors",
    "SyncContext": "holdfast.worker.context",
    "ToolError": "holdfast.errors",
    "UsageError": "holdfast.errors",
    "load_settings": "holdfast.settings",
}
_MODULES = {"effect": "holdfast.vocabulary.effects", "normalize": "holdfast.present.normalize"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(_MODULES[name])
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
