"""When Python looks for cycles among its objects: hardly while a program is loaded, which makes many of them."""

import gc

__all__ = ["loaded", "loading"]

_USUAL = gc.get_threshold()
_LOADING = 100_000  # objects made, until Python looks again


def loading() -> None:
    """From now on code is loaded: looking through all of it again and again costs a tenth of a start."""
    gc.set_threshold(_LOADING)


def loaded() -> None:
    """What is there now stays for good, and is never looked through again; what comes is, as usual."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_USUAL)
