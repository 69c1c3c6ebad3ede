"""Schemathesis reads `/openapi.json` and tries to catch the server at something that it does not say."""

from typing import Any

import schemathesis
from schemathesis.engine import events, from_schema
from tests.api.running_front import RunningFront

EXAMPLES = 8  # of each operation, beside the systematic cases


def findings(url: str) -> tuple[int, list[str]]:
    """How many scenarios were played, and what was found wrong in them."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    schema.config.generation.max_examples = EXAMPLES
    schema.config.generation.deterministic = True
    schema.config.generation.database = "none"
    schema.config.seed = 7
    schema.config.phases.stateful.enabled = False  # nothing here makes anything that could be used later
    played, wrong = 0, []
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            played += 1
            wrong += [found for checks in event.recorder.checks.values() for found in map(_told, checks) if found]
        elif isinstance(event, events.NonFatalError | events.FatalError):
            wrong.append(repr(event))
    return played, wrong


def _told(check: Any) -> str:
    failed = check.failure_info
    return "" if failed is None else f"{check.name}: {failed.failure}\n{failed.code_sample}"


def test_the_server_does_what_its_description_says(server: RunningFront) -> None:
    played, wrong = findings(server.url)

    assert wrong == []
    assert played >= 9
