"""Holdfast: MCP servers that survive crashes, with tool contracts that do not drift.

    from holdfast import Server, Context, ToolError, effect

Names are loaded when they are first used, so that `import holdfast` and `holdfast --help` cost next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.contract.model import Deprecation, ErrorSpec
    from holdfast.errors import (
        ContractError,
        HoldfastError,
        IncapableError,
        InputNeeded,
        ProcessError,
        QuestionError,
        StopWork,
        ToolError,
        UsageError,
    )
    from holdfast.present import marks, normalize
    from holdfast.present.content import (
        Annotations,
        Audio,
        Content,
        EmbeddedResource,
        Image,
        Message,
        ResourceContents,
        ResourceLink,
        Text,
        WithContent,
    )
    from holdfast.present.icons import Icon
    from holdfast.present.paging import Paging
    from holdfast.present.policy import surface_policy
    from holdfast.present.porcelain import Porcelain
    from holdfast.present.render import Presentation
    from holdfast.settings import Settings, load_settings
    from holdfast.vocabulary import effects as effect
    from holdfast.vocabulary.effects import SessionState
    from holdfast.worker import questions as question
    from holdfast.worker.context import Context, SyncContext
    from holdfast.worker.server import Server

__all__ = [
    "Annotations",
    "Audio",
    "Content",
    "Context",
    "ContractError",
    "Deprecation",
    "EmbeddedResource",
    "ErrorSpec",
    "HoldfastError",
    "Icon",
    "Image",
    "IncapableError",
    "InputNeeded",
    "Message",
    "Paging",
    "Porcelain",
    "Presentation",
    "ProcessError",
    "QuestionError",
    "ResourceContents",
    "ResourceLink",
    "Server",
    "SessionState",
    "Settings",
    "StopWork",
    "SyncContext",
    "Text",
    "ToolError",
    "UsageError",
    "WithContent",
    "__version__",
    "effect",
    "load_settings",
    "marks",
    "normalize",
    "question",
    "surface_policy",
]

_HOMES = {
    "Annotations": "holdfast.present.content",
    "Audio": "holdfast.present.content",
    "Content": "holdfast.present.content",
    "Context": "holdfast.worker.context",
    "ContractError": "holdfast.errors",
    "Deprecation": "holdfast.contract.model",
    "EmbeddedResource": "holdfast.present.content",
    "ErrorSpec": "holdfast.contract.model",
    "HoldfastError": "holdfast.errors",
    "Icon": "holdfast.present.icons",
    "Image": "holdfast.present.content",
    "IncapableError": "holdfast.errors",
    "InputNeeded": "holdfast.errors",
    "Message": "holdfast.present.content",
    "Paging": "holdfast.present.paging",
    "Porcelain": "holdfast.present.porcelain",
    "Presentation": "holdfast.present.render",
    "ProcessError": "holdfast.errors",
    "QuestionError": "holdfast.errors",
    "ResourceContents": "holdfast.present.content",
    "ResourceLink": "holdfast.present.content",
    "Server": "holdfast.worker.server",
    "SessionState": "holdfast.vocabulary.effects",
    "Settings": "holdfast.settings",
    "StopWork": "holdfast.errors",
    "SyncContext": "holdfast.worker.context",
    "Text": "holdfast.present.content",
    "ToolError": "holdfast.errors",
    "UsageError": "holdfast.errors",
    "WithContent": "holdfast.present.content",
    "load_settings": "holdfast.settings",
    "surface_policy": "holdfast.present.policy",
}
_MODULES = {
    "effect": "holdfast.vocabulary.effects",
    "marks": "holdfast.present.marks",
    "normalize": "holdfast.present.normalize",
    "question": "holdfast.worker.questions",
}


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
