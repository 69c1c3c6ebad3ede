"""Crates of Rust."""

from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.ecosystems.rust.manifest import read_cargo_toml
from holdfast.launch.facts.ecosystems.rust.surface import rust_interface
from holdfast.launch.facts.manifest import Manifest

__all__ = ["ECOSYSTEM"]


def _installing(manifest: Manifest) -> list[Installing]:
    name = manifest.value("name")
    return [Installing("cargo", "", name, (f"cargo add {name}",))]


ECOSYSTEM = Ecosystem(
    id="rust",
    platforms=("rust",),
    language="rust",
    runtime="Rust",
    nouns=("crate", "module"),
    readers={"Cargo.toml": read_cargo_toml},
    installing=_installing,
    interface=rust_interface,
    suffixes={".rs": "rust"},
    extra=("feature", "cargo add {package} --features {extra}"),
)
