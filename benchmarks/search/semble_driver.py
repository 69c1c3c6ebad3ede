"""Answers questions with semble, one JSON line per question; runs in semble's own environment.

Its default model is not on the package registries. Here it gets the word vectors that the package wordllama ships,
brought into the layout that semble reads; which blend of words and vectors it uses then is chosen by the caller.

    python semble_driver.py FOLDER MODEL_FOLDER
"""

import importlib
import json
import shutil
import sys
import time
from pathlib import Path


def prepare_model(folder: Path) -> None:
    """Write wordllama's vectors as a static model."""
    numpy_files = importlib.import_module("safetensors.numpy")
    package = Path(importlib.import_module("wordllama").__file__ or "").parent
    vectors = numpy_files.load_file(package / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    folder.mkdir(parents=True, exist_ok=True)
    numpy_files.save_file({"embeddings": vectors.astype("float32")}, folder / "model.safetensors")
    shutil.copy(package / "tokenizers" / "l2_supercat_tokenizer_config.json", folder / "tokenizer.json")
    (folder / "config.json").write_text(json.dumps({"normalize": True}))


def main() -> None:
    """Index the folder, then answer the lines of stdin."""
    tree, model = Path(sys.argv[1]), Path(sys.argv[2])
    if not (model / "config.json").exists():
        prepare_model(model)
    semble = importlib.import_module("semble")
    began, began_cpu = time.perf_counter(), time.process_time()
    index = semble.SembleIndex.from_path(tree, model_path=str(model))
    ready = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - began_cpu}
    print(json.dumps({**ready, "chunks": len(index.chunks)}), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        results = index.search(
            question["query"], top_k=10, alpha=question.get("alpha"), rerank=question.get("rerank")
        )
        places = [(result.chunk.file_path, result.chunk.start_line, result.chunk.end_line) for result in results]
        print(json.dumps(places), flush=True)


if __name__ == "__main__":
    main()
