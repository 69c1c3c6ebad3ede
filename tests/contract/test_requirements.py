"""The manifest of requirements, enforced in both directions."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.contract.exchanges import EXCHANGES
from tests.contract.requirements import REQUIREMENTS

TESTS = Path(__file__).parents[1]


def _marked(module: Path) -> Iterator[str]:
    """The ids in `pytest.mark.requirement(...)` anywhere in a test module."""
    text = module.read_text()
    if "requirement(" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            yield from (item.value for item in node.args if isinstance(item, ast.Constant))  # type: ignore[misc]


@cache
def claimed() -> dict[str, list[str]]:
    """Where each id is claimed."""
    claims: dict[str, list[str]] = {}
    for exchange in EXCHANGES:
        for requirement in exchange.proves:
            claims.setdefault(requirement, []).append(exchange.name)
    for module in TESTS.rglob("test_*.py"):
        for requirement in _marked(module):
            claims.setdefault(requirement, []).append(module.name)
    return claims


def test_every_requirement_of_a_part_that_is_there_is_proven() -> None:
    due = {name for name, requirement in REQUIREMENTS.items() if not requirement.is_pending}
    assert due - set(claimed()) == set()


def test_every_claimed_requirement_exists() -> None:
    unknown = {name: where for name, where in claimed().items() if name not in REQUIREMENTS}
    assert unknown == {}


def test_nobody_claims_what_is_pending() -> None:
    early = {
        name: where for name, where in claimed().items() if name in REQUIREMENTS and REQUIREMENTS[name].is_pending
    }
    assert early == {}


def test_every_requirement_says_what_must_hold_and_where_that_is_written() -> None:
    for name, requirement in REQUIREMENTS.items():
        assert requirement.sentence.endswith("."), name
        section = name.split("-")[1] if "-P2-" not in name else name.split("-")[2]
        assert requirement.source.endswith(section), name
