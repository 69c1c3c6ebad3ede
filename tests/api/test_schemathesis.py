"""Schemathesis reads `/openapi.json` and tries to catch the server at something that it does not say."""

from typing import Any

import pytest
import schemathesis
from schemathesis.engine import events, from_schema
from tests.api.client import Client

pytestmark = pytest.mark.xdist_group("api")

EXAMPLES = 3  # of each operation, beside the systematic cases
# A query, a date and a condition on fields are languages of their own: no schema can tell all of their mistakes.
LANGUAGES = {"conditions", "format"}


def findings(url: str) -> tuple[int, list[str]]:
    """How many requests were sent, and what was found wrong in the answers.

    The stream takes the body of the search, whose systematic cases are hundreds: it is spared the same ones again.
    """
    sent, wrong = 0, []
    for is_stream in (False, True):
        whole = schemathesis.openapi.from_url(f"{url}/openapi.json")
        schema = whole.include(path="/search/stream") if is_stream else whole.exclude(path="/search/stream")
        schema.config.generation.max_examples = EXAMPLES
        schema.config.generation.deterministic = True
        schema.config.generation.database = "none"
        schema.config.seed = 7
        schema.config.phases.stateful.enabled = False  # nothing here makes anything that could be used later
        schema.config.phases.coverage.enabled = not is_stream
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                sent += len(event.recorder.interactions)
                wrong += _found(event.recorder)
            elif isinstance(event, events.NonFatalError | events.FatalError):
                wrong.append(repr(event))
    return sent, wrong


def _found(recorder: Any) -> list[str]:
    failed = [
        (check, recorder.interactions[case].response)
        for case, checks in recorder.checks.items()
        for check in checks
        if check.failure_info is not None
    ]
    return [_told(check) for check, response in failed if not _is_beyond_schemas(check.name, response)]


def _is_beyond_schemas(check: str, response: Any) -> bool:
    """Whether a request was refused for a reason that its schema has no words for."""
    if check != "positive_data_acceptance" or response.status_code != 400:
        return False
    violations = response.json().get("violations", [])
    return {one["keyword"] for one in violations} <= LANGUAGES


def _told(check: Any) -> str:
    return f"{check.name}: {check.failure_info.failure}\n{check.failure_info.code_sample}"


@pytest.mark.timeout(150)  # on a busy machine
@pytest.mark.requirement("S1-7.1-envelope")
@pytest.mark.requirement("S1-7.1-errors")
def test_the_server_does_what_its_description_says(server: Client) -> None:
    sent, wrong = findings(server.url)

    assert wrong == []
    assert sent > 500
