"""The manifests of a library of .NET: the project file, what it inherits from the repository, and a nuspec."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from holdfast.launch.facts.ecosystems.xml_tree import Element, xml_tree
from holdfast.launch.facts.manifest import Entry, Manifest, Reader
from holdfast.launch.module_names import is_unpublished

__all__ = ["READERS", "merged", "read_csproj", "read_nuspec", "read_props", "target_named"]

_VALUES = {
    "name": ("PackageId", "AssemblyName"), "version": ("Version", "PackageVersion", "VersionPrefix"),
    "description": ("Description", "PackageDescription"), "license": ("PackageLicenseExpression",),
    "homepage": ("PackageProjectUrl",),
}  # fmt: skip
_TARGET = re.compile(r"(netstandard|netcoreapp|net)(\d+(?:\.\d+)*)(-\w+)?$")
_LEGACY = re.compile(r"v(\d+(?:\.\d+)*)$")


def read_csproj(path: str, text: str) -> Manifest | None:
    """A project file; None where it is for tests, or publishes nothing."""
    stem = PurePosixPath(path).stem
    project = xml_tree(text)
    if project is None or project.name != "Project" or is_unpublished(stem):
        return None
    found = _properties(path, project)
    if _said(project, "IsPackable").lower() == "false" or _said(project, "IsTestProject").lower() == "true":
        return None
    if not found.value("name"):
        found.values["name"] = Entry("name", stem, project.line, project.line)
    for one in project.every("ItemGroup", "PackageReference"):
        name, version = one.attributes.get("Include", ""), one.attributes.get("Version", one.value("Version"))
        private = one.attributes.get("PrivateAssets", one.value("PrivateAssets")).lower() == "all"
        if name and not private:
            shown = version if "$(" not in version else ""
            found.dependencies.append(Entry(name, shown, one.line, one.end_line or one.line))
    if not found.dependencies:
        found.without_dependencies = Entry("dependencies", "", project.line, project.end_line)
    if _said(project, "PackAsTool").lower() == "true":
        tool = _first(project, "ToolCommandName")
        if tool:
            found.commands.append(Entry(tool.text.strip(), found.value("name"), tool.line, tool.end_line))
    return found


def read_props(path: str, text: str) -> Manifest | None:
    """A Directory.Build.props: values that the projects below it share."""
    project = xml_tree(text)
    if project is None or project.name != "Project":
        return None
    found = _properties(path, project)
    return found if found.values or found.targets else None


def read_nuspec(path: str, text: str) -> Manifest | None:
    """A nuspec; None where it names no package."""
    package = xml_tree(text)
    metadata = package.first("metadata") if package else None
    if metadata is None or not metadata.value("id"):
        return None
    found = Manifest(path, "dotnet")
    names = {"name": "id", "version": "version", "description": "description", "homepage": "projectUrl"}
    for name, key in (names | {"license": "license"}).items():
        element = metadata.first(key)
        if element and element.text.strip() and "$" not in element.text:
            value = " ".join(element.text.split())
            found.values[name] = Entry(name, value, element.line, element.end_line)
    found.keywords = metadata.value("tags").split()
    dependencies = metadata.every("dependencies", "dependency") + metadata.every(
        "dependencies", "group", "dependency"
    )
    seen: set[str] = set()
    for one in dependencies:
        name = one.attributes.get("id", "")
        if name and name not in seen:
            seen.add(name)
            found.dependencies.append(Entry(name, one.attributes.get("version", ""), one.line, one.end_line))
    return found


def _properties(path: str, project: Element) -> Manifest:
    found = Manifest(path, "dotnet")
    for name, keys in _VALUES.items():
        element = next((one for key in keys if (one := _first(project, key)) is not None), None)
        if element and element.text.strip() and "$(" not in element.text:
            found.values[name] = Entry(name, " ".join(element.text.split()), element.line, element.end_line)
    tags = _said(project, "PackageTags")
    found.keywords = [word for word in re.split(r"[;,\s]+", tags) if word and "$(" not in word]
    for key in ("TargetFrameworks", "TargetFramework", "TargetFrameworkVersion"):
        element = _first(project, key)
        for target in re.split(r"[;\s]+", element.text) if element else ():
            named = target_named(target)
            if (element and named and not found.targets) or (element and named and key == "TargetFrameworks"):
                found.targets.append(Entry("target", named, element.line, element.end_line))
    return found


def target_named(target: str) -> str:
    """What a target framework is called: `netstandard2.0` is .NET Standard 2.0, `net48` is .NET Framework 4.8."""
    legacy = _LEGACY.match(target.strip())
    if legacy:
        return f".NET Framework {legacy[1]}"
    found = _TARGET.match(target.strip().lower())
    if found is None:
        return ""
    kind, version, system = found[1], found[2], found[3] or ""
    if kind == "netstandard":
        return f".NET Standard {version}"
    if kind == "netcoreapp":
        return f".NET Core {version}"
    if "." not in version:
        return f".NET Framework {'.'.join(version)}"
    return f".NET {version.removesuffix('.0')}{system.replace('-', ' for ')}"


def _first(project: Element, key: str) -> Element | None:
    return next(iter(project.every("PropertyGroup", key)), None)


def _said(project: Element, key: str) -> str:
    found = _first(project, key)
    return found.text.strip() if found else ""


def merged(manifests: Sequence[Manifest]) -> list[Manifest]:
    """The project with what it inherits: a nuspec beside it knows better, shared properties say the rest."""
    projects = [one for one in manifests if one.path.endswith(".csproj")]
    specs = [one for one in manifests if one.path.endswith(".nuspec")]
    shared = [one for one in manifests if one.path.endswith(".props")]
    first = (projects or specs)[:1]
    if not first:
        return []
    main = first[0]
    spec = next((one for one in specs if one.value("name") == main.value("name")), None)
    if spec is not None and spec is not main:
        main.values |= {name: entry._replace(path=spec.path) for name, entry in spec.values.items()}
        main.keywords = main.keywords or spec.keywords
        main.dependencies = main.dependencies or [one._replace(path=spec.path) for one in spec.dependencies]
    for part in shared:
        for name, entry in part.values.items():
            main.values.setdefault(name, entry._replace(path=part.path))
        main.targets = main.targets or [entry._replace(path=part.path) for entry in part.targets]
        main.keywords = main.keywords or part.keywords
    return [main]


READERS: Mapping[str, Reader] = {
    "*.csproj": read_csproj,
    "*.nuspec": read_nuspec,
    "Directory.Build.props": read_props,
}
