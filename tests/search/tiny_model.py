"""A sentence model that is small enough to be written down: words of one group mean the same.

It is read by the real runtime and the real tokenizer. Vectors are exact and the same on every machine.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

GROUPS = (
    ("cancel", "stop", "abort"),
    ("retry", "again", "repeat"),
    ("invoice", "bill"),
    ("tax", "vat", "duty"),
    ("parse", "read", "decode"),
    ("mail", "letter", "envelope"),
)


def write_model(
    directory: Path,
    groups: Sequence[Sequence[str]] = GROUPS,
    *,
    output: str = "last_hidden_state",
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    dimensions: int = 0,
) -> Path:
    """Write model.onnx and tokenizer.json; a word of no group is the same small vector for all of them."""
    directory.mkdir(parents=True, exist_ok=True)
    words = ["[UNK]", *(word for group in groups for word in group)]
    width = dimensions or len(groups) + 1
    table = np.zeros((len(words), width), np.float32)
    table[0, -1] = 0.05
    for axis, group in enumerate(groups):
        for word in group:
            table[words.index(word), axis % width] = 1.0
    onnx.save(_graph(table, output, inputs), str(directory / "model.onnx"))
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def _graph(
    table: "np.ndarray[tuple[int, int], np.dtype[np.float32]]", output: str, inputs: Sequence[str]
) -> onnx.ModelProto:
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs]
    nodes = [helper.make_node("Gather", ["table", inputs[0]], ["tokens_out"])]
    constants = [numpy_helper.from_array(table, "table")]
    shape: list[str | int] = ["batch", "tokens", table.shape[1]]
    if output == "sentence_embedding":
        nodes.append(helper.make_node("ReduceMean", ["tokens_out", "axis"], [output], keepdims=0))
        constants.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
        shape = ["batch", table.shape[1]]
    else:
        nodes.append(helper.make_node("Identity", ["tokens_out"], [output]))
    told = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "tiny", given, told, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
