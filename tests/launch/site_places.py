"""Workplaces on a small site, for tests of the workers that patch it."""

import atexit
import functools
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.launch.products import make_repository, run_config

from holdfast.launch.documents import encode, sha256
from holdfast.launch.work import Given, Workplace

__all__ = ["CLAIM", "given_of", "page_of", "place_on", "taken_over"]

CLAIM = "clm_" + "a" * 16


def place_on(
    tmp_path: Path,
    files: Mapping[str, bytes],
    *,
    worker: str = "linker_patcher",
    scope: str = "run",
    **changes: Any,
) -> Workplace:
    """A workplace whose site holds these files, with `content/<section>/tablekit/` allowed."""
    (tmp_path / "out").mkdir()
    site = tmp_path / "work" / "site"
    template, sha = _template(tuple(sorted(files.items())))
    shutil.copytree(template, site, symlinks=True)
    config = run_config(tmp_path / "product", "1" * 40, site, sha, **changes)
    return Workplace("r_2026-01-21T10-00-00Z_abcd", worker, scope, 1, config, tmp_path, tmp_path / "out", {})


@functools.cache
def _template(files: tuple[tuple[str, bytes], ...]) -> tuple[Path, str]:
    """A repository that tests copy, which is faster than making it; and its sha."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-site-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / "site", make_repository(folder / "site", dict(files))


def given_of(folder: Path, artifacts: Mapping[str, Any]) -> dict[str, Given]:
    """Artifacts as files: documents by their schema, text as it is."""
    given: dict[str, Given] = {}
    for number, (name, document) in enumerate(sorted(artifacts.items())):
        schema = "text" if isinstance(document, str) else name.removesuffix(".json").split(".")[0]
        content = document.encode() if isinstance(document, str) else encode(schema, document)
        path = folder / f"given-{number:03d}"
        path.write_bytes(content)
        given[name] = Given(path, sha256(content), schema)
    return given


def page_of(page_id: str, output_path: str, **more: Any) -> dict[str, Any]:
    """A planned page; its section is the first part of its id."""
    url = "/" + output_path.removeprefix("content/").removesuffix(".md").removesuffix("/_index") + "/"
    return {
        "page_id": page_id,
        "section": page_id.split("/", maxsplit=1)[0],
        "slug": page_id.rsplit("/", maxsplit=1)[-1],
        "output_path": output_path,
        "url_path": url,
        "title": "Tablekit",
        "purpose": "A page.",
        "page_role": "landing",
        "template": "landing",
        "required_headings": [],
        "required_claim_ids": [],
        "required_snippet_ids": [],
        "required_snippet_tags": [],
        "cross_links": [],
        "weight": 1,
    } | more


def taken_over(place: Workplace) -> dict[str, Given]:
    """What a worker has made, as it is given to the next one."""
    return {name: Given(made.path, made.sha256, made.schema_id) for name, made in place.made.items()}
