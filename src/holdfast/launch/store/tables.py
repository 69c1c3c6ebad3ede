"""The tables of the run store, the same on SQLite and PostgreSQL.

Moments and JSON are text, so that both databases keep them byte for byte and sort them alike.
"""

import sqlalchemy as sql

__all__ = [
    "ARTIFACTS",
    "EVENTS",
    "IDEMPOTENCY",
    "ISSUES",
    "META",
    "OUTBOX",
    "REQUESTS",
    "RUNS",
    "SCHEMA",
    "VERSION",
    "WORK_ITEMS",
]

VERSION = 1
"""Of these tables. A store that says a higher one was written by a newer Holdfast, and is left alone."""

SCHEMA = sql.MetaData()

# PostgreSQL would otherwise sort as the language of its cluster does.
_TEXT = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column of exactly this type.
_NUMBER = sql.BigInteger().with_variant(sql.Integer(), "sqlite")


def _text(name: str, *, is_key: bool = False, is_optional: bool = False) -> "sql.Column[str]":
    return sql.Column(name, _TEXT, primary_key=is_key, nullable=is_optional)


def _number(name: str, *, is_key: bool = False, is_optional: bool = False) -> "sql.Column[int]":
    return sql.Column(name, _NUMBER, primary_key=is_key, nullable=is_optional, autoincrement=False)


def _of_run(*, is_deferred: bool = False) -> "sql.Column[str]":
    reference = sql.ForeignKey(
        "launch_runs.run_id", deferrable=is_deferred or None, initially="DEFERRED" if is_deferred else None
    )
    return sql.Column("run_id", _TEXT, reference, primary_key=not is_deferred, nullable=False)


META = sql.Table("launch_meta", SCHEMA, _text("name", is_key=True), _number("value"))

RUNS = sql.Table(
    "launch_runs",
    SCHEMA,
    _text("run_id", is_key=True),
    _text("state"),
    _text("product_slug"),
    _text("config"),
    _text("config_sha256"),
    _text("started_at"),
    _text("finished_at", is_optional=True),
    _number("fix_attempts"),
    _text("failure", is_optional=True),
    _text("sections"),
    _number("last_seq"),
    _text("last_hash"),
    _text("holder", is_optional=True),
    _number("token"),
    sql.Index("launch_runs_by_age", "started_at", "run_id"),
)

IDEMPOTENCY = sql.Table(
    "launch_idempotency",
    SCHEMA,
    # A key may be long, and may hold what a database cannot keep: its digest does as well.
    _text("key_sha256", is_key=True),
    _of_run(is_deferred=True),  # the key is taken first, so that of two at once the second waits here
    _text("config_sha256"),
)

EVENTS = sql.Table(
    "launch_events",
    SCHEMA,
    _of_run(),
    _number("seq", is_key=True),
    _text("event_id"),
    _text("ts"),
    _text("type"),
    _text("payload"),
    _text("trace_id"),
    _text("span_id"),
    _text("parent_span_id", is_optional=True),
    _text("prev_hash"),
    _text("event_hash"),
)

ARTIFACTS = sql.Table(
    "launch_artifacts",
    SCHEMA,
    _of_run(),
    _text("name", is_key=True),
    _text("path"),
    _text("sha256"),
    _text("schema_id"),
    _text("writer_worker"),
    _number("size"),
    _number("seq"),
    _text("event_id"),
    _text("ts"),
)

WORK_ITEMS = sql.Table(
    "launch_work_items",
    SCHEMA,
    _of_run(),
    _text("work_item_id", is_key=True),
    _text("worker"),
    _text("scope"),
    _number("attempt"),
    _text("status"),
    _number("seq"),
    _text("inputs"),
    _text("outputs"),
    _text("started_at", is_optional=True),
    _text("finished_at", is_optional=True),
    _text("error", is_optional=True),
    _text("lease_owner", is_optional=True),
    _number("lease_token", is_optional=True),
    _text("leased_at", is_optional=True),
)

ISSUES = sql.Table(
    "launch_issues",
    SCHEMA,
    _of_run(),
    _text("issue_id", is_key=True),
    _text("status"),
    _text("document"),
)

OUTBOX = sql.Table(
    "launch_outbox",
    SCHEMA,
    sql.Column("id", _NUMBER, primary_key=True, autoincrement=True),
    _text("run_id"),
    _text("method"),
    _text("path"),
    _text("document"),
    _text("created_at"),
    _number("attempts"),
    _text("next_at", is_optional=True),
    _text("error", is_optional=True),
    sql.Index("launch_outbox_by_run", "run_id", "id"),
    sqlite_autoincrement=True,  # a number is never given twice, so that a late answer cannot strike another row
)

REQUESTS = sql.Table(
    "launch_requests",
    SCHEMA,
    sql.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sql.Column("request_id", _TEXT, nullable=False, unique=True),
    _text("run_id"),
    _text("kind"),
    _text("asked_by"),
    _text("asked_at"),
    _text("state"),
    _text("owner", is_optional=True),
    _text("outcome", is_optional=True),
    sql.Column("wants_cancel", sql.Boolean(), nullable=False),
    _text("answered_at", is_optional=True),
    sql.Index("launch_requests_by_state", "state", "number"),
    sqlite_autoincrement=True,
)
