"""Libraries of .NET, as NuGet publishes them."""

from holdfast.launch.facts.ecosystems.dotnet.manifests import READERS, merged
from holdfast.launch.facts.ecosystems.dotnet.surface import dotnet_interface
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.manifest import Manifest

__all__ = ["ECOSYSTEM"]


def _installing(manifest: Manifest) -> list[Installing]:
    name, version = manifest.value("name"), manifest.value("version")
    found = [Installing("dotnet", "", name, (f"dotnet add package {name}",))]
    if version:
        reference = f'<PackageReference Include="{name}" Version="{version}" />'
        sentence = f"In a project file, {{}} is the package reference `{name}`."
        found.append(
            Installing(
                "nuget", "Or in a project file:", name, declaration=reference, language="xml", sentence=sentence
            )
        )
    return found


ECOSYSTEM = Ecosystem(
    id="dotnet",
    platforms=("dotnet",),
    language="csharp",
    languages=frozenset({"fsharp", "vb"}),
    runtime=".NET",
    nouns=("namespace", "namespace"),
    readers=READERS,
    merged=merged,
    installing=_installing,
    interface=dotnet_interface,
    suffixes={".cs": "csharp"},
)
