"""The tables that only a pool of machines needs, in the same PostgreSQL database as the others.

Moments are those of the database: the clocks of the machines need not agree.
"""

import sqlalchemy as sql

__all__ = ["MEMBERS", "OBJECTS", "POOL_SCHEMA"]

POOL_SCHEMA = sql.MetaData()
_TEXT = sql.Text(collation="C")

MEMBERS = sql.Table(
    "launch_members",
    POOL_SCHEMA,
    sql.Column("identity", _TEXT, primary_key=True),
    # Whoever executes has a name of its own; whoever only waits for an answer has none.
    sql.Column("name", _TEXT, nullable=True, unique=True),
    sql.Column("host", _TEXT, nullable=False),
    sql.Column("pid", sql.BigInteger(), nullable=False),
    sql.Column("concurrency", sql.BigInteger(), nullable=False),
    sql.Column("lease_seconds", sql.Float(), nullable=False),
    sql.Column("joined_at", sql.DateTime(timezone=True), nullable=False),
    sql.Column("seen_at", sql.DateTime(timezone=True), nullable=False),
)

OBJECTS = sql.Table(
    "launch_objects",
    POOL_SCHEMA,
    sql.Column("sha256", _TEXT, primary_key=True),
    sql.Column("content", sql.LargeBinary(), nullable=False),
)
