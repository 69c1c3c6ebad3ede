"""Packages of Python."""

import re

from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.ecosystems.python.api import python_interface
from holdfast.launch.facts.ecosystems.python.checkout import line_about_checkout
from holdfast.launch.facts.ecosystems.python.examples import python_examples
from holdfast.launch.facts.ecosystems.python.manifests import READERS
from holdfast.launch.facts.manifest import Entry, Manifest

__all__ = ["ECOSYSTEM"]

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?\s*(.*)$")


def _installing(manifest: Manifest) -> list[Installing]:
    name = manifest.value("name")
    return [Installing("pip", "", name, (f"{manifest.method} install {name}",))]


def _requirement(entry: Entry) -> tuple[str, str, str]:
    wanted, _, marker = entry.value.partition(";")
    found = _REQUIREMENT.match(wanted.partition(" @ ")[0])
    if found is None:
        return "", "", ""
    return found[1], (found[2] or "") + found[3].strip().strip("()"), " ".join(marker.split()).replace("`", "")


ECOSYSTEM = Ecosystem(
    id="python",
    platforms=("python",),
    language="python",
    runtime="Python",
    nouns=("package", ""),
    readers=READERS,
    installing=_installing,
    checkout=("pip install .", line_about_checkout),
    interface=python_interface,
    requirement=_requirement,
    extra=("extra", 'pip install "{package}[{extra}]"'),
    suffixes={".py": "python"},
    is_fenced=False,
    examples=python_examples,
)
