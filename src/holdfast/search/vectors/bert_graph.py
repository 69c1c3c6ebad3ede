"""The ONNX graph of a BERT encoder for sentences, written down from its weights: no framework is needed.

Texts go in as token numbers and a mask, vectors of length one come out: embeddings, the layers of attention, the
mean over the tokens that count. It is the architecture of the paper; of its training nothing is left. All texts
are first sentences, so the embedding of the token type is a constant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from holdfast.errors import ToolError

__all__ = ["BertShape", "bert_graph"]

_OPSET = 20
_MASKED = -10000.0  # added to what must not be attended to
_TINY = 1e-9
Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the weights alone do not tell."""

    heads: int
    epsilon: float  # of the layer normalization


def bert_graph(tensors: Tensors, shape: BertShape) -> onnx.ModelProto:
    """`input_ids` and `attention_mask` (batch, tokens) -> `sentence_embedding` (batch, dimensions)."""
    try:
        return _Graph(tensors, shape).model()
    except KeyError as error:
        message = f"these are not the weights of a BERT encoder: there is no {error.args[0]}"
        raise ToolError("INVALID_REQUEST", message, hint="use a model.onnx instead") from error


class _Graph:
    """Collects nodes and constants; every method returns the name of the value that it adds."""

    def __init__(self, tensors: Tensors, shape: BertShape) -> None:
        self._tensors = tensors
        self._shape = shape
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._hidden = tensors["embeddings.word_embeddings.weight"].shape[1]
        if self._hidden % shape.heads:
            message = f"{self._hidden} dimensions cannot be split over {shape.heads} heads"
            raise ToolError("INVALID_REQUEST", message)

    def model(self) -> onnx.ModelProto:
        """The whole graph."""
        value = self._embeddings()
        mask = self._attention_mask()
        for layer in range(self._layers()):
            value = self._layer(f"encoder.layer.{layer}.", value, mask)
        self._pool(value)
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", self._hidden])
        graph = helper.make_graph(self._nodes, "bert", inputs, [output], self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        return model

    def _layers(self) -> int:
        layer = 0
        while f"encoder.layer.{layer}.attention.self.query.weight" in self._tensors:
            layer += 1
        if not layer:
            raise KeyError("encoder.layer.0.attention.self.query.weight")
        return layer

    def _embeddings(self) -> str:
        words = self._op("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        places = self._tensors["embeddings.position_embeddings.weight"]
        kinds = self._tensors["embeddings.token_type_embeddings.weight"]
        # The type of every token is the first one, so its embedding belongs to the place.
        table = self._constant("places", (places + kinds[0]).astype(np.float32))
        length = self._op("Slice", self._op("Shape", "input_ids"), *map(self._whole, ([1], [2], [0])))
        here = self._op("Slice", table, self._whole([0]), length, self._whole([0]))
        return self._normalized("embeddings.LayerNorm.", self._op("Add", words, here))

    def _attention_mask(self) -> str:
        """0 where a token counts and a large negative number where it does not: (batch, 1, 1, tokens)."""
        mask = self._op("Cast", "attention_mask", to=TensorProto.FLOAT)
        self._mask = self._op("Unsqueeze", mask, self._whole([2]))
        missing = self._op("Sub", self._number(1.0), mask)
        return self._op("Unsqueeze", self._op("Mul", missing, self._number(_MASKED)), self._whole([1, 2]))

    def _layer(self, prefix: str, value: str, mask: str) -> str:
        attended = self._linear(f"{prefix}attention.output.dense.", self._attention(prefix, value, mask))
        middle = self._normalized(f"{prefix}attention.output.LayerNorm.", self._op("Add", attended, value))
        wide = self._op("Gelu", self._linear(f"{prefix}intermediate.dense.", middle))
        narrow = self._linear(f"{prefix}output.dense.", wide)
        return self._normalized(f"{prefix}output.LayerNorm.", self._op("Add", narrow, middle))

    def _attention(self, prefix: str, value: str, mask: str) -> str:
        """What every token hears of the others; the three projections are one multiplication."""
        own = f"{prefix}attention.self."
        heads, width = self._shape.heads, self._hidden // self._shape.heads
        names = ("query", "key", "value")
        weight = np.concatenate([self._tensors[f"{own}{name}.weight"].T for name in names], axis=1)
        bias = np.concatenate([self._tensors[f"{own}{name}.bias"] for name in names])
        together = self._op("MatMul", value, self._constant(f"{own}weights", weight))
        together = self._op("Add", together, self._constant(f"{own}biases", bias))
        parts = self._ops("Split", 3, together, self._whole([self._hidden] * 3), axis=2)
        split = self._whole([0, 0, heads, width])
        asked, offered, said = (
            self._op("Transpose", self._op("Reshape", part, split), perm=order)
            for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        fit = self._op("Mul", self._op("MatMul", asked, offered), self._number(width**-0.5))
        shares = self._op("Softmax", self._op("Add", fit, mask), axis=3)
        heard = self._op("Transpose", self._op("MatMul", shares, said), perm=[0, 2, 1, 3])
        return self._op("Reshape", heard, self._whole([0, 0, self._hidden]))

    def _pool(self, value: str) -> None:
        """The mean of the tokens that count, as a vector of length one."""
        total = self._op("ReduceSum", self._op("Mul", value, self._mask), self._whole([1]), keepdims=0)
        count = self._op("ReduceSum", self._mask, self._whole([1]), keepdims=0)
        mean = self._op("Div", total, self._op("Max", count, self._number(_TINY)))
        length = self._op("Max", self._op("ReduceL2", mean, self._whole([1])), self._number(_TINY))
        self._nodes.append(helper.make_node("Div", [mean, length], ["sentence_embedding"]))

    def _linear(self, prefix: str, value: str) -> str:
        weight = self._constant(f"{prefix}transposed", self._tensors[f"{prefix}weight"].T)
        return self._op("Add", self._op("MatMul", value, weight), self._weight(f"{prefix}bias"))

    def _normalized(self, prefix: str, value: str) -> str:
        weight, bias = self._weight(f"{prefix}weight"), self._weight(f"{prefix}bias")
        return self._op("LayerNormalization", value, weight, bias, axis=-1, epsilon=self._shape.epsilon)

    def _weight(self, name: str) -> str:
        return self._constant(name, self._tensors[name])

    def _number(self, value: float) -> str:
        return self._constant(f"number{len(self._constants)}", np.array(value, np.float32))

    def _whole(self, values: list[int]) -> str:
        return self._constant(f"whole{len(self._constants)}", np.array(values, np.int64))

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        kept = value if value.dtype == np.int64 else value.astype(np.float32)
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(kept), name))
        return name

    def _op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self._ops(kind, 1, *inputs, **attributes)[0]

    def _ops(self, kind: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        names = [f"v{len(self._nodes)}.{number}" for number in range(outputs)]
        self._nodes.append(helper.make_node(kind, [*inputs], names, **attributes))
        return names
