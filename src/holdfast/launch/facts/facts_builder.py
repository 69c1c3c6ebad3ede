"""Worker W2: what is known of the product, every fact with the claim it rests on, every claim with its lines.

Nothing is inferred and no model is asked. What the repository says twice in two ways is decided by the rank of its
sources, and what cannot be decided is not told.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.launch.facts.api_claims import gather_api
from holdfast.launch.facts.changelog import gather_changes
from holdfast.launch.facts.claims import Citation, Ledger
from holdfast.launch.facts.contradictions import Statement, Verdict, judged
from holdfast.launch.facts.ecosystems import ecosystem_of
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem
from holdfast.launch.facts.formats import formats_of
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.interface import Interface
from holdfast.launch.facts.license_claims import gather_license
from holdfast.launch.facts.manifest_claims import gather_manifests
from holdfast.launch.facts.phrases import listed
from holdfast.launch.facts.prose_claims import gather_docs, gather_readme
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.workflows import gather_workflows
from holdfast.launch.work import Workplace

__all__ = ["work"]

_VERSION = re.compile(
    r"""^(?:__version__|VERSION|version)\s*+(?::\s*\w+)?\s*=\s*["'](\d[\w.+!-]*)["']""", re.MULTILINE
)
_LISTS = ("distribution", "imports", "runtime_requirements", "dependencies", "extras", "commands", "changes")
_DOCUMENT = re.compile(r"(?:README|CHANGELOG|CHANGES|HISTORY|LICENSE|LICENCE|COPYING)(?:\.\w+)?$", re.IGNORECASE)
_TYPES = ("class", "exception", "interface", "struct", "enum", "trait", "type")
_STEPS = 7


def work(place: Workplace) -> None:
    """Write `product_facts.json` and `evidence_map.json`."""
    inventory = place.read("repo_inventory.json")
    repository = Repository(place.repo, inventory)
    name = str(place.config["product_name"])
    known = Gathered(repository, Ledger(name), name, str(place.config["target_platform"]))
    place.progress(0, _STEPS, "manifests")
    ecosystem = ecosystem_of(known.platform)
    manifests = gather_manifests(known, ecosystem) if ecosystem else []
    place.progress(1, _STEPS, "interface")
    names = [name, str(place.config["product_slug"]), *(item.value("name") for item in manifests)]
    surface = gather_api(known, ecosystem, manifests, [one for one in names if one]) if ecosystem else Interface()
    if ecosystem and ecosystem.id == "python":
        _versions(known, surface)
    gather_license(known, manifests)
    place.progress(2, _STEPS, "readme")
    gather_readme(known)
    place.progress(3, _STEPS, "documentation")
    gather_docs(known)
    place.progress(4, _STEPS, "workflows")
    gather_workflows(known)
    place.progress(5, _STEPS, "changes")
    gather_changes(known)
    _note_unreadable(repository)
    verdict = judged(known.statements)
    place.progress(6, _STEPS, "writing")
    place.write(
        "product_facts.json", _facts(known, verdict, surface, place.config) | _told_ecosystem(ecosystem, surface)
    )
    place.write("evidence_map.json", _evidence(known, verdict))


def _note_unreadable(repository: Repository) -> None:
    """Say why a document that everybody looks for is missing; the inventory names only what is text."""
    for path in repository.paths:
        if _DOCUMENT.match(path) and not repository.is_text(path):
            repository.text(path)


def _versions(known: Gathered, surface: Interface) -> None:
    """The version that the package itself holds, in its own module or in one made for that."""
    for name in sorted(surface.packages):
        for path in known.repository.paths:
            if not re.search(
                rf"(?:^|/){re.escape(name)}(?:\.py|/(?:__init__|_?version|__version__|__about__|about)\.py)$", path
            ):
                continue
            text = known.repository.text(path, LARGEST_CODE) or ""
            found = _VERSION.search(text)
            if found:
                line = text.count("\n", 0, found.start()) + 1
                sentence = f"{known.name} {found[1]} is the version described here."
                claim = known.ledger.add(
                    sentence, "version", Citation(path, line, line, "code_constant"), topic="version"
                )
                known.statements.append(Statement("version", found[1], claim, "code_constant"))
                known.single.setdefault("version", {"value": found[1], "claim_id": claim})


def _facts(known: Gathered, verdict: Verdict, surface: Interface, config: Mapping[str, Any]) -> dict[str, Any]:
    claims = known.ledger.without(verdict.lost)
    kept = {claim.claim_id for claim in claims}
    repository = known.repository
    facts: dict[str, Any] = {
        "schema_version": "1.0",
        "product_name": known.name,
        "product_slug": str(config["product_slug"]),
        "repo_url": repository.inventory["repo_url"],
        "repo_sha": repository.inventory["repo_sha"],
        "positioning": _positioning(known, kept),
        "supported_platforms": _held(known, "supported_platforms", kept),
        "claims": [claim.as_fact() for claim in claims],
        "claim_groups": {
            group: [claim for claim in members if claim in kept] for group, members in known.groups.items()
        },
        "supported_formats": formats_of(claims, known.packages),
        "workflows": _workflows(known, kept),
        "api_surface_summary": _summary(known),
        "api_symbols": _held(known, "api_symbols", kept),
        "example_inventory": known.listed.get("example_inventory", []),
        "limitations": [claim for claim in known.groups["limitations"] if claim in kept],
        "repository_health": _health(repository),
        "code_structure": {
            "source_roots": [str(root) for root in repository.inventory["source_roots"]],
            "package_names": [name[:200] for name in surface.packages],
            "public_symbols": len(known.listed.get("api_symbols", [])),
            "lines": surface.lines,
        },
    }
    facts |= {name: fact for name, fact in known.single.items() if fact["claim_id"] in kept}
    facts |= {name: found for name in _LISTS if (found := _held(known, name, kept))}
    return facts | ({"keywords": known.keywords} if known.keywords else {})


def _told_ecosystem(ecosystem: Ecosystem | None, surface: Interface) -> dict[str, Any]:
    if ecosystem is None:
        return {}
    package, module = ecosystem.nouns
    return {
        "ecosystem": {
            "id": ecosystem.id,
            "language": surface.language or ecosystem.language,
            "runtime": ecosystem.runtime,
            "package_noun": package,
            "module_noun": module,
            "extra_noun": ecosystem.extra[0],
        }
    }


def _held(known: Gathered, name: str, kept: set[str]) -> list[dict[str, Any]]:
    """The facts of a list whose claim was not lost to another."""
    found = []
    for item in known.listed.get(name, []):
        ids = [item["claim_id"]] if "claim_id" in item else [claim for claim in item["claim_ids"] if claim in kept]
        if ids and set(ids) <= kept:
            found.append(item if "claim_id" in item else item | {"claim_ids": ids})
    return found


def _workflows(known: Gathered, kept: set[str]) -> list[dict[str, Any]]:
    return [
        task | {"claim_ids": [claim for claim in task["claim_ids"] if claim in kept]}
        for task in known.listed.get("workflows", [])
    ]


def _positioning(known: Gathered, kept: set[str]) -> dict[str, Any]:
    claims = [claim for claim in dict.fromkeys(known.positioning) if claim in kept]
    told = [known.ledger.claims[claim].text for claim in claims]
    package = _described_package(known)
    if package and not claims:  # neither manifest nor README say what it is
        claims, told = [package["claim_id"]], [package["summary"]]
    tagline = known.tagline or (told[0] if told else "")
    says_what = re.compile(rf"{re.escape(known.name)}(?:'s|’s)? (?:is|are) (?:an?|the|one)\b", re.IGNORECASE)
    # What it is comes first, wherever it is said; where it is said nowhere, the manifest's own words do.
    own = known.description if _names_product(known) or not known.tagline else []
    described = sorted(own or told[:2], key=lambda text: not says_what.match(text))
    found: dict[str, Any] = {
        "tagline": tagline[:1_000],
        "short_description": " ".join(dict.fromkeys(described[:4]))[:4_000],
        "claim_ids": claims[:12],
    }
    if known.audience:
        found["audience"] = listed(list(dict.fromkeys(known.audience)))[:1_000]
    return found


def _names_product(known: Gathered) -> bool:
    """Whether what the README begins with is about the product, and not about what there was before it."""
    names = "|".join(re.escape(name) for name in (known.name, *known.packages))
    words = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])", re.IGNORECASE)
    return any(map(words.search, known.description))


def _described_package(known: Gathered) -> dict[str, Any] | None:
    """The first package of the product, if its source says what it is for."""
    modules = {item["module"]: item for item in known.listed.get("api_symbols", []) if item["kind"] == "module"}
    return next((modules[name] for name in known.packages if modules.get(name, {}).get("summary")), None)


def _summary(known: Gathered) -> dict[str, list[str]]:
    symbols = known.listed.get("api_symbols", [])

    def names(*kinds: str) -> list[str]:
        return sorted(
            {
                item["qualified_name"]
                for item in symbols
                if item["kind"] in kinds and len(item["qualified_name"]) <= 200
            }
        )

    return {"modules": names("module"), "classes": names(*_TYPES), "functions": names("function")}


def _health(repository: Repository) -> dict[str, bool]:
    ci = re.compile(
        r"\.github/workflows/[^/]+\.ya?ml$|\.gitlab-ci\.yml$|\.circleci/|\.travis\.yml$|azure-pipelines|"
        r"Jenkinsfile$"
    )
    return {
        "has_tests": bool(repository.inventory["test_roots"]),
        "has_ci": any(ci.match(path) for path in repository.paths),
        "has_docs": bool(repository.inventory["docs_roots"]),
        "has_changelog": bool(repository.entries("changelog")),
        "has_license": bool(repository.entries("license")),
    }


def _evidence(known: Gathered, verdict: Verdict) -> dict[str, Any]:
    return {
        "schema_version": "1.0",
        "repo_url": known.repository.inventory["repo_url"],
        "repo_sha": known.repository.inventory["repo_sha"],
        "claims": [claim.as_evidence() for claim in known.ledger.without(())],
        "contradictions": verdict.contradictions,
        "skipped": known.repository.skips(),
    }
