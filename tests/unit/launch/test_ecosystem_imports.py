"""The line that shows how a product is imported names what the project itself uses, and not what comes first."""

from pathlib import Path
from typing import Any

import pytest
from tests.launch.facts_place import built, place_of

_JAVA = b"package org.soup%b;\n\n/** It is one. */\npublic class %b {\n}\n"
_MAIN = "src/main/java/org/soup"
_GO = b"// Package %b is one.\npackage %b\n\n// New is new.\nfunc New() {}\n"
_CS = b"namespace %b {\n    /// <summary>It is one.</summary>\n    public class %b {\n    }\n}\n"

PRODUCTS: dict[str, tuple[str, dict[str, bytes], list[str]]] = {
    "names of an npm package": (
        "typescript",
        {
            "package.json": b'{"name": "cli", "version": "1.0.0", "types": "index.d.ts", "main": "index.js"}',
            "index.d.ts": b"export class Argument {}\nexport class Option {}\nexport class Help {}\n"
            b"export class Command {}\nexport const program: Command;\nexport interface Shape {}\n",
            "README.md": b"# cli\n\n```js\nconst { program } = require('cli');\nprogram.parse();\n```\n\n"
            b"```ts\nimport { Command, type Shape } from 'cli';\nnew Command();\n```\n\nOr an `Option`.\n",
            "examples/two.js": b"const { Command } = require('cli');\nnew Command();\n",
        },
        ["import { Command, program } from 'cli';"],
    ),
    "all of an npm package": (
        "typescript",
        {
            "package.json": b'{"name": "zed", "version": "1.0.0", "exports": '
            b'{".": {"types": "./index.d.ts"}, "./old": {"types": "./old.d.ts"}}}',
            "index.d.ts": b"export function registry(): void;\nexport function string(): void;\n",
            "old.d.ts": b"export function setErrorMap(): void;\n",
            "README.md": b'# zed\n\n```ts\nimport * as z from "zed";\n\nz.string();\n```\n',
        },
        ["import * as z from 'zed';"],
    ),
    "an npm package of which nothing is shown": (
        "typescript",
        {
            "package.json": b'{"name": "mute", "version": "1.0.0", "types": "index.d.ts"}',
            "index.d.ts": b"export class OwnError {}\nexport function first(): void;\nexport class Second {}\n",
            "README.md": b"# mute\n",
        },
        ["import { first, Second } from 'mute';"],
    ),
    "classes of Java": (
        "java",
        {
            "pom.xml": b"<project><groupId>org.soup</groupId><artifactId>soup</artifactId>"
            b"<version>1</version></project>",
            f"{_MAIN}/Connection.java": _JAVA % (b"", b"Connection"),
            f"{_MAIN}/Soup.java": _JAVA % (b"", b"Soup"),
            f"{_MAIN}/nodes/Document.java": _JAVA % (b".nodes", b"Document"),
            f"{_MAIN}/examples/Crawl.java": b"package org.soup.examples;\n\nimport org.soup.Soup;\n"
            b"import org.soup.nodes.Document;\n\n/** It crawls. */\npublic class Crawl {\n}\n",
            "README.md": b"# soup\n\n```java\nDocument doc = Soup.connect(\"x\");\n```\n",
        },
        ["import org.soup.Soup;", "import org.soup.nodes.Document;"],
    ),
    "items of a crate": (
        "rust",
        {
            "Cargo.toml": b'[package]\nname = "sure"\nversion = "1.0.0"\nedition = "2021"\n',
            "src/lib.rs": b"/// One.\npub struct Chain;\n"
            b"/// Two.\npub struct Failure;\n/// Three.\npub trait Context {}\n"
            b"/// Four.\npub type Outcome = u8;\n",
            "README.md": b"# sure\n\n```rust\nuse sure::{Context, Outcome};\n\nfn main() -> Outcome { 1 }\n```\n",
        },
        ["use sure::{Context, Outcome};"],
    ),
    "packages of Go": (
        "go",
        {
            "go.mod": b"module example.org/kit\n\ngo 1.21\n",
            "aside/aside.go": _GO % (b"aside", b"aside"),
            "main/kit/kit.go": _GO % (b"kit", b"kit"),
            "README.md": b'# kit\n\n```go\nimport "example.org/kit/main/kit"\n```\n',
        },
        ['import "example.org/kit/main/kit"'],
    ),
    "namespaces of C#": (
        "dotnet",
        {
            "Kit.csproj": b'<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><PackageId>Kit</PackageId>'
            b"<Version>1.0.0</Version></PropertyGroup></Project>",
            "Aside.cs": _CS % (b"Aside", b"Other"),
            "Kit.cs": _CS % (b"Kit.Core", b"Thing"),
            "README.md": b"# Kit\n\n```csharp\nusing Kit.Core;\n\nnew Thing();\n```\n",
        },
        ["using Kit.Core;"],
    ),
}  # fmt: skip


def facts_of(root: Path, platform: str, files: dict[str, bytes]) -> dict[str, Any]:
    """What is known of a product."""
    given: dict[str, Any] = {"product_name": "it", "product_slug": "it", "target_platform": platform}
    return built(place_of(root, files, **given))[0]


@pytest.mark.parametrize("product", PRODUCTS)
def test_what_is_imported_to_check_an_installation_is_what_the_project_shows(tmp_path: Path, product: str) -> None:
    platform, files, expected = PRODUCTS[product]
    facts = facts_of(tmp_path, platform, files)
    assert [one["code"] for one in facts["imports"]] == expected
    claims = {claim["claim_id"] for claim in facts["claims"]}
    assert {one["claim_id"] for one in facts["imports"]} <= claims


def test_packages_of_java_that_are_examples_or_tests_are_no_interface(tmp_path: Path) -> None:
    platform, files, _ = PRODUCTS["classes of Java"]
    kept = ("org.soup", "org.soup.nodes", "org.soup.sampling")
    for name in ("samples", "internal.x", "demo", "testing", "sampling"):
        folder = f"{_MAIN}/{name.replace('.', '/')}"
        files = {**files, f"{folder}/Held.java": _JAVA % (f".{name}".encode(), b"Held")}
    facts = facts_of(tmp_path, platform, files)
    assert {one["module"] for one in facts["api_symbols"]} == set(kept)


def test_packages_that_a_module_of_java_exports_are_its_interface_whatever_they_are_called(tmp_path: Path) -> None:
    platform, files, _ = PRODUCTS["classes of Java"]
    files = {**files, "src/main/java/module-info.java": b"module org.soup {\n  exports org.soup.examples;\n}\n"}
    facts = facts_of(tmp_path, platform, files)
    assert {one["module"] for one in facts["api_symbols"]} == {"org.soup.examples"}


def test_a_package_that_all_of_the_code_lies_in_is_its_interface_whatever_it_is_called(tmp_path: Path) -> None:
    pom = b"<project><groupId>com.example</groupId><artifactId>x</artifactId><version>1</version></project>"
    held = b"package com.example.x;\n\n/** It is one. */\npublic class Held {\n}\n"
    files = {"pom.xml": pom, "src/main/java/com/example/x/Held.java": held}
    facts = facts_of(tmp_path, "java", files)
    assert {one["module"] for one in facts["api_symbols"]} == {"com.example.x"}
    assert [one["code"] for one in facts["imports"]] == ["import com.example.x.Held;"]
