"""How true the flows of the risk rules are: functions that were labelled by hand, and what a search tells of them.

A folder is a language. Above a function stands what a person sees in it, as a comment:

    risk: http.request->os.system           a flow inside of the function
    risk: cross process.env->eval           a flow through a call of another function of the folder
    risk: none (quoted)                     there is none, and why

Functions without a label are helpers: they have none. The samples are indexed and asked as any repository is.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.labelled.scoring import Score

from holdfast.search.library import SearchIndex
from holdfast.search.request import SearchRequest

__all__ = ["SAMPLES", "count_labels", "labelled_languages", "score_risk"]

SAMPLES = Path(__file__).parent / "risk"
_LABEL = re.compile(r"\brisk: (none|(?:cross )?[\w.]+->[\w.]+)(?=\s|$)")
_FUNCTIONS = ("function", "method", "constructor")
_SCOPES = {"local": "", "cross-function": "cross "}


def labelled_languages() -> list[str]:
    """The languages with samples."""
    return sorted(folder.name for folder in SAMPLES.iterdir() if folder.is_dir())


def labels(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every label in a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for found in _LABEL.finditer(line):
            yield number, found.group(1)


def count_labels(language: str) -> tuple[int, int]:
    """How many functions of a language have a flow, and how many are said to have none."""
    texts = [text for path in (SAMPLES / language).iterdir() for _, text in labels(path)]
    return sum(text != "none" for text in texts), texts.count("none")


def score_risk(index: SearchIndex, language: str) -> Score:
    """The flows of all functions of a language; an index of the samples is asked."""
    score = Score()
    for path in sorted((SAMPLES / language).iterdir()):
        name = f"{language}/{path.name}"
        functions = _functions(index, name)
        for line, text in labels(path):
            labelled = next((one for one in functions if one["startLine"] > line), None)
            assert labelled is not None, f"{name}:{line}: there is no function below the label"
            if text != "none":
                score.wanted.add((name, labelled["name"], text))
        score.found |= {(name, one["name"], flow) for one in functions for flow in _flows(one)}
    return score


def _functions(index: SearchIndex, name: str) -> list[dict[str, Any]]:
    asked = {"query": "*", "mode": "code", "path": name, "top": 1000, "output": "full"}
    hits = index.search(SearchRequest.from_arguments(asked))["code"]
    functions = [hit for hit in hits if hit["file"] == name and hit["kind"] in _FUNCTIONS]
    return sorted(functions, key=lambda hit: hit["startLine"])


def _flows(hit: dict[str, Any]) -> Iterator[str]:
    for flow in (hit.get("risk") or {}).get("flows", ()):
        yield f"{_SCOPES[flow['scope']]}{flow['source']}->{flow['sink']}"
