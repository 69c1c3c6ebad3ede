"""The facts of whole repositories: what is told, with which evidence, always the same, whatever the files are."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.launch.facts_place import PYPROJECT, built, claims_by_text, place_of
from tests.launch.tablekit_sources import TABLEKIT

from holdfast.launch.facts.sentences import refusal

README = b"""# tablekit

tablekit is a library for tables. It's small and typed.

## Features

- Reads CSV files
- **Streaming**: rows are read one by one.

## Known issues

Nested objects are not supported.

## FAQ

### Does it need pandas?

tablekit does not import pandas at all.

## Sponsors

Acme sponsors all of the work.
"""
CHANGES = b"""# Changes

## Unreleased

- Add `Table.join` (#12)

## [1.4.2] - 2024-05-01

### Removed

- Python 3.8 support.

### Fixed

- Dates are read with their time zone. Thanks to @ana!
- See https://example.com for more.

## 1.4.1

- Bump version
- `Table` now has a chain in #4, reported by @bo
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Any]:
    return built(place_of(tmp_path_factory.mktemp("product") / "place", TABLEKIT))


def test_a_realistic_library_has_a_claim_for_whatever_a_reader_wants_to_know(
    product: tuple[Any, Any, Any],
) -> None:
    facts, evidence, catalog = product
    assert all(facts["claim_groups"][group] for group in ("key_features", "install_steps", "workflow_claims"))
    assert facts["positioning"]["claim_ids"]
    assert {item["format"]: item["direction"] for item in facts["supported_formats"]} == dict.fromkeys(
        ("CSV", "JSON Lines", "TSV"), "both"
    )
    assert facts["changes"][0]["version"] == "1.4.0"
    assert len(facts["workflows"]) >= 4
    assert len(catalog["snippets"]) >= 8
    assert evidence["contradictions"] == []


def test_every_claim_is_a_sentence_and_every_reference_leads_to_one(product: tuple[Any, Any, Any]) -> None:
    facts, evidence, _ = product
    known = {claim["claim_id"] for claim in facts["claims"]}
    for group in facts["claim_groups"].values():
        assert set(group) <= known
    for claim in facts["claims"]:
        if claim["claim_kind"] in ("feature", "workflow", "limitation", "other", "positioning"):
            assert refusal(claim["claim_text"], "tablekit") in ("", "address")
    assert [claim["claim_id"] for claim in evidence["claims"]] == sorted(known)


def test_the_cited_lines_hold_the_words_of_the_claim(product: tuple[Any, Any, Any]) -> None:
    _, evidence, _ = product
    own = {"tablekit", "is", "a", "an", "the", "with", "you", "can", "features", "and", "it", "its", "here"}
    for claim in evidence["claims"]:
        if claim["claim_kind"] not in ("feature", "limitation", "positioning", "change", "other"):
            continue  # a fixed sentence over a value, or over a title
        cited = " ".join(
            "\n".join(TABLEKIT[item["path"]].decode().split("\n")[item["start_line"] - 1 : item["end_line"]])
            for item in claim["citations"]
        ).lower()
        words = [
            word for word in claim["claim_text"].lower().replace("`", "").rstrip(".").split() if word not in own
        ]
        found = sum(word.strip(".,:;“”") in cited for word in words)
        assert found >= 0.5 * len(words), claim


def test_a_readme_is_sorted_into_kinds_and_groups(tmp_path: Path) -> None:
    facts, evidence, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": README}))
    claims = claims_by_text(facts)
    assert (
        facts["positioning"]["short_description"]
        == "tablekit is a library for tables. tablekit is small and typed."
    )
    ids = {claim["claim_id"]: text for text, claim in claims.items()}
    assert [ids[claim] for claim in facts["claim_groups"]["key_features"]] == [
        "tablekit reads CSV files.",
        "Streaming: rows are read one by one.",
    ]
    assert [ids[claim] for claim in facts["limitations"]] == ["Nested objects are not supported."]
    assert claims["tablekit does not import pandas at all."]["topic"] == "Does it need pandas?"
    assert not any("Acme" in text for text in claims)
    sources = {claim["claim_text"]: claim["citations"][0]["source_type"] for claim in evidence["claims"]}
    assert sources["Nested objects are not supported."] == "readme_technical"
    assert sources["tablekit reads CSV files."] == "readme_marketing"


def test_changes_are_told_by_version_without_references_and_without_lying(tmp_path: Path) -> None:
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "CHANGELOG.md": CHANGES}))
    texts = {claim["claim_id"]: claim["claim_text"] for claim in facts["claims"]}
    found = [
        (item["version"], item.get("date"), [texts[claim] for claim in item["claim_ids"]])
        for item in facts["changes"]
    ]
    assert found == [
        ("Unreleased", None, ["Add `Table.join`."]),
        ("1.4.2", "2024-05-01", ["Removed: Python 3.8 support.", "Dates are read with their time zone."]),
        ("1.4.1", None, ["`Table` now has a chain."]),
    ]


def test_the_newest_version_is_told_even_where_it_has_no_list(tmp_path: Path) -> None:
    changes = b"# Changelog\n\n## 1.4.3\n\n*(May 2, 2024)*\n\nSmall release to put more files into it.\n\n"
    changes += b"## 1.4.2\n\nReleased on 2024-05-01 by all of us\n\n- Dates are read.\n"
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "CHANGELOG.md": changes}))
    texts = {claim["claim_id"]: claim["claim_text"] for claim in facts["claims"]}
    assert [(one["version"], [texts[claim] for claim in one["claim_ids"]]) for one in facts["changes"]] == [
        ("1.4.3", ["Small release to put more files into it."]),
        ("1.4.2", ["Dates are read."]),
    ]


def test_other_languages_get_what_their_documents_say(tmp_path: Path) -> None:
    place = place_of(
        tmp_path, {"README.md": README, "LICENSE": TABLEKIT["LICENSE"], "src/main.rs": b"fn main() {}\n"}
    )
    place.config = {**place.config, "target_platform": "rust"}
    facts, _, catalog = built(place)
    assert facts["license"]["name"] == "MIT"
    assert "tablekit reads CSV files." in claims_by_text(facts)
    assert (facts["api_symbols"], catalog["snippets"]) == ([], [])


def test_a_repository_with_nothing_to_say_gives_no_claims(tmp_path: Path) -> None:
    facts, evidence, catalog = built(place_of(tmp_path, {"a.txt": b"x\n"}))
    assert (facts["claims"], evidence["claims"], catalog["snippets"]) == ([], [], [])


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("README.md", b"\x89PNG\0\0" * 50, "binary"),
        ("README.md", b"a tablekit " * 500_000, "too_large"),
        ("README.md", b"a tablekit " * 5_000, "line_too_long"),
        ("README.md", b"# caf\xe9\n\nCaf\xe9 tables are read by tablekit.\n" * 30, "binary"),
        ("tablekit/__init__.py", b"def f(:\n  '''\n" + b"(" * 5_000, "syntax_error"),
        ("pyproject.toml", b"[project\nname = 3", "no_package_metadata"),
    ],
    ids=["binary", "huge", "one-line", "latin-1", "no-python", "no-toml"],
)
def test_what_cannot_be_read_is_left_out_with_a_reason(
    tmp_path: Path, path: str, content: bytes, reason: str
) -> None:
    files = {"pyproject.toml": PYPROJECT, "README.md": README, "tablekit/__init__.py": b""} | {path: content}
    _, evidence, _ = built(place_of(tmp_path, files))
    assert {item["path"]: item["reason"] for item in evidence["skipped"]} == {path: reason}


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# x\n\nThe secret table is kept in memory.\n")
    place = place_of(tmp_path / "place", {"pyproject.toml": PYPROJECT, "README.md": README})
    (place.repo / "README.md").unlink()
    (place.repo / "README.md").symlink_to(tmp_path / "secret.md")
    facts, evidence, _ = built(place)
    assert evidence["skipped"] == [{"path": "README.md", "reason": "not_a_plain_file"}]
    assert not any("secret" in text for text in claims_by_text(facts))


def test_a_committed_link_is_not_followed(tmp_path: Path) -> None:
    place = place_of(tmp_path, {"pyproject.toml": PYPROJECT, "x.txt": README}, links={"README.md": "x.txt"})
    facts, evidence, _ = built(place)
    assert evidence["skipped"] == [{"path": "README.md", "reason": "symlink"}]
    assert "tablekit reads CSV files." not in claims_by_text(facts)


def test_deep_code_is_no_reason_to_fail(tmp_path: Path) -> None:
    deep = b"x = " + b"[" * 30_000 + b"]" * 30_000 + b"\n\ndef read():\n    '''Read a table.'''\n"
    nested = b"".join(b"    " * depth + b"class A%d:\n" % depth for depth in range(90)) + b"    " * 90 + b"pass\n"
    files = {
        "pyproject.toml": PYPROJECT,
        "tablekit/__init__.py": deep,
        "tablekit/deep.py": nested,
        "examples/a.py": deep,
    }
    facts, _, _ = built(place_of(tmp_path, files))
    assert facts["code_structure"]["package_names"] == ["tablekit"]


_TWICE = """
import sys
from pathlib import Path
from tests.launch.facts_place import built, place_of
from tests.launch.tablekit_sources import TABLEKIT
place = place_of(Path(sys.argv[1]), TABLEKIT)
built(place)
print("|".join(f"{name} {item.sha256}" for name, item in sorted(place.made.items())))
"""


def test_equal_repositories_give_equal_bytes_in_any_process_and_folder(tmp_path: Path) -> None:
    made = []
    for seed in ("1", "77"):
        done = subprocess.run(
            [sys.executable, "-c", _TWICE, str(tmp_path / f"folder{seed}")],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        made.append(done.stdout.splitlines()[-1])
    assert made[0] == made[1]
    assert made[0].count("|") == 2


def test_where_neither_manifest_nor_readme_say_what_it_is_the_package_does(tmp_path: Path) -> None:
    files = {
        "go.mod": b"module example.com/tablekit\n\ngo 1.21\n",
        "README.md": b"# Humane Tables\n\nJust a few functions for tables and times.\n",
        "tablekit.go": b"// Package tablekit turns rows into tables.\npackage tablekit\n\nfunc Draw() {}\n",
    }
    facts, _, _ = built(place_of(tmp_path, files, target_platform="go"))

    assert facts["positioning"]["short_description"] == "Package tablekit turns rows into tables."
    assert facts["positioning"]["claim_ids"]
