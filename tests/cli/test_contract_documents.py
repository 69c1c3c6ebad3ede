"""`contract lint`, `spec`, `migrate` and `docs`, as a person types them."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

FOREIGN = (sys.executable, str(Path(__file__).with_name("foreign_server.py")))
SPEC = "MCP_TOOL_SPECIFICATION.md"
SERVER = '''
from pydantic import BaseModel, Field
from holdfast import Server, effect

server = Server("stock", version="1.0.0")


class Item(BaseModel):
    """One article."""

    count: int = Field(description="How many there are.")


@server.tool(effect=effect.replay_safe(), read_only=True, examples=[{"sku": "A-1"}], errors=("NOT_FOUND",),
             security="Reads a table in memory.", output_example={"count": 3})
async def lookup(sku: str) -> Item:
    """Return how many there are of one article.

    Args:
        sku: The number of the article.
    """
    return Item(count=3)
'''
LOOSE = """# Tools

### `greet`

Says hello to a person.

| Parameter | Type | Required | Description |
|---|---|---|---|
| who | string | Yes | Whom to greet. |
"""


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    file = tmp_path / "stock.py"
    file.write_text(SERVER)
    return file


# --- spec -------------------------------------------------------------------------------------------------------


def test_a_specification_is_written_from_the_code_and_agrees_with_it(
    cli: Cli, stock: Path, tmp_path: Path
) -> None:
    written = cli("contract", "spec", "stock.py")
    checked = cli("contract", "spec", "stock.py", "--check")
    again = cli("contract", "spec", "stock.py")

    assert (written.returncode, written.stderr) == (0, f"wrote {SPEC} (1 tool)\n")
    assert (checked.returncode, checked.stdout) == (0, "0 errors, 0 warnings, 0 notes\n")
    assert again.stderr == f"unchanged: {SPEC} (1 tool)\n"
    assert cli("contract", "lint", SPEC).returncode == 0


def test_what_the_owner_wrote_stays_byte_for_byte(cli: Cli, stock: Path, tmp_path: Path) -> None:
    cli("contract", "spec", "stock.py")
    own = "\nOur   own *words*,\twith a trailing space. \n"
    (tmp_path / SPEC).write_text((tmp_path / SPEC).read_text() + own)
    stock.write_text(SERVER.replace("Return how many", "Tell how many"))

    assert cli("contract", "spec", "stock.py").returncode == 0
    text = (tmp_path / SPEC).read_text()
    assert text.endswith(own)
    assert "Tell how many there are" in text


def test_a_specification_that_is_behind_the_code_is_told_with_its_line(cli: Cli, stock: Path) -> None:
    cli("contract", "spec", "stock.py")
    stock.write_text(SERVER.replace("sku: str", "sku: str, limit: int = 3"))
    done = cli("contract", "spec", "stock.py", "--check")

    assert done.returncode == 1
    assert re.search(rf"^{SPEC}:\d+:\d+: error: ", done.stdout, re.MULTILINE)
    assert json.loads(cli("contract", "spec", "stock.py", "--check", "--json").stdout)["counts"]["error"] > 0


@pytest.mark.parametrize(("switch", "code"), [((), 1), (("--no-examples",), 0)])
def test_an_example_that_lies_is_found_by_running_it(
    cli: Cli, stock: Path, switch: tuple[str, ...], code: int
) -> None:
    stock.write_text(SERVER.replace("    return Item(count=3)", '    raise RuntimeError("no")'))
    cli("contract", "spec", "stock.py")
    done = cli("contract", "spec", "stock.py", "--check", *switch)

    assert done.returncode == code
    assert ("example.fails" in done.stdout) is bool(code)


def test_the_template_is_printed_without_a_server(cli: Cli) -> None:
    done = cli("contract", "spec", "--template")

    assert done.returncode == 0
    assert "### 8. Security Considerations" in done.stdout


def test_a_specification_of_a_server_of_strangers_is_written_and_checked(cli: Cli) -> None:
    assert cli("contract", "spec", "--", *FOREIGN, "good").returncode == 0
    assert cli("contract", "spec", "--check", "--", *FOREIGN, "good").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("spec stock.py --check", 3, f"{SPEC} cannot be read: No such file"),
        ("spec", 2, "holdfast contract spec takes one server, not 0"),
        ("spec stock.py -o nowhere/x.md", 2, "nowhere/x.md cannot be written"),
        ("lint none.md", 3, "none.md cannot be read"),
        ("lint binary.md", 3, "binary.md is not UTF-8 text"),
        ("lint", 2, "holdfast contract lint takes at least one file or server, not 0"),
        ("migrate none.md", 3, "none.md cannot be read"),
        ("migrate loose.md --write -o x.md", 2, "--write and -o name two files"),
        ("docs stock.py -o stock.py", 2, "stock.py cannot be made"),
    ],
)
def test_a_slip_is_one_line_with_its_exit_code(
    cli: Cli, stock: Path, tmp_path: Path, words: str, code: int, message: str
) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "loose.md").write_text(LOOSE)
    done = cli("contract", *words.split())

    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"holdfast: {message}")


# --- lint -------------------------------------------------------------------------------------------------------


def test_findings_come_in_every_form(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loose.md").write_text(LOOSE)
    text, plain, sarif, junit = (
        cli("contract", "lint", "loose.md", *form)
        for form in ((), ("--json",), ("--format", "sarif"), ("--format", "junit"))
    )

    assert {done.returncode for done in (text, plain, sarif, junit)} == {1}
    assert "spec.section-missing" in text.stdout
    assert json.loads(plain.stdout)["findings"]
    assert json.loads(sarif.stdout)["version"] == "2.1.0"
    assert ET.fromstring(junit.stdout).tag in {"testsuite", "testsuites"}


def test_a_server_is_linted_by_the_same_rules(cli: Cli, stock: Path) -> None:
    clean = cli("contract", "lint", "stock.py")
    foreign = cli("contract", "lint", "--", *FOREIGN, "good")

    assert (clean.returncode, clean.stdout) == (0, "0 errors, 0 warnings, 0 notes\n")
    assert foreign.returncode == 1
    assert "[echo]" in foreign.stdout


# --- migrate ----------------------------------------------------------------------------------------------------


def test_a_loose_file_becomes_canonical_and_says_what_is_missing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loose.md").write_text(LOOSE)
    done = cli("contract", "migrate", "loose.md")
    told: dict[str, Any] = json.loads(cli("contract", "migrate", "loose.md", "--json").stdout)

    assert done.returncode == 1
    assert "### 3. Input Schema (Parameters)" in done.stdout
    assert "Says hello to a person." in done.stdout
    assert done.stderr.splitlines()[-1] == f"{len(told['todo'])} things left to fill in"
    assert (tmp_path / "loose.md").read_text() == LOOSE


def test_migrating_in_place_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loose.md").write_text(LOOSE)

    assert cli("contract", "migrate", "loose.md", "--write").returncode == 1
    assert "## Tool: `greet`" in (tmp_path / "loose.md").read_text()


# --- docs -------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]


def test_every_tool_gets_a_page_that_needs_nothing_else(cli: Cli, stock: Path, tmp_path: Path) -> None:
    done = cli("contract", "docs", "stock.py", "-o", "pages")
    page = Page((tmp_path / "pages" / "lookup.html").read_text())
    index = Page((tmp_path / "pages" / "index.html").read_text())

    assert (done.returncode, done.stdout) == (0, "")
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "index.html", "index.md", "lookup.html", "lookup.md",
    ]  # fmt: skip
    assert (page.addresses, index.addresses) == ([], ["lookup.html"])
    assert not {"script", "link", "img", "iframe"} & page.tags


def test_the_example_on_a_page_runs_as_it_stands(cli: Cli, stock: Path, tmp_path: Path) -> None:
    import shlex

    cli("contract", "docs", "stock.py", "-o", "pages")
    text = (tmp_path / "pages" / "lookup.md").read_text()
    (line,) = re.findall(r"^holdfast call .*$", text, re.MULTILINE)
    done = cli(*shlex.split(line)[1:], "--json")

    assert done.returncode == 0
    assert '"count":3' in done.stdout


def test_hostile_words_and_names_stay_text_and_inside_the_folder(cli: Cli, tmp_path: Path) -> None:
    words = "<script>alert(1)</script> | `x` [y](javascript:z)\n# heading"
    tools = [{"name": name, "description": words, "inputSchema": {"properties": {words: {"description": words}}}}
             for name in ("../../evil", "a/b", "a_b", "index", "A_B", "<b>")]  # fmt: skip
    (tmp_path / "hostile.json").write_text(json.dumps({"tools": tools}))
    done = cli("contract", "docs", "hostile.json", "-o", "deep/pages", "--json")
    files = json.loads(done.stdout)["files"]

    assert done.returncode == 0
    assert len({name.lower() for name in files}) == len(files) == 14
    assert not list(tmp_path.rglob("evil*")) or all("pages" in str(path) for path in tmp_path.rglob("*evil*"))
    for path in (tmp_path / "deep" / "pages").glob("*.html"):
        page = Page(path.read_text())
        assert "script" not in page.tags
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+\.html", address) for address in page.addresses)
    for path in (tmp_path / "deep" / "pages").glob("*.md"):
        assert "\n# heading" not in path.read_text()


@pytest.mark.parametrize("command", ["snapshot", "diff", "check", "lock", "lint", "spec", "migrate", "docs"])
def test_every_command_has_help_with_an_example(cli: Cli, command: str) -> None:
    done = cli("contract", command, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"  holdfast contract {command} " in done.stdout
    assert "--json" in done.stdout


def test_a_file_that_is_too_large_is_refused_instead_of_cut(cli: Cli, tmp_path: Path) -> None:
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)  # it takes no room on the disk
    done = cli("contract", "lint", "huge.md")

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("holdfast: huge.md is larger than 64 MiB")
