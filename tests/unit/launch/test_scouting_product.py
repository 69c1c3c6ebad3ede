"""The scout looks at products: what is there, what is not looked at, and what the configuration has a say in."""

import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.products import commit_all, git, make_product, make_repository, make_site, run_config
from tests.unit.launch.scouting_places import inventory_at, inventory_of, refused, scouted, workplace

from holdfast.errors import ToolError
from holdfast.launch.scouting.cloning import bring
from holdfast.launch.scouting.manifests import is_manifest, manifest_of
from holdfast.launch.scouting.phantoms import phantom_paths
from holdfast.launch.scouting.selecting import Selection

CODE = {"pyproject.toml": b'[project]\nname = "x"\n', "src/x/__init__.py": b"", "README.md": b"# x\n"}


def kinds(inventory: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["kind"] for file in inventory["paths"]}


def test_a_library_is_known_with_its_folders(tmp_path: Path) -> None:
    config = run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", make_site(tmp_path / "s"))
    found = scouted(tmp_path, config)["repo_inventory.json"]

    assert found["repo_profile"] == {
        "platform_family": "python", "primary_languages": ["python"], "build_systems": ["hatchling"],
        "package_manifests": ["pyproject.toml"], "recommended_test_commands": ["python -m pytest"],
        "product_type": "library", "adapter": "python",
    }  # fmt: skip
    assert [found[name] for name in ("source_roots", "docs_roots", "example_roots", "test_roots")] == [
        ["src"], ["docs"], ["examples"], ["tests"],
    ]  # fmt: skip
    assert [entry["path"] for entry in found["doc_entrypoints"]][:3] == ["README.md", "CHANGELOG.md", "LICENSE"]
    assert found["example_paths"] == ["examples/filter_people.py", "examples/join_cities.py"]
    assert found["binary_assets"] == ["docs/logo.png"]
    assert found["phantom_paths"] == [
        {"claimed_path": "docs/legacy.md", "claiming_file": "README.md", "claiming_line": 50}
    ]


def test_the_artifacts_are_the_same_in_every_directory_and_process(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.launch.products import *; "
        "from tests.unit.launch.scouting_places import *; import json\n"
        "root = Path(sys.argv[1]); p, s = root / 'tablekit', root / 'site'\n"
        "made = scouted(root, run_config(p, make_product(p), s, make_site(s)))\n"
        "print('ARTIFACTS', json.dumps(made))"
    )
    told = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, "-c", program, str(tmp_path / ("place" * int(seed)))]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        told.add(done.stdout.partition("ARTIFACTS")[2])

    assert len(told) == 1
    assert str(tmp_path) not in told.pop()


@pytest.mark.parametrize("empty", ["commit", "no commit"])
def test_an_empty_repository_is_refused(tmp_path: Path, empty: str) -> None:
    sha = "1" * 40
    if empty == "commit":
        sha = make_repository(tmp_path / "p", {})
    else:
        (tmp_path / "p").mkdir()
        git(tmp_path / "p", "init", "--quiet")
    error = refused(tmp_path, run_config(tmp_path / "p", sha, tmp_path / "s", make_site(tmp_path / "s", 0)))

    assert (error.code, error.details["reason"], error.retryable) == ("INVALID_INPUT", "empty_repository", False)
    assert error.details["repository"] == "product"


def test_a_repository_of_binaries_is_no_product_of_any_language(tmp_path: Path) -> None:
    found = inventory_of(tmp_path, {"a.bin": b"\0\1", "b.png": b"\x89PNG\0", "c.txt": b"caf\xe9\n"})

    assert set(kinds(found).values()) == {"binary"}
    assert found["repo_profile"]["adapter"] == "universal"
    assert found["repo_profile"]["product_type"] == "other"


def test_a_huge_file_is_listed_and_not_read(tmp_path: Path) -> None:
    make_repository(tmp_path / "p", CODE)
    with (tmp_path / "p" / "huge.csv").open("wb") as file:
        file.truncate(60_000_000)
    sha = commit_all(tmp_path / "p")
    found = inventory_at(tmp_path / "p", sha)

    assert kinds(found)["huge.csv"] == "large"
    assert [one["path"] for one in found["skipped"]] == ["huge.csv"]


def test_links_and_submodules_are_named_and_not_followed(tmp_path: Path) -> None:
    first = make_repository(tmp_path / "p", CODE)
    (tmp_path / "p" / "loop").symlink_to("loop")
    (tmp_path / "p" / "out").symlink_to("/etc/passwd")
    git(tmp_path / "p", "add", "--all")
    git(tmp_path / "p", "update-index", "--add", "--cacheinfo", f"160000,{first},sub")
    git(tmp_path / "p", "commit", "--quiet", "--message", "links")
    sha = git(tmp_path / "p", "rev-parse", "HEAD")
    found = inventory_at(tmp_path / "p", sha)

    assert {kinds(found)[name] for name in ("loop", "out")} == {"symlink"}
    assert kinds(found)["sub"] == "submodule"
    assert "root:" not in json.dumps(found)


def test_a_readme_that_is_a_link_within_the_repository_is_the_file_it_leads_to(tmp_path: Path) -> None:
    make_repository(
        tmp_path / "p", {"x.py": b"", "docs/index.rst": b"x\n=\n\nIt reads.\n", "docs/more.rst": b"More\n"}
    )
    for name, leads_to in {
        "README.rst": "docs/index.rst",
        "LICENSE": "../outside",
        "CHANGES.md": "/etc/passwd",
        "SECURITY.md": "nowhere",
        "CONTRIBUTING.md": "CONTRIBUTING.md",
    }.items():
        (tmp_path / "p" / name).symlink_to(leads_to)
    found = inventory_at(tmp_path / "p", commit_all(tmp_path / "p"))

    assert found["doc_entrypoints"] == [
        {"path": "docs/index.rst", "kind": "readme"},
        {"path": "docs/more.rst", "kind": "docs"},
    ]
    assert kinds(found)["README.rst"] == "symlink"
    assert "root:" not in json.dumps(found)


def test_strange_names_are_told_and_left(tmp_path: Path) -> None:
    make_repository(tmp_path / "p", CODE)
    root = os.fsencode(tmp_path / "p")
    for name in (b"caf\xe9.py", b"two\nlines.py", b"tab\there.md", "ünï.py".encode(), b"Case.py", b"case.py"):
        with open(os.path.join(root, name), "wb") as file:
            file.write(b"x = 1\n")
    sha = commit_all(tmp_path / "p")
    found = inventory_at(tmp_path / "p", sha)

    strange = [name for name, kind in kinds(found).items() if kind == "undecodable"]
    assert strange == [r"caf\\xe9.py", r"tab\there.md", r"two\nlines.py"]
    assert {"ünï.py", "Case.py", "case.py"} < set(kinds(found))
    assert len(found["skipped"]) == 3


def test_rules_of_attributes_change_nothing(tmp_path: Path) -> None:
    rules = b"*.py filter=evil text eol=crlf\n*.md -diff export-ignore\n"
    sha = make_repository(tmp_path / "p", {**CODE, ".gitattributes": rules, "a.py": b"x = 1\ny = 2\n"})
    config = run_config(tmp_path / "p", sha, tmp_path / "s", make_site(tmp_path / "s", 0))
    found = scouted(tmp_path, config)["repo_inventory.json"]

    assert next(file for file in found["paths"] if file["path"] == "a.py")["size"] == 12
    assert (tmp_path / "run" / "work" / "repo" / "a.py").read_bytes() == b"x = 1\ny = 2\n"


def test_five_thousand_files_take_three_seconds_of_work_at_most(tmp_path: Path) -> None:
    make_repository(tmp_path / "p", CODE)
    blob = git(tmp_path / "p", "hash-object", "-w", "--stdin", stdin=b"def f() -> int:\n    return 1\n")
    lines = "".join(f"100644 {blob}\tsrc/x/part{n // 100}/m{n}.py\n" for n in range(5000)).encode()
    git(tmp_path / "p", "update-index", "--index-info", stdin=lines)
    git(tmp_path / "p", "commit", "--quiet", "--message", "many")
    sha = git(tmp_path / "p", "rev-parse", "HEAD")
    begun = process_time()  # and not the clock, which runs for everybody on the machine
    found = inventory_at(tmp_path / "p", sha)

    assert found["file_count"] == 5003
    assert process_time() - begun < 3


IGNORED = {**CODE, ".gitignore": b"*.gen\nout/\n", "a.gen": b"made\n", "out/b.py": b"made = 1\n"}


@pytest.mark.parametrize(
    ("mode", "listed", "generated"),
    [("respect", True, True), ("ignore", True, False), ("strict", False, False)],
)
def test_gitignore_counts_as_the_configuration_says(
    tmp_path: Path, mode: str, listed: bool, generated: bool
) -> None:
    make_repository(tmp_path / "p", CODE)
    for name, content in IGNORED.items():
        (tmp_path / "p" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "p" / name).write_bytes(content)
    git(tmp_path / "p", "add", "--force", "--all")
    sha = commit_all(tmp_path / "p")
    found = inventory_at(tmp_path / "p", sha, ingestion={"gitignore_mode": mode})

    file = next((one for one in found["paths"] if one["path"] == "a.gen"), None)
    assert (file is not None) == listed
    assert bool(file and file.get("generated")) == generated
    assert any(one["path"] == "a.gen" for one in found["skipped"]) == (not listed)


def test_directories_and_patterns_of_the_configuration_are_honoured(tmp_path: Path) -> None:
    files = {**CODE, "other/y.py": b"y = 1\n", "src/x/secret.py": b"z = 1\n", "src/x/a/deep.log": b"1\n"}
    ingestion = {"scan_directories": ["src"], "exclude_patterns": ["secret.*", "src/**/*.log"]}
    found = inventory_of(tmp_path, files, ingestion=ingestion)

    assert set(kinds(found)) == set(CODE)
    reasons = {one["path"]: one["reason"] for one in found["skipped"]}
    assert set(reasons) == {"other/y.py", "src/x/secret.py", "src/x/a/deep.log"}


def test_other_settings_of_ingestion_and_hints_are_honoured(tmp_path: Path) -> None:
    files = {
        **CODE, "logo.bin": b"\0", "kit/one.py": b"x = 1\n", "handbook/a.md": b"See [b](b.md).\n",
        "tests/test_x.py": b"",
    }  # fmt: skip
    found = inventory_of(
        tmp_path, files, product_type="cli", platform_family="python-family",
        ingestion={
            "example_directories": ["kit"], "record_binary_files": False, "detect_phantom_paths": False,
        },
        repo_hints={"preferred_docs_roots": ["handbook/", "nowhere"], "preferred_test_commands": ["tox"]},
    )  # fmt: skip

    assert (found["example_roots"], found["docs_roots"]) == (["kit"], ["handbook"])
    assert "logo.bin" not in kinds(found)
    assert (found["binary_assets"], found["phantom_paths"]) == ([], [])
    profile = found["repo_profile"]
    assert (profile["product_type"], profile["platform_family"]) == ("cli", "python-family")
    assert profile["recommended_test_commands"][0] == "tox"


def test_generated_and_foreign_files_say_nothing_about_the_product(tmp_path: Path) -> None:
    files = {
        **CODE, "vendor/lib.go": b"package lib\n" * 500, "src/x/data_pb2.py": b"x = 1\n",
        "src/x/made.py": b"# Code generated by tool. DO NOT EDIT.\n", "node_modules/a/index.js": b"1\n",
        "src/x/build/real.py": b"x = 1\n",
    }  # fmt: skip
    found = inventory_of(tmp_path, files)

    made = {one["path"] for one in found["paths"] if one.get("generated")}
    assert made == {"vendor/lib.go", "src/x/data_pb2.py", "src/x/made.py", "node_modules/a/index.js"}
    assert found["repo_profile"]["primary_languages"] == ["python"]
    assert found["source_roots"] == ["src"]


def test_what_is_beside_the_product_does_not_count_as_the_product(tmp_path: Path) -> None:
    files = {
        **CODE, "tests/client/package.json": b"{}", "benchmarks/run.py": b"x = 1\n", "scripts/go.py": b"x = 1\n",
        "src/x/testing/kit.py": b"x = 1\n", "tests/test_a.py": b"x = 1\n", "noxfile.py": b"x = 1\n",
    }  # fmt: skip
    found = inventory_of(tmp_path, files)

    assert (found["source_roots"], found["test_roots"]) == (["src"], ["tests"])
    assert found["repo_profile"]["package_manifests"] == ["pyproject.toml"]


@pytest.mark.parametrize(
    ("path", "text", "platform", "name", "kind"),
    [
        ("pyproject.toml", '[project]\nname = "a"\n', "python", "a", "library"),
        ("pyproject.toml", '[tool.poetry]\nname = "b"\n', "python", "b", "library"),
        ("pyproject.toml", '[project]\nname = "c"\ndescription = "A CLI"\nscripts = {c = "c:m"}\n',
         "python", "c", "cli"),
        ("pyproject.toml", '[project]\nname = "d"\nentry-points.pytest11 = {d = "d"}\n', "python", "d", "plugin"),
        ("pyproject.toml", '[project]\nname = "e"\ndescription = "A web service"\ndependencies = ["FastAPI>=1"]\n',
         "python", "e", "service"),
        ("pyproject.toml", '[project]\nname = "e"\ndependencies = ["FastAPI>=1"]\n', "python", "e", "library"),
        ("setup.cfg", "[metadata]\nname = f\n", "python", "f", "library"),
        ("setup.py", "import os\nfrom setuptools import setup\nos._exit(1)\nsetup(name='g')\n",
         "python", "g", "library"),
        ("package.json", '{"name": "@scope/h", "types": "h.d.ts"}', "typescript", "h", "library"),
        ("package.json", '{"name": "i", "bin": "i.js"}', "javascript", "i", "cli"),
        ("Cargo.toml", '[package]\nname = "j"\n', "rust", "j", "library"),
        ("go.mod", "module x.example/k/v2\n", "go", "k", ""),
        ("pom.xml", "<project/>", "java", "", ""),
        ("pom.xml", "<project><artifactId>kit</artifactId></project>", "java", "kit", "library"),
        ("Some.csproj", "", "dotnet", "", ""),
        ("Some.csproj", "<Project/>", "dotnet", "Some", "library"),
        ("pyproject.toml", "broken = [", "python", "", ""),
        ("pyproject.toml", 'project = "text"\n', "python", "", ""),
        ("package.json", "[" * 100_000, "javascript", "", ""),
        ("setup.py", "(" * 5000, "python", "", ""),
        ("setup.cfg", "no section\n", "python", "", ""),
    ],
    ids=range(21),
)  # fmt: skip
def test_manifests_are_read_and_never_run(path: str, text: str, platform: str, name: str, kind: str) -> None:
    assert is_manifest(path)
    found = manifest_of(path, text)

    assert (found.platform, found.name, found.product_type) == (platform, name, kind)


def test_paths_that_documents_name_are_looked_for() -> None:
    text = (
        "[a](docs/a.md#x) [web](https://x.example/y.md) [b](<docs/gone.md>) [up](../out.md) [img](/abs.png)\n"
        "`src/gone.py` and `path/to/yours.txt` and `src/x.py`\n```\n[c](in/code.md)\n```\n[d]: docs/also-gone.md\n"
        "`rst <docs/missing.rst>`_ [![badge](docs/badge.svg)](docs/a.md)\n"
    )
    found = phantom_paths({"README.md": text}, ["docs/a.md", "src/x.py"])

    assert [(one["claimed_path"], one["claiming_line"]) for one in found] == [
        ("docs/gone.md", 1), ("src/gone.py", 2), ("docs/also-gone.md", 6), ("docs/missing.rst", 7),
        ("docs/badge.svg", 7),
    ]  # fmt: skip


@given(st.text(alphabet="[]()`<>_:/.\n a", max_size=300))
def test_any_text_is_searched_for_paths(text: str) -> None:
    for one in phantom_paths({"docs/x.md": text}, ["docs/x.md"]):
        assert 1 <= one["claiming_line"] <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("pattern", "path", "is_out"),
    [
        ("*.log", "a/b/c.log", True), ("build", "a/build/c.py", True), ("build", "a/rebuild/c.py", False),
        ("/a", "a/b.py", True), ("/a", "b/a/c.py", False), ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False), ("a/**", "a/b/c.py", True), ("**/c.py", "c.py", True),
        ("a/", "a/b", True), ("[", "[", True), ("a.b", "axb", False), ("**/" * 30 + "x", "a/" * 200 + "y", False),
    ],
    ids=range(13),
)  # fmt: skip
def test_patterns_are_those_of_gitignore(pattern: str, path: str, is_out: bool) -> None:
    assert bool(Selection({"exclude_patterns": [pattern]}).why_not(path)) == is_out


def test_a_changed_or_half_made_clone_is_made_again(tmp_path: Path) -> None:
    sha = make_product(tmp_path / "p")
    config = run_config(tmp_path / "p", sha, tmp_path / "s", make_site(tmp_path / "s"))
    first = scouted(tmp_path, config)
    place = workplace(tmp_path, config)
    kept = (place.repo / "README.md").stat().st_ino
    (place.site / "content" / "docs" / "new.md").write_text("left by a run")
    (place.site / ".hugo_build.lock").write_text("ignored, and left too")
    (place.root / "work" / ".site.cloning").mkdir()

    assert scouted(tmp_path, config) == first
    assert (place.repo / "README.md").stat().st_ino == kept
    assert not (place.site / "content" / "docs" / "new.md").exists()
    assert sorted(path.name for path in (place.root / "work").iterdir()) == ["repo", "site"]


@pytest.mark.parametrize("moment", ["cloning the product", "cloning the site", "looking at the site"])
def test_a_scout_that_was_killed_is_sent_again(tmp_path: Path, moment: str) -> None:
    config = run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", make_site(tmp_path / "s", 0))
    (tmp_path / "config.json").write_text(json.dumps(config))
    program = (
        "import sys, json; from pathlib import Path; from tests.unit.launch.scouting_places import scouted\n"
        "root = Path(sys.argv[1]); scouted(root, json.loads((root / 'config.json').read_text()))"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.getcwd()}, stdout=subprocess.PIPE) as scout:
        assert scout.stdout is not None
        while moment.encode() not in scout.stdout.readline():
            assert scout.poll() is None
        scout.kill()

    assert len(scouted(tmp_path, config)) == 4


@pytest.mark.parametrize("damage", ["no head", "link", "file", "other commit"])
def test_whatever_is_in_the_way_is_replaced(tmp_path: Path, damage: str) -> None:
    config = run_config(tmp_path / "p", make_product(tmp_path / "p"), tmp_path / "s", make_site(tmp_path / "s", 0))
    place = workplace(tmp_path, config)
    place.repo.parent.mkdir(parents=True)
    (tmp_path / "precious").mkdir()
    if damage == "link":
        place.repo.symlink_to(tmp_path / "precious")
    elif damage == "file":
        place.repo.write_text("x")
    elif damage == "no head":
        (place.repo / ".git").mkdir(parents=True)
    else:
        make_repository(place.repo, {"other": b""})

    assert scouted(tmp_path, config)["repo_inventory.json"]["file_count"] == 18
    assert list((tmp_path / "precious").iterdir()) == []


@pytest.mark.parametrize(
    ("address", "reason", "is_passing"),
    [
        ("https://127.0.0.1:1/x.git", "clone_failed", True),
        ("http://no-such-host.invalid/x", "clone_failed", True),
        ("{root}/nowhere", "clone_failed", False),
        ("file://{root}/nowhere", "clone_failed", False),
        ("{root}/p", "commit_not_found", False),
    ],
    ids=["refused", "unknown host", "no path", "no url", "no commit"],
)
def test_a_clone_that_fails_says_why_and_not_where(
    tmp_path: Path, address: str, reason: str, is_passing: bool
) -> None:
    make_product(tmp_path / "p")
    config = run_config(tmp_path / "p", "1" * 40, tmp_path / "s", make_site(tmp_path / "s", 0))
    error = refused(tmp_path, config | {"github_repo_url": address.format(root=tmp_path)})

    assert (error.code, error.details["reason"], error.retryable) == ("INVALID_INPUT", reason, is_passing)
    assert str(tmp_path) not in f"{error.message} {json.dumps(error.details)}"


def test_a_clone_that_fails_tells_no_secret(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        bring("https://me:s3cret@127.0.0.1:1/x.git", "1" * 40, tmp_path / "clone", "product")
    assert (caught.value.code, caught.value.details["reason"]) == ("INVALID_INPUT", "clone_failed")
    assert "s3cret" not in f"{caught.value.message} {json.dumps(caught.value.details)}"


def test_documents_to_which_the_readme_leads_are_documentation_wherever_they_lie(tmp_path: Path) -> None:
    files = {
        "README.md": b"# kit\n\n[Guide](user_guide.md), [why](https://example.org/x.md), [out](../other.md),\n"
        b"[code](kit.py), [list](CHANGELOG.md), [none](absent.md), [tests](tests/notes.md).\n\n"
        b"```md\n[x](unlinked.md)\n```\n",
        "user_guide.md": b"# Guide\n\n[More](site/more.md#part), [back](README.md)\n",
        "site/more.md": b"# More\n\n[Guide](../user_guide.md)\n",
        "unlinked.md": b"# Notes\n", "tests/notes.md": b"# Notes\n", "tests/test_kit.py": b"x = 1\n",
        "kit.py": b"x = 1\n", "CHANGELOG.md": b"# Changes\n", "docs/own.md": b"# Own\n",
    }  # fmt: skip
    make_repository(tmp_path / "p", files)
    found = inventory_at(tmp_path / "p", commit_all(tmp_path / "p"))

    assert found["doc_entrypoints"] == [
        {"path": "README.md", "kind": "readme"},
        {"path": "CHANGELOG.md", "kind": "changelog"},
        {"path": "docs/own.md", "kind": "docs"},
        {"path": "site/more.md", "kind": "docs"},
        {"path": "user_guide.md", "kind": "docs"},
    ]
    assert found["docs_roots"] == ["docs"]
