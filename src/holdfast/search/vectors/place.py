"""Where the vectors of an index are, and whether it has any; needs no library, so that any search can ask.

<cache>/vector-models/<digest>/          model.onnx, tokenizer.json, about.json; shared by all indexes
<cache>/search/<repository>/
    vectors.json                         which model this index uses; replaced atomically
    vectors.db                           every vector by the content that it is of, for all builds and branches
    vectors.lock                         held by the one process that makes vectors
    builds/<build>/vectors/<digest>/<mode>/    the vectors of the chunks of that build (`table`)
"""

import contextlib
import json
import os
import secrets
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from holdfast.errors import ToolError
from holdfast.search.home import Build, IndexHome
from holdfast.search.private import private_files

__all__ = ["ChosenModel", "VectorPlace"]

_FORMAT = 1
_CHECKSUM = "crc32"  # of all else in the note; notes of earlier versions have none
_LOCK_HINT = "wait for it to finish, or stop that process"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model that an index uses."""

    digest: str  # of the model, of its tokenizer, and of how texts are made for it
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class VectorPlace:
    """The files about vectors of one index."""

    home: Path

    @classmethod
    def of(cls, home: IndexHome) -> "VectorPlace":
        """Those of an index home."""
        return cls(home.directory)

    @property
    def models(self) -> Path:
        """All models of the cache that the index is in."""
        return self.home.parent.parent / "vector-models"

    @property
    def cache(self) -> Path:
        """Vectors by content."""
        return self.home / "vectors.db"

    def model(self, chosen: ChosenModel) -> Path:
        """The files of a model."""
        return self.models / chosen.digest

    def table(self, build: Build, chosen: ChosenModel, mode: str) -> Path:
        """The vectors of one mode of a build."""
        return build.directory / "vectors" / chosen.digest / mode

    def chosen(self) -> ChosenModel | None:
        """The model in use; None where vectors were never asked for, or nothing can be read of it."""
        if not self.is_chosen():  # as in most indexes, and every search looks
            return None
        try:
            noted = json.loads(Path(f"{self.home}/vectors.json").read_bytes())
            if noted["format"] != _FORMAT or noted.pop(_CHECKSUM, _checksum(noted)) != _checksum(noted):
                return None
            chosen = ChosenModel(str(noted["digest"]), str(noted["name"]), int(noted["dimensions"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return chosen if chosen.digest.isalnum() and chosen.dimensions > 0 else None

    def is_chosen(self) -> bool:
        """Whether vectors were asked for, be it that nothing can be read of it any more."""
        return os.access(f"{self.home}/vectors.json", os.F_OK)

    def choose(self, chosen: ChosenModel) -> None:
        """Use a model from now on; needs the lock."""
        draft = self.home / f".vectors.{secrets.token_hex(4)}.draft"
        try:
            noted = {"format": _FORMAT, **asdict(chosen)}
            draft.write_text(json.dumps(noted | {_CHECKSUM: _checksum(noted)}))
            draft.replace(self.home / "vectors.json")
        finally:
            draft.unlink(missing_ok=True)

    @contextlib.contextmanager
    def making(self) -> Iterator[None]:
        """Be the one who makes vectors for this index; QUEUE_OVERLOADED where another process does."""
        import fcntl

        with private_files(), (self.home / "vectors.lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read(40).strip() or "unknown"
                message = f"vectors of this index are being made by process {holder}"
                raise ToolError("QUEUE_OVERLOADED", message, hint=_LOCK_HINT) from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield


def _checksum(noted: dict[str, object]) -> int:
    """The checksum of a note, without the one that is written in it."""
    body = {name: value for name, value in noted.items() if name != _CHECKSUM}
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())
