"""Libraries of Java, as Maven and Gradle publish them."""

from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.ecosystems.java.manifests import READERS, merged
from holdfast.launch.facts.ecosystems.java.surface import java_interface
from holdfast.launch.facts.manifest import Manifest

__all__ = ["ECOSYSTEM"]


def _installing(manifest: Manifest) -> list[Installing]:
    group, name, version = (manifest.value(key) for key in ("group", "name", "version"))
    if not group or not name:
        return []
    lines = [f"    <groupId>{group}</groupId>", f"    <artifactId>{name}</artifactId>"]
    lines += [f"    <version>{version}</version>"] if version else []
    maven = "\n".join(["<dependency>", *lines, "</dependency>"])
    coordinates = f"{group}:{name}" + (f":{version}" if version else "")
    return [
        Installing(
            "maven", "Declare the dependency in a Maven project:", f"{group}:{name}",
            declaration=maven, language="xml",
            sentence=f"{{}} is published with the coordinates `{coordinates}`.",
        ),
        Installing(
            "gradle", "Or in a Gradle build:", f"{group}:{name}",
            declaration=f"implementation '{coordinates}'", language="groovy",
            sentence=f"In a Gradle build, {{}} is the dependency `{coordinates}`.",
        ),
    ]  # fmt: skip


ECOSYSTEM = Ecosystem(
    id="java",
    platforms=("java",),
    language="java",
    runtime="Java",
    nouns=("package", "package"),
    readers=READERS,
    merged=merged,
    installing=_installing,
    interface=java_interface,
    suffixes={".java": "java"},
    languages=frozenset({"kotlin", "groovy"}),
)
