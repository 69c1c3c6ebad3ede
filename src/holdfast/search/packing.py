"""Rows and texts, compressed; rows with a dictionary of what source code is full of.

A row of a few hundred bytes hardly compresses by itself; with the dictionary it takes a third of the space. The
dictionary is part of the format of the index: a change of it is a new format.
"""

import zlib

__all__ = ["pack", "pack_text", "unpack", "unpack_text"]

# The most frequent strings stand last, where zlib refers to them most cheaply.
_DICTIONARY = (
    b'"risk_tags":["command-exec"],"risk_sources":["risk_sinks":["risk_categories":["injection"],"risk_flows":['
    b'"modifiers":["static","abstract","export"],"throws":["Exception","ValueError","TypeError","awaits":['
    b'"inferred_types":["result: dict","data: list","name: str","aliases":["mutations":["items.append()"'
    b" exception value error type request response config options default context message string number boolean"
    b" if else for in while return import from class def function const let var new this public private void"
    b" object array list dict tuple int float bool none true false null self cls args kwargs"
    b'"param_types":["self: ","value: str","name: str","path: Path","param_defaults":["=None","=False","=True",'
    b'"extends":["Exception","BaseModel","object"],"decorators":["property","staticmethod","classmethod",'
    b'"counts":{"branches":0,"loops":0,"breaks":0,"continues":0,"returns":0,"complexity":1},"flags":["returns"],'
    b'"facts":{"params":["self"],"return_types":["None"],"calls":["isinstance","len","str","print","super"],'
    b'"uses":["self"],"reads":["self."],"writes":["self."],{"signature":"def __init__(self, ","doc":"",'
    b'"visibility":"public","flags":[],"facts":{},"counts":{'
)
_WINDOW, _MEMORY, _LEVEL = -13, 6, 3  # a small window: rows are small, and its state is copied for each of them
_PRIMED = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)


def pack(data: bytes) -> bytes:
    """A row, compressed."""
    packer = _PRIMED.copy()  # 15 times faster than preparing the dictionary again
    return packer.compress(data) + packer.flush()


def unpack(data: bytes) -> bytes:
    """The row again."""
    return zlib.decompressobj(_WINDOW, _DICTIONARY).decompress(data)


def pack_text(source: bytes) -> bytes:
    """The text of a whole file, compressed."""
    return zlib.compress(source, _LEVEL)


def unpack_text(data: bytes, until: int | None = None) -> bytes:
    """The text again, or so many bytes of its beginning."""
    return zlib.decompress(data) if until is None else zlib.decompressobj().decompress(data, max(until, 1))
