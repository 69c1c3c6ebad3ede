"""What users reach of a crate or of a module, where attributes, macros and the names of folders decide."""

from pathlib import Path
from typing import Any

from tests.launch.facts_place import built, place_of

CARGO = b"""[package]
name = "bails"
version = "1.0.0"
edition = "2021"
rust-version = "1.70"
"""
LIB = b"""//! Leaves early.

#[macro_use]
mod macros;

/// What went wrong. The attribute `#[doc(hidden)]` is spoken of here only.
pub struct Trouble {
    /// Why.
    pub why: String,
}

impl Trouble {
    /// Tell it.
    pub fn told(&self) -> &str {
        &self.why
    }

    // Macros call it.
    #[doc(hidden)]
    #[inline]
    pub fn __made(why: &str) -> Self {
        Trouble { why: why.to_owned() }
    }
}

#[doc(alias = "hidden, in a way")]
pub fn found() {}

#[inline] #[doc(hidden)]
pub fn unfound() {}

// Not for users: what macros expand to.
#[doc(hidden)]
pub mod __private {
    pub use std::format;
    pub fn must_use() {}
}

#[doc(hidden)]
pub use macros::Kind;
"""
MACROS = b"""pub enum Kind { One }

/// Leave early with a message.
///
/// It is `return Err(`[`format!($text)`][std::format]`)`, see [`ensure!`].
#[macro_export]
macro_rules! bail {
    ($text:expr) => { return Err($text) };
}

/// Leave early unless it holds.
#[cfg(feature = "std")]
#[macro_export]
macro_rules! ensure {
    ($held:expr) => { if !$held { return Err("no") } };
}

#[cfg(not(feature = "std"))]
#[macro_export]
macro_rules! ensure {
    ($held:expr) => { if !$held { return Err("no") } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __bail {
    () => {};
}

macro_rules! inner {
    () => {};
}
"""


SHORT = b"""//! Leaves early.
#[doc(hidden)] pub mod __private { pub fn made() {} }
/// It is one.
pub fn one() {}
#[inline] pub fn two() {}
#[doc(hidden)]
pub fn unfound() {}
#[doc(hidden)] pub fn unfound_too() {}
pub fn three() {}

pub struct Row {
    #[doc(hidden)] pub made: [u8; 4],
    /// It is shown.
    pub shown: u8,
    /// It is for macros.
    #[doc(hidden)]
    pub unshown: u8,
}

impl Row {
    #[doc(hidden)] pub fn __told(&self) {}
    pub fn told(&self) {}
}
"""


def symbols_in(root: Path, files: dict[str, bytes], name: str, platform: str) -> dict[str, dict[str, Any]]:
    """The interface of a product by its public names."""
    given: dict[str, Any] = {"product_name": name, "product_slug": name, "target_platform": platform}
    facts, _, _ = built(place_of(root, files, **given))
    return {symbol["qualified_name"]: symbol for symbol in facts["api_symbols"]}


def test_what_a_crate_hides_from_its_documentation_is_not_told_and_its_macros_are(tmp_path: Path) -> None:
    files = {"Cargo.toml": CARGO, "src/lib.rs": LIB, "src/macros.rs": MACROS, "README.md": b"# bails\n"}
    told = symbols_in(tmp_path, files, "bails", "rust")
    assert set(told) == {
        "bails", "bails::Trouble", "bails::Trouble::told", "bails::Trouble::why", "bails::found",
        "bails::bail", "bails::ensure",
    }  # fmt: skip
    assert told["bails::bail"]["summary"] == "Leave early with a message."
    assert told["bails::ensure"]["summary"] == "Leave early unless it holds."


def test_an_attribute_on_the_line_of_one_item_hides_no_other(tmp_path: Path) -> None:
    files = {"Cargo.toml": CARGO, "src/lib.rs": SHORT, "README.md": b"# bails\n"}
    assert set(symbols_in(tmp_path, files, "bails", "rust")) == {
        "bails", "bails::one", "bails::two", "bails::three", "bails::Row", "bails::Row::shown", "bails::Row::told",
    }  # fmt: skip


def test_code_that_goes_on_in_a_link_is_one_piece_of_code(tmp_path: Path) -> None:
    files = {"Cargo.toml": CARGO, "src/lib.rs": LIB, "src/macros.rs": MACROS}
    told = symbols_in(tmp_path, files, "bails", "rust")["bails::bail"]["documentation"]
    assert "It is `return Err(format!($text))`, see `ensure!`." in told


def test_a_package_of_go_is_told_whatever_its_folder_is_called(tmp_path: Path) -> None:
    made = b"// Made is made.\nfunc Made() {}\n"
    files = {
        f"{folder}/made.go": b"package %b\n\n%b" % (folder.rpartition("/")[2].encode(), made)
        for folder in ("doc", "tools/cache", "internal/x", "examples/y")
    }
    files |= {
        "go.mod": b"module example.org/makes\n\ngo 1.21\n", "README.md": b"# makes\n",
        "makes.go": b"// Package makes makes.\npackage makes\n\n// New is new.\nfunc New() {}\n",
        "tools/tools.go": b"package tools\n\nimport _ \"example.org/other\"\n",
        "doc/gen.go.md": b"# not code\n",
    }  # fmt: skip
    told = symbols_in(tmp_path, files, "makes", "go")
    assert set(told) == {
        "example.org/makes", "example.org/makes.New", "example.org/makes/doc", "example.org/makes/doc.Made",
        "example.org/makes/tools/cache", "example.org/makes/tools/cache.Made",
    }  # fmt: skip


def test_a_nuspec_in_a_folder_of_its_own_packs_what_projects_elsewhere_build(tmp_path: Path) -> None:
    spec = b"""<package><metadata><id>Asserts</id><version>1.0.0</version></metadata>
<files><file src="${bin}\\asserts.framework.dll" target="lib" /></files></package>
"""
    project = b"<Project><PropertyGroup><AssemblyName>%b</AssemblyName></PropertyGroup></Project>\n"
    code = b"namespace %b {\n    /// <summary>It is %b.</summary>\n    public class Held {\n%b    }\n}\n"
    members = b"""        public static Held operator |(Held left, Held right) { return left; }
        public static implicit operator bool(Held held) { return true; }
        public bool @is => true;
"""
    files = {
        "nuget/asserts.nuspec": spec,
        "src/framework/framework.csproj": project % b"Asserts.Framework",
        "src/framework/Held.cs": code % (b"Asserts.Framework", b"held", members),
        "src/runner/runner.csproj": project % b"Asserts.Runner",
        "src/runner/Held.cs": code % (b"Asserts.Runner", b"run", b""),
    }
    files["src/framework/framework.net20.csproj"] = files["src/framework/framework.csproj"]
    place = place_of(tmp_path, files, product_name="asserts", product_slug="asserts", target_platform="dotnet")
    facts, _, _ = built(place)
    told = {symbol["qualified_name"] for symbol in facts["api_symbols"]}
    assert facts["code_structure"]["lines"] == files["src/framework/Held.cs"].count(b"\n")
    assert told == {"Asserts.Framework", "Asserts.Framework.Held", "Asserts.Framework.Held.@is"}
