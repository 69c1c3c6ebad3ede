"""Looks at everything that Holdfast needs on a machine: all checks, with settings that can be read."""

from collections.abc import Callable

from holdfast.errors import HoldfastError
from holdfast.settings import Settings, load_configuration, load_settings
from holdfast.setup.checks import Finding, run_checks
from holdfast.setup.client_checks import CLIENT_CHECKS
from holdfast.setup.machine_checks import MACHINE_CHECKS
from holdfast.setup.state_checks import STATE_CHECKS

__all__ = ["examine"]


def examine() -> list[Finding]:
    """Everything, in the order in which a person wants to read it."""
    return run_checks({**MACHINE_CHECKS, **STATE_CHECKS, **CLIENT_CHECKS}, _usable_settings())


def _usable_settings() -> Settings:
    """What is set, or as much of it as can be read; what is wrong with it is told by a check of its own."""
    sources: tuple[Callable[[], Settings], ...] = (
        lambda: load_configuration({}).settings,
        load_settings,
        lambda: load_settings({}, {}),
    )
    for source in sources:
        try:
            return source()
        except (HoldfastError, OSError):
            continue
    raise AssertionError("defaults can always be read")
