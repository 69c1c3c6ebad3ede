"""Manifests of npm, Go, Cargo, Maven, Gradle and NuGet: read with their lines, and nothing that breaks a run."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.facts_place import built, claims_by_text, place_of

from holdfast.launch.facts.ecosystems import ECOSYSTEMS, ecosystem_of
from holdfast.launch.facts.ecosystems.dotnet.manifests import read_csproj, target_named
from holdfast.launch.facts.ecosystems.go.manifest import read_go_mod
from holdfast.launch.facts.ecosystems.java.manifests import merged, read_gradle, read_gradle_settings, read_pom
from holdfast.launch.facts.ecosystems.javascript.manifest import read_package_json
from holdfast.launch.facts.ecosystems.json_lines import JsonLines
from holdfast.launch.facts.ecosystems.rust.manifest import read_cargo_toml
from holdfast.launch.facts.ecosystems.xml_tree import xml_tree
from holdfast.launch.scouting.manifests import manifests_among
from holdfast.launch.scouting.profile import platform_of

READERS = [(name, reader) for one in ECOSYSTEMS for name, reader in one.readers.items()]
BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>
<project><artifactId>&lol2;</artifactId></project>"""


@pytest.mark.parametrize(("name", "reader"), READERS, ids=[name for name, _ in READERS])
@pytest.mark.parametrize(
    "text",
    ["", "\n", "{", "[]", "null", "<", "<project/>", "a = ", "module", "\ufffd\x01" * 50, "[" * 5_000,
     "<a>" * 5_000,
     '{"name": 3, "exports": [[[]]], "engines": []}', '{"name": "x", "bin": 7, "dependencies": ["y"]}',
     "[package]\nname = 3", '[package]\nname = "x"\nversion = {workspace = true}\n[features]\na = 1', BOMB,
     "<Project><PropertyGroup><TargetFramework></TargetFramework></PropertyGroup></Project>"],
)  # fmt: skip
def test_whatever_a_manifest_holds_its_reader_answers(name: str, reader: Any, text: str) -> None:
    found = reader(name, text)
    assert found is None or found.path == name


@given(st.text(max_size=200))
def test_lines_of_any_json_stay_within_the_file(text: str) -> None:
    start, end = JsonLines(text).key("a", "b")
    assert 1 <= start <= end <= text.count("\n") + 1


def test_entities_of_a_manifest_are_never_expanded() -> None:
    assert xml_tree(BOMB) is None
    assert read_pom("pom.xml", BOMB) is None


def test_values_of_a_package_json_know_their_lines() -> None:
    text = '{\n "name": "@a/b",\n "engines": {\n  "node": ">=18"\n },\n "peerDependencies": {"react": "^18"}\n}'
    found = read_package_json("package.json", text)
    assert found
    assert (found.values["requires"].value, found.values["requires"].start_line) == (">=18", 4)
    assert [(one.name, one.value, one.start_line) for one in found.dependencies] == [("react", "^18", 6)]


def test_a_private_project_of_tools_is_no_package() -> None:
    assert read_package_json("package.json", '{"name": "x", "private": true}') is None
    assert read_package_json("package.json", '{"name": "x", "private": true, "main": "a.js"}')


def test_entry_points_prefer_declarations_and_leave_out_patterns_and_data() -> None:
    text = """{"name": "x", "main": "./a.js", "exports": {
      ".": {"import": "./a.mjs", "types": "./a.d.ts"}, "./sub": "./sub.js", "./*": "./x/*.js", "./package.json":
      "./package.json"}}"""
    found = read_package_json("package.json", text)
    assert found
    assert found.entry_points == {"": ["a.d.ts", "a.mjs", "a.js"], "/sub": ["sub.js"]}


def test_a_go_module_without_a_block_of_requirements_is_read_as_well() -> None:
    found = read_go_mod("go.mod", "module example.org/x/v2\n\ngo 1.22.1\nrequire example.org/y v1.0.0\n")
    assert found
    assert found.value("name") == "example.org/x/v2"
    assert found.value("requires") == ">=1.22.1"
    assert [one.name for one in found.dependencies] == ["example.org/y"]


def test_a_crate_takes_values_from_its_workspace() -> None:
    text = '[workspace.package]\nversion = "2.0.0"\n[package]\nname = "x"\nversion.workspace = true\n'
    found = read_cargo_toml("Cargo.toml", text)
    assert found
    assert (found.value("version"), found.values["version"].start_line) == ("2.0.0", 2)


def test_the_files_of_a_gradle_build_are_one_manifest_whose_entries_know_their_file() -> None:
    build = read_gradle("build.gradle", "group = 'org.example'\nversion = '1.2'\nsourceCompatibility = 1.8\n")
    settings = read_gradle_settings("settings.gradle", "rootProject.name = 'kit'\n")
    assert build
    assert settings
    whole = merged([build, settings])[0]
    assert [whole.value(key) for key in ("group", "name", "version", "requires")] == [
        "org.example", "kit", "1.2", ">=8",
    ]  # fmt: skip
    assert whole.values["name"].path == "settings.gradle"


@pytest.mark.parametrize(
    ("target", "name"),
    [("netstandard2.0", ".NET Standard 2.0"), ("net8.0", ".NET 8"), ("net48", ".NET Framework 4.8"),
     ("netcoreapp3.1", ".NET Core 3.1"), ("net8.0-windows", ".NET 8 for windows"), ("v4.5", ".NET Framework 4.5"),
     ("$(Targets)", ""), ("", "")],
)  # fmt: skip
def test_target_frameworks_are_called_by_their_names(target: str, name: str) -> None:
    assert target_named(target) == name


def test_projects_for_tests_publish_nothing() -> None:
    assert read_csproj("A.Tests.csproj", "<Project/>") is None
    assert read_csproj("Testcontainers.csproj", "<Project/>")


def test_a_manifest_below_the_root_is_found_where_the_root_has_none(tmp_path: Path) -> None:
    files = {
        "package.json": b'{"name": "root", "private": true}',
        "packages/other/package.json": b'{"name": "other", "main": "index.js"}',
        "packages/kit/package.json": b'{"name": "@x/kit", "main": "index.js", "version": "1.0.0"}',
        "packages/kit/index.js": b"/** Begin. */\nexport function begin () {}\n",
    }
    changes: dict[str, Any] = {"product_name": "kit", "product_slug": "kit", "target_platform": "javascript"}
    facts, _, _ = built(place_of(tmp_path, files, **changes))
    assert "Install kit with `npm install @x/kit`." in claims_by_text(facts)
    assert facts["imports"][0]["code"] == "import { begin } from '@x/kit';"


def test_a_core_that_is_published_in_another_language_speaks_for_the_other() -> None:
    cargo = '[package]\nname = "core"\n[lib]\ncrate-type = ["cdylib"]\n'
    pyproject = '[project]\nname = "kit"\n[build-system]\nbuild-backend = "maturin"\n'
    bound = manifests_among({"Cargo.toml": cargo, "pyproject.toml": pyproject})
    assert platform_of(bound, ["rust", "python"]) == "python"
    napi = '{"name": "kit", "main": "index.js", "napi": {}}'
    assert platform_of(manifests_among({"Cargo.toml": cargo, "package.json": napi}), ["rust"]) == "javascript"


def test_tools_beside_a_product_and_the_words_of_its_readme_are_weighed() -> None:
    crate, tools = '[package]\nname = "kit"\n', '{"name": "tools", "private": true}'
    assert (
        platform_of(manifests_among({"Cargo.toml": crate, "package.json": tools}), ["javascript", "rust"])
        == "rust"
    )
    both = manifests_among({"go.mod": "module example.org/kit\n", "pyproject.toml": '[project]\nname = "kit"\n'})
    assert platform_of(both, ["go", "python"], "Run `pip install kit`.") == "python"
    assert platform_of(both, ["go", "python"], "") == "go"


def test_names_of_maven_and_nuget_are_found_for_a_configuration() -> None:
    pom = "<project><parent><artifactId>up</artifactId></parent><artifactId>kit</artifactId></project>"
    project = "<Project><PropertyGroup><PackageId>Kit.Core</PackageId></PropertyGroup></Project>"
    found = manifests_among({"pom.xml": pom, "src/Kit/Kit.csproj": project, "t/Kit.Tests.csproj": project})
    assert [(one.platform, one.name) for one in found] == [
        ("java", "kit"), ("dotnet", ""), ("dotnet", "Kit.Core"),
    ]  # fmt: skip


def test_a_platform_that_nobody_described_still_gets_facts(tmp_path: Path) -> None:
    assert ecosystem_of("ruby") is None
    readme = b"# kit\n\nkit is a library that reads tables.\n"
    facts, _, _ = built(place_of(tmp_path, {"README.md": readme}, product_name="kit", target_platform="ruby"))
    assert facts["api_symbols"] == []
    assert "kit is a library that reads tables." in claims_by_text(facts)
