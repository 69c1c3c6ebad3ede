"""The table of dispositions, cell by cell, and proof that these tests would notice any change to it."""

import ast
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from holdfast.vocabulary import disposition
from holdfast.vocabulary.disposition import (
    Allowance,
    Disposition,
    after_dispatch,
    after_loss,
    dispose,
    require_open,
)
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge, ProbeAnswer

# One row per knowledge and contract; the columns are: no probe, already completed, safe to replay.
# "replay?" is a replay where the allowance has one left, and exhausted where it has not.
TABLE = """
not_dispatched   Convergent     first_dispatch    reject_unexpected_probe  reject_unexpected_probe
not_dispatched   ProbeRequired  first_dispatch    reject_unexpected_probe  reject_unexpected_probe
not_dispatched   NeverReplay    first_dispatch    reject_unexpected_probe  reject_unexpected_probe
in_flight        Convergent     await_terminal    reject_unexpected_probe  reject_unexpected_probe
in_flight        ProbeRequired  await_terminal    reject_unexpected_probe  reject_unexpected_probe
in_flight        NeverReplay    await_terminal    reject_unexpected_probe  reject_unexpected_probe
completed        Convergent     completed         reject_unexpected_probe  reject_unexpected_probe
completed        ProbeRequired  completed         reject_unexpected_probe  reject_unexpected_probe
completed        NeverReplay    completed         reject_unexpected_probe  reject_unexpected_probe
outcome_unknown  Convergent     replay?           reject_unexpected_probe  reject_unexpected_probe
outcome_unknown  ProbeRequired  hold_for_probe    complete_from_probe      replay?
outcome_unknown  NeverReplay    reject_ambiguous  reject_unexpected_probe  reject_unexpected_probe
"""
PROBES = (None, ProbeAnswer.ALREADY_COMPLETED, ProbeAnswer.SAFE_TO_REPLAY)
ALLOWANCES = ((0, 0), (0, 1), (1, 1), (1, 2), (2, 1), (5, 5), (0, 7))


def rows() -> Iterator[tuple[Knowledge, ReplayWord, tuple[int, int], ProbeAnswer | None, Disposition]]:
    for line in TABLE.split("\n"):
        if line:
            knowledge, contract, *cells = line.split()
            for (probe, cell), allowance in itertools.product(zip(PROBES, cells, strict=True), ALLOWANCES):
                used, most = allowance
                word = ("replay" if used < most else "reject_exhausted") if cell == "replay?" else cell
                yield Knowledge(knowledge), ReplayWord(contract), allowance, probe, Disposition(word)


ROWS = list(rows())


def assert_it_is_the_table(decide: Callable[..., Any], allow: Callable[[int, int], Any]) -> None:
    """The assertion that every mutant must fail."""
    for knowledge, contract, (used, most), probe, expected in ROWS:
        found = decide(knowledge, contract, allow(used, most), probe)
        assert found.value == expected.value, (knowledge, contract, used, most, probe)


def test_every_cell_of_the_table_is_as_it_is_written() -> None:
    assert len({row[:4] for row in ROWS}) == 4 * 3 * 3 * len(ALLOWANCES)
    assert_it_is_the_table(dispose, Allowance)


# --- mutants -----------------------------------------------------------------------------------------------------


def other_words(node: ast.Attribute) -> list[str]:
    """The other members of the enumeration that a node names one of."""
    kinds: tuple[type[Any], ...] = (Disposition, Knowledge, ReplayWord, ProbeAnswer)
    for kind in kinds:
        if isinstance(node.value, ast.Name) and node.value.id == kind.__name__ and node.attr in kind.__members__:
            return [name for name in kind.__members__ if name != node.attr]
    return []


COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
}


def changes(node: ast.AST) -> list[Callable[[], None]]:
    """Everything that can be done to a node in place."""
    found: list[Callable[[], None]] = []
    if isinstance(node, ast.Attribute):
        found += [lambda word=word: setattr(node, "attr", word) for word in other_words(node)]  # type: ignore[misc]
    elif isinstance(node, ast.Compare):
        for other in COMPARISONS[type(node.ops[0])]:
            found.append(lambda other=other: setattr(node, "ops", [other()]))  # type: ignore[misc]
        # The boundary, off by one in both directions.
        if isinstance(node.ops[0], ast.Lt):
            for step in (1, -1):
                shifted = ast.BinOp(node.left, ast.Add(), ast.Constant(step))
                found.append(lambda shifted=shifted: setattr(node, "left", shifted))  # type: ignore[misc]
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        found.append(lambda: setattr(node, "op", swapped))
    elif isinstance(node, ast.If | ast.IfExp):
        test = node.test
        for changed in (ast.UnaryOp(ast.Not(), test), ast.Constant(True), ast.Constant(False)):
            found.append(lambda changed=changed: setattr(node, "test", changed))  # type: ignore[misc]
    return found


def mutated_parts(tree: ast.Module) -> list[ast.AST]:
    """The nodes of the table itself: `dispose`, what is known without a contract, and the allowance."""
    parts = [
        node
        for node in tree.body
        if (isinstance(node, ast.FunctionDef) and node.name == "dispose")
        or (isinstance(node, ast.ClassDef) and node.name == "Allowance")
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_KNOWN")
    ]
    assert len(parts) == 3
    return [node for part in parts for node in ast.walk(part)]


def mutants() -> Iterator[tuple[str, dict[str, Any]]]:
    source = inspect.getsource(disposition)
    nodes = mutated_parts(ast.parse(source))
    for at in range(len(nodes)):
        for which in range(len(changes(nodes[at]))):
            tree = ast.parse(source)
            node = mutated_parts(tree)[at]
            changes(node)[which]()
            module = {"__name__": "mutant"}
            exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), module)
            yield f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)[:60]}", module


def test_every_mutant_of_the_table_is_noticed() -> None:
    survivors, killed = [], 0
    for name, module in mutants():
        try:
            assert_it_is_the_table(module["dispose"], module["Allowance"])
        except (AssertionError, KeyError):
            killed += 1
        else:
            survivors.append(name)

    assert survivors == []
    assert killed > 120


def test_a_change_to_any_single_cell_is_noticed() -> None:
    cells = itertools.product(Knowledge, ReplayWord, PROBES)
    for cell, wrong in itertools.product(cells, Disposition):
        changed = replaced(cell, wrong)
        if any(changed(*row[:2], Allowance(*row[2]), row[3]) is not row[4] for row in ROWS):
            with pytest.raises(AssertionError):
                assert_it_is_the_table(changed, Allowance)
        else:
            assert all(row[4] is wrong for row in ROWS if (row[0], row[1], row[3]) == cell)


def replaced(cell: tuple[object, object, object], wrong: Disposition) -> Callable[..., Disposition]:
    def changed(
        knowledge: Knowledge, contract: ReplayWord, allowance: Allowance, probe: ProbeAnswer | None
    ) -> Disposition:
        return wrong if (knowledge, contract, probe) == cell else dispose(knowledge, contract, allowance, probe)

    return changed


# --- what is known afterwards ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("knowledge", "decided"), list(itertools.product(Knowledge, Disposition)))
def test_only_a_first_dispatch_and_a_replay_put_a_request_in_flight(
    knowledge: Knowledge, decided: Disposition
) -> None:
    legal = {
        (Knowledge.NOT_DISPATCHED, Disposition.FIRST_DISPATCH),
        (Knowledge.OUTCOME_UNKNOWN, Disposition.REPLAY),
    }
    if (knowledge, decided) in legal:
        assert after_dispatch(knowledge, decided) is Knowledge.IN_FLIGHT
    else:
        with pytest.raises(AssertionError):
            after_dispatch(knowledge, decided)


def test_losing_the_worker_makes_unknown_only_what_was_in_flight() -> None:
    assert {knowledge: after_loss(knowledge) for knowledge in Knowledge} == {
        Knowledge.NOT_DISPATCHED: Knowledge.NOT_DISPATCHED,
        Knowledge.IN_FLIGHT: Knowledge.OUTCOME_UNKNOWN,
        Knowledge.COMPLETED: Knowledge.COMPLETED,
        Knowledge.OUTCOME_UNKNOWN: Knowledge.OUTCOME_UNKNOWN,
    }


@pytest.mark.parametrize("knowledge", Knowledge)
def test_only_what_was_dispatched_can_come_to_an_end(knowledge: Knowledge) -> None:
    if knowledge in {Knowledge.IN_FLIGHT, Knowledge.OUTCOME_UNKNOWN}:
        require_open(knowledge)
    else:
        with pytest.raises(AssertionError):
            require_open(knowledge)
