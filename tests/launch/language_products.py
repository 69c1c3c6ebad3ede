"""Small products in five languages, the files of `languages/` beside this one, and what to know of each."""

import functools
from pathlib import Path
from typing import NamedTuple

__all__ = ["PRODUCTS", "LanguageProduct", "product_files"]

_HERE = Path(__file__).with_name("languages")


class LanguageProduct(NamedTuple):
    """A product, and what its pages must say."""

    folder: str
    platform: str
    name: str
    install: str  # a line of the page on installation
    requires: str
    uses: str  # how it is imported


PRODUCTS = (
    LanguageProduct(
        "javascript", "typescript", "queues", "npm install @example/queues",
        "queues requires Node.js 18 or newer.",
        "import { Queue } from '@example/queues';",
    ),
    LanguageProduct(
        "go", "go", "rings", "go get example.org/rings", "rings requires Go 1.21 or newer.",
        'import "example.org/rings"',
    ),
    LanguageProduct(
        "rust", "rust", "weigh-in", "cargo add weigh-in", "weigh-in requires Rust 1.70 or newer.",
        "use weigh_in::{Weight, Unit, Error};",
    ),
    LanguageProduct(
        "java", "java", "units", "    <artifactId>units</artifactId>", "units requires Java 17 or newer.",
        "import org.example.units.Length;",
    ),
    LanguageProduct(
        "dotnet", "dotnet", "Example.Tabular", "dotnet add package Example.Tabular",
        "Example.Tabular is built for .NET Standard 2.0 and .NET 8.", "using Example.Tabular;",
    ),
)  # fmt: skip


@functools.cache
def product_files(folder: str) -> dict[str, bytes]:
    """The files of a product by their paths."""
    root = _HERE / folder
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }
