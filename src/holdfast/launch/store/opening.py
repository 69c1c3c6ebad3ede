"""Opens the run store, and says what to install where that cannot be. Light until it is called."""

import importlib.util
from typing import TYPE_CHECKING

from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.launch.store.change import Owes
    from holdfast.launch.store.pool_store import PoolStore
    from holdfast.launch.store.run_store import RunStore

__all__ = ["open_pool_store", "open_store", "require_library"]


def open_pool_store(url: str, *, owes: "Owes | None" = None) -> "PoolStore":
    """The run store of a pool at this URL; UsageError with what to do where it cannot be used."""
    require_library()
    from holdfast.launch.store.pool_store import PoolStore

    return PoolStore(url) if owes is None else PoolStore(url, owes=owes)


def open_store(url: str, *, owes: "Owes | None" = None) -> "RunStore":
    """The run store at this URL, made where there is none; UsageError with what to do where it cannot be used."""
    require_library()
    from holdfast.launch.store.run_store import RunStore

    return RunStore(url) if owes is None else RunStore(url, owes=owes)


def require_library() -> None:
    """UsageError with what to install, where there is no store to be had."""
    if importlib.util.find_spec("sqlalchemy") is None:
        raise UsageError("launch runs need a database library", remedy="pip install 'holdfast[launch]'")
