"""How true extraction is: source files that were labelled by hand, and the share of it that is found and right.

A folder is a language, a file in it a sample, and `SAMPLE.labels` beside it what a person says is in there:

    method Shop.close 12-30         kind, name, first and last line of a definition (with its decorators)
      params name                   one value of a fact, a count (`branches 2`) or a flag (`flag async`);
      calls stock.find              of a fact that is named for a definition, all its values are named
      throws -                      there is none
    # a remark

Every definition of a sample is labelled, so what else is found is wrong. Facts are judged where they are named.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.search.extract.code import extract
from holdfast.search.model import COUNTS, Chunk

__all__ = ["SAMPLES", "TAIL", "Score", "labelled_definitions", "labelled_languages", "score_language"]

SAMPLES = Path(__file__).parent / "samples"
TAIL = Path(__file__).parent / "tail"  # languages of which the definitions alone are known

_Key = tuple[str, str, int, int]
_Fact = tuple[_Key, str, str]


@dataclass(slots=True)
class Score:
    """What was to be found, and what was."""

    wanted: set[object] = field(default_factory=set)
    found: set[object] = field(default_factory=set)

    @property
    def precision(self) -> float:
        return len(self.wanted & self.found) / len(self.found) if self.found else 1.0

    @property
    def recall(self) -> float:
        return len(self.wanted & self.found) / len(self.wanted) if self.wanted else 1.0

    def missing(self) -> list[object]:
        """What was not found, in order."""
        return sorted(self.wanted - self.found, key=repr)

    def wrong(self) -> list[object]:
        """What should not have been found, in order."""
        return sorted(self.found - self.wanted, key=repr)


@dataclass(slots=True)
class _Label:
    key: _Key
    facts: dict[str, set[str]] = field(default_factory=dict)


def labelled_languages(samples: Path = SAMPLES) -> list[str]:
    """The languages with samples."""
    return sorted(folder.name for folder in samples.iterdir() if folder.is_dir())


def labelled_definitions(sample: Path) -> list[_Key]:
    """What is labelled in a sample, without the facts: kind, name, first and last line."""
    return [label.key for label in _labels(sample.with_name(f"{sample.name}.labels"))]


def score_language(language: str) -> tuple[Score, Score]:
    """Definitions, and facts, of all samples of a language together."""
    definitions, facts = Score(), Score()
    folder = SAMPLES / language if (SAMPLES / language).is_dir() else TAIL / language
    for path in sorted(folder.glob("*.labels")):
        sample = path.with_suffix("")
        labels = list(_labels(path))
        assert len({label.key for label in labels}) == len(labels), f"{path}: a definition is labelled twice"
        chunks = {_key(chunk): chunk for chunk in _definitions(language, sample)}
        definitions.wanted |= {(sample.name, label.key) for label in labels}
        definitions.found |= {(sample.name, key) for key in chunks}
        for label in labels:
            for name, values in label.facts.items():
                facts.wanted |= {(sample.name, label.key, name, value) for value in values}
                found = _values(chunks[label.key], name) if label.key in chunks else set()
                facts.found |= {(sample.name, label.key, name, value) for value in found}
    return definitions, facts


def _definitions(language: str, sample: Path) -> list[Chunk]:
    chunks = extract(language, sample.name, sample.read_bytes()).chunks
    return [chunk for chunk in chunks if chunk.mode == "code" and chunk.kind != "module"]


def _key(chunk: Chunk) -> _Key:
    return (chunk.kind, chunk.name, chunk.start_line, chunk.end_line)


def _values(chunk: Chunk, name: str) -> set[str]:
    if name == "flag":
        return set(chunk.flags)
    if name in COUNTS:
        return {str(chunk.counts[name])} if name in chunk.counts else set()
    if name in ("signature", "doc", "visibility"):
        value: str = getattr(chunk, name)
        return {value.splitlines()[0]} if value else set()
    return set(chunk.facts.get(name, []))


def _labels(path: Path) -> Iterator[_Label]:
    current: _Label | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            assert current is not None, f"{path}:{number}: a fact of nothing"
            name, _, value = line.strip().partition(" ")
            values = current.facts.setdefault(name, set())
            if value.strip() != "-":
                values.add(value.strip())
            continue
        if current is not None:
            yield current
        kind, rest = line.split(" ", 1)
        name, lines = rest.rsplit(" ", 1)
        first, _, last = lines.partition("-")
        current = _Label((kind, name, int(first), int(last or first)))
    if current is not None:
        yield current
