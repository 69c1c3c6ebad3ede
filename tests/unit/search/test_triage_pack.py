"""Context packs: the finding, its history and what a real search finds, written where it does no harm."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.triage_samples import ALERT, Desk, no_progress

from holdfast.errors import ToolError
from holdfast.search.answers.triage import ContextPackResult
from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.request import SearchRequest
from holdfast.search.triage import context_pack
from holdfast.search.triage.evidence import questions

Search = Callable[[dict[str, Any]], dict[str, Any]]

APP = '''"""The shop. It was hit by CVE-2020-14343 once."""

import yaml


def load(text: str) -> object:
    """Reads settings with PyYAML."""
    return yaml.load(text)
'''


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, SearchIndex]]:
    desk = Desk(tmp_path_factory.mktemp("pack"))
    desk.write(APP, "app.py")
    desk.write("# Shop\n\nWe pin PyYAML in requirements.txt.\n", "README.md")
    build_index(desk.repository, desk.cache)
    with open_index(desk.repository, desk.cache) as index:
        yield desk, index


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def no_index(_arguments: dict[str, Any]) -> dict[str, Any]:
    raise ToolError("NO_INDEX", "there is no index")


def pack(desk: Desk, record_id: str, search: Search = no_index, **arguments: Any) -> dict[str, Any]:
    given = {"out_path": None, "progress": no_progress, "stop": lambda: False, **arguments}
    return context_pack(desk.repository, desk.cache, record_id=record_id, search=search, **given)


def test_a_pack_has_the_evidence_of_every_question_and_mode(indexed: tuple[Desk, SearchIndex]) -> None:
    desk, index = indexed
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    answer = pack(desk, finding, lambda arguments: index.search(SearchRequest.from_arguments(arguments)))
    written = json.loads(Path(answer["outPath"]).read_bytes())
    found = {(q["query"], q["mode"]): q["hits"] for q in written["repoEvidence"]["queries"]}

    ContextPackResult.model_validate(answer)
    assert [hit["file"] for hit in found["PyYAML", "extracted-prose"]] == ["app.py"]
    assert found["yaml", "code"][0]["file"] == "app.py"
    assert [hit["file"] for hit in found["requirements.txt", "prose"]] == ["README.md"]
    assert "yaml.load" in found["yaml", "code"][0]["snippet"]
    assert found["yaml", "code"][0]["scoreBreakdown"]
    assert answer["evidenceQueries"] == len(found) == 12
    assert answer["hits"] == sum(map(len, found.values()))
    assert written["finding"]["recordId"] == written["recordId"] == finding


def test_a_pack_has_the_five_newest_decisions(desk: Desk) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    for number in range(7):
        desk.decide(finding, justification=f"reason {number}")
    answer = pack(desk, finding)
    history = json.loads(Path(answer["outPath"]).read_bytes())["history"]

    assert answer["historyCount"] == len(history) == 5
    assert all(record["decision"]["findingRecordId"] == finding for record in history)


def test_without_an_index_there_is_a_pack_without_evidence_and_a_warning(desk: Desk) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    answer = pack(desk, finding)

    assert (answer["evidenceQueries"], answer["hits"]) == (0, 0)
    assert [warning["code"] for warning in answer["warnings"]] == ["no-index"]
    assert json.loads(Path(answer["outPath"]).read_bytes())["warnings"] == answer["warnings"]


def test_a_question_that_is_refused_costs_only_itself_and_other_failures_are_told(desk: Desk) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]

    def refuses(arguments: dict[str, Any]) -> dict[str, Any]:
        if "CVE" in arguments["query"]:
            raise ToolError("INVALID_REQUEST", "not this one")
        return {"extractedProse": [{"file": "a.py"}], "warnings": []}

    def forbids(_arguments: dict[str, Any]) -> dict[str, Any]:
        raise ToolError("FORBIDDEN", "not here")

    answer = pack(desk, finding, refuses)
    assert [warning["code"] for warning in answer["warnings"]] == ["not-searched"]
    assert answer["hits"] == 3
    with pytest.raises(ToolError, match="FORBIDDEN"):
        pack(desk, finding, forbids)


@pytest.mark.parametrize(
    ("package", "ecosystem", "names"),
    [
        ("@babel/core", "npm", ["@babel/core", "core"]),
        ("python-multipart", "pip", ["python-multipart", "python_multipart"]),
        ("Pillow", "pip", ["Pillow", "PIL"]),
        ("org.apache.logging.log4j:log4j-core", "maven", ["org.apache.logging.log4j:log4j-core", "log4j-core"]),
        ("github.com/golang-jwt/jwt/v5", "go", ["github.com/golang-jwt/jwt/v5", "jwt"]),
        ("requests", "pip", ["requests"]),
        ('a"b\\', "npm", ['a"b\\']),
    ],
)
def test_a_package_is_looked_for_by_the_names_that_code_has_for_it(
    package: str, ecosystem: str, names: list[str]
) -> None:
    assert questions({"package": {"name": package, "ecosystem": ecosystem}}) == names


def test_a_finding_that_says_nothing_raises_no_question() -> None:
    assert questions({}) == questions({"package": {"name": "///"}, "vuln": 7}) == []


def test_a_name_with_quotes_is_searched_for_as_it_stands(indexed: tuple[Desk, SearchIndex]) -> None:
    desk, index = indexed
    finding = desk.ingest({"vulnId": 'say "hi" \\', "packageName": "title:x OR /a("})["recordIds"][0]
    answer = pack(desk, finding, lambda arguments: index.search(SearchRequest.from_arguments(arguments)))

    assert answer["evidenceQueries"] >= 6
    assert "not-searched" not in {warning["code"] for warning in answer["warnings"]}


@pytest.mark.parametrize("name", ["package.json", "notes.json", "folder.json", "dangling.json"])
def test_a_file_that_is_no_context_pack_is_never_written_over(desk: Desk, name: str) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    desk.write({"name": "shop", "recordId": "x"}, "package.json")
    desk.write("not json", "notes.json")
    (desk.repository.root / "folder.json").mkdir()
    (desk.repository.root / "dangling.json").symlink_to(desk.repository.root / "package.json")
    before = (desk.repository.root / "package.json").read_bytes()
    with pytest.raises(ToolError) as caught:
        pack(desk, finding, out_path=name)

    assert caught.value.code == "FORBIDDEN"
    assert (desk.repository.root / "package.json").read_bytes() == before
    assert not list(desk.repository.root.glob(".*draft"))


def test_an_explicit_path_may_lie_anywhere_and_an_older_pack_is_replaced(desk: Desk, tmp_path: Path) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    first = pack(desk, finding, out_path="../mine.json")
    before = (tmp_path / "mine.json").read_bytes()
    desk.decide(finding)
    again = pack(desk, finding, out_path=str(tmp_path / "mine.json"))

    assert first["outPath"] == again["outPath"] == str(tmp_path / "mine.json")
    assert (tmp_path / "mine.json").read_bytes() != before


def test_a_link_in_the_repository_leads_a_pack_to_no_place_outside_of_it(desk: Desk, tmp_path: Path) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    (tmp_path / "home").mkdir()
    (desk.repository.root / "packs").symlink_to(tmp_path / "home")
    with pytest.raises(ToolError) as caught:
        pack(desk, finding, out_path="packs/new.json")

    assert caught.value.code == "FORBIDDEN"
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [("none/x.json", "NOT_FOUND"), ("x.py", "INVALID_REQUEST"), ("", "INVALID_REQUEST"), ("a\0.json", "NOT_FOUND"),
     ("input.json/x.json", "NOT_FOUND")],
)  # fmt: skip
def test_a_place_where_no_pack_can_be_is_refused(desk: Desk, path: str, code: str) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    with pytest.raises(ToolError) as caught:
        pack(desk, finding, out_path=path)

    assert caught.value.code == code


@pytest.mark.parametrize(("name", "code"), [("unknown", "NOT_FOUND"), ("../x", "INVALID_REQUEST")])
def test_a_record_that_is_not_there_is_not_found(desk: Desk, name: str, code: str) -> None:
    with pytest.raises(ToolError) as caught:
        pack(desk, name)

    assert caught.value.code == code


def test_stopping_between_searches_writes_no_pack(desk: Desk) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    asked = iter(range(9))
    with pytest.raises(ToolError) as caught:
        pack(desk, finding, lambda _arguments: {}, stop=lambda: next(asked) >= 2)

    assert caught.value.code == "CANCELLED"
    assert not list(desk.cache.rglob("context-packs/*"))
