"""Every backend gives the same answer to a request: hits, order, scores, totals, texts, warnings, refusals."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.search_fuzz import random_arguments
from tests.search.sample import git, write_sample
from tests.search.test_arguments import FILTERS, OTHERS

from holdfast.errors import ToolError
from holdfast.search.engine.interface import Facts
from holdfast.search.engine.portable_postings import PortablePostings
from holdfast.search.engine.scored import ScoredEngine
from holdfast.search.engine.tantivy_engine import TantivyEngine
from holdfast.search.home import IndexHome
from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.model import FACTS, MODES
from holdfast.search.portable import build_portable
from holdfast.search.portable_reading import open_portable
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.request import SearchRequest

pytestmark = pytest.mark.xdist_group("backend-parity")  # one index for all

WORDS = ("retry", "budget", "limit", "spend", "enforce", "session", "window", "attempt", "cost", "account", "user")
QUERIES = (
    "where is the retry budget enforced", "RetryBudget", "RetryBudget.enforce", "fetch budget of a user", "budget",
    '"retry budget" enforce', '"budget is used up"', '"takes from"', "retry_budget", "retryBudget limitSpend",
    "spend AND cost", "cost NOT lang:java", "cost -lang:java", "(enforce OR spend) AND cost", "* OR budget",
    "NOT (lang:python OR lang:java)", "/raise \\w+Error/", "/SHELL=TRUE/i", "/bud.et/ AND limit", "lang:ruby *",
    "calls:subprocess.run *", "returnType:bool *", "branchesMin:3 *", "(lang:python *) OR budget", "nothing",
    "budget limit retry session window", "the of is", "a", "->", "x->y == (z", "don't ask", "C++ && a||b", "é",
    "漢字 budget", "budget AND", '"half', "* AND *", "(* OR budget) AND limit", "-budget", "!budget limit", "*",
    '"budget limit"', '"limit limit"', "budget AND NOT /limit/", "type:class budget", "file:budget.py enforce",
)  # fmt: skip
SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "all", "top": 40, "output": "full"},
    {"mode": "code", "top": 17, "explain": True, "context": 2},
    {"mode": "records", "meta": "level=error"},
    {"mode": "code", "caseTokens": True, "top": 100},
)

OTHER_BACKENDS = ("fts", "sqlite", "memory")
NAMES = {"auto": "tantivy", "fts": "sqlite-fts"}

Outcome = tuple[Any, ...]
Same = Callable[[dict[str, Any]], Outcome]


def told(index: SearchIndex, arguments: dict[str, Any], backend: str) -> Outcome:
    """The answer without what may differ, or the refusal."""
    try:
        payload = index.search(SearchRequest.from_arguments({**arguments, "backend": backend}))
    except ToolError as refusal:
        return refusal.code, refusal.message, refusal.details
    assert payload.pop("backend") == NAMES.get(backend, backend)
    payload.pop("elapsedMs")
    payload.get("stats", {}).pop("elapsedMs", None)
    return ("answer", payload)


def write_crowd(root: Path, chance: random.Random, names: range) -> None:
    """Enough of the same words that candidates have to be chosen among many, with many equal scores."""
    for number in names:
        one, two, three = (chance.choice(WORDS) for _ in range(3))
        body = " ".join(chance.choices(WORDS, k=chance.randrange(1, 60)))
        text = f'def {one}_{two}({three}):\n    """{body}"""\n    return {one}.{two}({three})\n'
        (root / f"crowd/{one}_{number}.py").write_text(text)
    lines = [f'{{"level": "{chance.choice(("info", "error"))}", "text": "budget {n % 7}"}}' for n in range(400)]
    (root / "crowd/lines.log").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that was indexed and then updated: removed chunks still count in the default backend."""
    place = tmp_path_factory.mktemp("parity")
    root = write_sample(place / "repo")
    (root / "crowd").mkdir()
    chance = random.Random(3)
    write_crowd(root, chance, range(150))
    build_index(find_repository(root), place / "cache")
    for path in sorted((root / "crowd").glob("*.py"))[::5]:
        path.unlink()
    write_crowd(root, chance, range(140, 170))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "crowd", author="Alan Turing", when="2026-07-01T12:00:00Z")
    build_index(find_repository(root), place / "cache")
    return place


@pytest.fixture(scope="module")
def repository(place: Path) -> Repository:
    return find_repository(place / "repo")


def portable(repository: Repository, cache: Path, **options: Any) -> dict[str, Any]:
    return build_portable(repository, cache, progress=lambda *_: None, stop=lambda: False, **options)


@pytest.fixture(scope="module")
def same(place: Path, repository: Repository) -> Iterator[Same]:
    """The one answer that all backends give."""
    portable(repository, place / "cache")
    with open_index(repository, place / "cache") as index:

        def ask(arguments: dict[str, Any]) -> Outcome:
            default = told(index, arguments, "auto")
            for backend in OTHER_BACKENDS:
                assert told(index, arguments, backend) == default, (backend, arguments)
            return default

        yield ask


@pytest.mark.usefixtures("same")
def test_every_fact_of_every_chunk_is_known_to_both(place: Path, repository: Repository) -> None:
    home = IndexHome(index_home(repository, place / "cache"))
    build = home.current()
    assert build is not None
    postings = PortablePostings(home.portable, "sqlite")
    default, other = TantivyEngine(build.terms), ScoredEngine("sqlite", postings)
    for name in (*FACTS, "mode", "kind", "lang", "ext", "signature", "visibility", "flag", "record"):
        values = default.vocabulary(name).values
        assert other.vocabulary(name).values == values
        for value in values:
            facts = Facts(name, (value,))
            assert name != "imports" or other.files_with_fact(name, [value]) == default.files_with_fact(
                name, [value]
            )
            for mode in MODES:
                assert other.candidates(mode, facts, 500) == default.candidates(mode, facts, 500)
    postings.close()


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_one_answer_in_every_shape(same: Same, query: str) -> None:
    for shape in SHAPES:
        assert same({"query": query, **shape})


@pytest.mark.parametrize("arguments", [one for one, *_ in FILTERS], ids=lambda value: str(value)[:40])
def test_a_filter_has_one_answer(same: Same, arguments: dict[str, Any]) -> None:
    for query in ("*", "budget limit"):
        assert same({"query": query, "mode": "all", "top": 60, **arguments})[0] == "answer"


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "modifiedSince"])
def test_every_other_argument_has_one_answer(same: Same, name: str) -> None:
    for arguments in OTHERS[name]:
        assert same(arguments)


@pytest.mark.parametrize("top", [1, 16, 17, 60, 1000])
def test_any_length_of_the_page_is_cut_at_the_same_hit(same: Same, top: int) -> None:
    for query in ("budget", "retry limit", '"budget limit"', "*", "spend OR cost", "level"):
        _, payload = same({"query": query, "mode": "all", "top": top})
        assert payload["total"]["code"] or query == "level"


@pytest.mark.parametrize("seed", range(3))
def test_random_requests_have_one_answer_or_one_refusal(same: Same, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        arguments = random_arguments(chance)
        arguments.pop("backend", None)
        arguments.pop("modifiedSince", None)  # the clock goes on between the two
        if chance.random() < 0.5:
            arguments["query"] = " ".join(chance.choices((*WORDS, "OR", "AND", "-", '"', "*"), k=5))
        assert same(arguments)


def test_a_file_that_was_brought_up_to_date_answers_like_the_index(place: Path, repository: Repository) -> None:
    cache = place / "growing"
    shutil.copytree(place / "cache", cache)
    portable(repository, cache)
    changed = repository.root / "crowd/later.py"
    changed.write_text("def later_budget(limit):\n    return limit\n")
    build_index(repository, cache)
    made = portable(repository, cache, incremental=True)
    with open_index(repository, cache) as index:
        answers = [[told(index, {"query": q}, b) for q in QUERIES[::3]] for b in ("auto", *OTHER_BACKENDS)]
    changed.unlink()
    assert made["incremental"]
    assert answers[1:] == [answers[0]] * len(OTHER_BACKENDS)


@pytest.mark.parametrize(
    ("mode", "searched"), [("code", "code"), ("prose", "prose"), ("prose", "extracted-prose")]
)
def test_a_file_of_one_mode_answers_that_mode_like_the_index(
    place: Path, repository: Repository, mode: str, searched: str
) -> None:
    cache = place / f"{mode}-{searched}"
    shutil.copytree(place / "cache", cache)
    portable(repository, cache, mode=mode)
    with open_index(repository, cache) as index:
        for query in QUERIES[::3]:
            arguments = {"query": query, "mode": searched, "top": 30}
            for backend in ("fts", "sqlite"):
                assert told(index, arguments, "auto") == told(index, arguments, backend), query


@pytest.mark.parametrize("backend", ["sqlite", "sqlite-fts"])
def test_a_copy_elsewhere_answers_by_itself(place: Path, repository: Repository, same: Same, backend: str) -> None:
    away = place / f"away-{backend}"
    away.mkdir()
    copy = Path(shutil.copy(index_home(repository, place / "cache") / "sqlite-fts.db", away))
    copy.chmod(0o444)
    held = open_portable(copy, backend=backend)
    alone = held.search(SearchRequest(query="retry budget", mode="all", top=50, chunk_author="alan"))
    beside = held.search(SearchRequest(query="retry budget", mode="all", top=50))
    held.close()
    _, expected = same({"query": "retry budget", "mode": "all", "top": 50})
    for key in ("code", "prose", "extractedProse", "records", "total", "bundles", "asOf"):
        assert beside[key] == expected[key]
    assert alone["total"]["code"]
    assert [warning["code"] for warning in alone["warnings"]].count("blame") == 4
    assert sorted(away.iterdir()) == [copy]
