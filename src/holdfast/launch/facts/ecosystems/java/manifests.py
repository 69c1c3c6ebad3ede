"""The manifests of a library of Java: pom.xml, and what can be read of a Gradle build without running it."""

import re
from collections.abc import Mapping, Sequence

from holdfast.launch.facts.ecosystems.xml_tree import Element, xml_tree
from holdfast.launch.facts.manifest import Entry, Manifest, Reader

__all__ = ["READERS", "merged", "read_gradle", "read_gradle_properties", "read_gradle_settings", "read_pom"]

_PROPERTY = re.compile(r"\$\{([^}]++)\}")
_RELEASES = (
    "maven.compiler.release", "maven.compiler.target", "maven.compiler.source", "java.version", "javaVersion",
    "jdk.version", "maven.compile.target", "maven.compile.source",
)  # fmt: skip
_WAYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "name": (("artifactId",),),
    "group": (("groupId",), ("parent", "groupId")),
    "version": (("version",), ("parent", "version")),
    "description": (("description",),),
    "homepage": (("url",),),
    "license": (("licenses", "license", "name"),),
}
_NOT_NEEDED = frozenset({"test", "provided", "system", "import"})
_ASSIGNED = r"^[^\S\n]*{}\s*+(?:(?<=\s)|=)\s*+['\"]([^'\"\n]+)['\"]"
_GRADLE = {
    "group": "group", "version": "version", "description": "description",
    "name": "(?:artifactId|archivesBaseName)",
}  # fmt: skip
_JAVA = re.compile(
    r"(?:sourceCompatibility|targetCompatibility|options\.release)\s*(?:=|\.set\()\s*"
    r"(?:JavaVersion\.VERSION_)?['\"]?(1_\d+|1\.\d+|\d+)|JavaLanguageVersion\.of\(\s*(\d+)"
)
_GRADLE_DEPENDENCY = re.compile(
    r"^[^\S\n]*(?:api|implementation|compile)\s*+\(?\s*['\"]([\w.-]+:[\w.-]+)(?::([^'\"@:$]+))?['\"]", re.MULTILINE
)
_PROPERTIES = {
    "group": ("GROUP", "group"), "version": ("VERSION_NAME", "version"), "name": ("POM_ARTIFACT_ID",),
    "description": ("POM_DESCRIPTION",), "homepage": ("POM_URL",),
}  # fmt: skip


def read_pom(path: str, text: str) -> Manifest | None:
    """A pom.xml; None where it describes no library of its own."""
    project = xml_tree(text)
    if project is None or project.name != "project":
        return None
    found = Manifest(path, "maven")
    properties = {one.name: " ".join(one.text.split()) for one in _children(project.first("properties"))}
    properties |= {"project.version": project.value("version") or project.value("parent", "version")}
    properties |= {"project.groupId": project.value("groupId") or project.value("parent", "groupId")}
    for name, ways in _WAYS.items():
        element = next((one for way in ways if (one := project.first(*way)) is not None), None)
        _take(found, name, element, properties)
    if not found.value("name"):
        return None
    found.is_group = project.value("packaging") == "pom"
    _release(found, project, properties)
    for element in project.every("dependencies", "dependency"):
        _dependency(found, element, properties)
    if not found.dependencies and not found.is_group and project.first("dependencies"):
        first = project.first("dependencies")
        assert first is not None
        found.without_dependencies = Entry("dependencies", "", first.line, first.end_line)
    return found


def _children(element: Element | None) -> list[Element]:
    return element.children if element else []


def _resolved(text: str, properties: Mapping[str, str]) -> str:
    for _ in range(4):
        text = _PROPERTY.sub(lambda found: properties.get(found[1], found[0]), text)
    return " ".join(text.split())


def _take(found: Manifest, name: str, element: Element | None, properties: Mapping[str, str]) -> None:
    value = _resolved(element.text, properties) if element else ""
    if element and value and "${" not in value:
        found.values[name] = Entry(name, value, element.line, element.end_line or element.line)


def _release(found: Manifest, project: Element, properties: Mapping[str, str]) -> None:
    """The oldest Java that the classes run on."""
    elements = {one.name: one for one in _children(project.first("properties"))}
    for plugin in project.every("build", "plugins", "plugin"):
        if plugin.value("artifactId") == "maven-compiler-plugin":
            for one in _children(plugin.first("configuration")):
                elements.setdefault(f"maven.compiler.{one.name}", one)
    for key in _RELEASES:
        element = elements.get(key)
        value = _version(_resolved(element.text, properties)) if element else ""
        if element and value:
            found.values["requires"] = Entry("requires", f">={value}", element.line, element.end_line)
            return


def _version(text: str) -> str:
    plain = text.replace("_", ".").removeprefix("1.")
    return plain if plain.isdigit() else ""


def _dependency(found: Manifest, element: Element, properties: Mapping[str, str]) -> None:
    if element.value("scope") in _NOT_NEEDED or element.value("optional") == "true":
        return
    name = _resolved(f"{element.value('groupId')}:{element.value('artifactId')}", properties)
    version = _resolved(element.value("version"), properties)
    if name.strip(":") and "${" not in name:
        found.dependencies.append(Entry(name, "" if "${" in version else version, element.line, element.end_line))


def read_gradle(path: str, text: str) -> Manifest | None:
    """The literal values of a build.gradle; a build file is a program, and it is not run."""
    found = Manifest(path, "gradle")
    for name, key in _GRADLE.items():
        value = re.search(_ASSIGNED.format(key), text, re.MULTILINE)
        if value and "$" not in value[1]:
            _enter(found, text, name, value[1], value.start(1))
    release = _JAVA.search(text)
    if release:
        _enter(found, text, "requires", f">={_version(release[1] or release[2])}", release.start())
    for one in _GRADLE_DEPENDENCY.finditer(text):
        line = text.count("\n", 0, one.start(1)) + 1
        found.dependencies.append(Entry(one[1], one[2] or "", line, line))
    return found if found.values else None


def read_gradle_settings(path: str, text: str) -> Manifest | None:
    """The name of the project in a settings.gradle."""
    found = Manifest(path, "gradle")
    value = re.search(r"^[^\S\n]*rootProject\.name\s*=\s*['\"]([^'\"\n]+)['\"]", text, re.MULTILINE)
    if value:
        _enter(found, text, "name", value[1], value.start(1))
    return found if found.values else None


def read_gradle_properties(path: str, text: str) -> Manifest | None:
    """What a gradle.properties says about what is published."""
    found = Manifest(path, "gradle")
    for name, keys in _PROPERTIES.items():
        for key in keys:
            value = re.search(rf"^{re.escape(key)}\s*=\s*(\S.*)$", text, re.MULTILINE)
            if value and name not in found.values:
                _enter(found, text, name, value[1].strip(), value.start(1))
    return found if found.values else None


def _enter(found: Manifest, text: str, name: str, value: str, at: int) -> None:
    line = text.count("\n", 0, at) + 1
    found.values[name] = Entry(name, value, line, line)


def merged(manifests: Sequence[Manifest]) -> list[Manifest]:
    """One manifest for a Gradle build, whose files each say a part; those of Maven as they are."""
    poms = [one for one in manifests if one.method == "maven"]
    if any(not one.is_group for one in poms):
        return [*(one for one in poms if not one.is_group), *(one for one in poms if one.is_group)]
    parts = [one for one in manifests if one.method == "gradle"]
    whole = Manifest(parts[0].path, "gradle") if parts else None
    for part in parts:
        assert whole is not None
        for name, entry in part.values.items():
            whole.values.setdefault(name, entry._replace(path=part.path))
        whole.dependencies += [entry._replace(path=part.path) for entry in part.dependencies]
    return [whole, *poms] if whole and whole.value("name") else poms


READERS: Mapping[str, Reader] = {
    "pom.xml": read_pom,
    "build.gradle": read_gradle,
    "build.gradle.kts": read_gradle,
    "settings.gradle": read_gradle_settings,
    "settings.gradle.kts": read_gradle_settings,
    "gradle.properties": read_gradle_properties,
}
