"""Modules of Go."""

from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.ecosystems.go.examples import go_examples
from holdfast.launch.facts.ecosystems.go.manifest import read_go_mod
from holdfast.launch.facts.ecosystems.go.surface import go_interface
from holdfast.launch.facts.manifest import Manifest

__all__ = ["ECOSYSTEM"]


def _installing(manifest: Manifest) -> list[Installing]:
    name = manifest.value("name")
    return [Installing("go", "", name, (f"go get {name}",))]


ECOSYSTEM = Ecosystem(
    id="go",
    platforms=("go",),
    language="go",
    runtime="Go",
    nouns=("package", "package"),
    readers={"go.mod": read_go_mod},
    installing=_installing,
    interface=go_interface,
    suffixes={".go": "go"},
    examples=go_examples,
)
