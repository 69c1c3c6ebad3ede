"""Estimated tokens: close to what tokenizers say, cheap, total."""

import time
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.tokens import estimated_tokens


class Measured(NamedTuple):
    """A text, and what cl100k and o200k count in it; the counts were taken once, with the tokenizers."""

    text: str
    cl100k: int
    o200k: int


MEASURED = {
    "English": Measured(
        "A launch run turns a product's repository into cited pages and one pull request. Every sentence that "
        "states a fact carries a mark, and every mark leads to the lines it came from. If the work is killed, "
        "what is left is done again and nothing twice: the store is the truth of a run.",
        62,
        62,
    ),
    "Python": Measured(
        "def find(items: list[str], wanted: str) -> int | None:\n"
        '    """The index of the first match."""\n'
        "    for index, item in enumerate(items):\n"
        "        if item.casefold() == wanted.casefold():\n"
        "            return index\n"
        "    return None\n",
        53,
        53,
    ),
    "JavaScript": Measured(
        "export async function load(url, { retries = 3 } = {}) {\n"
        "  for (let attempt = 0; attempt < retries; attempt++) {\n"
        "    const response = await fetch(url);\n"
        "    if (response.ok) return response.json();\n"
        "  }\n"
        "  throw new Error(`cannot load ${url}`);\n"
        "}\n",
        62,
        62,
    ),
    "JSON": Measured(
        '{"status":"success","count":12,"items":[{"sku":"A-1","name":"anvil","updatedAt":"2026-01-02T03:04:05Z"},'
        '{"sku":"B-2","name":"bucket","updatedAt":"2026-01-03T10:00:00Z"}]}',
        65,
        68,
    ),
    "Chinese": Measured(
        "服务器在收到请求后会检查参数，然后把结果写入日志并返回给客户端。如果连接中断，系统会自动重试三次。",
        41,
        31,
    ),
    "Japanese": Measured(
        "サーバーはリクエストを受け取ると引数を検証し、結果をログに書き込んでからクライアントに返します。", 50, 39
    ),
    "Korean": Measured(
        "서버는 요청을 받으면 인수를 확인하고 결과를 로그에 기록한 다음 클라이언트에 반환합니다.", 35, 26
    ),
}


@pytest.mark.parametrize("kind", sorted(MEASURED))
def test_the_estimate_is_within_a_quarter_of_a_real_tokenizer(kind: str) -> None:
    text, cl100k, _ = MEASURED[kind]
    assert 0.9 * cl100k <= estimated_tokens(text) <= 1.25 * cl100k


@pytest.mark.parametrize("kind", sorted(MEASURED))
def test_the_estimate_is_not_below_the_newer_tokenizer_either(kind: str) -> None:
    text, _, o200k = MEASURED[kind]
    assert estimated_tokens(text) >= o200k


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("\n", 1), ("\x00", 1), ("\ud800", 1), ("😀", 3), (" " * 1000, 21)]
)
def test_the_smallest_and_the_strangest_texts_have_an_estimate(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@given(st.text())
def test_a_text_costs_something_exactly_if_it_is_not_empty(text: str) -> None:
    assert (estimated_tokens(text) > 0) == bool(text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_two_texts_together_cost_about_as_much_as_both_alone(one: str, other: str) -> None:
    apart = estimated_tokens(one) + estimated_tokens(other)
    assert abs(estimated_tokens(one + other) - apart) <= 3


def test_a_megabyte_is_estimated_in_a_moment() -> None:
    text = MEASURED["Python"].text * 4000
    began = time.process_time()
    assert estimated_tokens(text) > 100_000
    assert time.process_time() - began < 1.0
