"""Manifests of Python packages: read with their lines, never run, and told in fixed sentences."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.facts_place import PYPROJECT, built, claims_by_text, place_of

from holdfast.launch.facts.contradictions import Statement, judged
from holdfast.launch.facts.ecosystems import ecosystem_of
from holdfast.launch.facts.ecosystems.python.checkout import line_about_checkout
from holdfast.launch.facts.ecosystems.python.manifests import read_pyproject, read_setup_cfg, read_setup_py
from holdfast.launch.facts.licenses import license_named, license_of_text, spoken_name
from holdfast.launch.facts.manifest_claims import minimum_version
from holdfast.launch.facts.toml_lines import TomlLines

FULL = """\
[project]
name = "tablekit"
dynamic = ["version"]
description = "A small table library"
requires-python = ">=3.9"
classifiers = [
    "Operating System :: OS Independent",
    "Programming Language :: Python :: 3.9",
    "Programming Language :: Python :: 3.10",
    "Typing :: Typed",
]
dependencies = [
    "numpy>=1.20",
    "tomli ; python_version < '3.11'",
]

[project.optional-dependencies]
excel = ["openpyxl>=3"]
dev = ["pytest"]

[project.scripts]
tablekit = "tablekit.cli:main"

[project.urls]
Homepage = "https://tablekit.example"
"""
SETUP_CFG = """\
[metadata]
name = tablekit
version = attr: tablekit.__version__
description = A small table library
license = BSD
[options]
python_requires = >=3.8
install_requires =
    numpy>=1.20
    rich
[options.extras_require]
excel = openpyxl
[options.entry_points]
console_scripts =
    tablekit = tablekit.cli:main
"""
SETUP_PY = """\
import os
from setuptools import setup
os.system("touch /tmp/never-made-by-holdfast")
setup(
    name="tablekit",
    version=os.environ["VERSION"],
    python_requires=">=3.8",
    install_requires=["numpy>=1.20"],
    extras_require={"excel": ["openpyxl"]},
    entry_points={"console_scripts": ["tablekit=tablekit.cli:main"]},
)
"""


def test_every_value_of_a_pyproject_knows_its_lines() -> None:
    manifest = read_pyproject("pyproject.toml", FULL)
    assert manifest is not None
    lines = FULL.split("\n")
    entries = [*manifest.values.values(), *manifest.classifiers, *manifest.dependencies, *manifest.commands]
    assert len(entries) == 4 + 4 + 2 + 1
    for entry in entries:
        assert entry.value in "\n".join(lines[entry.start_line - 1 : entry.end_line])
    assert manifest.value("version") == ""


def test_poetry_setup_cfg_and_setup_py_give_the_same_facts() -> None:
    poetry = '[tool.poetry]\nname = "tablekit"\n[tool.poetry.dependencies]\npython = "^3.8"\nnumpy = "^1.20"\n'
    found = [
        read_pyproject("pyproject.toml", poetry),
        read_setup_cfg("setup.cfg", SETUP_CFG),
        read_setup_py("setup.py", SETUP_PY),
    ]
    assert [item.value("name") for item in found if item] == ["tablekit"] * 3
    assert [item.value("version") for item in found if item] == ["", "", ""]
    assert [minimum_version(item.value("requires")) for item in found if item] == ["3.8"] * 3
    assert [item.dependencies[0].value[:6] for item in found if item] == ["numpy>"] * 3
    assert not Path("/tmp/never-made-by-holdfast").exists()


@pytest.mark.parametrize(
    "text", ["", "[project", "name = 1", "[project]\nname = 3\n", "\x01", "[" * 5000, "a = " + "[" * 900]
)
def test_what_is_no_manifest_is_none(text: str) -> None:
    assert read_pyproject("pyproject.toml", text) is None
    assert read_setup_cfg("setup.cfg", text) is None
    assert read_setup_py("setup.py", text) is None


@given(st.text(max_size=80))
def test_lines_of_any_toml_stay_within_the_file(text: str) -> None:
    start, end = TomlLines(text).item(("project",), "name", "x")
    assert 1 <= start <= end <= text.count("\n") + 1


def test_a_manifest_is_read_by_its_own_ecosystem_only() -> None:
    python = ecosystem_of("python")
    assert python
    assert python.reader("package.json") is None
    assert python.reader("setup.cfg") is read_setup_cfg


def test_a_manifest_is_told_in_sentences(tmp_path: Path) -> None:
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": FULL.encode()}))
    assert set(claims_by_text(facts)) == {
        "tablekit is a small table library.",
        "Install tablekit with `pip install tablekit`.",
        "tablekit requires Python 3.9 or newer.",
        "tablekit does not depend on the operating system.",
        "tablekit supports Python 3.9 and 3.10.",
        "tablekit ships with type annotations.",
        "tablekit depends on `numpy>=1.20`.",
        "tablekit depends on `tomli` where `python_version < '3.11'`.",
        'The extra `excel` adds `openpyxl`; install it with `pip install "tablekit[excel]"`.',
        "tablekit installs the command `tablekit`.",
        "The homepage of tablekit is https://tablekit.example.",
    }
    assert [item["name"] for item in facts["extras"]] == ["excel"]
    assert [item["platform"] for item in facts["supported_platforms"]] == [
        "Python 3.9",
        "Python 3.10",
        "OS independent",
    ]


def test_an_extra_that_adds_nothing_is_no_claim(tmp_path: Path) -> None:
    text = FULL.replace('excel = ["', 'integrations = []\nexcel = ["')
    assert "integrations" in text
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": text.encode()}))

    assert [item["name"] for item in facts["extras"]] == ["excel"]


_CLONE = "# tablekit\n\n```\npip install .    # in a clone; '.[excel]' reads more\n```\n"


def test_a_package_that_its_readme_installs_from_a_clone_alone_is_not_installed_by_its_name(
    tmp_path: Path,
) -> None:
    place = place_of(tmp_path, {"pyproject.toml": FULL.encode(), "README.md": _CLONE.encode()})
    facts, evidence, _ = built(place)

    (way,) = facts["distribution"]
    assert way["install_commands"] == ["pip install ."]
    assert facts["extras"][0]["command"] == 'pip install ".[excel]"'
    assert not [text for text in claims_by_text(facts) if "install tablekit" in text]
    (cited,) = next(one for one in evidence["claims"] if one["claim_id"] == way["claim_id"])["citations"]
    assert (cited["path"], cited["start_line"]) == ("README.md", 4)


@pytest.mark.parametrize(
    ("readme", "line"),
    [
        (_CLONE, 4),
        ("Run `pip install '.[dev]'` there.", 1),
        ("Run `pip install -e .` there.", 0),
        ("pip install table_kit\n\npip install .", 0),
        ("uv add table-kit\n\npip install .", 0),
        ("[![PyPI](x)](y)\n\npip install .", 0),
        ("pip install table-kit-extra\n\npip install .", 3),
        ("pip install ./dist/x.whl", 0),
        ("", 0),
    ],
)
def test_the_way_from_a_clone_is_known_by_its_command(readme: str, line: int) -> None:
    assert line_about_checkout(readme, "table-kit") == line


def test_no_dependencies_are_told_only_where_the_manifest_says_so(tmp_path: Path) -> None:
    facts, _, _ = built(place_of(tmp_path / "a", {"pyproject.toml": PYPROJECT}))
    assert "tablekit has no required dependencies." in claims_by_text(facts)
    dynamic = PYPROJECT.replace(b"dependencies = []", b'dynamic = ["dependencies"]')
    facts, _, _ = built(place_of(tmp_path / "b", {"pyproject.toml": dynamic}))
    assert "tablekit has no required dependencies." not in claims_by_text(facts)


@pytest.mark.parametrize(
    ("said", "identifier"),
    [
        ("MIT License", "MIT"),
        ("License :: OSI Approved :: Apache Software License", "Apache-2.0"),
        ("BSD-3-Clause", "BSD-3-Clause"),
        ("GPLv2", "GPL-2.0"),
        ("MIT OR Apache-2.0", "MIT OR Apache-2.0"),
        ("see the file", ""),
    ],
)
def test_a_license_has_one_name_whatever_it_is_called(said: str, identifier: str) -> None:
    assert license_named(said) == identifier
    assert spoken_name("MIT") == "the MIT license"


def test_a_license_is_known_by_its_text() -> None:
    assert (
        license_of_text("Permission is hereby granted, free of\ncharge, to any person obtaining a copy") == "MIT"
    )
    assert license_of_text("Redistribution and use in source and binary forms") == "BSD-2-Clause"
    assert license_of_text("All rights reserved.") == ""


@pytest.mark.parametrize(
    ("other", "resolution", "wins"),
    [
        ("readme_technical", "prefer_a", True),
        ("code_constant", "manual_review", True),
        ("manifest", "unresolved", False),
    ],
)
def test_the_distance_of_two_sources_decides(other: str, resolution: str, wins: bool) -> None:
    best = Statement("python", "3.9", "clm_1", "manifest")
    verdict = judged([Statement("python", "3.8", "clm_2", other), best])
    (found,) = verdict.contradictions
    assert found["resolution"] == resolution
    assert verdict.lost == ({"clm_2"} if wins else {"clm_1", "clm_2"})
    assert {found["claim_a_id"], found["claim_b_id"]} == {"clm_1", "clm_2"}


def test_of_two_sources_of_one_kind_the_one_that_tools_enforce_is_believed() -> None:
    said = Statement("python", "3.7", "clm_1", "manifest")
    enforced = Statement("python", "3.9", "clm_2", "manifest", is_enforced=True)
    verdict = judged([said, enforced])
    (found,) = verdict.contradictions
    assert (found["resolution"], found["winning_claim_id"]) == ("prefer_a", "clm_2")
    assert verdict.lost == {"clm_1"}
    assert judged([enforced, enforced._replace(value="3.8", claim_id="clm_3")]).lost == {"clm_2", "clm_3"}


def test_two_sources_that_agree_are_no_contradiction() -> None:
    same = [Statement("version", "1.0", f"clm_{number}", "manifest") for number in range(3)]
    assert judged(same) == ([], frozenset())


def test_a_readme_that_contradicts_the_manifest_is_not_believed(tmp_path: Path) -> None:
    readme = b"# tablekit\n\n## Requirements\n\nTablekit requires Python 3.7 or newer.\n"
    files = {
        "pyproject.toml": PYPROJECT,
        "README.md": readme,
        "src/tablekit/__init__.py": b'__version__ = "1.5.0"\n',
    }
    facts, evidence, _ = built(place_of(tmp_path, files))
    assert {item["topic"]: item["resolution"] for item in evidence["contradictions"]} == {
        "python": "prefer_a",
        "version": "manual_review",
    }
    assert "Tablekit requires Python 3.7 or newer." not in claims_by_text(facts)
    assert "Tablekit requires Python 3.7 or newer." in {claim["claim_text"] for claim in evidence["claims"]}
    assert facts["version"]["value"] == "1.4.2"
    assert facts["runtime_requirements"][0]["requirement"] == ">=3.9"


def test_versions_that_cannot_be_installed_are_not_told_and_the_others_are(tmp_path: Path) -> None:
    names = "".join(f'  "Programming Language :: Python :: 3.{minor}",\n' for minor in (7, 8, 9, 10))
    manifest = PYPROJECT.decode().replace("[project]\n", f"[project]\nclassifiers = [\n{names}]\n")
    facts, evidence, _ = built(place_of(tmp_path, {"pyproject.toml": manifest.encode()}))

    assert {"tablekit requires Python 3.9 or newer.", "tablekit supports Python 3.9 and 3.10."} <= set(
        claims_by_text(facts)
    )
    assert [item["platform"] for item in facts["supported_platforms"]] == ["Python 3.9", "Python 3.10"]
    (found,) = evidence["contradictions"]
    assert found["resolution"] == "prefer_a"
    lost = next(claim for claim in evidence["claims"] if claim["claim_id"] == found["claim_b_id"])
    assert lost["claim_text"] == "tablekit supports Python 3.7 and 3.8."


def test_two_manifests_that_disagree_leave_the_question_open(tmp_path: Path) -> None:
    cfg = b"[metadata]\nname = tablekit\n[options]\npython_requires = >=3.7\n"
    facts, evidence, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "setup.cfg": cfg}))
    (found,) = evidence["contradictions"]
    assert (found["resolution"], found["winning_claim_id"]) == ("unresolved", None)
    assert "runtime_requirements" not in facts
    assert not any("Python 3" in text for text in claims_by_text(facts))
