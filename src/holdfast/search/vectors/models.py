"""The models of this machine: brought here, checked, converted where that is needed, and known by their content.

A model comes by the name of a known one, from a directory, a file or an archive of the user's own, or from a URL
with its SHA-256. What is kept is a copy (`place` says where), so a search does not depend on where it came from.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import ToolError
from holdfast.search.downloads import download_models
from holdfast.search.downloads.failures import storing
from holdfast.search.downloads.known import MODELS
from holdfast.search.downloads.unpack import is_archive
from holdfast.search.vectors.available import require_libraries
from holdfast.search.vectors.convert import WEIGHTS, convert
from holdfast.search.vectors.model import MAX_TOKENS, MODEL, TOKENIZER, SentenceModel
from holdfast.search.vectors.passages import RECIPE
from holdfast.search.vectors.place import ChosenModel
from holdfast.search.vectors.table import seal_of

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["DEFAULT_MODEL", "bring_model", "is_ready"]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_ABOUT = "about.json"
_WEB = ("http://", "https://")
_CONVERSION = 1  # rises when the same weights give another model
_MOST_DIRECTORIES = 1000


class _Files(NamedTuple):
    """The two files that make a model; `model` may be weights that have to be converted."""

    model: Path
    tokenizer: Path


def bring_model(
    cache_dir: Path,
    model: str | None,
    sha256: str | None,
    *,
    sources: Mapping[str, Mapping[str, Any]] | None = None,
    progress: "Progress",
    stop: "Stop",
) -> ChosenModel:
    """The model that is meant, ready to be loaded from the cache; `model` is a name, a path or a URL.

    `sources` are those of a repository; they count only for a model that is named.
    """
    wanted = model or DEFAULT_MODEL
    local = Path(os.path.expanduser(wanted))
    is_name = wanted in MODELS or wanted in (sources or {})
    if wanted.startswith(_WEB) and sha256 is None:
        message = "a model is not fetched from a URL without a SHA-256 to verify it"
        raise ToolError("INVALID_REQUEST", message, hint="give --sha256 with its 64 hexadecimal digits")
    if not is_name and _is_local(local):
        files, name = _files_at(local), local.resolve().name
    else:
        report = download_models(
            cache_dir, model=wanted if is_name else None, source=None if is_name else wanted, sha256=sha256,
            sources=sources, progress=progress, stop=stop,
        )  # fmt: skip
        files, name = _files_at(Path(report["dir"])), report["model"]
    with storing("the model"):
        return _kept(cache_dir / "vector-models", files, name, progress)


def is_ready(place: Path) -> bool:
    """Whether a model is in the cache, as a whole."""
    return _noted_dimensions(place) is not None


def _is_local(path: Path) -> bool:
    """Whether a path is to be used as it is; an archive is unpacked first, like any other download."""
    return path.is_dir() or (path.is_file() and not is_archive(path))


def _files_at(path: Path) -> _Files:
    """The files of a model in a directory, or beside the file of one; INVALID_REQUEST where they are not clear."""
    if path.is_file():
        found = [_Files(path, path.parent / TOKENIZER)] if (path.parent / TOKENIZER).is_file() else []
    else:
        found = list(_models_below(path))
    if len(found) == 1:
        return found[0]
    what = "no model" if not found else f"{len(found)} models"
    message = f"there is {what} in {path.name}: it has to be one {MODEL} with its {TOKENIZER}"
    raise ToolError("INVALID_REQUEST", message, details={"found": [str(files.model) for files in found[:10]]})


def _models_below(directory: Path) -> Iterator[_Files]:
    for number, (place, _, names) in enumerate(os.walk(directory)):
        if number > _MOST_DIRECTORIES:
            return
        if TOKENIZER in names:
            likely = (Path(place, MODEL), Path(place, "onnx", MODEL), Path(place, WEIGHTS))
            present = [path for path in likely if path.is_file()]
            yield from (_Files(path, Path(place, TOKENIZER)) for path in present[:1])


def _kept(models: Path, files: _Files, name: str, progress: "Progress") -> ChosenModel:
    """The copy in the cache, made where it is not there; what is there is known to work."""
    needs_conversion = files.model.name == WEIGHTS
    require_libraries(converting=needs_conversion)
    digest = _digest(files)
    place = models / digest
    dimensions = _noted_dimensions(place)
    if dimensions is None:
        progress("model", 0, None, f"preparing {name}")
        models.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=models) as work:
            draft = Path(work, "model")
            draft.mkdir()
            shutil.copyfile(files.tokenizer, draft / TOKENIZER)
            if needs_conversion:
                convert(files.model.parent, draft / MODEL)
            else:
                shutil.copyfile(files.model, draft / MODEL)
            dimensions = SentenceModel(draft).dimensions  # one that does not work is refused here
            (draft / _ABOUT).write_text(json.dumps({"name": name, "dimensions": dimensions}))
            seal_of(draft).write([draft / MODEL, draft / TOKENIZER, draft / _ABOUT])
            shutil.rmtree(place, ignore_errors=True)  # it may be there, and damaged
            draft.rename(place)
    return ChosenModel(digest, name, dimensions)


def _noted_dimensions(place: Path) -> int | None:
    try:
        if seal_of(place).damage():
            return None
        noted = json.loads((place / _ABOUT).read_bytes())["dimensions"]
        return int(noted) if (place / MODEL).is_file() and (place / TOKENIZER).is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(files: _Files) -> str:
    """What decides about vectors: the model, its tokenizer, and how texts are made for it."""
    whole = hashlib.sha256(f"{_CONVERSION}:{RECIPE}:{MAX_TOKENS}".encode())
    for path in files:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:32]
