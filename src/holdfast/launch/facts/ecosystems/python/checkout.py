"""Whether a package is installed from a clone of its repository: its README says so, and knows no other way.

A name in a manifest is not yet the name of anything that others can install, and may be somebody else's there.
"""

import re

__all__ = ["line_about_checkout"]

_TARGET = r"(?:\[[^\]\n]*\])?['\"]?(?=[\s`)]|$)"
_FROM_CHECKOUT = re.compile(rf"\bpip3? install (?:(?:-U|--upgrade|--user) )?['\"]?\.{_TARGET}", re.MULTILINE)
_PUBLISHED = r"(?i)\bpypi\b|\b(?:install|add|sync|uvx|pipx|conda|mamba)\b[^\n]*(?<![\w./-]){}(?![\w/-])"


def line_about_checkout(readme: str, package: str) -> int:
    """The line of a README that installs the checkout, where none installs the package by its name; else 0."""
    found = _FROM_CHECKOUT.search(readme)
    name = "[-_.]".join(map(re.escape, re.split(r"[-_.]+", package)))
    if found is None or re.search(_PUBLISHED.format(name), readme):
        return 0
    return readme.count("\n", 0, found.start()) + 1
