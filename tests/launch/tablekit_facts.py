"""What is known of `tablekit`, written by hand: facts, evidence and snippets as the planner gets them."""

from typing import Any

from holdfast.launch.claim_marks import claim_id

__all__ = ["contract", "hugo_facts", "site_context", "tablekit_documents"]

_NAME = "tablekit"
_SHA = "a" * 40


class _Ledger:
    def __init__(self) -> None:
        self.facts: dict[str, dict[str, Any]] = {}
        self.evidence: dict[str, dict[str, Any]] = {}

    def add(self, text: str, kind: str, at: str, topic: str = "") -> str:
        path, _, line = at.partition(":")
        key = claim_id(text, kind, _NAME)
        told = {"claim_id": key, "claim_text": text, "claim_kind": kind, "truth_status": "fact"}
        source = (
            "manifest" if path.endswith(".toml") else "docstring" if path.endswith(".py") else "readme_technical"
        )
        cited = {"path": path, "start_line": int(line or 1), "end_line": int(line or 1), "source_type": source}
        self.facts[key] = told | ({"topic": topic} if topic else {})
        self.evidence[key] = told | {"citations": [cited]}
        return key


_SYMBOLS: tuple[tuple[str, str, str, str, str], ...] = (
    ("tablekit", "module", "", "", "Small, typed tables for Python."),
    ("tablekit.table", "module", "", "", "Tables: rows with named, typed columns."),
    ("tablekit.table", "class", "Table", "class Table(columns: Iterable[str], rows: Iterable[Row])",
     "Rows with named columns.\n\nA table is immutable: every method that changes something returns a new table."),
    ("tablekit.table", "method", "Table.read",
     "read(path: str | Path, *, format: str | None = None, encoding: str = 'utf-8') -> Table",
     "Read a table from a file."),
    ("tablekit.table", "method", "Table.write", "write(path: str | Path, *, format: str | None = None) -> int",
     "Write the table to a file and return the number of rows written."),
    ("tablekit.table", "method", "Table.where", "where(condition: Callable[[Row], bool]) -> Table",
     "Return the rows for which the condition is true."),
    ("tablekit.table", "method", "Table.select", "select(*columns: str) -> Table",
     "Return only the named columns, in the given order."),
    ("tablekit.table", "method", "Table.join", "join(other: Table, *, on: str | list[str]) -> Table",
     "Join with another table by one or more key columns."),
    ("tablekit.table", "property", "Table.columns", "columns: tuple[str, ...]", "The names of the columns."),
    ("tablekit.table", "constant", "SAMPLE_ROWS", "SAMPLE_ROWS = 100",
     "How many rows are looked at to find the type of a column."),
    ("tablekit.formats", "module", "", "", "The file formats: CSV, TSV and JSON Lines."),
    ("tablekit.formats", "class", "Format", "class Format(name: str, suffixes: tuple[str, ...])",
     "One file format: its name and the suffixes it claims."),
    ("tablekit.formats", "function", "format_of", "format_of(path: Path, name: str | None = None) -> Format",
     "Return the format with this name, or the one that claims the suffix of the path."),
    ("tablekit.errors", "module", "", "", "What can go wrong."),
    ("tablekit.errors", "exception", "TablekitError", "class TablekitError(Exception)",
     "The base class of all errors of tablekit."),
    ("tablekit.errors", "exception", "UnknownFormat", "class UnknownFormat(TablekitError)",
     "No reader or writer claims the suffix of a file."),
    ("tablekit.command", "module", "", "", "The command line tool."),
    ("tablekit.command", "function", "main", "main(arguments: list[str] | None = None) -> int",
     "Convert one file into another; returns the exit code."),
)  # fmt: skip
_DETAILS: dict[str, dict[str, Any]] = {
    "Table.read": {
        "parameters": [
            {"name": "path", "annotation": "str | Path", "description": "The file to read."},
            {"name": "format", "annotation": "str | None", "default": "None", "description": "Its format."},
            {"name": "encoding", "annotation": "str", "default": "'utf-8'"},
        ],
        "returns": "Table", "returns_description": "The table.",
        "raises": [{"name": "UnknownFormat", "description": "No reader claims the suffix of the file."}],
    },
    "Table.join": {"parameters": [{"name": "other", "annotation": "Table"}, {"name": "on"}], "returns": "Table"},
    "format_of": {"returns": "Format", "raises": [{"name": "UnknownFormat", "description": "Nothing claims it."}]},
}  # fmt: skip
_FEATURES = (
    "Reads and writes CSV, TSV and JSON Lines files.",
    "Supports typed columns: integer, float, boolean, date and text.",
    "Joins two tables by one or more key columns.",
    "Streams files row by row, so a file may be larger than memory.",
    "Provides a command line tool, `tablekit`, that converts between formats.",
)
_LIMITS = (
    "tablekit does not support nested JSON objects.",
    "Joins hold the right table in memory.",
    "Writing Excel files is not supported.",
)
_TYPING = (
    "Columns are typed by the first 100 rows.",
    'Pass `types={"age": int}` to `Table.read` to set a type by hand.',
    "Dates are read in ISO 8601 form.",
    "Booleans are written as `true` and `false`.",
    "A column with mixed values is text.",
)
_USAGE = """\
from tablekit import Table

table = Table.read("people.csv")
adults = table.where(lambda row: row["age"] >= 18)
adults.write("adults.json")"""
_JOIN = """\
from tablekit import Table

people = Table.read("people.csv")
cities = Table.read("cities.csv")
joined = people.join(cities, on="city_id")
print(len(joined))"""
_READ = """\
from tablekit import Table

table = Table.read("people.csv", encoding="latin-1")
print(table.columns)"""
_FILTER = '''\
"""Keep only the adults of a list of people."""

from tablekit import Table

table = Table.read("people.csv")
adults = table.where(lambda row: int(row["age"]) >= 18)
print(adults.write("adults.jsonl"), "people")'''
_SNIPPETS = (
    ("readme", "README.md", 38, "usage", "Usage", "", _USAGE),
    ("readme", "README.md", 48, "join-tables", "Join two tables", "Join two tables:", _JOIN),
    (
        "docs", "docs/guide.md", 7, "reading-a-file", "Reading a file",
        "`Table.read` opens a file and guesses its format from the suffix. The encoding is UTF-8 by default.",
        _READ,
    ),
    (
        "docs", "docs/guide.md", 18, "choosing-columns", "Choosing columns",
        "`Table.select` returns a new table with only the columns that you name.",
        'names = table.select("name", "age")',
    ),
    (
        "example", "examples/filter_people.py", 1, "filter-people", "Filter people",
        "Keep only the adults of a list of people.", _FILTER,
    ),
    ("readme", "README.md", 12, "install", "Installation", "", "pip install tablekit"),
)  # fmt: skip


def tablekit_documents() -> dict[str, dict[str, Any]]:
    """product_facts, evidence_map and snippet_catalog, by name."""
    ledger = _Ledger()
    facts = _facts(ledger) | {"api_symbols": _symbols(ledger)}
    kinds = {
        kind: [one["name"] for one in facts["api_symbols"] if one["kind"] == kind]
        for kind in ("class", "function")
    }
    facts["api_surface_summary"] = {
        "modules": sorted({one["module"] for one in facts["api_symbols"]}),
        "classes": kinds["class"],
        "functions": kinds["function"],
    }
    facts["claims"] = [ledger.facts[key] for key in sorted(ledger.facts)]
    claims = [ledger.evidence[key] for key in sorted(ledger.evidence)]
    evidence = {"schema_version": "1.0", "repo_url": facts["repo_url"], "repo_sha": _SHA, "claims": claims}
    return {
        "product_facts.json": facts,
        "evidence_map.json": evidence | {"contradictions": []},
        "snippet_catalog.json": {"schema_version": "1.0", "snippets": _snippets()},
    }


def _facts(ledger: _Ledger) -> dict[str, Any]:
    return {
        "schema_version": "1.0", "product_name": _NAME, "product_slug": _NAME, "repo_sha": _SHA,
        "repo_url": "https://code.example/tablekit/tablekit",
        **_said(ledger),
        **_manifest(ledger),
        "example_inventory": [],
        "keywords": ["csv", "json", "tables"],
        "code_structure": {"package_names": [_NAME], "source_roots": ["src"]},
    }  # fmt: skip


def _said(ledger: _Ledger) -> dict[str, Any]:
    """What README, documentation and changelog say."""
    add = ledger.add
    does = add(
        "tablekit reads, filters, joins and writes tabular data without a data frame.",
        "positioning",
        "README.md:3",
    )
    about = add("tablekit: Small, typed tables for Python.", "positioning", "pyproject.toml:8", "description")
    features = [add(text, "feature", f"README.md:{28 + n}", "features") for n, text in enumerate(_FEATURES)]
    limits = [add(text, "limitation", f"README.md:{60 + n}", "limitations") for n, text in enumerate(_LIMITS)]
    for number, text in enumerate(_TYPING):
        add(text, "other", f"docs/types.md:{number + 3}", "column types")
    news = [
        add("Added `Table.join` with several key columns.", "change", "CHANGELOG.md:5", "1.4.0"),
        add("Fixed dates without a time zone.", "change", "CHANGELOG.md:6", "1.4.0"),
    ]
    workflows = _workflows(ledger)
    install, python = _install(ledger), _python(ledger)
    return {
        "positioning": {
            "tagline": "Small, typed tables for Python.", "claim_ids": [about, does],
            "short_description": "Small, typed tables for Python. tablekit reads, filters, joins and writes "
            "tabular data without a data frame.",
        },
        "claim_groups": {
            "key_features": features, "install_steps": [install, python], "quickstart_steps": [],
            "workflow_claims": [claim for one in workflows for claim in one["claim_ids"]], "limitations": limits,
            "compatibility_notes": [python, _systems(ledger)],
        },
        "supported_formats": [
            {"format": name, "status": "implemented", "direction": "both", "claim_id": features[0]}
            for name in ("CSV", "TSV", "JSON Lines")
        ],
        "workflows": workflows,
        "limitations": limits,
        "changes": [{"version": "1.4.0", "date": "2024-05-01", "claim_ids": news}],
    }  # fmt: skip


def _workflows(ledger: _Ledger) -> list[dict[str, Any]]:
    add = ledger.add
    reading = [
        add("`Table.read` opens a file and guesses its format from the suffix.", "workflow", "docs/guide.md:5"),
        add("The encoding is UTF-8 by default.", "workflow", "docs/guide.md:5"),
    ]
    text = "`Table.select` returns a new table with only the columns that you name."
    choosing = [add(text, "workflow", "docs/guide.md:16")]
    joining = [add("Join two tables.", "workflow", "README.md:46")]
    return [
        {"workflow_tag": tag, "title": title, "claim_ids": claims, "snippet_tags": [tag]}
        for tag, title, claims in (
            ("reading-a-file", "Reading a file", reading),
            ("choosing-columns", "Choosing columns", choosing),
            ("join-tables", "Join two tables", joining),
        )
    ]


def _install(ledger: _Ledger) -> str:
    return ledger.add("Install tablekit with `pip install tablekit`.", "install", "pyproject.toml:6", "install")


def _python(ledger: _Ledger) -> str:
    return ledger.add("tablekit requires Python 3.10 or newer.", "compatibility", "pyproject.toml:10", "python")


def _systems(ledger: _Ledger) -> str:
    text = "tablekit does not depend on the operating system."
    return ledger.add(text, "compatibility", "pyproject.toml:15", "platforms")


def _manifest(ledger: _Ledger) -> dict[str, Any]:
    """What the manifest says."""
    add = ledger.add
    excel = add(
        'The extra `excel` adds `openpyxl`; install it with `pip install "tablekit[excel]"`.', "install",
        "pyproject.toml:24", "extras",
    )  # fmt: skip
    dateutil = add(
        "tablekit depends on `python-dateutil>=2.8`.", "dependency", "pyproject.toml:21", "dependencies"
    )
    command = add("tablekit installs the command `tablekit`.", "feature", "pyproject.toml:31", "command line")
    version = add("tablekit 1.4.0 is the version described here.", "version", "pyproject.toml:7")
    mit = add("tablekit is released under the MIT license.", "license", "pyproject.toml:11")
    homepage = add("The homepage of tablekit is https://tablekit.example.", "other", "pyproject.toml:27")
    pip = {"method": "pip", "identifier": _NAME, "install_commands": ["pip install tablekit"]}
    return {
        "supported_platforms": [{"platform": "OS independent", "claim_id": _systems(ledger)}],
        "version": {"value": "1.4.0", "claim_id": version},
        "license": {"name": "MIT", "path": "LICENSE", "claim_id": mit},
        "homepage": {"url": "https://tablekit.example", "claim_id": homepage},
        "distribution": [{**pip, "claim_id": _install(ledger)}],
        "runtime_requirements": [{"name": "Python", "requirement": ">=3.10", "claim_id": _python(ledger)}],
        "dependencies": [
            {"name": "python-dateutil", "requirement": ">=2.8", "claim_id": dateutil},
            {"name": "openpyxl", "requirement": ">=3.1", "claim_id": excel, "extra": "excel"},
        ],
        "extras": [{"name": "excel", "claim_id": excel}],
        "commands": [{"name": "tablekit", "target": "tablekit.command:main", "claim_id": command}],
    }


def _symbols(ledger: _Ledger) -> list[dict[str, Any]]:
    made = []
    for number, (module, kind, name, signature, text) in enumerate(_SYMBOLS):
        path = f"src/{module.replace('.', '/')}.py"
        line = number * 10 + 1
        qualified = f"{module}.{name}" if name else module
        symbol: dict[str, Any] = {
            "name": (name or module).rpartition(".")[2], "qualified_name": qualified, "kind": kind,
            "module": module, "signature": signature, "summary": text.split("\n")[0], "path": path,
            "start_line": line, "end_line": line + 8, "public": True,
            "claim_id": ledger.add(f"`{qualified}`: {text.splitlines()[0]}", "api", f"{path}:{line}", module),
        }  # fmt: skip
        if more := text.partition("\n\n")[2]:
            symbol["documentation"] = more
        if "." in name:
            symbol["parent"] = f"{module}.{name.rpartition('.')[0]}"
        made.append(symbol | _DETAILS.get(name, {}))
    return made


def _snippets() -> list[dict[str, Any]]:
    made = []
    for number, (origin, path, line, tag, title, about, code) in enumerate(_SNIPPETS):
        snippet: dict[str, Any] = {
            "snippet_id": f"snp_{number:016x}", "language": "bash" if tag == "install" else "python",
            "tags": [origin, tag], "code": code, "title": title, "requirements": {"dependencies": [_NAME]},
            "source": {
                "type": "repo_file", "path": path, "start_line": line, "end_line": line + code.count("\n"),
                "origin": origin,
            },
            "validation": {"syntax_ok": True, "runnable_ok": None},
        }  # fmt: skip
        made.append(snippet | ({"introduction": about, "introduction_line": max(line - 2, 1)} if about else {}))
    return made


def contract(form: str = "yaml") -> dict[str, Any]:
    """What the pages of the site have in common."""
    keys = ["description", "draft", "tags", "title"]
    types = {"description": "string", "draft": "boolean", "tags": "array", "title": "string"}
    section = {"sample_size": 2, "format": form, "optional_keys": []}
    weighted = section | {"required_keys": [*keys, "weight"], "key_types": types | {"weight": "integer"}}
    dated = section | {
        "required_keys": [*keys, "author", "date"], "key_types": types | {"author": "string", "date": "date"},
    }  # fmt: skip
    plain = section | {"required_keys": keys, "key_types": types}
    sections = {"products": plain, "docs": weighted, "reference": weighted, "kb": weighted, "blog": dated}
    return {"schema_version": "1.0", "site_repo_url": "/site", "site_sha": "b" * 40, "sections": sections}


def hugo_facts(**changes: Any) -> dict[str, Any]:
    """A site in one language with plain addresses."""
    return {
        "schema_version": "1.0", "base_url": "https://launch.example/", "languages": ["en"],
        "default_language": "en", "default_language_in_subdir": False, "permalinks": {}, "outputs": {},
        "taxonomies": {"tag": "tags"},
        "ugly_urls": False, "raw_html": False, "source_files": ["hugo.toml"],
    } | changes  # fmt: skip


def site_context(pages: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
    """A site with these pages: their paths and addresses."""
    told = [{"path": path, "url_path": url} for path, url in pages]
    site = {
        "repo_url": "/site",
        "ref": "b" * 40,
        "content_root": "content",
        "page_count": len(told),
        "pages": told,
    }
    hugo: dict[str, Any] = {"config_root": ".", "config_files": [], "build_matrix": []}
    return {"schema_version": "1.0", "site": site, "workflows": None, "hugo": hugo}
