"""What tests of the run store begin with: a moment, a configuration, a run."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from holdfast.launch.issues import issue
from holdfast.launch.store.records import Run
from holdfast.launch.store.run_store import RunStore

__all__ = ["CONFIG", "HASH", "NOW", "OTHER_HASH", "RUN", "broken_link", "later", "made_run", "tamper", "to_state"]

NOW = datetime(2026, 1, 21, 10, 0, tzinfo=UTC)
CONFIG: dict[str, Any] = {"product_slug": "tablekit", "required_sections": ["products", "docs", "blog"]}
HASH, OTHER_HASH = "a" * 64, "b" * 64
RUN = "r_2026-01-21T10-00-00Z_abcd"
_LINE = (
    "CLONED_INPUTS",
    "INGESTED",
    "FACTS_READY",
    "PLAN_READY",
    "DRAFTING",
    "DRAFT_READY",
    "LINKING",
    "VALIDATING",
)


def later(seconds: float) -> datetime:
    """A moment after NOW."""
    return NOW + timedelta(seconds=seconds)


def made_run(store: RunStore, run_id: str = RUN, *, key: str | None = None) -> Run:
    """A new run."""
    return store.create_run(run_id, CONFIG, HASH, now=NOW, idempotency_key=key)[0]


def to_state(store: RunStore, state: str, run_id: str = RUN) -> None:
    """Take a new run to a state on the way to VALIDATING."""
    with store.change(run_id, now=NOW) as change:
        for step in _LINE[: _LINE.index(state) + 1]:
            change.move(step)


def broken_link(section: str, line: int = 3, severity: str = "error") -> dict[str, Any]:
    """An issue in a section; its id does not depend on the line."""
    path = Path("content", section, "x.md").as_posix()
    return issue(
        "links", "LINK_BROKEN", severity, "A link leads nowhere.", path=path, line=line, data={"section": section}
    )


def tamper(url: str, statement: str) -> None:
    """Do to the database what nobody should."""
    engine = sql.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
    finally:
        engine.dispose()
