"""A run of a small product as the gates see it: facts, plan and pages, and a place to validate it for real."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.launch.products import make_site, run_config

from holdfast.launch.claim_marks import claim_id, mark
from holdfast.launch.documents import encode, sha256
from holdfast.launch.gates.gate import Checked, Gate
from holdfast.launch.gates.view import Page, View
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.tree import materialise
from holdfast.launch.toolchain import hugo_executable
from holdfast.launch.work import Given, Workplace

__all__ = [
    "CSV", "FAST", "GUESS", "INSTALL", "INSTALL_MD", "LIMIT", "LOSER", "PLAN_PAGE", "START", "Before", "artifacts",
    "codes", "found", "page_text", "planned", "validation_place", "view_of",
]  # fmt: skip

_SHA = "a" * 40
_NAME = "TableKit"
REPO = "https://code.example/tablekit/tablekit"
INSTALL_MD = "content/docs/tablekit/install.md"

_TEXTS = {
    "CSV": ("TableKit reads and writes CSV files.", "format", "fact"),
    "LIMIT": ("TableKit does not support nested tables.", "limitation", "fact"),
    "INSTALL": ("TableKit is installed with pip.", "install", "fact"),
    "GUESS": ("TableKit works with spreadsheets.", "feature", "inference"),
    "FAST": ("TableKit has good performance.", "feature", "inference"),
    "LOSER": ("TableKit needs version 2 of Python.", "compatibility", "fact"),
}
_IDS = {name: claim_id(text, kind, _NAME) for name, (text, kind, _) in _TEXTS.items()}
CSV, LIMIT, INSTALL, GUESS, FAST, LOSER = _IDS.values()

_CODE = 'from tablekit import Table\n\ntable = Table.read("a.csv")\ntable.write("b.csv")'

START = f"""\
TableKit reads and writes CSV files.{mark([CSV])}

## Install

```bash
pip install tablekit
```

## Limitations

- TableKit does not support nested tables.{mark([LIMIT])}

See [the docs](/docs/).
"""
"""The body of a page with which nobody finds fault."""

PLAN_PAGE: dict[str, Any] = {
    "page_id": "docs/install", "section": "docs", "slug": "install", "output_path": INSTALL_MD,
    "url_path": "/docs/tablekit/install/", "title": "Install TableKit", "purpose": "How to install it.",
    "page_role": "workflow_page", "template": "install", "required_headings": ["Install"],
    "required_claim_ids": [CSV], "required_snippet_ids": [], "required_snippet_tags": [],
    "cross_links": ["/docs/"], "weight": 10, "description": "How to install TableKit.",
}  # fmt: skip


class Before:
    """The site before the run, as a table of files."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = dict(files or {})

    def read(self, path: str) -> bytes | None:
        """A file, None for none."""
        return self._files.get(path)

    def paths(self) -> list[str]:
        """All of them."""
        return sorted(self._files)


def page_text(body: str = START, **front: Any) -> str:
    """A page with front matter that fits its section."""
    data = {"title": "Install TableKit", "description": "How to install TableKit.", "weight": 10} | front
    lines = [f"{key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in data.items()]
    return "---\n" + "\n".join(lines) + "\n---\n\n" + body


def planned(**changed: Any) -> dict[str, Any]:
    """A planned page, changed here and there."""
    return PLAN_PAGE | changed


def artifacts(**changed: Any) -> dict[str, Any]:
    """All that the workers before the validator have made, under the names of artifacts without `.json`."""
    claims = [
        {"claim_id": _IDS[name], "claim_text": text, "claim_kind": kind, "truth_status": status}
        for name, (text, kind, status) in _TEXTS.items()
    ]
    plan = {"product_slug": "tablekit", "launch_tier": "standard", "pages": [PLAN_PAGE]}
    made: dict[str, Any] = {
        "product_facts": _facts(claims),
        "evidence_map": _evidence(claims),
        "snippet_catalog": {"snippets": [_snippet("python", _CODE)]},
        "page_plan": plan,
        "frontmatter_contract": {
            "site_repo_url": "https://code.example/site",
            "site_sha": _SHA,
            "sections": {"docs": _CONTRACT},
        },
        **_site(),
        "patch_bundle": {"base_ref": _SHA, "patches": []},
        "patch_conflicts": {"conflicts": []},
    }
    return {name: {"schema_version": "1.0"} | document for name, document in made.items()} | changed


_CONTRACT = {
    "sample_size": 3,
    "format": "yaml",
    "required_keys": ["title", "description", "weight"],
    "optional_keys": ["tags"],
    "default_values": {"draft": False},
    "key_types": {"title": "string", "description": "string", "weight": "integer", "tags": "array"},
}


def _evidence(claims: list[dict[str, Any]]) -> dict[str, Any]:
    cited = {"path": "README.md", "start_line": 3, "end_line": 3, "source_type": "readme_technical"}
    lost = {"claim_a_id": LOSER, "claim_b_id": INSTALL, "resolution": "prefer_b", "winning_claim_id": INSTALL}
    return {
        "repo_url": REPO,
        "repo_sha": _SHA,
        "claims": [claim | {"citations": [cited]} for claim in claims],
        "contradictions": [lost],
    }


def _site() -> dict[str, Any]:
    return {
        "hugo_facts": {
            "base_url": "https://launch.example/",
            "languages": ["en"],
            "default_language": "en",
            "default_language_in_subdir": False,
            "permalinks": {},
            "outputs": {},
            "taxonomies": {},
            "ugly_urls": False,
            "raw_html": False,
            "source_files": ["hugo.toml"],
        },
        "site_context": {
            "site": {
                "repo_url": "https://code.example/site",
                "ref": _SHA,
                "content_root": "content",
                "page_count": 0,
                "pages": [],
            },
            "workflows": None,
            "hugo": {
                "config_root": "",
                "config_files": [],
                "build_matrix": [{"subdomain": "docs", "root": "content/docs"}],
            },
        },
    }


def _facts(claims: list[dict[str, Any]]) -> dict[str, Any]:
    symbol = {
        "name": "read",
        "qualified_name": "tablekit.Table.read",
        "kind": "method",
        "module": "tablekit",
        "parent": "Table",
        "signature": "read(path: str) -> Table",
        "summary": "Read a table.",
        "documentation": "Read a table.\n\nParquet works too.",
        "path": "src/tablekit.py",
        "start_line": 4,
        "end_line": 9,
        "claim_id": CSV,
        "public": True,
    }
    table = symbol | {
        "name": "Table",
        "qualified_name": "tablekit.Table",
        "kind": "class",
        "signature": "class Table(rows: list)",
        "parent": "",
    }
    groups = (
        "key_features",
        "install_steps",
        "quickstart_steps",
        "workflow_claims",
        "limitations",
        "compatibility_notes",
    )
    return {
        "schema_version": "1.0",
        "product_name": _NAME,
        "product_slug": "tablekit",
        "repo_url": REPO,
        "repo_sha": _SHA,
        "positioning": {"tagline": "Tables.", "short_description": "Tables.", "claim_ids": []},
        "supported_platforms": [],
        "claims": claims,
        "supported_formats": [{"format": "CSV", "status": "implemented", "claim_id": CSV}],
        "claim_groups": {name: list[str]() for name in groups} | {"limitations": [LIMIT]},
        "workflows": [],
        "api_surface_summary": {"modules": ["tablekit"], "classes": ["Table"], "functions": []},
        "api_symbols": [symbol, table],
        "example_inventory": [],
        "limitations": [LIMIT],
        "distribution": [
            {
                "method": "pip",
                "identifier": "tablekit",
                "install_commands": ["pip install tablekit"],
                "claim_id": INSTALL,
            }
        ],
        "extras": [{"name": name, "claim_id": INSTALL} for name in ("excel", "fast")],
        "commands": [{"name": "tablekit", "target": "tablekit:main", "claim_id": INSTALL}],
    }


def _snippet(language: str, code: str) -> dict[str, Any]:
    return {
        "snippet_id": "snp_" + sha256(code.encode())[:16],
        "language": language,
        "tags": [],
        "code": code,
        "source": {"type": "repo_file", "path": "README.md", "start_line": 9, "end_line": 12, "origin": "readme"},
        "requirements": {"dependencies": []},
        "validation": {"syntax_ok": True, "runnable_ok": None},
    }


def view_of(
    pages: Mapping[str, str] | str,
    *,
    before: Mapping[str, str] | None = None,
    profile: str = "local",
    config: Mapping[str, Any] | None = None,
    scratch: Path | None = None,
    **changed: Any,
) -> View:
    """What the gates see of a run that made these pages; a text alone is the page of the plan."""
    files = {INSTALL_MD: pages} if isinstance(pages, str) else dict(pages)
    made = {f"{name}.json": document for name, document in artifacts(**changed).items()}
    plan = {page["output_path"]: page for page in made["page_plan.json"]["pages"]}
    old = {path: text.encode() for path, text in (before or {}).items()}
    given = run_config(Path("/product"), _SHA, Path("/site"), _SHA, validation_profile=profile) | dict(
        config or {}
    )
    return View(
        config=given,
        profile=profile,
        artifacts=made,
        files={path: text.encode() for path, text in files.items()},
        pages=[Page(path, text.encode(), old.get(path), plan.get(path)) for path, text in files.items()],
        scratch=scratch or Path(),
        tree=Before(old),
        hugo=hugo_executable(),
    )


def found(gate: Gate, view: View) -> Checked:
    """What a gate finds; every finding must be one that its table knows, and an issue that fits the schema."""
    checked = gate.check(view)
    for finding in checked.findings:
        for profile in ("local", "ci", "prod"):
            encode("issue", gate.issue(finding, profile))
    return checked


def codes(gate: Gate, view: View) -> list[str]:
    """Only the codes, sorted."""
    return sorted(finding.code for finding in found(gate, view).findings)


def validation_place(
    tmp_path: Path, files: Mapping[str, str | None], *, change: Mapping[str, Any] | None = None, **config: Any
) -> Workplace:
    """A real site, cloned, with these files patched into it, and everything that the validator reads."""
    origin, site = tmp_path / "origin", tmp_path / "run" / "work" / "site"
    sha = make_site(origin)
    site.parent.mkdir(parents=True)
    subprocess.run(["git", "clone", "--quiet", str(origin), str(site)], check=True)
    contents = {path: None if text is None else text.encode() for path, text in files.items()}
    patches = [patch for path in sorted(contents) for patch in changes(path, _read(site, path), contents[path])]
    made = artifacts(**dict(change or {}))
    made["patch_bundle"], _ = extended(made["patch_bundle"] | {"base_ref": sha}, patches)
    materialise(site, contents)
    root = tmp_path / "run"
    (root / "out").mkdir()
    return Workplace(
        "r_2026-01-21T10-00-00Z_abcd", "validator", "run", 1,
        run_config(tmp_path / "product", _SHA, origin, sha, **config), root, root / "out", _given(root, made),
    )  # fmt: skip


def _read(site: Path, path: str) -> bytes | None:
    return (site / path).read_bytes() if (site / path).is_file() else None


def _given(root: Path, made: Mapping[str, Any]) -> dict[str, Given]:
    (root / "given").mkdir()
    given = {}
    for name, document in made.items():
        content = encode(name, document)
        path = root / "given" / name
        path.write_bytes(content)
        given[f"{name}.json"] = Given(path, sha256(content), name)
    return given
