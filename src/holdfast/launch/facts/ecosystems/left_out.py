"""Folders in which no interface of a product is, whatever its language: tests, examples, what others wrote."""

import re

__all__ = ["is_left_out"]

_LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|__tests__|specs?|docs?|examples?|_examples?|samples?|demos?|benchmarks?|"
    r"benches|bench|scripts?|tools?|hack|build|dist|target|obj|bin|node_modules|vendor|third_?party|external|"
    r"fixtures|internal|\.\w[^/]*)/|(?:^|/)[^/]*\.(?:Tests?|UnitTests|Benchmarks?|Samples?|Examples?|Demo)/",
    re.IGNORECASE,
)


def is_left_out(path: str) -> bool:
    """Whether a file lies in such a folder."""
    return _LEFT_OUT.search(path) is not None
