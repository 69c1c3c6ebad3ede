"""Every argument of every tool does something: it changes what the tool answers, or it is refused.

`search` has a table of its own, which is held to the server in `test_sdk_search`.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.mcp.search_place import make_place
from tests.mcp.tool_bench import Bench, bench_at, timeless
from tests.search import test_arguments as of_search

WORDS = "alpha\nbeta\n"
DIGEST = hashlib.sha256(WORDS.encode()).hexdigest()
OTHER_DIGEST = "0" * 64
MODEL = {"model": "small", "url": "{repo}/words.txt"}
LIST = {"url": ["de={repo}/words.txt"]}
LIBRARY = {"url": "{repo}/library.so", "platform": "linux"}
TAKEN_IN = {"source": "generic", "inputPath": "findings.json"}
DECISION = {"finding": "{id}", "status": "accept"}
SET_UP = {"skipDicts": True, "skipIndex": True, "skipTooling": True, "skipArtifacts": True}
TRIED = {"load": False}
BUILT = {"incremental": True}

# For each argument two calls whose answers differ, an answer being a payload or the code of an error.
Pair = tuple[dict[str, Any], dict[str, Any]]
CASES: dict[str, dict[str, Pair]] = {
    "show_file": {
        "path": ({"path": "README.md"}, {"path": "src/errors.py"}),
        "startLine": ({"path": "README.md"}, {"path": "README.md", "startLine": 3}),
        "endLine": ({"path": "README.md"}, {"path": "README.md", "endLine": 3}),
        "maxBytes": ({"path": "README.md"}, {"path": "README.md", "maxBytes": 20}),
    },
    "workspace_status": {"workspacePath": ({}, {"workspacePath": "{repo}/workspace.jsonc"})},
    "search": {"workspacePath": ({"query": "*"}, {"query": "*", "workspacePath": "{repo}/workspace.jsonc"})},
    "build_index": {
        "mode": (BUILT, {**BUILT, "mode": "prose"}),
        "sqlite": (BUILT, {**BUILT, "sqlite": True}),
        "incremental": ({}, BUILT),
        "stubEmbeddings": (BUILT, {**BUILT, "stubEmbeddings": True}),
        "useArtifacts": (BUILT, {**BUILT, "useArtifacts": True}),
        "artifactsDir": (BUILT, {**BUILT, "artifactsDir": "elsewhere"}),
        "vectors": (BUILT, {**BUILT, "vectors": True}),
        "linters": (BUILT, {**BUILT, "linters": ["ruff"]}),
    },
    "build_sqlite_index": {
        "mode": ({}, {"mode": "code"}),
        "incremental": ({}, {"incremental": True}),
        "compact": ({"incremental": True}, {"incremental": True, "compact": True}),
        "out": ({}, {"out": "{tmp}/portable.db"}),
        "codeDir": ({}, {"codeDir": "x"}),
        "proseDir": ({}, {"proseDir": "x"}),
    },
    "compact_sqlite_index": {
        "mode": ({}, {"mode": "prose"}),
        "dryRun": ({}, {"dryRun": True}),
        "keepBackup": ({}, {"keepBackup": True}),
    },
    "bootstrap": {
        "skipInstall": (SET_UP, {**SET_UP, "skipInstall": False}),
        "skipDicts": (SET_UP, {**SET_UP, "skipDicts": False}),
        "skipIndex": (SET_UP, {**SET_UP, "skipIndex": False, "incremental": True}),
        "skipArtifacts": (SET_UP, {**SET_UP, "skipArtifacts": False}),
        "skipTooling": (SET_UP, {**SET_UP, "skipTooling": False}),
        "withSqlite": (SET_UP, {**SET_UP, "withSqlite": True}),
        "incremental": ({**SET_UP, "skipIndex": False}, {**SET_UP, "skipIndex": False, "incremental": True}),
    },
    "download_models": {
        "model": (MODEL, {**MODEL, "model": "large"}),
        "cacheDir": (MODEL, {**MODEL, "cacheDir": "{tmp}/models"}),
        "url": (MODEL, {"model": "small"}),
        "sha256": (MODEL, {**MODEL, "sha256": OTHER_DIGEST}),
        "update": (MODEL, {**MODEL, "update": True}),
        "force": (MODEL, {**MODEL, "force": True}),
    },
    "download_dictionaries": {
        "lang": (LIST, {**LIST, "lang": "fr"}),
        "dir": (LIST, {**LIST, "dir": "{tmp}/lists"}),
        "url": ({"lang": "fr"}, {"lang": "fr", **LIST}),
        "sha256": (LIST, {**LIST, "sha256": {"de": OTHER_DIGEST}}),
        "update": (LIST, {**LIST, "update": True}),
        "force": (LIST, {**LIST, "force": True}),
    },
    "download_extensions": {
        "provider": (LIBRARY, {**LIBRARY, "provider": "other"}),
        "dir": (LIBRARY, {**LIBRARY, "dir": "{tmp}/extensions"}),
        "url": (LIBRARY, {**LIBRARY, "url": "{repo}/no-such-file"}),
        "sha256": (LIBRARY, {**LIBRARY, "sha256": OTHER_DIGEST}),
        "out": (LIBRARY, {**LIBRARY, "out": "{tmp}/vec0.so"}),
        "platform": (LIBRARY, {**LIBRARY, "platform": "win32"}),
        "arch": ({**LIBRARY, "arch": "x64"}, {**LIBRARY, "arch": "arm64"}),
        "update": (LIBRARY, {**LIBRARY, "update": True}),
        "force": (LIBRARY, {**LIBRARY, "force": True}),
    },
    "verify_extensions": {
        "provider": (TRIED, {**TRIED, "provider": "other"}),
        "dir": (TRIED, {**TRIED, "dir": "{tmp}/extensions"}),
        "path": (TRIED, {**TRIED, "path": "{repo}/library.so"}),
        "platform": (TRIED, {**TRIED, "platform": "win32"}),
        "arch": ({**TRIED, "arch": "x64"}, {**TRIED, "arch": "arm64"}),
        "module": (TRIED, {**TRIED, "module": "vec1"}),
        "table": (TRIED, {**TRIED, "table": "other"}),
        "column": (TRIED, {**TRIED, "column": "other"}),
        "encoding": (TRIED, {**TRIED, "encoding": "json"}),
        "options": (TRIED, {**TRIED, "options": "chunk_size=8"}),
        "annMode": (TRIED, {**TRIED, "annMode": "js"}),
        "load": (TRIED, {**TRIED, "load": True}),
    },
    "cache_gc": {
        "dryRun": ({}, {"dryRun": True}),
        "maxBytes": ({"dryRun": True}, {"dryRun": True, "maxBytes": 1}),
        "maxGb": ({"dryRun": True}, {"dryRun": True, "maxGb": 0.5}),
        "maxAgeDays": ({"dryRun": True}, {"dryRun": True, "maxAgeDays": 0}),
    },
    "clean_artifacts": {
        "all": ({"dryRun": True, "repoPath": "{bare}"}, {"dryRun": True, "repoPath": "{bare}", "all": True}),
        "dryRun": ({"repoPath": "{bare}"}, {"repoPath": "{bare}", "dryRun": True}),
    },
    "triage_ingest": {
        "source": (TAKEN_IN, {**TAKEN_IN, "source": "dependabot"}),
        "inputPath": (TAKEN_IN, {**TAKEN_IN, "inputPath": "words.txt"}),
        "meta": (TAKEN_IN, {**TAKEN_IN, "meta": {"service": "mail"}}),
        "buildIndex": ({**TAKEN_IN, "incremental": True}, {**TAKEN_IN, "incremental": True, "buildIndex": True}),
        "incremental": (TAKEN_IN, {**TAKEN_IN, "incremental": True}),
        "stubEmbeddings": (TAKEN_IN, {**TAKEN_IN, "stubEmbeddings": True}),
    },
    "triage_decision": {
        "finding": (DECISION, {**DECISION, "finding": "no-such-finding"}),
        "status": (DECISION, {**DECISION, "status": "fix"}),
        "justification": (DECISION, {**DECISION, "justification": "why not"}),
        "reviewer": (DECISION, {**DECISION, "reviewer": "Ada"}),
        "expires": (DECISION, {**DECISION, "expires": "2030-01-01"}),
        "meta": (DECISION, {**DECISION, "meta": {"service": "mail"}}),
        "codes": (DECISION, {**DECISION, "codes": ["unreachable"]}),
        "evidence": (DECISION, {**DECISION, "evidence": ["src/budget.py"]}),
    },
    "triage_context_pack": {
        "recordId": ({"recordId": "{id}"}, {"recordId": "no-such-record"}),
        "outPath": ({"recordId": "{id}"}, {"recordId": "{id}", "outPath": "{tmp}/pack.json"}),
        "ann": ({"recordId": "{id}"}, {"recordId": "{id}", "ann": True}),
        "stubEmbeddings": ({"recordId": "{id}"}, {"recordId": "{id}", "stubEmbeddings": False}),
    },
}  # fmt: skip
# For `repoPath`, a call of each tool that works without it.
READS: dict[str, dict[str, Any]] = {
    tool: {} for tool in ("index_status", "config_status", "check_status", "report_artifacts")
}
FIRST = {tool: next(iter(cases.values()))[0] for tool, cases in CASES.items() if tool != "workspace_status"}
GOOD: dict[str, dict[str, Any]] = READS | FIRST
ROWS = [(tool, argument) for tool, cases in CASES.items() for argument in cases]

pytestmark = pytest.mark.xdist_group("mcp-arguments")


class Desk:
    """A bench at a place of its own that has a finding to decide about."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.schemas = bench.schemas
        taken_in = bench.call("triage_ingest", source="generic", inputPath="findings.json")
        self._finding: str = taken_in["recordIds"][0]

    def call(self, tool: str, arguments: dict[str, Any], row: str = "") -> Any:
        """Call a tool with the places in its arguments filled in."""
        place = self._bench.place
        text = json.dumps(arguments)
        places = {"repo": place.repo, "bare": place.bare, "id": self._finding, "tmp": place.directory / row}
        for name, value in places.items():
            text = text.replace(f"{{{name}}}", str(value))
        return timeless(self._bench.call(tool, **json.loads(text)))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = make_place(tmp_path_factory.mktemp("arguments"))
    place.add_inputs()
    source = {"source": "words.txt", "sha256": DIGEST}
    (place.repo / ".pairofcleats.json").write_text(json.dumps({"dictionary": {"sources": {"fr": source}}}))
    with bench_at(place) as bench, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")  # what is fetched by default is to fail at once, and not after a while
        bench.call("build_sqlite_index")
        bench.call("download_extensions", url=str(place.repo / "library.so"))
        yield Desk(bench)


@pytest.mark.requirement("S0-10-argument-mapping")
@pytest.mark.parametrize(("tool", "argument"), ROWS)
def test_the_argument_changes_what_the_tool_answers(desk: Desk, tool: str, argument: str) -> None:
    without, with_it = CASES[tool][argument]
    row = f"{tool}-{argument}"
    desk.call(tool, without, row)  # what is there already must not make the difference
    first, second = desk.call(tool, without, row), desk.call(tool, without, row)
    assert first == second
    assert desk.call(tool, with_it, row) != second


@pytest.mark.requirement("S0-10-argument-mapping")
@pytest.mark.parametrize("argument", ["path", "dir"])
def test_a_client_names_no_native_code_to_be_loaded(desk: Desk, argument: str) -> None:
    assert desk.call("verify_extensions", {argument: "{repo}/library.so"}) == "FORBIDDEN"


@pytest.mark.requirement("S0-10-argument-mapping")
@pytest.mark.parametrize("tool", GOOD)
def test_a_repository_that_is_not_there_is_refused(desk: Desk, tool: str) -> None:
    assert desk.call(tool, {**GOOD[tool], "repoPath": "{repo}/no-such-directory"}) == "NOT_FOUND"


@pytest.mark.requirement("S0-10-argument-mapping")
def test_no_argument_is_without_a_case(desk: Desk) -> None:
    proven = {tool: set(cases) for tool, cases in CASES.items()}
    for tool in GOOD:
        proven.setdefault(tool, set()).add("repoPath")
    proven["index_build"] = proven["build_index"]
    proven["search"] |= proven_of_search()
    assert {tool: set(schema["properties"]) for tool, schema in desk.schemas.items()} == proven


def proven_of_search() -> set[str]:
    """The arguments of `search` that its own table has cases for."""
    filters = {name for arguments, *_ in of_search.FILTERS for name in arguments}
    return {"repoPath", *filters, *of_search.OTHERS, *of_search.ERRORS}
