"""Attack the schema comparison with the official JSON Schema test suite: five drafts, judged by its instances.

    python -m benchmarks.schema_suite [--draft draft7] [--slowest 5]

The suite is part of the source distribution of a validator, kept in the cache of the benchmarks. The questions:
  instance  each schema against a list of one of its instances alone: the suite itself has the right answer
  pair      each two schemas of one file of the suite
  mutant    each schema against copies of it with one word changed or left out
A claim is wrong when an instance of the file refutes it, or when a witness is not one. One such ends with 1.
"""

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
from benchmarks.search.fetch import Source, cache_folder, files_of

from holdfast.contract.inclusion import Comparison, Effect, compare_schemas

__all__ = ["main", "mutants"]

SUITE = Source("sdist", "jsonschema", "4.25.1", (".json",), ("json/tests/", "json/remotes/"))
DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
REMOTES = "http://localhost:1234/"
MUTANTS_PER_SCHEMA = 60
# Here `format` and the content of a text are annotations: a change is reported, and no value is refused for them.
ASSERTED = ("format-assertion.json", "optional/content.json", "optional/format.json")
TYPES = ("string", "integer", "object", "array", "boolean", "null", "number")


@dataclass
class Group:
    """One schema of the suite with its instances, each with the answer that the suite gives."""

    name: str
    schema: Any
    tests: list[tuple[Any, bool]]
    is_optional: bool


@dataclass
class Tally:
    """The answers so far."""

    asked: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    effects: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    times: list[tuple[float, str]] = field(default_factory=list)


class Judge:
    """The validator that decides about instances, with the remote documents of the suite at hand."""

    def __init__(self, draft: str, remotes: dict[str, Any]) -> None:
        self._registry = jsonschema_rs.Registry([
            (REMOTES + name, document) for name, document in remotes.items() if _is_remote_of(name, draft)
        ])  # fmt: skip
        self._known: dict[str, Any] = {}

    def validator(self, schema: Any) -> Any:
        """A validator of a schema, or None when there is none."""
        key = json.dumps(schema)
        if key not in self._known:
            try:
                made = jsonschema_rs.validator_for(schema, validate_formats=False, registry=self._registry)
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
                made = None
            self._known[key] = made
        return self._known[key]

    def refutation(self, old: Any, new: Any, verdict: Comparison, values: list[Any]) -> Any:
        """A list of the value that proves a verdict wrong, or None."""
        first, second = self.validator(old), self.validator(new)
        if first is None or second is None:
            return None
        nothing_lost = verdict.effect in (Effect.EQUAL, Effect.WIDENS)
        nothing_gained = verdict.effect in (Effect.EQUAL, Effect.NARROWS)
        for value in values:
            by_old, by_new = first.is_valid(value), second.is_valid(value)
            if (nothing_lost and by_old and not by_new) or (nothing_gained and by_new and not by_old):
                return [value]
        for witness, has, misses in (
            (verdict.witness_lost, first, second),
            (verdict.witness_gained, second, first),
        ):
            if witness is not None and not (has.is_valid(witness.value) and not misses.is_valid(witness.value)):
                return [witness.value]
        return None


def main() -> None:
    """Ask every question and print the answers of each draft."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draft", choices=[*DRAFTS], action="append", help="one draft instead of all")
    parser.add_argument("--slowest", type=int, default=3, help="list so many of the slowest questions")
    options = parser.parse_args()
    contents = {name: json.loads(content) for name, content in files_of(SUITE, cache_folder())}
    remotes = {
        name[len("json/remotes/") :]: it for name, it in contents.items() if name.startswith("json/remotes/")
    }
    total = Tally()
    print(f"{SUITE.package} {SUITE.version}: the JSON Schema test suite inside")
    for draft in options.draft or DRAFTS:
        tally = _draft(draft, contents, Judge(draft, remotes))
        _print(draft, tally)
        for name in ("asked", "unknown", "effects"):
            getattr(total, name).update(getattr(tally, name))
        total.wrong += tally.wrong
        total.times += tally.times
    _print("all", total)
    for seconds, what in sorted(total.times, reverse=True)[: options.slowest]:
        print(f"  {seconds:.2f} s  {what}")
    print("\n".join(f"WRONG {line}" for line in total.wrong))
    sys.exit(1 if total.wrong else 0)


def _draft(draft: str, contents: dict[str, Any], judge: Judge) -> Tally:
    tally = Tally()
    for path in sorted(name for name in contents if name.startswith(f"json/tests/{draft}/")):
        if path.endswith(ASSERTED) or "/format/" in path:
            continue
        groups = list(_groups(path, contents[path], draft))
        values = list({json.dumps(value): value for group in groups for value, _ in group.tests}.values())
        for group in groups:
            if not group.is_optional:
                _instances(group, draft, tally)
            # Where the judge contradicts the suite, or cannot read a schema, it decides nothing.
            validator = judge.validator(group.schema)
            if validator is None or any(validator.is_valid(value) is not valid for value, valid in group.tests):
                continue
            for number, mutant in enumerate(itertools.islice(mutants(group.schema), MUTANTS_PER_SCHEMA)):
                _ask("mutant", f"{group.name} #{number}", group.schema, mutant, values, judge, tally)
        for one, other in itertools.combinations(groups, 2):
            _ask("pair", f"{one.name} / {other.name}", one.schema, other.schema, values, judge, tally)
    return tally


def _groups(path: str, document: Any, draft: str) -> Iterator[Group]:
    for group in document:
        schema = group["schema"]
        if isinstance(schema, dict):
            schema = {"$schema": DRAFTS[draft], **schema}
        name = f"{path.removeprefix('json/tests/')}: {group['description']}"
        tests = [(test["data"], test["valid"]) for test in group["tests"]]
        yield Group(name, schema, tests, "/optional/" in path)


def _instances(group: Group, draft: str, tally: Tally) -> None:
    for value, valid in group.tests:
        alone = {"$schema": DRAFTS[draft], "enum": [value]}
        verdict = _compared("instance", group.name, group.schema, alone, tally)
        claims_valid = verdict.effect in (Effect.EQUAL, Effect.NARROWS)
        # In draft 4 the list [1] also takes 1.0, which is not an integer there: the value as written counts.
        gained = verdict.witness_gained
        claims_invalid = gained is not None and json.dumps(gained.value) == json.dumps(value)
        if (claims_valid and not valid) or (claims_invalid and valid):
            tally.wrong.append(f"{group.name}: {json.dumps(value)[:200]} is {valid}: {verdict.effect.value}")


def _ask(kind: str, name: str, old: Any, new: Any, values: list[Any], judge: Judge, tally: Tally) -> None:
    verdict = _compared(kind, name, old, new, tally)
    found = judge.refutation(old, new, verdict, values)
    if found is not None:
        shown = f"{json.dumps(old)} -> {json.dumps(new)}"
        tally.wrong.append(f"{kind} {name}: {verdict.effect.value}: {found[0]!r} refutes {shown}")


def _compared(kind: str, name: str, old: Any, new: Any, tally: Tally) -> Comparison:
    start = time.process_time()
    verdict = compare_schemas(old, new)
    tally.times.append((time.process_time() - start, f"{kind} {name}"))
    tally.asked[kind] += 1
    tally.effects[verdict.effect.value] += 1
    if verdict.effect is Effect.UNKNOWN:
        tally.unknown[verdict.reason_unknown[:70]] += 1
    return verdict


def mutants(schema: Any) -> Iterator[Any]:
    """Copies of a schema with one thing changed, wherever it stands; the order is always the same."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$schema":
                continue
            yield {name: part for name, part in schema.items() if name != key}
            yield from ({**schema, key: other} for other in mutants(value))
            if key == "type" and isinstance(value, str) and value in TYPES:
                yield {**schema, key: TYPES[(TYPES.index(value) + 1) % len(TYPES)]}
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            if len(schema) > 1:
                yield schema[:index] + schema[index + 1 :]
            yield from ([*schema[:index], other, *schema[index + 1 :]] for other in mutants(value))
    elif isinstance(schema, bool):
        yield not schema
    elif isinstance(schema, int):
        yield schema + 1


def _is_remote_of(name: str, draft: str) -> bool:
    first = name.partition("/")[0]
    return first == draft or not first.startswith("draft")


def _print(title: str, tally: Tally) -> None:
    asked, unknown = sum(tally.asked.values()), sum(tally.unknown.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.asked.items()))
    seconds = sum(took for took, _ in tally.times)
    print(
        f"{title:13s} {asked:6d} questions ({kinds}): {len(tally.wrong)} wrong, {unknown} unknown"
        f" ({unknown / max(asked, 1):.1%}), {seconds:.1f} CPU s",
        flush=True,
    )
    if title == "all":
        print("  " + ", ".join(f"{count} {name}" for name, count in tally.effects.most_common()))
        for reason, count in tally.unknown.most_common(8):
            print(f"  unknown {count:6d}  {reason}")


if __name__ == "__main__":
    main()
