"""What kind of product a repository holds: languages, build systems, how it is tested, who understands it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.launch.scouting.file_kinds import CODE, language_of
from holdfast.launch.scouting.manifests import Manifest
from holdfast.launch.scouting.roots import Roots

__all__ = ["languages_of", "platform_of", "repo_profile"]

_PLATFORMS = {"csharp": "dotnet", "fsharp": "dotnet", "visualbasic": "dotnet", "c": "cpp", "scala": "java"}
_ADAPTERS = frozenset(
    {
        "python", "javascript", "typescript", "java", "kotlin", "dotnet", "cpp", "go", "ruby", "php", "swift",
        "rust",
    }
)  # fmt: skip
_TESTS = {
    "python": "python -m pytest", "go": "go test ./...", "rust": "cargo test", "java": "mvn test",
    "dotnet": "dotnet test", "ruby": "bundle exec rake test",
}  # fmt: skip
_SAME = {"javascript": "typescript", "typescript": "javascript"}
# How a README says that the product is installed.
_INSTALLED = {
    "python": r"\bpip3? install\b|\buv add\b", "javascript": r"\b(?:npm (?:i|install)|yarn add|pnpm add)\b",
    "typescript": r"\b(?:npm (?:i|install)|yarn add|pnpm add)\b", "go": r"\bgo get\b",
    "rust": r"\bcargo add\b|^\[dependencies\]",
    "java": r"<artifactId>|\bimplementation\b ?[('\"]", "dotnet": r"\bdotnet add\b|\bInstall-Package\b",
}  # fmt: skip
_FOR_README = 40
_SMALLEST_SHARE = 0.05
_MOST_LANGUAGES = 3
_OUTERMOST, _PER_LEVEL, _FOR_LANGUAGE = 100, 30, 50


def repo_profile(
    sizes: Mapping[str, int],
    manifests: Sequence[Manifest],
    roots: Roots,
    config: Mapping[str, Any],
    readme: str = "",
) -> dict[str, Any]:
    """The profile of a product whose files by hand have these sizes."""
    languages = languages_of(sizes)
    platform = platform_of(manifests, languages, readme)
    named = [one for one in manifests if one.platform == platform]
    hints = config.get("repo_hints", {})
    kinds = [one.product_type for one in named if one.product_type]
    return {
        "platform_family": config.get("platform_family") or platform or "unknown",
        "primary_languages": languages,
        "build_systems": list(dict.fromkeys(one.build_system for one in manifests)),
        "package_manifests": [one.path for one in manifests],
        "recommended_test_commands": _tests(hints.get("preferred_test_commands", ()), named, platform, roots),
        "product_type": config.get("product_type") or next(iter(kinds), "library" if languages else "other"),
        "adapter": platform if platform in _ADAPTERS else "universal",
    }


def platform_of(manifests: Sequence[Manifest], languages: Sequence[str], readme: str = "") -> str:
    """The platform that manifests, languages and the README together speak for most; "" where nothing does.

    A core in one language that is published in another speaks for the other: what counts is what users install.
    """
    scores: Counter[str] = Counter()
    for manifest in manifests:
        score = max(_OUTERMOST - _PER_LEVEL * manifest.path.count("/"), 1) if not manifest.is_for_tools else 1
        scores[manifest.platform] = max(scores[manifest.platform], score)
    wrapped = {one.wraps: one.platform for one in manifests if one.wraps and "/" not in one.path}
    for rank, language in enumerate(languages):
        platform = _PLATFORMS.get(language, language)
        platform = _SAME.get(platform, platform) if _SAME.get(platform) in scores else platform
        platform = wrapped.get(platform, platform)
        if platform in _ADAPTERS:
            scores[platform] += _FOR_LANGUAGE // (rank + 1)
    for platform, command in _INSTALLED.items():
        if platform in scores and re.search(command, readme, re.MULTILINE):
            scores[platform] += _FOR_README
    return min(scores, key=lambda name: (-scores[name], name), default="")


def languages_of(sizes: Mapping[str, int]) -> list[str]:
    """The languages that a good part of the code is in, the most of it first."""
    total: Counter[str] = Counter()
    for path, size in sizes.items():
        if (language := language_of(path)) in CODE:
            total[language] += size
    everything = sum(total.values())
    ordered = sorted(total, key=lambda language: (-total[language], language))
    return [name for name in ordered if total[name] >= everything * _SMALLEST_SHARE][:_MOST_LANGUAGES]


def _tests(preferred: Sequence[str], manifests: Sequence[Manifest], platform: str, roots: Roots) -> list[str]:
    found = [*preferred, *(one.test_command for one in manifests if one.test_command)]
    if len(found) == len(preferred) and roots.tests and platform in _TESTS:
        found.append(_TESTS[platform])
    return list(dict.fromkeys(command[:200] for command in found))
