"""The comparison of two schemas: the verdict, its witnesses, and every change behind it.

Nothing here raises for what a schema says: what cannot be read or decided is `unknown`, with the reason.
"""

import json
from typing import Any

import orjson

from holdfast.contract.inclusion.change_arrays import array_changes
from holdfast.contract.inclusion.change_combined import combined_changes, reference_changes
from holdfast.contract.inclusion.change_objects import object_changes
from holdfast.contract.inclusion.change_scalars import (
    count_changes,
    number_changes,
    string_changes,
    type_changes,
    value_changes,
)
from holdfast.contract.inclusion.changes import Draft, Walker
from holdfast.contract.inclusion.engine import Engine, Whole
from holdfast.contract.inclusion.evaluate import holds
from holdfast.contract.inclusion.model import Comparison, Effect, Limits, SchemaChange, Undecided, Witness
from holdfast.contract.inclusion.nodes import Node
from holdfast.contract.inclusion.values import check_size

__all__ = ["compare_schemas"]

_HANDLERS = (
    type_changes,
    value_changes,
    number_changes,
    count_changes,
    string_changes,
    array_changes,
    object_changes,
    combined_changes,
    reference_changes,
)
_MAX_WITNESSES = 40
_DEFAULT_LIMITS = Limits()


def compare_schemas(
    old: Any, new: Any, *, limits: Limits = _DEFAULT_LIMITS, assert_formats: bool = False
) -> Comparison:
    """What became of the values that `old` accepts, now that `new` decides.

    `assert_formats` reads `format` as a demand instead of an annotation.
    """
    if _same_bytes(old, new):
        return Comparison(Effect.EQUAL)
    try:
        check_size(old, limits)
        check_size(new, limits)
        return _compare(Engine(old, new, limits, assert_formats=assert_formats))
    except (Undecided, RecursionError, ValueError) as error:
        deep = isinstance(error, RecursionError)
        reason = "the schemas are nested too deeply" if deep else str(error)
        change = SchemaChange("schema.undecided", "", Effect.UNKNOWN, reason)
        return Comparison(Effect.UNKNOWN, (change,), reason_unknown=reason)


def _same_bytes(old: Any, new: Any) -> bool:
    """Whether two schemas are the same text but for the order of keys; never true for what is not JSON."""
    try:
        written = [orjson.dumps(schema, option=orjson.OPT_SORT_KEYS) for schema in (old, new)]
        if b"null" not in written[0]:  # NaN is written so
            return written[0] == written[1]
        written = [json.dumps(schema, sort_keys=True, allow_nan=False).encode() for schema in (old, new)]
    except (TypeError, ValueError, RecursionError):
        return False
    return written[0] == written[1]


def _compare(engine: Engine) -> Comparison:
    engine.check()
    whole = engine.whole()
    engine.solver.refill()
    walker = Walker(engine, _HANDLERS)
    start_old, start_new = engine.old.document.start, engine.new.document.start
    walker.visit((start_old.schema, start_old.base), (start_new.schema, start_new.base), None, None)
    drafts = [*_dialect(engine, whole), *walker.finish(whole.effect, whole.reason)]
    changes = _Witnesses(engine, whole, drafts).changes()
    return Comparison(whole.effect, tuple(changes), whole.lost, whole.gained, whole.reason)


def _dialect(engine: Engine, whole: Whole) -> list[Draft]:
    before, after = engine.old.document.dialect, engine.new.document.dialect
    if before == after:
        return []
    any_value = engine.pool.true
    message = f"the dialect was {before}, is {after}"
    return [Draft("dialect.changed", "", whole.effect, message, any_value, any_value, policy=True)]


class _Witnesses:
    """Finds for each change a value of the whole that shows it."""

    def __init__(self, engine: Engine, whole: Whole, drafts: list[Draft]) -> None:
        self._engine = engine
        self._whole = whole
        self._drafts = drafts
        self._left = _MAX_WITNESSES
        engine.solver.refill()

    def changes(self) -> list[SchemaChange]:
        """The drafts as changes."""
        return [
            SchemaChange(draft.rule, draft.path, draft.effect, draft.message, self._witness(draft))
            for draft in self._drafts
        ]

    def _witness(self, draft: Draft) -> Witness | None:
        if draft.effect in (Effect.NARROWS, Effect.INCOMPARABLE, Effect.UNKNOWN):
            found = self._shown(draft.lost, self._whole.lost)
            if found is not None:
                return found
        if draft.effect in (Effect.WIDENS, Effect.INCOMPARABLE, Effect.UNKNOWN):
            return self._shown(draft.gained, self._whole.gained)
        return None

    def _shown(self, term: Node | None, whole: Witness | None) -> Witness | None:
        if term is None or whole is None:
            return None
        shows_it = holds(self._engine.pool, term, whole.value)
        if shows_it and len(self._drafts) == 1:
            return whole
        self._left -= 1
        found = self._engine.witness(term, whole.accepted_by) if self._left >= 0 else None
        return found or (whole if shows_it else None)
