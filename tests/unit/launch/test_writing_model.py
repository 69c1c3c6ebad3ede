"""The optional model: what it may change, what is refused, and that a key never leaves its header."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.launch.writing_places import configured, documents, made_plan, uncited, workplace

from holdfast.launch.claim_marks import without_marks
from holdfast.launch.front_matter import split
from holdfast.launch.writing import section_writer
from holdfast.launch.writing.rewriting import objection

A, B = "<!-- claim:clm_aaaaaaaaaaaaaaaa -->", "<!-- claim:clm_bbbbbbbbbbbbbbbb -->"
GIVEN = f"`Table.read` opens a CSV file. {A}\nThe encoding is not UTF-16. {B}"
SECRET = "sk-very-secret"


@contextmanager
def model(answer: Callable[[str], tuple[int, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server of the chat-completions kind; `answer` makes a status and a body of the text it is asked about."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append({"path": self.path, "key": self.headers["authorization"], "body": body})
            status, told = answer(body["messages"][-1]["content"])
            content = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def said(text: str, **more: Any) -> tuple[int, Any]:
    choice = {"message": {"content": text}, "finish_reason": "stop"} | more
    return 200, {"choices": [choice], "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}}


def write_docs(root: Path, url: str, **budgets: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The drafts of the manifest and the pages of the section docs, written with the model at `url`."""
    config = configured(root, required_sections=["docs"])
    config["llm"] |= {"api_base_url": url, "model": "m", "api_key_env": "MODEL_KEY", "request_timeout_s": 5}
    config["budgets"] |= {"max_llm_calls": 100, "max_llm_tokens": 1_000_000} | budgets
    plan = made_plan(root, config, documents())
    place = workplace(root, "section_writer", "docs", config, documents() | {"page_plan.json": plan})
    section_writer.work(place)
    pages = {name[7:-3]: made.path.read_text() for name, made in place.made.items() if name.endswith(".md")}
    manifest = json.loads(place.made["draft_manifest.docs.json"].path.read_bytes())
    return {draft["page_id"]: draft for draft in manifest["drafts"]}, pages


def events(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    return [one for one in found if "event" in one]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", SECRET)


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (f"With `Table.read` you open a CSV file. {A}\nThe encoding is not UTF-16. {B}", ""),
        (f"`Table.read` opens a CSV file, whose encoding is not UTF-16. {A} {B}", ""),
        (f"`Table.read` opens a CSV file. {A}\nThe encoding is not UTF-16.", "a mark was lost"),
        (GIVEN.replace("bbbb -->", "bbbb,clm_cccccccccccccccc -->"), "a mark was invented"),
        (f"{GIVEN}\nIt is fast.", "a line has no mark"),
        (GIVEN.replace("a CSV file", "two CSV files"), "no claim says: two"),
        (GIVEN.replace("a CSV", "a CSV or JSON"), "no claim says: json"),
        (GIVEN.replace("Table.read", "Table.load"), "no claim says: table.load"),
        (GIVEN.replace("UTF-16", "UTF-32"), "no claim says: 32"),
        (GIVEN.replace("opens", "opens on Linux"), "no claim says: linux"),
        (GIVEN.replace("is not", "is"), "a negation"),
        (GIVEN.replace("opens", "<b>opens</b>"), "HTML"),
        (GIVEN.replace("opens", "[opens](https://x.example)"), "HTML, a link"),
        (GIVEN.replace("The", "## The"), "structure"),
        (GIVEN.replace("opens", "opens " + "very " * 200), "much longer"),
    ],
)
def test_a_model_may_change_words_but_no_facts(told: str, problem: str) -> None:
    found = objection(GIVEN, told)
    assert problem in found
    assert bool(found) is bool(problem)


def test_other_words_take_the_place_of_the_templates(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with model(lambda text: said(text.replace("tablekit reads", "In short, tablekit reads"))) as (url, asked):
        drafts, pages = write_docs(tmp_path, url)
    assert "In short, tablekit reads" in pages["docs/index"]
    assert drafts["docs/index"]["writer"] == "model"
    assert drafts["docs/installation"]["writer"] == "template"
    assert uncited(pages.values(), documents()["product_facts.json"]) == []
    assert asked[0]["path"] == "/v1/chat/completions"
    assert asked[0]["body"]["temperature"] == 0
    told = events(capfd.readouterr().out)
    assert {one["event"] for one in told} == {"LLM_CALL_STARTED", "LLM_CALL_FINISHED"}
    assert told[1]["payload"]["token_usage"] == {"input": 90, "output": 10, "total": 100}


def test_invented_facts_are_rejected_and_the_template_stays(tmp_path: Path) -> None:
    with model(lambda text: said(text.replace("tablekit reads", "tablekit 9.9 reads"))) as (url, _):
        drafts, pages = write_docs(tmp_path, url)
    assert "9.9" not in "".join(pages.values())
    assert drafts["docs/index"]["writer"] == "template"
    assert drafts["docs/index"]["rejected"] == ["the text states what no claim says: 9.9"]


@pytest.mark.parametrize(
    ("answer", "error_class"),
    [
        ((500, {"error": SECRET}), "status_500"),
        ((429, {}), "status_429"),
        ((200, {"choices": []}), "status_200"),
        ((200, [1, 2]), "status_200"),
        ((200, {"choices": [{"message": {"content": None}}]}), "status_200"),
    ],
)
def test_a_failing_model_costs_nothing_but_its_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], answer: tuple[int, Any], error_class: str
) -> None:
    with model(lambda _: answer) as (url, asked):
        drafts, pages = write_docs(tmp_path, url)
    assert len(asked) <= 3
    assert all(draft["writer"] == "template" for draft in drafts.values())
    out = capfd.readouterr().out
    failed = [one["payload"] for one in events(out) if one["event"] == "LLM_CALL_FAILED"]
    assert failed[0]["error_class"] == error_class
    assert failed[0]["retryable"] is (error_class == "status_429")
    assert SECRET not in out + "".join(pages.values()) + json.dumps(drafts)


def test_the_key_is_in_the_header_and_nowhere_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with model(said) as (url, asked):
        drafts, pages = write_docs(tmp_path, url)
    assert asked[0]["key"] == f"Bearer {SECRET}"
    assert SECRET not in capfd.readouterr().out + "".join(pages.values()) + json.dumps(drafts)


def test_the_budget_of_calls_is_kept(tmp_path: Path) -> None:
    with model(said) as (url, asked):
        drafts, _ = write_docs(tmp_path, url, max_llm_calls=1)
    assert len(asked) == 1
    assert any("budget" in problem for draft in drafts.values() for problem in draft.get("rejected", []))


def test_the_budget_of_tokens_is_kept(tmp_path: Path) -> None:
    with model(said) as (url, asked):
        write_docs(tmp_path, url, max_llm_tokens=200)
    assert asked == []


def test_an_answer_that_was_cut_off_is_not_used(tmp_path: Path) -> None:
    with model(lambda text: said(text, finish_reason="length")) as (url, _):
        drafts, _ = write_docs(tmp_path, url)
    assert drafts["docs/index"]["rejected"] == ["the model stopped early: length"]


def test_where_nobody_answers_the_fallback_is_asked(tmp_path: Path) -> None:
    with model(lambda text: said(text.replace("tablekit reads", "In short, tablekit reads"))) as (url, asked):
        config = configured(tmp_path, required_sections=["docs"])
        config["llm"] |= {
            "api_base_url": "http://127.0.0.1:9",
            "fallback": {"api_base_url": url, "model": "other"},
        }
        config["budgets"] |= {"max_llm_calls": 10, "max_llm_tokens": 1_000_000}
        plan = made_plan(tmp_path, config, documents())
        place = workplace(tmp_path, "section_writer", "docs", config, documents() | {"page_plan.json": plan})
        section_writer.work(place)
    assert asked[0]["body"]["model"] == "other"
    text = place.made["drafts/docs/index.md"].path.read_text(encoding="utf-8")
    assert "In short" in without_marks(split(text).body)
