"""A model that turns texts into vectors: an ONNX session and the tokenizer that belongs to it.

It has the inputs `input_ids`, `attention_mask` and perhaps `token_type_ids`. Its output is a vector per text, or
one per token, which are averaged here. Vectors come out with the length one, so a product of two is their cosine.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Tokenizer

from holdfast.errors import ToolError

__all__ = ["MAX_TOKENS", "MODEL", "TOKENIZER", "SentenceModel", "Vectors"]

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
MAX_TOKENS = 64  # of a text; more of them cost in proportion and found nothing better
Vectors = NDArray[np.float32]

_BATCH = 32
_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_MOST_DIMENSIONS = 8192
_HINT = "a model is model.onnx (sentence embeddings) with the tokenizer.json that belongs to it"


class SentenceModel:
    """One model, loaded. It may be used by several threads at once."""

    def __init__(self, directory: Path, *, threads: int = 1) -> None:
        self._tokenizer = _tokenizer(directory / TOKENIZER)
        self._session = _session(directory / MODEL, threads)
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._output = _output(self._session, self._inputs)
        self.dimensions = self._run(["a"]).shape[1]
        if not 0 < self.dimensions <= _MOST_DIMENSIONS:
            raise _refusal(f"its vectors have {self.dimensions} dimensions")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length one per text, in their order; a text that says nothing is a vector of zeros."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for part in _alike(texts):
            vectors[part] = self._run([texts[number] for number in part])
        return vectors

    def _run(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(list(texts))
        width = max(1, *(len(one.ids) for one in encoded))
        ids = np.zeros((len(encoded), width), np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(encoded):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            said = self._session.run([self._output], {name: given[name] for name in self._inputs})[0]
        except Exception as error:  # its classes have no common parent
            raise _refusal(f"it fails: {_first_line(error)}") from error
        return _normalized(_pooled(np.asarray(said, np.float32), mask))


def _alike(texts: Sequence[str]) -> Iterator[list[int]]:
    """Numbers of texts of about the same length: a batch is as wide as its longest text."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    for first in range(0, len(order), _BATCH):
        yield order[first : first + _BATCH]


def _pooled(said: Vectors, mask: NDArray[np.int64]) -> Vectors:
    """A vector per text: given as such, or the mean of those of its tokens."""
    if said.ndim == 2 and len(said) == len(mask):
        return said
    if said.ndim == 3 and said.shape[:2] == mask.shape:
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((said * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0), np.float32)
    raise _refusal(f"its output has the shape {said.shape} for {len(mask)} texts")


def _normalized(vectors: Vectors) -> Vectors:
    if not np.isfinite(vectors).all():
        raise _refusal("its vectors are not finite")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)


def _tokenizer(path: Path) -> Tokenizer:
    try:
        json.loads(path.read_bytes())  # the error of the library is about its own enumerations
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.enable_truncation(MAX_TOKENS)
    except FileNotFoundError as error:
        raise _refusal(f"there is no {TOKENIZER}") from error
    except Exception as error:  # the library raises nothing more special
        raise _refusal(f"its {TOKENIZER} cannot be used: {_first_line(error)}") from error
    tokenizer.no_padding()
    return tokenizer


def _session(path: Path, threads: int) -> Any:
    if not path.is_file():
        raise _refusal(f"there is no {MODEL}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4  # what is wrong is told once, as an error
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes have no common parent
        raise _refusal(f"its {MODEL} cannot be used: {_first_line(error)}") from error


def _output(session: Any, inputs: list[str]) -> str:
    """The output that the vectors are taken from."""
    if not {"input_ids", "attention_mask"} <= set(inputs) <= _KNOWN_INPUTS:
        raise _refusal(f"its inputs are {', '.join(inputs[:8])}, and not input_ids and attention_mask")
    names = [one.name for one in session.get_outputs()]
    wanted = [name for name in ("sentence_embedding", "last_hidden_state") if name in names]
    return (wanted or names)[0]


def _refusal(reason: str) -> ToolError:
    return ToolError("INVALID_REQUEST", f"this is no model for vectors: {reason}", hint=_HINT)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200] or type(error).__name__
