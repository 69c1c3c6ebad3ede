"""Where a run store is: the URLs that are understood, and what is wrong with the others.

sqlite:////absolute/path/runs.db, or postgresql://user@host/database (psycopg is the only driver that is used).
"""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

__all__ = ["FORMS", "parsed", "shown"]

FORMS = "use sqlite:////absolute/path/runs.db or postgresql://user@host/database"


def parsed(url: str) -> "URL":
    """The URL of a database that can be used here, with its driver; UsageError with what to do about any other."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        address = make_url(url)
    except (ArgumentError, ValueError, TypeError) as error:
        raise UsageError("the URL of the run store cannot be read", remedy=FORMS) from error
    kind, _, driver = address.drivername.partition("+")
    if kind == "sqlite" and driver in ("", "pysqlite"):
        return _file(address)
    if kind in ("postgresql", "postgres") and driver in ("", "psycopg"):
        if importlib.util.find_spec("psycopg") is None:
            raise UsageError("the driver of PostgreSQL is not here", remedy="pip install 'holdfast[postgres]'")
        return address.set(drivername="postgresql+psycopg")
    raise UsageError(f"a run store cannot be kept in {address.drivername!r}", remedy=FORMS)


def shown(address: "URL") -> str:
    """The URL without the passwords that it may hold; what reaches the driver may have one in its query too."""
    hidden = {name: "***" for name in address.query if "password" in name.lower()}
    return address.update_query_dict(hidden).render_as_string(hide_password=True)


def _file(address: "URL") -> "URL":
    if address.host or address.query or address.username:
        raise UsageError("the URL of a run store in SQLite is a path and nothing else", remedy=FORMS)
    # Several processes open it, each from where it happens to stand.
    if not address.database or not Path(address.database).is_absolute():
        raise UsageError("the path of a run store must be absolute", remedy=FORMS)
    if "\0" in address.database:
        raise UsageError("the path of a run store holds a zero byte", remedy=FORMS)
    return address.set(drivername="sqlite+pysqlite")
