"""A run whose writer asks a model, driven by the real engine: what is told, counted, recorded and printed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from tests.launch.fake_model import fake_model, said
from tests.launch.products import make_product, make_site, run_config

from holdfast.cli.launch_model import answers
from holdfast.launch.service import RunService
from holdfast.launch.store.records import Event
from holdfast.launch.telemetry.service import TelemetryService
from holdfast.launch.token_grants import TokenGrants
from holdfast.launch.workspace import Workspace
from holdfast.launch.writing.model.calls_told import told_calls
from holdfast.launch.writing.model.recorded import recorded_answers

SECRET = "sk-very-secret"


class Ran(NamedTuple):
    """A run up to its drafts."""

    service: RunService
    run_id: str
    asked: int
    services: Path

    def events(self, *kinds: str) -> list[Event]:
        return [event for event in self.service.store.events(self.run_id) if event.type in kinds]

    def artifacts(self, start: str) -> dict[str, str]:
        names = [name for name in self.service.store.artifacts(self.run_id) if name.startswith(start)]
        return {name: self.service.artifact(self.run_id, name)["content"] for name in names}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    root = tmp_path_factory.mktemp("model")
    config = run_config(root / "product", make_product(root / "product"), root / "site", make_site(root / "site"),
                        required_sections=["products", "kb"])  # fmt: skip
    url = f"sqlite:///{root / 'runs' / 'runs.sqlite'}"
    workspace = Workspace(root / "runs", url, grants=TokenGrants("MODEL_KEY=127.0.0.1"))
    patch = pytest.MonkeyPatch()
    patch.setenv("MODEL_KEY", SECRET)
    try:
        with fake_model(lambda text: said(text.replace(" is ", " is, so to say, "))) as fake:
            config["llm"] |= {"api_base_url": fake.url, "model": "m", "api_key_env": "MODEL_KEY"}
            config["budgets"] |= {"max_llm_calls": 50, "max_llm_tokens": 200_000}
            with RunService(workspace) as service:
                run, _ = service.start(config, None, drive=False)
                while service.run(run.run_id).state != "DRAFT_READY":
                    service.resume(run.run_id)
                service.flush_telemetry(60)
                yield Ran(service, run.run_id, len(fake.asked), workspace.services)
    finally:
        patch.undo()


def test_every_call_is_two_events_one_record_of_evidence_and_one_of_telemetry(ran: Ran) -> None:
    begun = [event.payload["call_id"] for event in ran.events("LLM_CALL_STARTED")]
    ended = [event.payload["call_id"] for event in ran.events("LLM_CALL_FINISHED")]
    evidence = ran.artifacts("evidence/llm_calls/")
    with TelemetryService(ran.services / "telemetry.sqlite") as telemetry:
        picture = telemetry.picture(ran.run_id)
    assert picture is not None
    records = [one for one in picture["children"] if one["job_type"] == "llm_call"]

    assert len(begun) == len(set(begun)) == ran.asked > 2
    assert sorted(begun) == sorted(ended)
    assert set(evidence) == {f"evidence/llm_calls/{call}.json" for call in begun}
    assert {one["context_json"]["evidence_path"] for one in records} == set(evidence)
    assert {one["status"] for one in records} == {"success"}


def test_its_words_are_on_the_pages_with_their_marks(ran: Ran) -> None:
    pages = ran.artifacts("drafts/")
    lines = [line for text in pages.values() for line in text.split("\n") if "is, so to say, " in line]

    assert lines
    assert all("<!-- claim:clm_" in line for line in lines)
    assert "sentences of the model" in "".join(ran.artifacts("reports/model_").values())


def test_the_key_is_nowhere_and_the_record_of_the_run_is_whole(ran: Ran) -> None:
    told = json.dumps([event.document() for event in ran.service.store.events(ran.run_id)])
    everything: dict[str, Any] = ran.artifacts("")

    assert SECRET not in told + "".join(everything.values())
    assert ran.service.replay(ran.run_id)[1] == []


def test_its_answers_can_be_kept_in_a_file_for_other_runs(ran: Ran, tmp_path: Path) -> None:
    made = CliRunner().invoke(answers, ["last", "--launch-dir", str(ran.services.parent)], standalone_mode=False)
    file = tmp_path / "answers.jsonl"
    file.write_text(made.stdout, encoding="utf-8")
    evidence = [json.loads(one) for one in ran.artifacts("evidence/llm_calls/").values()]

    found = recorded_answers(file)
    assert all(found[one["section"], one["prompt_hash"]]["text"] == one["text"] for one in evidence)
    assert len(made.stdout.splitlines()) == ran.asked


def test_calls_are_counted_as_events_tell_them(ran: Ran) -> None:
    told = told_calls(ran.events("LLM_CALL_STARTED", "LLM_CALL_FINISHED"))
    open_ones = told_calls(ran.events("LLM_CALL_STARTED"))

    assert {one["section"] for one in told} == {"products", "kb"}
    assert [(one["tokens"], one["is_over"]) for one in told] == [(100, True)] * ran.asked
    assert len(open_ones) == ran.asked
    assert all(one["tokens"] > one["begun"]["max_tokens"] and not one["is_over"] for one in open_ones)
