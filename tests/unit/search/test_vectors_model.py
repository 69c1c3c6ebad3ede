"""Models: what they say, which ones are taken, and what is told of the others."""

import hashlib
import json
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.search.tiny_model import write_model

from holdfast.errors import ToolError
from holdfast.search.vectors.model import SentenceModel
from holdfast.search.vectors.models import bring_model
from holdfast.search.vectors.passages import passage
from holdfast.search.vectors.place import ChosenModel

Bring = Callable[..., ChosenModel]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("own") / "mine")


@pytest.fixture
def bring(tmp_path: Path) -> Bring:
    def brought(model: str | None, sha256: str | None = None) -> ChosenModel:
        return bring_model(tmp_path / "cache", model, sha256, progress=lambda *_: None, stop=lambda: False)

    return brought


def test_vectors_keep_the_order_of_their_texts_and_have_the_length_one(own: Path) -> None:
    texts = [f"{'stop ' * (n % 40)} bill" for n in range(100)] + ["", "tax " * 500]
    vectors = SentenceModel(own).embed(texts)
    alone = np.vstack([SentenceModel(own).embed([text]) for text in texts[:3] + texts[-2:]])
    np.testing.assert_allclose(np.vstack([vectors[:3], vectors[-2:]]), alone, atol=1e-6)
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(lengths[:-2], 1, atol=1e-5)
    assert SentenceModel(own).embed([]).shape == (0, 7)


def test_both_kinds_of_outputs_mean_the_same(own: Path, tmp_path: Path) -> None:
    pooled = write_model(tmp_path / "pooled", output="sentence_embedding")
    texts = ["stop the letter", "parse again"]
    for text in texts:  # one by one: a model that pools by itself does not know about padding here
        np.testing.assert_allclose(
            SentenceModel(own).embed([text]), SentenceModel(pooled).embed([text]), atol=1e-6
        )


def test_a_third_input_is_filled_in(tmp_path: Path) -> None:
    model = write_model(tmp_path, inputs=("input_ids", "attention_mask", "token_type_ids"))
    assert SentenceModel(model).embed(["stop"])[0, 0] == pytest.approx(1)


def _break(directory: Path, what: str) -> None:
    tokenizer, model = directory / "tokenizer.json", directory / "model.onnx"
    match what:
        case "no tokenizer":
            tokenizer.unlink()
        case "no model":
            model.unlink()
        case "half a model":
            model.write_bytes(model.read_bytes()[:100])
        case "text for a model":
            model.write_text("<html>not found</html>")
        case "no JSON":
            tokenizer.write_text("{")
        case "another JSON":
            tokenizer.write_text("{}")
        case "unknown words":
            said = json.loads(tokenizer.read_bytes())
            said["model"]["vocab"]["stop"] = 10**6
            said["model"]["vocab"]["a"] = 10**6
            tokenizer.write_text(json.dumps(said))


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("no tokenizer", "no model in"), ("no model", "no model in"),
        ("half a model", "model.onnx cannot be used"),
        ("text for a model", "model.onnx cannot be used"), ("no JSON", "tokenizer.json cannot be used"),
        ("another JSON", "tokenizer.json cannot be used"), ("unknown words", "it fails"),
    ],
)  # fmt: skip
def test_a_model_with_wrong_files_is_refused_in_one_line(what: str, told: str, own: Path, tmp_path: Path) -> None:
    broken = tmp_path / what
    shutil.copytree(own, broken)
    _break(broken, what)
    with pytest.raises(ToolError, match=told) as refusal:
        bring_model(tmp_path / "cache", str(broken), None, progress=lambda *_: None, stop=lambda: False)
    assert refusal.value.code == "INVALID_REQUEST"
    assert "\n" not in refusal.value.message
    assert [*(tmp_path / "cache").glob("vector-models/*")] == []


def test_a_model_with_other_inputs_is_refused(tmp_path: Path, bring: Bring) -> None:
    write_model(tmp_path / "m", inputs=("pixels", "attention_mask"))
    with pytest.raises(ToolError, match="its inputs are pixels"):
        bring(str(tmp_path / "m"))


def test_a_directory_a_file_and_an_archive_are_one_model(own: Path, tmp_path: Path, bring: Bring) -> None:
    archive = tmp_path / "own.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in own.iterdir():
            packed.write(file, f"inside/{file.name}")
    found = [bring(str(path)) for path in (own, own / "model.onnx", archive)]
    assert {(one.digest, one.dimensions) for one in found} == {(found[0].digest, 7)}
    assert found[0].name == "mine"


def test_what_was_brought_once_does_not_need_its_source(own: Path, tmp_path: Path, bring: Bring) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(own, copy)
    chosen = bring(str(copy))
    shutil.rmtree(copy)
    assert SentenceModel(tmp_path / "cache" / "vector-models" / chosen.digest).dimensions == 7


def test_several_models_in_one_directory_are_not_guessed_at(own: Path, tmp_path: Path, bring: Bring) -> None:
    for name in ("a", "b"):
        shutil.copytree(own, tmp_path / "both" / name)
    with pytest.raises(ToolError, match="2 models in both"):
        bring(str(tmp_path / "both"))


@pytest.fixture
def served(own: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of an archive, and its SHA-256."""
    root = tmp_path / "served"
    root.mkdir()
    with zipfile.ZipFile(root / "mine.zip", "w") as packed:
        for file in own.iterdir():
            packed.write(file, file.name)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Nobody looks."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    digest = hashlib.sha256((root / "mine.zip").read_bytes()).hexdigest()
    yield f"http://127.0.0.1:{server.server_port}/mine.zip", digest
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_from_a_url_needs_its_hash_and_has_to_have_it(served: tuple[str, str], bring: Bring) -> None:
    address, digest = served
    with pytest.raises(ToolError, match="without a SHA-256"):
        bring(address)
    with pytest.raises(ToolError) as refusal:
        bring(address, "0" * 64)
    assert refusal.value.code == "DOWNLOAD_VERIFY_FAILED"
    assert bring(address, digest).dimensions == 7


def test_a_name_that_is_neither_known_nor_a_path_is_refused(bring: Bring) -> None:
    with pytest.raises(ToolError) as refusal:
        bring("no-such-model-anywhere")
    assert refusal.value.code == "NOT_FOUND"


def test_a_passage_says_names_and_paths_in_words_and_is_bounded() -> None:
    text = passage("HTTPServer.readLine_fast", "src/netIO/http_server.py", "x" * 5000)
    assert text.splitlines()[:2] == ["HTTP Server read Line fast", "src net IO http server py"]
    assert len(text) < 1200
