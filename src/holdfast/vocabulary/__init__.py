"""The words: ids, effects, faults, the life of one call, events. Frozen values, no I/O, no clock."""
