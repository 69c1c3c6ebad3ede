"""The quality task: find the definition whose documentation was taken away, asked with its first line.

Every documented definition is a possible target: functions, methods and classes, of tests too. All docstrings (or
documentation comments) of definitions are removed from the copy that is searched, not only those that are asked
for. Questions are drawn in equal numbers from every package (or language) with a fixed seed; a line that documents
several definitions is no question. The split depends on the target alone, so that a target that is for development
in one corpus is not for the test in another.

A hit counts when it is in the file of the target, its lines overlap the target's, and it is no longer than three
times the target or sixty lines, whichever is more: a whole file is no answer. Of a class it has to show the line
with its name: a method is not its class. The same rule holds for every system.
"""

import json
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.search.comments import LANGUAGES, read_commented
from benchmarks.search.corpora import CORPORA, SEED, made, sources_of, write_tree
from benchmarks.search.docstrings import read_python
from benchmarks.search.drawing import draw
from benchmarks.search.fetch import complain
from benchmarks.search.model import Definition, Hit, Question, Reading

__all__ = ["TASKS", "Score", "Task", "counts_as_found", "load_task", "read", "score", "stripped"]

VERSION = 2  # of this recipe; a change makes the copies and the questions anew
SHORTEST, LONGEST = 5, 60  # words of a question
ROOMY = 60


@dataclass(frozen=True)
class Recipe:
    """Which corpus a task copies, how many questions it asks, and (above 0) about how many definitions it keeps.

    They are kept as whole files, or drawn one by one: then they have few neighbours that are like them.
    """

    corpus: str
    questions: int
    max_definitions: int = 0
    one_by_one: bool = False


TASKS = {
    "small": Recipe("large", 600, max_definitions=8_000),
    "drawn": Recipe("large", 1_500, max_definitions=8_000, one_by_one=True),
    "django": Recipe("django", 400),
    "large": Recipe("large", 1_500),
    "mixed": Recipe("mixed", 400),
}


@dataclass(frozen=True)
class Task:
    """A tree without documentation and the questions about it."""

    name: str
    folder: Path
    questions: list[Question]
    about: dict[str, int]

    def part(self, split: str) -> list[Question]:
        """The questions of one split (`all` is both), shuffled, so that the first few are a fair sample."""
        chosen = [question for question in self.questions if split in ("all", question.split)]
        random.Random(SEED).shuffle(chosen)
        return chosen


@dataclass(frozen=True)
class Score:
    """How well one system did."""

    mrr: float
    recall_1: float
    recall_10: float


def read(name: str, source: bytes) -> Reading | None:
    """The definitions of a file; None when it cannot be parsed or is of no known language."""
    suffix = Path(name).suffix
    if suffix == ".py":
        return read_python(source)
    return read_commented(source, suffix) if suffix in LANGUAGES else None


def stripped(name: str, source: bytes) -> tuple[bytes, list[Definition]]:
    """A file without its documentation, and its definitions with their new lines and their old summaries."""
    source = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    before = read(name, source)
    if before is None:
        return source, []
    text = bytearray(source)
    for start, end, instead in sorted(set(before.documentation), reverse=True):
        text[start:end] = instead
    after = read(name, bytes(text))
    if after is None or [found.name for found in after.definitions] != [
        found.name for found in before.definitions
    ]:
        raise ValueError(f"{name} has other definitions without its documentation")
    pairs = zip(before.definitions, after.definitions, strict=True)
    return bytes(text), [replace(new, summary=old.summary) for old, new in pairs]


def load_task(name: str, cache: Path) -> Task:
    """A task; made when it is not there yet."""
    recipe = TASKS[name]
    folder = cache / "tasks" / name
    with made(folder, [VERSION, asdict(recipe), asdict(CORPORA[recipe.corpus])]) as is_made:
        if not is_made:
            complain(f"making the task {name}")
            _make(recipe, folder, cache)
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    about = json.loads((folder / "about.json").read_text())
    return Task(name, folder / "tree", [Question(**json.loads(line)) for line in lines], about)


def counts_as_found(hit: Hit, question: Question) -> bool:
    """Whether a hit is the answer; the rule stands above."""
    if hit.file != question.file or hit.start > question.end or hit.end < question.start:
        return False
    if question.kind == "class" and not hit.start <= question.header <= hit.end:
        return False
    return hit.end - hit.start + 1 <= max(ROOMY, 3 * (question.end - question.start + 1))


def score(questions: Iterable[Question], search: Callable[[str], list[Hit]]) -> Score:
    """Ask every question and take the rank of the first right answer among the first ten hits."""
    ranks = []
    for question in questions:
        hits = search(question.query)[:10]
        found = (rank for rank, hit in enumerate(hits, 1) if counts_as_found(hit, question))
        ranks.append(next(found, 0))
    total = len(ranks)
    return Score(
        sum(1 / rank for rank in ranks if rank) / total,
        sum(rank == 1 for rank in ranks) / total,
        sum(rank > 0 for rank in ranks) / total,
    )


def _make(recipe: Recipe, folder: Path, cache: Path) -> None:
    files: dict[str, bytes] = {}
    found: list[tuple[str, Definition]] = []
    for name, source in _in_order(recipe, cache):
        if recipe.max_definitions and not recipe.one_by_one and len(found) >= recipe.max_definitions:
            break
        files[name], definitions = stripped(name, source)
        found.extend((name, definition) for definition in definitions)
    questions = list(_questions(found, recipe.questions))
    if recipe.one_by_one:
        files, questions = draw(files, found, questions, recipe.max_definitions)
    write_tree(folder / "tree", files.items())
    rows = "".join(json.dumps(asdict(question), ensure_ascii=False) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(rows, encoding="utf-8")
    about = {"files": len(files), "bytes": sum(map(len, files.values())), "questions": len(questions)}
    (folder / "about.json").write_text(json.dumps(about))


def _in_order(recipe: Recipe, cache: Path) -> list[tuple[str, bytes]]:
    files = list(sources_of(CORPORA[recipe.corpus], cache))
    if recipe.max_definitions:
        random.Random(SEED).shuffle(files)
    return files


def _questions(found: list[tuple[str, Definition]], wanted: int) -> Iterator[Question]:
    """Equal numbers from every package, or from every language where there are several."""
    often = Counter(definition.summary.lower() for _, definition in found)
    suffixes = {Path(name).suffix for name, _ in found}
    groups: dict[str, list[tuple[str, Definition]]] = defaultdict(list)
    for name, definition in found:
        is_question = SHORTEST <= len(definition.summary.split()) <= LONGEST
        if is_question and often[definition.summary.lower()] == 1:
            groups[Path(name).suffix if len(suffixes) > 1 else name.partition("/")[0]].append((name, definition))
    share = -(-wanted // len(groups))
    chance = random.Random(SEED)
    for _, group in sorted(groups.items()):
        group.sort(key=lambda pair: (pair[0], pair[1].start))
        for name, definition in sorted(chance.sample(group, min(share, len(group))), key=lambda pair: pair[0]):
            is_odd = zlib.crc32(f"{name}:{definition.name}".encode()) % 2
            split = "test" if is_odd else "dev"
            lines = (definition.start, definition.header, definition.end)
            yield Question(split, definition.summary, name, definition.name, definition.kind, *lines)
