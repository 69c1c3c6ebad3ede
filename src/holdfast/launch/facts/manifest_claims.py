"""Claims from manifests: fixed sentences over what is written there, one for each thing a user has to know."""

import re
from pathlib import PurePosixPath
from typing import Any

from holdfast.launch.facts.claims import Citation
from holdfast.launch.facts.contradictions import Statement
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.ecosystems.left_out import is_left_out
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.manifest import Entry, Manifest
from holdfast.launch.facts.phrases import described, listed
from holdfast.launch.module_names import requirement_text

__all__ = ["gather_manifests", "minimum_version"]

_MOST = 60  # of extras or commands
_MOST_DEPENDENCIES = 500
_MOST_TARGETS = 8
_DEEPEST = 4  # folders above a manifest
_SIMPLE = re.compile(r">=\s*(\d+(?:\.\d+)*)\s*$")
_MINIMUM = re.compile(r"(?:>=|~=|==|\^)\s*(\d+\.\d+)")
_PYTHON = re.compile(r"Programming Language :: Python :: (\d+\.\d+)$")
_IMPLEMENTATION = re.compile(r"Programming Language :: Python :: Implementation :: (\w+)$")
_SYSTEM = re.compile(r"Operating System :: (.+)$")
_AUDIENCE = re.compile(r"Intended Audience :: ([^:]+)$")
_FOR_DEVELOPERS = re.compile(
    r"(?:.*-)?(?:dev|devel|develop|development|tests?|testing|docs?|documentation|lint|linting|linters?|"
    r"typing|types|mypy|ci|release|"
    r"build|publish|benchmark\w*|bench|coverage|cov|style|format|code_style|profiling|quality|check|compare|"
    r"rtd)(?:-.*)?$",
    re.IGNORECASE,
)
_SYSTEMS = {
    "Microsoft :: Windows": "Windows",
    "POSIX :: Linux": "Linux",
    "MacOS": "macOS",
    "MacOS :: MacOS X": "macOS",
}


def gather_manifests(known: Gathered, ecosystem: Ecosystem) -> list[Manifest]:
    """Read the manifests of the product, the best first, and tell what they say."""
    found = _nearest(known, ecosystem)
    main = next((one for one in found if one.value("name") and not one.is_group), None)
    for manifest in found:
        _tell(known, ecosystem, manifest, is_main=manifest is main)
    return [*([main] if main else []), *(one for one in found if one is not main)]


def _nearest(known: Gathered, ecosystem: Ecosystem) -> list[Manifest]:
    """The manifests at the root; where none of them is of a package, those of the package that fits best."""
    named = {str(path) for path in known.repository.inventory["repo_profile"]["package_manifests"]}
    named |= {path for path in known.repository.paths if path.count("/") < _DEEPEST}
    paths = [
        path for path in named if ecosystem.reader(PurePosixPath(path).name) and known.repository.is_text(path)
    ]
    outer = _read(known, ecosystem, [path for path in paths if "/" not in path])
    at_root = ecosystem.merged(outer)
    if any(one.value("name") and not one.is_group for one in at_root):
        return at_root
    below = _read(
        known,
        ecosystem,
        [path for path in paths if "/" in path and (path.endswith(".nuspec") or not is_left_out(path))],
    )
    best = min(
        (one for one in below if one.value("name") and not one.is_group and not is_left_out(one.path)),
        key=lambda one: (not _is_called(known, one), one.path.count("/"), not _is_own(one), one.path),
        default=None,
    )
    folder = PurePosixPath(best.path).parent if best else None
    beside = [one for one in below if one is not best and PurePosixPath(one.path).parent == folder]
    others = [
        one for one in below if best and one.value("name") == best.value("name") and one not in (best, *beside)
    ]
    return ecosystem.merged([*([best] if best else []), *beside, *others, *outer])


def _is_own(manifest: Manifest) -> bool:
    """Whether the file has the name of its package: of several projects of one, that is the one to look at."""
    return PurePosixPath(manifest.path).stem == manifest.value("name")


def _is_called(known: Gathered, manifest: Manifest) -> bool:
    """Whether the package has the name of the product."""
    plain = re.compile(r"[^a-z0-9]+")
    name = manifest.value("name").lower()
    return plain.sub("", known.name.lower()) in (plain.sub("", name), plain.sub("", name.rpartition("/")[2]))


def _read(known: Gathered, ecosystem: Ecosystem, paths: list[str]) -> list[Manifest]:
    found: list[Manifest] = []
    for path in sorted(paths, key=lambda path: (path.count("/"), ecosystem.rank(PurePosixPath(path).name), path)):
        name = PurePosixPath(path).name
        text, reader = known.repository.text(path), ecosystem.reader(name)
        manifest = reader(path, text) if reader and text is not None else None
        if manifest is not None:
            found.append(manifest)
        elif text is not None and name != "setup.py" and "/" not in path:
            known.repository.skipped.setdefault(path, "no_package_metadata")
    return found


def _tell(known: Gathered, ecosystem: Ecosystem, manifest: Manifest, *, is_main: bool) -> None:
    if is_main:
        known.keywords = sorted(dict.fromkeys(manifest.keywords), key=str.lower)[:50]
        known.packages = manifest.packages
        _description(known, manifest)
        package = _ways(known, ecosystem, manifest)
        _dependencies(known, ecosystem, manifest)
        _extras(known, ecosystem, manifest, package)
        _commands(known, manifest)
        _links(known, manifest)
        _features(known, manifest)
        _targets(known, manifest)
    _version(known, manifest)
    _requires(known, ecosystem, manifest)
    _classifiers(known, manifest, is_main=is_main)


def _cite(manifest: Manifest, entry: Entry) -> Citation:
    return Citation(entry.path or manifest.path, entry.start_line, entry.end_line, "manifest")


def _description(known: Gathered, manifest: Manifest) -> None:
    entry = manifest.values.get("description")
    if entry is None or len(entry.value) > 400 or "\ufffd" in entry.value:
        return
    text = described(known.name, entry.value)
    known.tagline = entry.value
    known.positioning.append(
        known.ledger.add(text, "positioning", _cite(manifest, entry), topic="description", confidence="high")
    )


def _ways(known: Gathered, ecosystem: Ecosystem, manifest: Manifest) -> str:
    """How the product is installed; the word for it in commands.

    By its name, unless its README knows only the way from a clone: then that name may be nobody's, or another's.
    """
    readme = next(iter(known.repository.entries("readme")), "")
    text = known.repository.text(readme) if readme else None
    command, line_of = ecosystem.checkout or ("", None)
    line = line_of(text, manifest.value("name")) if text and line_of else 0
    if not line:
        for installing in ecosystem.installing(manifest):
            _install(known, manifest, installing)
        return manifest.value("name")
    said = f"Install {known.name} with `{command}` in a clone of its repository."
    claim = known.ledger.add(said, "install", Citation(readme, line, line, "readme_technical"), topic="install")
    known.enter(
        "distribution", method=manifest.method, identifier=manifest.value("name")[:200],
        install_commands=[command], claim_id=claim, lead="Run this command in a clone of the repository:",
    )  # fmt: skip
    known.group("install_steps", claim)
    return "."


def _install(known: Gathered, manifest: Manifest, installing: Installing) -> None:
    entry = manifest.values["name"]
    command = installing.commands[0] if installing.commands else ""
    text = installing.sentence.format(known.name) if command == "" else f"Install {known.name} with `{command}`."
    cited = [
        entry,
        *(manifest.values[key] for key in ("group", "version") if not command and key in manifest.values),
    ]
    claim = known.ledger.add(text, "install", *(_cite(manifest, one) for one in cited), topic="install")
    more: dict[str, Any] = {"lead": installing.lead} if installing.lead else {}
    if installing.declaration:
        more["declaration"] = {"language": installing.language, "code": installing.declaration}
    known.enter(
        "distribution", method=installing.method, identifier=installing.identifier[:200],
        install_commands=list(installing.commands), claim_id=claim, **more,
    )  # fmt: skip
    known.group("install_steps", claim)


def _dependencies(known: Gathered, ecosystem: Ecosystem, manifest: Manifest) -> None:
    none = manifest.without_dependencies
    if none is not None:
        text = f"{known.name} has no required dependencies."
        claim = known.ledger.add(text, "dependency", _cite(manifest, none), topic="dependencies")
        known.group("compatibility_notes", claim)
    for entry in manifest.dependencies[:_MOST_DEPENDENCIES]:
        name, requirement, marker = ecosystem.requirement(entry)
        if not name:
            continue
        condition = f" where `{marker}`" if marker else ""
        text = f"{known.name} depends on `{requirement_text(name, requirement)}`{condition}."
        claim = known.ledger.add(text, "dependency", _cite(manifest, entry), topic="dependencies")
        known.enter("dependencies", name=name, requirement=_requirement(requirement, marker), claim_id=claim)


def _requirement(requirement: str, marker: str) -> str:
    return (f"{requirement}; {marker}" if marker else requirement)[:500]


def _extras(known: Gathered, ecosystem: Ecosystem, manifest: Manifest, package: str) -> None:
    noun, command = ecosystem.extra
    for extra, entries in list(manifest.extras.items())[:_MOST] if noun else ():
        needed = [parts for parts in map(ecosystem.requirement, entries) if parts[0]]
        names = [name for name, _, _ in needed]
        if (
            not entries
            or (not names and entries[0].value)
            or _FOR_DEVELOPERS.fullmatch(extra)
            or manifest.value("name").lower() in map(str.lower, names)
        ):
            continue
        span = entries[0]._replace(
            start_line=min(e.start_line for e in entries), end_line=max(e.end_line for e in entries)
        )
        added = listed([f"`{name}`" for name in dict.fromkeys(names[:8])])
        line = command.format(package=package, extra=extra)
        how = f"install it with `{line}`"
        text = (
            f"The {noun} `{extra}` adds {added}; {how}."
            if added
            else f"The {noun} `{extra}` is added with `{line}`."
        )
        claim = known.ledger.add(text, "install", _cite(manifest, span), topic="extras")
        known.enter("extras", name=extra, command=line[:500], claim_id=claim)
        for name, requirement, marker in needed[:_MOST]:
            wanted = _requirement(requirement, marker)
            known.enter("dependencies", name=name, requirement=wanted, claim_id=claim, extra=extra)


def _features(known: Gathered, manifest: Manifest) -> None:
    for entry in manifest.features:
        text = entry.name.format(known.name)
        known.group("key_features", known.ledger.add(text, "feature", _cite(manifest, entry), topic=entry.value))


def _targets(known: Gathered, manifest: Manifest) -> None:
    """The platforms that it is built for, in one sentence."""
    names = list(dict.fromkeys(entry.value for entry in manifest.targets))
    if not names:
        return
    citations = [_cite(manifest, entry) for entry in manifest.targets]
    text = f"{known.name} is built for {listed(names[:_MOST_TARGETS])}."
    claim = known.ledger.add(text, "compatibility", *citations, topic="platforms")
    known.group("compatibility_notes", claim)
    known.group("install_steps", claim)
    for name in names[:_MOST_TARGETS]:
        known.enter("supported_platforms", platform=name, claim_id=claim)


def _commands(known: Gathered, manifest: Manifest) -> None:
    for entry in manifest.commands[:_MOST]:
        text = f"{known.name} installs the command `{entry.name}`."
        claim = known.ledger.add(text, "feature", _cite(manifest, entry), topic="command line")
        known.enter("commands", name=entry.name, target=entry.value[:500], claim_id=claim)


def _links(known: Gathered, manifest: Manifest) -> None:
    for meaning, sentence in (
        ("homepage", "The homepage of {} is {}."),
        ("documentation", "The documentation of {} is at {}."),
    ):
        entry = manifest.values.get(meaning)
        if entry is None or not re.fullmatch(r"https?://[^\s<>\"]+", entry.value):
            continue
        text = sentence.format(known.name, entry.value)
        claim = known.ledger.add(text, "other", _cite(manifest, entry), topic="links")
        if "homepage" not in known.single:
            known.single["homepage"] = {"url": entry.value, "claim_id": claim}


def _version(known: Gathered, manifest: Manifest) -> None:
    entry = manifest.values.get("version")
    if entry is None or not re.fullmatch(r"\d[\w.+!-]*", entry.value):
        return
    text = f"{known.name} {entry.value} is the version described here."
    claim = known.ledger.add(text, "version", _cite(manifest, entry), topic="version")
    known.statements.append(Statement("version", entry.value, claim, "manifest"))
    known.single.setdefault("version", {"value": entry.value, "claim_id": claim})


def _requires(known: Gathered, ecosystem: Ecosystem, manifest: Manifest) -> None:
    entry = manifest.values.get("requires")
    if entry is None or not re.search(r"\d", entry.value) or len(entry.value) > 100:
        return
    runtime = ecosystem.runtime
    simple = _SIMPLE.fullmatch(entry.value)
    wanted = f"{runtime} {simple[1]} or newer" if simple else f"{runtime} `{entry.value}`"
    text = f"{known.name} requires {wanted}."
    claim = known.ledger.add(text, "compatibility", _cite(manifest, entry), topic=ecosystem.id)
    known.enter("runtime_requirements", name=runtime, requirement=entry.value, claim_id=claim)
    known.group("compatibility_notes", claim)
    known.group("install_steps", claim)
    minimum = minimum_version(entry.value)
    if minimum:
        known.statements.append(Statement(ecosystem.id, minimum, claim, "manifest", is_enforced=True))


def minimum_version(requirement: str) -> str:
    """The oldest version that a requirement allows: `>=3.9,<4` gives `3.9`."""
    found = [tuple(map(int, version.split("."))) for version in _MINIMUM.findall(requirement)]
    return ".".join(map(str, min(found))) if found else ""


def _classifiers(known: Gathered, manifest: Manifest, *, is_main: bool) -> None:
    if not is_main:
        return
    _python_versions(known, manifest)
    _named(known, manifest, _IMPLEMENTATION, "{0} runs on {1}.")
    systems = [entry for entry in manifest.classifiers if _SYSTEM.match(entry.value)]
    for entry in systems:
        name = entry.value.partition(" :: ")[2]
        if name == "OS Independent":
            text, platform = f"{known.name} does not depend on the operating system.", "OS independent"
        else:
            platform = _SYSTEMS.get(name, name.rpartition(" :: ")[2])
            text = f"{known.name} runs on {platform}."
        claim = known.ledger.add(text, "compatibility", _cite(manifest, entry), topic="platforms")
        known.enter("supported_platforms", platform=platform, claim_id=claim)
        known.group("compatibility_notes", claim)
    for entry in manifest.classifiers:
        if entry.value == "Typing :: Typed":
            text = f"{known.name} ships with type annotations."
            known.group("key_features", known.ledger.add(text, "feature", _cite(manifest, entry), topic="typing"))
        elif (audience := _AUDIENCE.match(entry.value)) is not None:
            known.audience.append(audience[1].strip())


def _python_versions(known: Gathered, manifest: Manifest) -> None:
    """The versions that are named; those that the manifest refuses to be installed on are another claim."""
    named = [(found[1], entry) for entry in manifest.classifiers if (found := _PYTHON.match(entry.value))]
    minimum = minimum_version(manifest.value("requires"))
    refused = [(version, entry) for version, entry in named if minimum and _numbers(version) < _numbers(minimum)]
    allowed = [one for one in named if one not in refused]
    for entries in (allowed, refused):
        if not entries:
            continue
        versions = sorted({version for version, _ in entries}, key=_numbers)
        text = f"{known.name} supports Python {listed(versions)}."
        citations = [_cite(manifest, entry) for _, entry in entries]
        claim = known.ledger.add(text, "compatibility", *citations, topic="python versions")
        known.group("compatibility_notes", claim)
        for version in versions:
            known.enter("supported_platforms", platform=f"Python {version}", claim_id=claim)
        if entries is refused:
            known.statements.append(Statement("python", versions[0], claim, "manifest"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _named(known: Gathered, manifest: Manifest, pattern: re.Pattern[str], sentence: str) -> None:
    entries = [(found[1], entry) for entry in manifest.classifiers if (found := pattern.match(entry.value))]
    if entries:
        names = listed(list(dict.fromkeys(name for name, _ in entries)))
        citations = [_cite(manifest, entry) for _, entry in entries]
        claim = known.ledger.add(
            sentence.format(known.name, names), "compatibility", *citations, topic="implementations"
        )
        known.group("compatibility_notes", claim)
        for name, _ in entries:
            known.enter("supported_platforms", platform=name, claim_id=claim)
