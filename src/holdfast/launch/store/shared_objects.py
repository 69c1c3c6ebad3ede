"""Contents that every machine of a pool can have: kept in the database, and in files of this machine as a cache.

An object is in the database before anything says that it exists, so whoever goes on with a run on another machine
finds what was made on this one. A file that is gone, or damaged, is brought again.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.launch.documents import sha256 as digest_of
from holdfast.launch.store.objects import ObjectStore
from holdfast.launch.store.refusals import ObjectLost

if TYPE_CHECKING:
    from holdfast.launch.store.pool_store import PoolStore

__all__ = ["SharedObjects"]


class SharedObjects(ObjectStore):
    """The objects of a pool, as one of its machines sees them. For any number of threads and processes."""

    def __init__(self, root: Path, store: "PoolStore") -> None:
        super().__init__(root)
        self._store = store

    def put(self, content: Path | bytes) -> str:
        """Keep a content, here and for all; its digest. What all can have already is not sent again."""
        digest = super().put(content)
        if not self._store.has_object(digest):
            self._store.keep_object(digest, super().read(digest))
        return digest

    def here(self, sha256: str) -> Path:
        """The file of an object, brought from the database where this machine does not have it; ObjectLost."""
        if not self._is_whole(sha256):
            self._bring(sha256)
        return self.path_of(sha256)

    def has(self, sha256: str) -> bool:
        """Whether the object is there, here or elsewhere."""
        return super().has(sha256) or self._store.has_object(sha256)

    def read(self, sha256: str) -> bytes:
        """The content of an object; ObjectLost when no machine can have it."""
        try:
            return super().read(sha256)
        except ObjectLost:
            return self._bring(sha256)

    def _bring(self, sha256: str) -> bytes:
        content = self._store.object(sha256)
        if content is None:
            raise ObjectLost(sha256, "is not there")
        if digest_of(content) != sha256:
            raise ObjectLost(sha256, "is not what was kept")
        super().put(content)
        return content
