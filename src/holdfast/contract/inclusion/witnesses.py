"""Confirmed witnesses: values that an independent validator accepts by one whole schema and rejects by the other.

Nothing in this room is believed about a value until that validator has said so. It never fetches anything.
"""

from collections.abc import Iterable
from typing import Any, Literal

from holdfast.contract.inclusion.cost import visits
from holdfast.contract.inclusion.documents import Document
from holdfast.contract.inclusion.model import Undecided, Witness
from holdfast.contract.inclusion.sampling import samples

__all__ = ["Jury"]

_SAMPLES = 240
_MAX_VISITS = 200_000


def _refuse(uri: str) -> Any:
    raise LookupError(f"{uri} is not fetched")


class Jury:
    """The two whole schemas, as the independent validator reads them."""

    def __init__(self, old: Document, new: Document, *, assert_formats: bool, careful: bool) -> None:
        self._documents = [old, new]
        self._careful = careful
        self._old, self.trouble_old = _validator(old.written, assert_formats)
        self._new, self.trouble_new = _validator(new.written, assert_formats)
        self._searched: list[tuple[Any, tuple[bool, bool] | None]] | None = None

    @property
    def ready(self) -> bool:
        """Whether both schemas can be validated with."""
        return self._old is not None and self._new is not None

    def confirm(self, value: Any, side: Literal["old", "new"]) -> Witness | None:
        """A witness for one side, when exactly that side accepts the value."""
        if not self.ready:
            return None
        return Witness(value, side) if self._verdict(value) == _only(side) else None

    def first(self, values: Iterable[Any], side: Literal["old", "new"]) -> Witness | None:
        """The first of some values that is a witness for a side."""
        return next((found for value in values if (found := self.confirm(value, side))), None)

    def search(self, side: Literal["old", "new"]) -> Witness | None:
        """Look for a witness among values near both schemas."""
        if not self.ready:
            return None
        if self._searched is None:
            try:
                self._searched = [(value, self._verdict(value)) for value in samples(self._documents, _SAMPLES)]
            except (Undecided, TypeError, ValueError):  # a malformed schema gives no values to try
                self._searched = []
        found = [value for value, verdict in self._searched if verdict == _only(side)]
        return Witness(min(found, key=lambda value: len(repr(value))), side) if found else None

    def _verdict(self, value: Any) -> tuple[bool, bool] | None:
        """Whether the old and the new schema accept a value; None when it would take the validator too long."""
        if self._careful and max(visits(document, value) for document in self._documents) > _MAX_VISITS:
            return None
        return bool(self._old.is_valid(value)), bool(self._new.is_valid(value))


def _only(side: Literal["old", "new"]) -> tuple[bool, bool]:
    return side == "old", side == "new"


def _validator(schema: Any, assert_formats: bool) -> tuple[Any, str]:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(schema, validate_formats=assert_formats, retriever=_refuse), ""
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        return None, str(error).partition("\n")[0]
