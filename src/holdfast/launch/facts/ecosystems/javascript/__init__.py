"""Packages of npm, in JavaScript and TypeScript."""

from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem, Installing
from holdfast.launch.facts.ecosystems.javascript.manifest import read_package_json
from holdfast.launch.facts.ecosystems.javascript.surface import javascript_interface
from holdfast.launch.facts.manifest import Manifest

__all__ = ["ECOSYSTEM"]


def _installing(manifest: Manifest) -> list[Installing]:
    name = manifest.value("name")
    return [
        Installing("npm", "", name, (f"npm install {name}",)),
        Installing("pnpm", "Or with pnpm:", name, (f"pnpm add {name}",)),
        Installing("yarn", "Or with Yarn:", name, (f"yarn add {name}",)),
    ]


ECOSYSTEM = Ecosystem(
    id="javascript",
    platforms=("javascript", "typescript"),
    language="javascript",
    languages=frozenset({"typescript", "tsx", "jsx"}),
    runtime="Node.js",
    nouns=("package", "module"),
    readers={"package.json": read_package_json},
    installing=_installing,
    interface=javascript_interface,
    suffixes={
        ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
        ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    },
)  # fmt: skip
