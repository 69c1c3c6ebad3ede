"""Folders in which no interface of a product is, whatever its language: tests, examples, what others wrote."""

import re

__all__ = ["OF_PEOPLE", "is_left_out"]

OF_PEOPLE = frozenset({"doc", "tools", "build", "target", "external", "spec"})
"""What people call folders that hold no code of the product, unless their language gives such names no meaning."""

_LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|__tests__|specs?|docs?|examples?|_examples?|samples?|demos?|benchmarks?|"
    r"benches|bench|scripts?|tools?|hack|build|dist|target|obj|bin|node_modules|vendor|third_?party|external|"
    r"fixtures|internal|\.\w[^/]*)/|(?:^|/)[^/]*\.(?:Tests?|UnitTests|Benchmarks?|Samples?|Examples?|Demo)/",
    re.IGNORECASE,
)


def is_left_out(path: str, but: frozenset[str] = frozenset()) -> bool:
    """Whether a file lies in such a folder; those whose names are in `but` are like any other."""
    kept = "/".join(part for part in path.split("/") if part.lower() not in but) if but else path
    return _LEFT_OUT.search(kept) is not None
