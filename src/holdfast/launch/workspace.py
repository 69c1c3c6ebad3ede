"""Where runs are kept: one directory with everything of every run but what is in the database.

engine.lock            held by the one process that executes runs here
machine.lock           held by the one machine of a pool that works here
workspace.id           what the store knows this workspace by: no other can use the same store
runs.sqlite            the store, unless a database is named elsewhere
launch.log             what went wrong where nobody expected it, when runs were driven by the command line
objects/               artifacts, by their digest
runs/<run_id>/work/    the two repositories (in a pool also `bundle`: with which patches); events.ndjson and
                       snapshot.json beside it are exports, logs/ holds what workers said on stderr,
                       model_calls/ what a model was asked and answered
link_cache.json        what is known of links to other sites
services/              what the embedded commit service and telemetry service keep
"""

import contextlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.launch.identifiers import is_run_id
from holdfast.launch.token_grants import TokenGrants
from holdfast.settings import Settings

__all__ = ["Workspace", "workspace_of"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """One directory of runs, the database that belongs to it, and whom its runs may ask."""

    root: Path
    store_url: str
    is_offline: bool = False
    may_ask_private_hosts: bool = False
    trusted_sites: tuple[str, ...] = ()
    grants: TokenGrants = field(default_factory=TokenGrants)
    is_pool: bool = False
    """Whether the store is shared with other machines, and the directory a copy of what this one needs."""

    @property
    def lock(self) -> Path:
        """The file whose lock makes a process the owner of the engine."""
        return self.root / "engine.lock"

    @property
    def machine_lock(self) -> Path:
        """The file whose lock makes a process the only machine of a pool that works in this directory."""
        return self.root / "machine.lock"

    @property
    def objects(self) -> Path:
        """The content of artifacts."""
        return self.root / "objects"

    @property
    def services(self) -> Path:
        """What embedded services keep."""
        return self.root / "services"

    @property
    def links(self) -> dict[str, Any]:
        """How links to other sites are looked at."""
        cache = str(self.root / "link_cache.json")
        return {"cache": cache, "offline": self.is_offline, "private": self.may_ask_private_hosts}

    def trusts(self, site: str) -> bool:
        """Whether the build of this site may do whatever the site's own configuration allows it."""
        return site.rstrip("/").removesuffix(".git") in self.trusted_sites

    def number(self) -> int:
        """What tells this workspace from every other; made at first use, and moved with the directory."""
        path = self.root / "workspace.id"
        self.root.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            draft = self.root / f".workspace.{secrets.token_hex(6)}"
            draft.write_text(str(secrets.randbits(31)), encoding="ascii")
            with contextlib.suppress(FileExistsError):  # of two at once, one has made it
                path.hardlink_to(draft)
            draft.unlink()
        return int(path.read_text(encoding="ascii"))

    def run(self, run_id: str) -> Path:
        """The directory of one run."""
        assert is_run_id(run_id)  # it comes from the store, which has only such ones
        return self.root / "runs" / run_id


def workspace_of(settings: Settings) -> Workspace:
    """The workspace that the settings name; nothing is made yet."""
    root = (settings.launch_dir or settings.state_path() / "launch").absolute()
    url = settings.launch_store or f"sqlite:///{root / 'runs.sqlite'}"
    return Workspace(
        root,
        url,
        is_offline=settings.launch_offline_links,
        may_ask_private_hosts=settings.launch_private_links,
        trusted_sites=tuple(
            site.rstrip("/").removesuffix(".git") for site in settings.launch_trusted_sites.split(",") if site
        ),
        grants=TokenGrants(settings.launch_tokens),
        is_pool=settings.launch_engine == "dbos",
    )
