"""The license: what the manifest declares, made exact by the text that lies beside it, or contradicted by it."""

import re
from collections.abc import Sequence

from holdfast.launch.facts.claims import Citation
from holdfast.launch.facts.contradictions import Statement
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.licenses import license_named, license_of_text, spoken_name
from holdfast.launch.facts.manifest import Entry, Manifest

__all__ = ["gather_license"]

_CLASSIFIER = re.compile(r"License :: (?:OSI Approved :: )?(.+)$")
_IDENTIFIER = re.compile(r"[A-Za-z]+-[\w.+-]*")
_SHOWN_LINES = 40


def gather_license(known: Gathered, manifests: Sequence[Manifest]) -> None:
    """Tell the license by the most exact name that the sources agree on."""
    path, found = _from_text(known)
    of_text = Citation(path, 1, _last_line(known, path), "implementation_doc")
    for manifest in manifests:
        entry = _declared(manifest)
        if entry is None:
            continue
        agreed = bool(found) and _same(entry.name, found)
        name = max(entry.name, found, key=len) if agreed else entry.name
        citation = Citation(manifest.path, entry.start_line, entry.end_line, "manifest")
        _enter(known, name, path if agreed else "", *([citation, of_text] if agreed else [citation]))
        found = "" if agreed else found
    if found:
        _enter(known, found, path, of_text)


def _enter(known: Gathered, name: str, path: str, *citations: Citation) -> None:
    text = f"{known.name} is released under {spoken_name(name)}."
    claim = known.ledger.add(text, "license", *citations, topic="license")
    # Statements are compared by what all spellings of a license have in common.
    known.statements.append(Statement("license", license_named(name) or name, claim, citations[0].source_type))
    told = {"name": name[:200], "claim_id": claim} | ({"path": path} if path else {})
    known.single.setdefault("license", told)


def _declared(manifest: Manifest) -> Entry | None:
    """What the field says, else the first classifier of a license; `name` is the license."""
    entry = manifest.values.get("license")
    candidates = [entry._replace(name=entry.value)] if entry else []
    candidates += [
        item._replace(name=found[1]) for item in manifest.classifiers if (found := _CLASSIFIER.match(item.value))
    ]
    for item in candidates:
        name = license_named(item.name)
        if name:
            return item._replace(name=item.name if _IDENTIFIER.fullmatch(item.name) else name)
    return None


def _from_text(known: Gathered) -> tuple[str, str]:
    for path in known.repository.entries("license"):
        name = license_of_text(known.repository.text(path) or "")
        if name:
            return path, name
    return "", ""


def _last_line(known: Gathered, path: str) -> int:
    text = (known.repository.text(path) or "") if path else ""
    return max(1, min(text.rstrip("\n").count("\n") + 1, _SHOWN_LINES))


def _same(declared: str, found: str) -> bool:
    """`BSD` says less than `BSD-3-Clause`, and `GPL-3.0-or-later` more than `GPL-3.0`: neither says otherwise."""
    return declared == found or declared.startswith(found) or found.startswith(declared)
