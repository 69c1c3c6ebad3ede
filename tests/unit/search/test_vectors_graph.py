"""The graph of a BERT encoder: the same numbers as a forward pass written out by hand, and as those published."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray
from tests.search.tiny_model import write_model

from holdfast.errors import ToolError
from holdfast.search.vectors.bert_graph import BertShape, bert_graph
from holdfast.search.vectors.convert import convert
from holdfast.search.vectors.model import SentenceModel
from holdfast.search.vectors.models import bring_model
from holdfast.search.vectors.safetensors import read_tensors

WORDS, PLACES, HIDDEN, WIDE, HEADS, LAYERS = 40, 16, 24, 48, 4, 2
SHAPE = BertShape(HEADS, 1e-12)
Floats = NDArray[np.float32]
erf = np.vectorize(math.erf)


def random_weights() -> dict[str, Floats]:
    """The weights of a small encoder, with the names that they have everywhere."""
    chance = np.random.default_rng(7)

    def some(*shape: int) -> Floats:
        return chance.normal(0, 0.3, shape).astype(np.float32)

    weights = {f"embeddings.{name}_embeddings.weight": some(rows, HIDDEN)
               for name, rows in (("word", WORDS), ("position", PLACES), ("token_type", 2))}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
        for name, out, wide in (
            *((f"attention.self.{part}", HIDDEN, HIDDEN) for part in ("query", "key", "value")),
            ("attention.output.dense", HIDDEN, HIDDEN), ("intermediate.dense", WIDE, HIDDEN),
            ("output.dense", HIDDEN, WIDE),
        ):  # fmt: skip
            weights[f"{layer}.{name}.weight"], weights[f"{layer}.{name}.bias"] = some(out, wide), some(out)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = 1 + some(HIDDEN), some(HIDDEN)
    return weights


def by_hand(weights: dict[str, Floats], ids: list[int]) -> Floats:
    """The vector of one text, token by token, without batches and masks."""

    def norm(name: str, value: Floats) -> Floats:
        middle = value - value.mean(axis=-1, keepdims=True)
        scaled = middle / np.sqrt((middle**2).mean(axis=-1, keepdims=True) + SHAPE.epsilon)
        return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"], np.float32)

    def linear(name: str, value: Floats) -> Floats:
        return np.asarray(value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"], np.float32)

    table = {part: weights[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
    value = norm(
        "embeddings.LayerNorm", table["word"][ids] + table["position"][: len(ids)] + table["token_type"][0]
    )
    for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
        asked, offered, said = (
            linear(f"{layer}.attention.self.{part}", value) for part in ("query", "key", "value")
        )
        heard = np.zeros_like(value)
        for head in range(HEADS):
            own = slice(head * HIDDEN // HEADS, (head + 1) * HIDDEN // HEADS)
            fit = np.exp(asked[:, own] @ offered[:, own].T / math.sqrt(HIDDEN // HEADS))
            heard[:, own] = fit / fit.sum(axis=1, keepdims=True) @ said[:, own]
        middle = norm(
            f"{layer}.attention.output.LayerNorm", linear(f"{layer}.attention.output.dense", heard) + value
        )
        wide = linear(f"{layer}.intermediate.dense", middle)
        wide = np.asarray(wide * 0.5 * (1 + erf(wide / math.sqrt(2))), np.float32)
        value = norm(f"{layer}.output.LayerNorm", linear(f"{layer}.output.dense", wide) + middle)
    mean = value.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def run(model: bytes | str, texts: list[list[int]]) -> Floats:
    """What the graph says to a padded batch."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    width = max(map(len, texts))
    ids = np.array([[*text, *[0] * (width - len(text))] for text in texts], np.int64)
    mask = np.array([[1] * len(text) + [0] * (width - len(text)) for text in texts], np.int64)
    return np.asarray(session.run(None, {"input_ids": ids, "attention_mask": mask})[0])


TEXTS = [[3, 9, 27, 1], [5], [39, 2, 2, 8, 11, 30, 31]]


def test_the_graph_computes_what_the_forward_pass_computes_by_hand() -> None:
    weights = random_weights()
    expected = np.stack([by_hand(weights, text) for text in TEXTS])
    got = run(bert_graph(weights, SHAPE).SerializeToString(), TEXTS)
    np.testing.assert_allclose(got, expected, atol=2e-5)


def write_safetensors(path: Path, tensors: dict[str, Floats], *, kind: str = "F32") -> None:
    table, data = {}, b""
    for name, tensor in tensors.items():
        table[name] = {
            "dtype": kind,
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + tensor.nbytes],
        }
        data += tensor.tobytes()
    header = json.dumps(table).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)


def test_the_converted_model_stays_close_to_its_weights(tmp_path: Path) -> None:
    weights = random_weights()
    write_safetensors(tmp_path / "model.safetensors", weights)
    config = {"model_type": "bert", "num_attention_heads": HEADS, "hidden_act": "gelu"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    convert(tmp_path, tmp_path / "small.onnx")
    exact = run(bert_graph(weights, SHAPE).SerializeToString(), TEXTS)
    assert ((run(str(tmp_path / "small.onnx"), TEXTS) * exact).sum(axis=1) > 0.98).all()
    assert [*tmp_path.glob(".convert-*")] == []


def test_other_weights_and_other_architectures_are_refused(tmp_path: Path) -> None:
    weights = random_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(ToolError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        bert_graph(weights, SHAPE)
    with pytest.raises(ToolError, match="5 heads"):
        bert_graph(random_weights(), BertShape(5, 1e-12))
    write_safetensors(tmp_path / "model.safetensors", random_weights())
    (tmp_path / "config.json").write_text('{"model_type": "t5", "num_attention_heads": 4}')
    with pytest.raises(ToolError, match="only BERT"):
        convert(tmp_path, tmp_path / "small.onnx")


def test_tensors_come_back_as_they_were_written(tmp_path: Path) -> None:
    tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros((0, 4), np.float32)}
    write_safetensors(tmp_path / "x", tensors)
    read = read_tensors(tmp_path / "x")
    assert {name: value.tolist() for name, value in read.items()} == {n: v.tolist() for n, v in tensors.items()}


def _file(table: Any, data: bytes = b"") -> bytes:
    header = table if isinstance(table, bytes) else json.dumps(table).encode()
    return len(header).to_bytes(8, "little") + header + data


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff" * 8, b"\x00" * 8, b"\x05\0\0\0\0\0\0\0{}", _file(b"{"), _file([]),
        _file(b"[" * 5000), _file({"a": 1}), _file({"a": {"dtype": "F32", "shape": [2]}}),
        _file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"1234"),
        _file({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, b"12345678"),
        _file({"a": {"dtype": "F32", "shape": [-2, -1], "data_offsets": [0, 8]}}, b"12345678"),
        _file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}}, b"12345678"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_what_it_says_is_refused_as_a_whole(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ToolError, match="is no safetensors file"):
        read_tensors(tmp_path / "x")


@pytest.fixture
def minilm(tmp_path: Path) -> SentenceModel:
    """The real model, where HOLDFAST_TEST_MINILM names its wheel."""
    wheel = os.environ.get("HOLDFAST_TEST_MINILM")
    if not wheel:
        pytest.skip("HOLDFAST_TEST_MINILM does not name the wheel of the model")
    chosen = bring_model(tmp_path, wheel, None, progress=lambda *_: None, stop=lambda: False)
    return SentenceModel(tmp_path / "vector-models" / chosen.digest)


def test_the_real_model_says_what_is_published_of_it(minilm: SentenceModel) -> None:
    texts = [
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    ]
    vectors = minilm.embed(texts)
    # The figures on the page of the model, as far as eight bits reach.
    np.testing.assert_allclose(vectors[1:] @ vectors[0], [0.695, 0.943, 0.257], atol=0.03)


def test_a_model_of_ones_own_needs_no_conversion(tmp_path: Path) -> None:
    write_model(tmp_path / "own")
    onnx.checker.check_model(str(tmp_path / "own" / "model.onnx"))
    assert SentenceModel(tmp_path / "own").dimensions == 7
