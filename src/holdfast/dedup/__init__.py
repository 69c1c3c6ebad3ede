"""A durable table of keys that a tool commits together with its effect, so that each key takes effect once.

    from holdfast.dedup import KeyTable

    with keys.once(key, arguments) as slot:
        if not slot.stored:
            connection.execute("INSERT INTO orders ...")   # the effect, on the same connection
            slot.store({"order": 7})
    return slot.outcome

Killed at any moment, the process leaves behind either the effect with its key or neither of them. A table in
memory, or one committed apart from the effect, cannot promise that.
"""

from holdfast.dedup.digest import digest_of
from holdfast.dedup.table import KeyTable, Slot, open_keys
from holdfast.dedup.trouble import KeyConflict, KeyTableError

__all__ = ["KeyConflict", "KeyTable", "KeyTableError", "Slot", "digest_of", "open_keys"]
