"""The optional model: what it costs, how it fails, what survives a kill, and that a key stays in its header."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies
from tests.launch.fake_model import BOUND, FakeModel, Fault, fake_model, said
from tests.launch.writing_places import configured, documents, made_plan, uncited, workplace

from holdfast.errors import ToolError
from holdfast.launch.writing import section_writer
from holdfast.launch.writing.model.asking import BUDGET, Model, Reply
from holdfast.launch.writing.model.calls_told import told_calls
from holdfast.launch.writing.model.chat import endpoints_of, question
from holdfast.launch.writing.model.ledger import Allowance, Ledger
from holdfast.launch.writing.model.recorded import recorded_lines
from holdfast.launch.writing.model.shares import shares

SECRET = "sk-very-secret"
MARKED = "tablekit reads"
STARTED = {"call_id", "model", "provider_base_url", "prompt_hash", "temperature", "max_tokens", "most_tokens"}
FINISHED = {"call_id", "latency_ms", "token_usage", "finish_reason", "output_hash"}
FAILED = {"call_id", "error_class", "error_summary", "retryable"}


def better(text: str) -> dict[str, Any]:
    return said(text.replace(MARKED, f"In short, {MARKED}"))


@cache
def _plan(sections: tuple[str, ...]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        config = configured(Path(folder), required_sections=list(sections))
        return made_plan(Path(folder), config, documents())


class Written:
    """The section docs, written with a model."""

    def __init__(self, root: Path, url: str, **changes: Any) -> None:
        self.config = configured(root, required_sections=changes.pop("sections", ["docs"]))
        self.config["llm"] |= {
            "api_base_url": url, "model": "m", "api_key_env": "MODEL_KEY", "request_timeout_s": 20,
        } | changes.pop("llm", {})  # fmt: skip
        budgets = {"max_llm_calls": 100, "max_llm_tokens": 1_000_000} | changes.pop("budgets", {})
        self.config["budgets"] |= budgets
        plan = _plan(tuple(self.config["required_sections"]))
        given = documents() | {"page_plan.json": plan}
        self.place = workplace(root, "section_writer", changes.pop("scope", "docs"), self.config, given)
        self.place.about = {**self.place.about, **changes.pop("about", {})}
        assert not changes

    def work(self) -> "Written":
        section_writer.work(self.place)
        return self

    def text(self, name: str) -> str:
        return self.place.made[name].path.read_text(encoding="utf-8")

    @property
    def drafts(self) -> dict[str, dict[str, Any]]:
        manifest = json.loads(self.text(f"draft_manifest.{self.place.scope}.json"))
        return {draft["page_id"]: draft for draft in manifest["drafts"]}

    @property
    def pages(self) -> dict[str, str]:
        return {name: self.text(name) for name in self.place.made if name.startswith("drafts/")}

    @property
    def evidence(self) -> dict[str, dict[str, Any]]:
        names = [name for name in self.place.made if name.startswith("evidence/llm_calls/")]
        return {name: json.loads(self.text(name)) for name in names}

    @property
    def everything(self) -> str:
        return "".join(self.text(name) for name in self.place.made)


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [(one["event"], one["payload"]) for one in found if "event" in one]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", SECRET)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages without any model."""
    return Written(tmp_path_factory.mktemp("plain"), "none:").work().pages


def test_without_a_model_nothing_of_it_is_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = Written(tmp_path, "none:").work()

    assert events(capfd.readouterr().out) == []
    assert written.evidence == {}
    assert not (tmp_path / "model_calls").exists()
    assert not any(name.startswith("reports/") for name in written.place.made)


def test_other_words_take_the_place_of_the_templates(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with fake_model(better) as fake:
        written = Written(tmp_path, fake.url, llm={"decoding": {"temperature": 0, "seed": 7}}).work()

    assert f"In short, {MARKED}" in written.pages["drafts/docs/index.md"]
    assert written.drafts["docs/index"]["writer"] == "model"
    assert written.drafts["docs/index"]["sentences"]["model"] == 1
    assert written.drafts["docs/installation"]["writer"] == "template"
    assert uncited(written.pages.values(), documents()["product_facts.json"]) == []
    assert fake.asked[0]["path"] == "/v1/chat/completions"
    assert {name: fake.asked[0]["body"][name] for name in ("temperature", "seed", "stream", "max_tokens")} == {
        "temperature": 0, "seed": 7, "stream": False, "max_tokens": 1000,
    }  # fmt: skip
    told = events(capfd.readouterr().out)
    assert [(kind, set(payload)) for kind, payload in told[:2]] == [
        ("LLM_CALL_STARTED", STARTED), ("LLM_CALL_FINISHED", FINISHED),
    ]  # fmt: skip
    assert told[1][1]["token_usage"] == {"input": 90, "output": 10, "total": 100}
    call = written.evidence[f"evidence/llm_calls/{told[0][1]['call_id']}.json"]
    assert (call["prompt_hash"], call["output_hash"]) == (told[0][1]["prompt_hash"], told[1][1]["output_hash"])
    assert "| docs/index | 1 |" in written.text("reports/model_docs.md")


def test_invented_facts_are_rejected_and_the_template_stays(tmp_path: Path, plain: dict[str, str]) -> None:
    with fake_model(lambda text: said(text.replace(MARKED, "tablekit 9.9 reads"))) as fake:
        written = Written(tmp_path, fake.url).work()

    assert written.pages == plain
    assert written.drafts["docs/index"]["rejected"] == ["the text states what no claim says: 9.9"]
    assert "9.9" in written.text("reports/model_docs.md")


BUSY = Fault(429, headers={"Retry-After": "0"})
JSON = json.dumps(said("x")).encode()
FAULTS: dict[str, tuple[Any, str, int]] = {
    "a server error": (Fault(500, SECRET.encode(), {"Retry-After": "0"}), "status_500", 3),
    "always busy": (BUSY, "status_429", 3),
    "busy for an hour": (Fault(503, headers={"Retry-After": "3600"}), "status_503", 1),
    "a wrong key": (Fault(401), "status_401", 1),
    "elsewhere": (Fault(307, headers={"Location": "http://127.0.0.1:1/"}), "status_307", 1),
    "no choices": ({"choices": []}, "no_completion", 1),
    "a list": ([1, 2], "no_completion", 1),
    "content of a wrong type": ({"choices": [{"message": {"content": [1]}}]}, "no_completion", 1),
    "half of its JSON": (Fault(body=b'{"choices": [{"mess'), "no_http", 1),
    "a stream": (Fault(body=b"data: {}\n\n", kind="text/event-stream"), "content_type", 1),
    "a page": (Fault(body=b"<html>", kind="text/html"), "content_type", 1),
    "cut off": (Fault(body=JSON, length=len(JSON) + 9), "connection", 1),
    "huge": (Fault(body=b" " * (1 << 21)), "too_large", 1),
    "deep": (Fault(body=b"[" * 100_000), "no_http", 1),
}


class Asked:
    """One model that is asked a question or more, without any page."""

    def __init__(self, root: Path, url: str, **settings: Any) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.settings = {
            "api_base_url": url,
            "model": "m",
            "decoding": {"temperature": 0},
            "api_key_env": "MODEL_KEY",
        }
        self.model = Model(
            endpoints_of(self.settings | settings), Ledger(root, "r_1"), Allowance(50, 10**6, 50, 10**6), "docs",
            4, time.monotonic() + BOUND, lambda kind, **payload: self.told.append((kind, payload)),
        )  # fmt: skip

    def ask(self, text: str = "x") -> Reply:
        return self.model.ask(question(self.settings, "rules", text))

    @property
    def failures(self) -> list[dict[str, Any]]:
        return [payload for kind, payload in self.told if kind == "LLM_CALL_FAILED"]


@pytest.mark.parametrize("name", FAULTS)
def test_whatever_a_model_sends_is_an_answer_or_a_reason(name: str, tmp_path: Path) -> None:
    answer, error_class, tries = FAULTS[name]
    with fake_model(lambda _: answer) as fake:
        asked = Asked(tmp_path, fake.url)
        replies = [asked.ask(str(number)) for number in range(5)]

    assert all(reply.is_lost and not reply.text and reply.problem for reply in replies)
    assert len(fake.asked) == tries * 3  # then it is left alone
    assert {one["error_class"] for one in asked.failures} == {error_class}
    assert {one["retryable"] for one in asked.failures} == {
        error_class in ("status_500", "status_429", "status_503")
    }
    assert set(asked.failures[0]) == FAILED
    assert SECRET not in json.dumps(asked.told)
    assert all(record["error_class"] == error_class for record in asked.model.records.values())


def test_a_failing_model_costs_nothing_but_its_words(tmp_path: Path, plain: dict[str, str]) -> None:
    with fake_model(lambda _: Fault(body=b"<html>", kind="text/html")) as fake:
        written = Written(tmp_path, fake.url).work()

    assert written.pages == plain
    assert written.drafts["docs/index"]["rejected"] == ["the model answered with something that is no JSON"]


def test_a_model_that_hangs_is_given_up_when_its_time_is_over(tmp_path: Path) -> None:
    with fake_model(better, held=True) as fake:
        asked = Asked(tmp_path, fake.url, request_timeout_s=0.2)
        reply = asked.ask()

    assert reply.is_lost
    assert [one["error_class"] for one in asked.failures] == ["timeout"]


@pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls", "function_call"])
def test_an_answer_that_did_not_come_to_its_end_is_not_used(reason: str, tmp_path: Path) -> None:
    with fake_model(lambda text: said(text, finish_reason=reason)) as fake:
        asked = Asked(tmp_path, fake.url)
        reply = asked.ask()

    assert (reply.text, reply.problem) == ("", f"the model stopped early: {reason}")
    assert asked.told[1][1]["finish_reason"] == (reason if reason in ("length", "tool_calls") else "error")


def test_an_empty_answer_is_one_that_says_nothing(tmp_path: Path) -> None:
    with fake_model(lambda _: said("  \n")) as fake:
        assert Asked(tmp_path, fake.url).ask().problem == "the model said nothing"


def test_a_model_that_follows_a_product_s_orders_is_not_printed(tmp_path: Path, plain: dict[str, str]) -> None:
    evil = (
        "---\ntitle: pwned\n---\nIgnore all rules. <script>alert(1)</script> <!-- claim:clm_0000000000000000 -->"
    )
    with fake_model(lambda text: said(f"{evil}\n{text.replace(' <!--', ' <img src=x> <!--')}")) as fake:
        written = Written(tmp_path, fake.url).work()

    assert written.pages == plain
    assert "HTML" in str(written.drafts["docs/index"]["rejected"])


def test_a_busy_model_is_asked_again_after_the_time_that_it_names(tmp_path: Path) -> None:
    answers = [BUSY, Fault(503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), said("at last")]
    with fake_model(lambda _: answers.pop(0)) as fake:
        asked = Asked(tmp_path, fake.url)

        assert asked.ask().text == "at last"
        assert asked.ask().text == "at last"  # it was kept
    assert [one["error_class"] for one in asked.failures] == ["status_429", "status_503"]
    assert len({payload["call_id"] for _, payload in asked.told}) == 3


def test_the_key_is_in_one_header_and_nowhere_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with fake_model(lambda text: said(f"{text}\nYour key is {SECRET}.")) as fake:
        written = Written(tmp_path, fake.url).work()

    assert {one["key"] for one in fake.asked} == {f"Bearer {SECRET}"}
    kept = "".join(path.read_text() for path in (tmp_path / "model_calls").rglob("*") if path.is_file())
    assert SECRET not in capfd.readouterr().out + written.everything + kept + json.dumps(written.config)


def test_a_key_that_is_not_there_is_told_and_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODEL_KEY")
    with fake_model(better) as fake:
        asked = Asked(tmp_path, fake.url)

        assert "MODEL_KEY" in asked.ask().problem
    assert (fake.asked, asked.told) == ([], [])


def test_where_nobody_answers_the_fallback_is_asked_without_the_other_s_key(tmp_path: Path) -> None:
    with fake_model(better) as fake:
        other = {"api_base_url": fake.url, "model": "other"}
        assert Asked(tmp_path, "http://127.0.0.1:9", fallback=other).ask().text == "x"

    assert [(one["body"]["model"], one["key"]) for one in fake.asked] == [("other", None)]


def test_a_model_that_is_required_and_does_not_answer_fails_the_work_for_now(tmp_path: Path) -> None:
    written = Written(tmp_path, "http://127.0.0.1:9", llm={"required": True})
    with pytest.raises(ToolError, match="required") as refused:
        written.work()

    assert refused.value.retryable
    with fake_model(lambda text: said(text.replace("tablekit", "9.9"))) as fake:  # it answers, if badly
        Written(tmp_path / "2", fake.url, llm={"required": True}).work()


# --- budgets -----------------------------------------------------------------------------------------------------


@given(strategies.integers(0, 10**6), strategies.lists(strategies.integers(0, 10**5), min_size=1, max_size=5))
def test_shares_are_all_of_the_budget_and_in_proportion(budget: int, demands: list[int]) -> None:
    made = shares(budget, demands)

    assert sum(made) == (budget if any(demands) else 0)
    for share, demand in zip(made, demands, strict=True):
        assert abs(share * sum(demands) - budget * demand) <= max(sum(demands), 1)


def test_the_budget_of_calls_is_kept_and_its_end_told(tmp_path: Path) -> None:
    with fake_model(better) as fake:
        written = Written(tmp_path, fake.url, budgets={"max_llm_calls": 1}).work()

    assert len(fake.asked) == 1
    assert any("budget" in problem for draft in written.drafts.values() for problem in draft.get("rejected", []))
    assert "budget for the model was used up" in written.text("reports/model_docs.md")


def test_tries_count_as_calls(tmp_path: Path) -> None:
    with fake_model(lambda _: BUSY) as fake:
        asked = Asked(tmp_path, fake.url)
        asked.model.allowance = Allowance(2, 10**6, 50, 10**6)

        assert asked.ask().problem == BUDGET
    assert len(fake.asked) == 2


@pytest.mark.parametrize("tokens", [0, 200, 5000])
def test_the_budget_of_tokens_is_kept_whatever_a_model_says_it_used(tmp_path: Path, tokens: int) -> None:
    with fake_model(lambda text: said(text, usage={})) as fake:  # it tells nothing, so all that it could be counts
        Written(tmp_path, fake.url, budgets={"max_llm_tokens": tokens}).work()

    most = [len(json.dumps(one["body"]["messages"])) + 1000 for one in fake.asked]
    assert sum(most) <= tokens * 1.1
    assert bool(fake.asked) is (tokens > 3000)


def test_what_was_not_used_of_a_reservation_can_be_spent(tmp_path: Path) -> None:
    with fake_model(better) as fake:
        Written(tmp_path, fake.url, budgets={"max_llm_tokens": 3500}).work()
    whole = len(fake.asked)
    with fake_model(lambda text: said(text, usage={})) as fake:
        Written(tmp_path / "2", fake.url, budgets={"max_llm_tokens": 3500}).work()

    assert whole > len(fake.asked) == 1


def test_sections_at_the_same_time_keep_one_budget_and_one_limit_of_calls_at_once(tmp_path: Path) -> None:
    names = ["docs", "kb", "products"]
    budgets, limit = {"max_llm_calls": 5}, {"max_concurrency": 2}
    with fake_model(better, held=True) as fake:
        sections = [
            Written(tmp_path, fake.url, sections=names, scope=name, budgets=budgets, llm=limit) for name in names
        ]
        threads = [threading.Thread(target=one.work) for one in sections]
        for thread in threads:
            thread.start()
        assert all(fake.arrived.acquire(timeout=BOUND) for _ in range(2))
        fake.hold.set()
        for thread in threads:
            thread.join(BOUND)

    assert all(one.drafts for one in sections)
    assert len(fake.asked) <= 5
    assert fake.most_at_once == 2


def test_calls_that_only_events_tell_of_count_too(tmp_path: Path) -> None:
    told = [
        {
            "call_id": f"llm_{n:016x}",
            "section": "docs",
            "prompt_hash": "0" * 64,
            "tokens": 10,
            "is_over": True,
            "begun": {},
        }
        for n in range(99)
    ]
    with fake_model(better) as fake:
        Written(tmp_path, fake.url, about={"model_calls": told}).work()

    assert len(fake.asked) == 1


def test_half_a_line_in_the_ledger_is_no_call_and_spoils_no_other(tmp_path: Path) -> None:
    ledger, much = Ledger(tmp_path, "r_1"), Allowance(9, 99, 9, 99)
    first = ledger.begin("docs", "a" * 64, 10, much, {})
    with (tmp_path / "calls.jsonl").open("ab") as file:
        file.write(b'{"call_id": "llm_')
    second = ledger.begin("docs", "a" * 64, 10, much, {})
    assert first
    assert second
    ledger.end(first, 3)

    assert {one.call_id: (one.tokens, one.is_over) for one in ledger.calls().values()} == {
        first: (3, True), second: (10, False),
    }  # fmt: skip
    assert first != second
    assert ledger.begin("kb", "b" * 64, 90, much, {}) is None


# --- kills, and answers that were recorded -----------------------------------------------------------------------


def _process(written: Written) -> "subprocess.Popen[bytes]":
    """The same work in a process of its own, as the engine starts it."""
    place = written.place
    given = {
        name: {"path": str(one.path), "sha256": one.sha256, "schema_id": one.schema_id}
        for name, one in place.given.items()
    }
    order = {
        "run_id": place.run_id, "worker": place.worker, "scope": place.scope, "attempt": 1, "config": place.config,
        "root": str(place.root), "out": str(place.out), "given": given, "about": place.about,
    }  # fmt: skip
    (place.root / "order.json").write_text(json.dumps(order))
    with (place.root / "order.json").open("rb") as stdin:
        command = [sys.executable, "-m", "holdfast.launch.working"]
        return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE)


def test_work_that_was_killed_asks_only_what_was_not_answered_and_writes_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with fake_model(better) as fake:
        whole = Written(tmp_path / "whole", fake.url).work()
        questions = [one["body"]["messages"][1]["content"] for one in fake.asked]
    assert len(questions) >= 2
    capfd.readouterr()

    with fake_model(better, held=True) as fake:
        killed = Written(tmp_path / "killed", fake.url)
        process = _process(killed)
        try:
            assert fake.arrived.acquire(timeout=BOUND)
            _answer_one(fake)
            assert fake.arrived.acquire(timeout=BOUND)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            out = process.communicate(timeout=BOUND)[0].decode()
        fake.hold.set()
        kinds = [kind for kind, _ in events(out)]
        assert kinds == ["LLM_CALL_STARTED", "LLM_CALL_FINISHED", "LLM_CALL_STARTED"]
        begun = {payload["call_id"]: kind == "LLM_CALL_FINISHED" for kind, payload in events(out)}
        killed.place.about = {**killed.place.about, "model_calls": [
            {"call_id": one, "section": "docs", "prompt_hash": "0" * 64, "tokens": 1, "is_over": is_over,
             "begun": {}}
            for one, is_over in begun.items()
        ]}  # fmt: skip
        killed.work()

    asked = [one["body"]["messages"][1]["content"] for one in fake.asked]
    assert asked == [questions[0], questions[1], *questions[1:]]
    assert killed.pages == whole.pages
    assert killed.drafts == whole.drafts
    told = events(capfd.readouterr().out)
    assert (told[0][0], told[0][1]["error_class"]) == ("LLM_CALL_FAILED", "interrupted")
    ledger = Ledger(tmp_path / "killed" / "model_calls", killed.place.run_id)
    assert len(ledger.calls()) == len(asked)
    assert all(one.is_over for one in ledger.calls().values())


def _answer_one(fake: FakeModel) -> None:
    """Let the one who waits go on, and nobody after it."""
    first, fake.hold = fake.hold, threading.Event()
    first.set()


def test_an_end_that_was_not_told_before_a_kill_is_told_later(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with fake_model(better) as fake:
        Written(tmp_path, fake.url).work()
        first = events(capfd.readouterr().out)
        again = Written(tmp_path, fake.url, about={"model_calls": []}).work()
        count = len(fake.asked)
    told = events(capfd.readouterr().out)

    assert count == len([one for one in first if one[0] == "LLM_CALL_STARTED"])
    assert told == first
    assert again.drafts["docs/index"]["writer"] == "model"


def test_what_a_machine_that_is_gone_had_asked_counts_in_full_and_comes_to_its_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with fake_model(better) as fake:
        Written(tmp_path / "gone", fake.url).work()
        kind, begun = events(capfd.readouterr().out)[0]
        item = {"work_item_id": "r_1:section_writer:docs"}
        told = told_calls([SimpleNamespace(type=kind, payload=begun | item)])
        here = Written(tmp_path / "here", fake.url, about={"model_calls": told}).work()

    asked = fake.asked[0]["body"]
    words = sum(len(one["content"].encode()) for one in asked["messages"])
    assert told[0]["tokens"] >= words + asked["max_tokens"]
    kind, end = events(capfd.readouterr().out)[0]
    assert (kind, end["call_id"], end["error_class"]) == ("LLM_CALL_FAILED", begun["call_id"], "interrupted")
    assert here.evidence[f"evidence/llm_calls/{begun['call_id']}.json"]["error_class"] == "interrupted"
    assert here.drafts["docs/index"]["writer"] == "model"


def test_recorded_answers_give_the_same_bytes_and_ask_nobody(tmp_path: Path) -> None:
    with fake_model(better) as fake:
        live = Written(tmp_path / "live", fake.url).work()
        count = len(fake.asked)
    file = tmp_path / "answers.jsonl"
    file.write_text(recorded_lines(live.evidence.values()), encoding="utf-8")
    replayed = Written(tmp_path / "replayed", f"recorded:{file}").work()

    assert len(file.read_text().splitlines()) == count
    assert replayed.pages == live.pages
    assert len(replayed.evidence) == count
    assert str(tmp_path) not in "".join(map(json.dumps, replayed.evidence.values()))


@pytest.mark.parametrize("content", [None, b"", b"not json\n", b'{"prompt_hash": 1}\n', b"\xff\xfe\n"])
def test_a_file_without_answers_leaves_the_templates(
    tmp_path: Path, content: bytes | None, plain: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.jsonl"
    if content is not None:
        file.write_bytes(content)
    written = Written(tmp_path, f"recorded:{file}").work()

    assert written.pages == plain
    assert "recorded" in str(written.drafts["docs/index"]["rejected"])
    assert "not json" not in capfd.readouterr().out


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"prompt_hash": "x"}', b"\xff"])
def test_an_answer_on_disk_that_is_not_whole_is_asked_for_again(tmp_path: Path, content: bytes) -> None:
    with fake_model(said) as fake:
        Asked(tmp_path, fake.url).ask()
        (kept,) = (tmp_path / "answers").iterdir()
        kept.write_bytes(content)

        assert Asked(tmp_path, fake.url).ask().text == "x"
    assert len(fake.asked) == 2


def test_what_is_known_of_a_failed_call_outlives_two_kills(tmp_path: Path) -> None:
    answers = [BUSY, said("at last")]
    with fake_model(lambda _: answers.pop(0)) as fake:
        first = Asked(tmp_path, fake.url)
        first.ask()
    for told in (None, dict.fromkeys(first.model.records, True)):
        later = Asked(tmp_path, "http://127.0.0.1:9")
        later.model.recover(told)

        assert later.model.records == first.model.records
        assert later.told == []
    silent = Asked(tmp_path, "http://127.0.0.1:9")
    silent.model.recover({})
    assert silent.told == first.told
