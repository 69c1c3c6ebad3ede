"""`holdfast search`: what it prints, what it refuses, and a repository searched for real."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from holdfast.cli.search_text import Look, count_hits, describe_hits, one_line_each, point_at, remarks, vimgrep
from holdfast.search.request import FIELDS

COLOURED = Look(colour=True, width=60)


def line(number: int, text: str, *highlights: list[int]) -> dict[str, Any]:
    return {"line": number, "text": text, "highlights": list(highlights)}


def hit(*lines: dict[str, Any], **other: Any) -> dict[str, Any]:
    shown = lines or (line(12, "def enforce(self) -> None:", [4, 11]),)
    return {
        "file": "src/a.py", "startLine": 12, "endLine": 20, "kind": "function", "name": "Retry.enforce",
        "headline": "def enforce", "score": 0.834, "why": ["matches enforce"],
        "snippet": {"startLine": 12, "lines": list(shown), "truncated": False}, **other,
    }  # fmt: skip


def payload(*code: dict[str, Any], **other: Any) -> dict[str, Any]:
    found = {"query": "enforce", "code": list(code), "prose": [], "extractedProse": [], "records": []}
    return {**found, "total": {"code": len(code)}, "truncated": False, "warnings": [], **other}


def shown(answer: dict[str, Any], look: Look | None = None) -> list[str]:
    return list(describe_hits(answer, look or Look()))


# --- what is printed ------------------------------------------------------------------------------------------


def test_a_result_is_its_place_why_it_matched_and_the_lines_that_did() -> None:
    assert shown(payload(hit())) == [
        "src/a.py:12  function  Retry.enforce  0.83",
        "    matches enforce",
        "    12  def enforce(self) -> None:",
    ]


def test_results_of_several_modes_are_grouped_with_their_numbers() -> None:
    answer = payload(hit(), prose=[hit(file="README.md")], total={"code": 132, "prose": 1})
    lines = shown(answer)

    assert [text for text in lines if not text.startswith((" ", "src", "README"))] == [
        "Code  1 of 132", "", "", "Prose  1", "",
    ]  # fmt: skip


def test_matches_are_painted_and_the_rest_is_not() -> None:
    text = shown(payload(hit()), COLOURED)[-1]

    assert text == "\x1b[32m    12\x1b[0m  def \x1b[1;31menforce\x1b[0m(self) -> None:"


def test_escape_sequences_of_the_source_are_shown_not_obeyed() -> None:
    evil = hit(line(1, "\x1b]0;x\x07\u202e\tenforce", [9, 16]), name="a\x1b[2Jb", file="src/\x1b.py", why=["\x1b"])
    text = "\n".join(shown(payload(evil)) + list(one_line_each(payload(evil), Look())))

    assert "\x1b" not in text + "".join(vimgrep(payload(evil), Look()))
    assert "    1  \\u001b]0;x\\u0007\\u202e    enforce" in text


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("text", ["enforce " * 200, "漢字" * 200, "\x1b" * 500, "e\u0301" * 300, "\t" * 200 + "x"])
def test_no_line_of_source_is_wider_than_the_terminal(width: int, text: str) -> None:
    drawn = shown(payload(hit(line(12, text, [0, 2], [len(text) - 1, len(text)]))), Look(width=width))[-1]

    columns = sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in drawn
    )
    assert columns <= width


def test_a_match_far_to_the_right_is_brought_into_view() -> None:
    text = "x" * 500 + "enforce" + "y" * 500
    drawn = shown(payload(hit(line(12, text, [500, 507]))), COLOURED)[-1]

    assert "\x1b[1;31menforce\x1b[0m" in drawn
    assert drawn.startswith("\x1b[32m    12\x1b[0m  …x")


def test_highlights_that_make_no_sense_are_left_out() -> None:
    odd = hit(line(12, "enforce", [3, 3], [5, 2], [-1, 4], [4, 900], [0, 2], [1, 4]))

    assert shown(payload(odd), COLOURED)[-1].endswith("\x1b[1;31men\x1b[0mforce")


def test_a_gap_between_lines_and_a_cut_at_the_end_are_shown() -> None:
    gapped = hit(line(12, "a"), line(15, "b"))
    gapped["snippet"]["truncated"] = True

    assert shown(payload(gapped))[2:] == ["    12  a", "     …", "    15  b", "     …"]


def test_the_lines_around_a_result_are_shown_where_they_were_asked_for() -> None:
    around = hit(line(12, "a"), endLine=13, context={"before": ["x", "y"], "after": ["z"]})

    assert shown(payload(around))[2:] == ["    10  x", "    11  y", "    12  a", "     …", "    14  z"]


def test_an_explained_score_shows_its_parts() -> None:
    explained = hit(scoreBreakdown={"bm25": 0.5, "fields": {"name": 0.25}, "none": None})

    assert shown(payload(explained))[2] == "    score: bm25 0.5, fields.name 0.25"


def test_editors_get_one_line_per_result_with_the_column_in_bytes() -> None:
    found = payload(hit(line(12, "x"), line(13, "é = enforce", [4, 11])), hit(line(12, "\tplain")))

    assert list(vimgrep(found, Look())) == ["src/a.py:13:6:é = enforce", "src/a.py:12:1:plain"]


def test_what_was_left_out_is_told_with_the_way_to_see_it() -> None:
    cut = payload(*[hit()] * 5, truncated=True, total={"code": 132})
    both = {**cut, "prose": [hit()] * 5, "total": {"code": 132, "prose": 7}}

    assert list(remarks(cut, 5)) == ["5 of 132; -n 20 shows more"]
    assert list(remarks(both, 5)) == ["5 of 132 (code), 5 of 7 (prose); -n 20 shows more"]
    assert list(remarks(payload(*[hit()] * 5), 5)) == []


def test_warnings_and_an_empty_answer_are_told() -> None:
    answer = payload(warnings=[{"code": "x", "message": "no linter\nfindings"}])

    assert list(remarks(answer, 5)) == ["note: no linter findings", "nothing found for 'enforce'"]
    assert count_hits(answer) == 0


# --- what is refused ------------------------------------------------------------------------------------------


def test_the_help_names_every_flag_in_its_group(cli: Cli) -> None:
    done = cli("search", "--help")

    assert all(flag in done.stdout for field in FIELDS for flag in field.flags)
    for title in ("Where:", "What the code means:", "History:", "Risk:", "Output:", "Examples:"):
        assert f"\n{title}\n" in done.stdout or f"  {title}\n" in done.stdout


def test_help_and_refusals_load_neither_the_engine_nor_other_heavy_libraries(environment: dict[str, str]) -> None:
    heavy = "asyncio", "pydantic", "jsonschema_rs", "tantivy", "tree_sitter", "holdfast.search.library"
    script = (
        "import sys; from holdfast.cli.app import main; main(['search', '--help']); main(['search', ' ']);"
        f"print(set(sys.modules) & set({heavy}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )

    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "QUERY is missing"),
        ([" "], "QUERY: must not be blank"),
        (["x", "-n", "abc"], "--top: must be an integer, not a string"),
        (["x", "-n", "1001"], "--top: must be 1000 or less"),
        (["x", "--context", "-1"], "--context: must be 0 or more"),
        (["x", "--mode", "none"], "--mode: must be one of code, prose,"),
        (["x", "--path", ""], "--path: must not be blank"),
        (["x", "--calls", " "], "--calls: must not be blank"),
        (["x", "--modified-since", "nan"], "--modified-since: must be 0 or more"),
        (["x", "--modified-after", "soon"], "--modified-after: must be an ISO date or time"),
        (["x", "--path", "/(/"], "--path: /(/: the regular expression is not valid"),
        (["x", "--meta-json", "{"], "--meta-json: "),
        (["x", "--json", "--format", "vimgrep"], "exclude each other"),
        (["x", "--lagn", "py"], "No such option '--lagn'"),
        (["x", "--calls", "fork", "--calls", "waitpid"], "--calls is given 2 times"),
        (["-x y"], "there is no option -x"),
        (["x", "--repo", "nowhere"], "nowhere"),
        (["x" * 5000], "QUERY: must have at most 4096 characters"),
        (["\udcff"], "QUERY: must be JSON in valid Unicode"),
    ],
)
def test_a_wrong_use_is_one_line_a_remedy_and_exit_2(cli: Cli, words: list[str], message: str) -> None:
    done = cli("search", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[0]
    assert done.stderr.startswith("holdfast: ")
    assert "\n  try: " in done.stderr


@pytest.mark.parametrize(
    ("query", "column", "lines"),
    [
        ("a AND (", 7, ["  a AND (", "        ^"]),
        ("漢字 (", 4, ["  漢字 (", "       ^"]),
        ("a\tb\x1b[2J(", 8, ["  a b [2J(", "         ^"]),
        ("x" * 200 + "(" + "y" * 200, 201, ["  " + "x" * 35 + "(" + "y" * 36, " " * 37 + "^"]),
        ("", 1, ["  ", "  ^"]),
    ],
)
def test_a_place_in_a_query_is_pointed_at(query: str, column: int, lines: list[str]) -> None:
    assert list(point_at(query, column)) == lines


# --- a repository, for real -----------------------------------------------------------------------------------

SOURCE = '''"""Retries."""
import subprocess


class Retry:
    """A budget of attempts."""

    def enforce(self, limit: int) -> None:
        """Stop when the budget is spent."""
        if limit < 0:
            raise ValueError(limit)


async def run_shell(command):
    return subprocess.run(command, shell=True)
'''


@pytest.fixture
def repository(tmp_path: Path, environment: dict[str, str]) -> Path:
    environment["HOLDFAST_CACHE_DIR"] = str(tmp_path / "cache")
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "src" / "retry.py").write_text(SOURCE)
    (place / "README.md").write_text("# Retries\n\nThe retry budget is enforced here.\n")
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


def test_the_first_search_builds_the_index_and_finds(cli: Cli, repository: Path) -> None:
    done = cli("search", "retry", "budget", "enforced", cwd=repository)

    assert done.returncode == 0
    assert "src/retry.py:8  method  Retry.enforce  " in done.stdout
    assert "\x1b" not in done.stdout
    assert not list(repository.glob("**/*.db"))  # nothing is written into the repository


def test_what_changed_since_is_found_by_the_next_search_unless_told_not_to_look(
    cli: Cli, repository: Path
) -> None:
    assert cli("search", "zebra", cwd=repository).returncode == 1
    (repository / "src" / "new.py").write_text("def zebra_crossing():\n    return 1\n")

    assert cli("search", "zebra", "--no-build", cwd=repository).returncode == 1
    assert cli("search", "zebra", cwd=repository).returncode == 0


def test_the_defaults_of_the_repository_count_where_no_flag_says_otherwise(cli: Cli, repository: Path) -> None:
    (repository / ".pairofcleats.json").write_text('{"search": {"top": 1, "mode": "prose"}}')
    configured, asked = (
        json.loads(cli("search", "--json", "retry", *flags, cwd=repository).stdout)
        for flags in ([], ["-n", "3", "--mode", "code"])
    )

    assert (configured["code"], len(configured["prose"])) == ([], 1)
    assert (len(asked["code"]) > 1, asked["prose"]) == (True, [])


def test_the_backend_of_the_repository_counts_where_no_flag_says_otherwise(cli: Cli, repository: Path) -> None:
    (repository / "holdfast.toml").write_text('[search]\nbackend = "sqlite-fts"\n')
    configured = cli("search", "retry", cwd=repository)
    asked = cli("search", "--backend", "tantivy", "retry", cwd=repository)

    assert configured.returncode == 2  # there is no such file of this repository yet
    assert "sqlite-fts" in configured.stderr
    assert asked.returncode == 0


@pytest.mark.parametrize("flags", [[], ["--no-build"]])
def test_a_broken_configuration_is_told_as_what_it_is_before_anything_is_built(
    cli: Cli, repository: Path, flags: list[str]
) -> None:
    (repository / "holdfast.toml").write_text("[search]\ntop = 0\nindexing.ignore = 5\n")
    done = cli("search", *flags, "retry", cwd=repository)

    assert (done.returncode, done.stdout) == (2, "")
    first, remedy = done.stderr.splitlines()
    assert first == (
        "holdfast: holdfast.toml: /search/top: must be 1 or more; "
        "holdfast.toml: /search/indexing/ignore: must be a list, not an integer"
    )
    assert remedy.startswith("  try: correct ")
    assert not (repository.parent / "cache").exists()


def test_a_configured_search_loads_neither_pydantic_nor_the_building_side(
    cli: Cli, repository: Path, environment: dict[str, str]
) -> None:
    (repository / ".pairofcleats.json").write_text('{"indexing": {"ignore": ["x"]}}')
    cli("search", "retry", cwd=repository)
    heavy = "asyncio", "pydantic", "tree_sitter", "holdfast.search.build", "holdfast.search.discover.walk"
    script = (
        "import sys; from holdfast.cli.app import main; main(['search', 'retry']);"
        f"print(set(sys.modules) & set({heavy}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, cwd=repository, check=True
    )

    assert done.stdout.splitlines()[-1] == "set()"


def test_without_an_index_and_without_a_build_there_is_a_remedy(cli: Cli, repository: Path) -> None:
    done = cli("search", "retry", "--no-build", cwd=repository)

    assert (done.returncode, done.stdout) == (2, "")
    assert "try: " in done.stderr
    assert "holdfast index build" in done.stderr


def test_a_mistake_in_a_query_is_shown_in_its_place_except_to_programs(cli: Cli, repository: Path) -> None:
    shown = cli("search", "a", "AND", "(", cwd=repository)
    plain = cli("search", "--json", "a", "AND", "(", cwd=repository)

    assert (shown.returncode, plain.returncode) == (2, 2)
    assert shown.stderr.startswith("  a AND (\n        ^\nholdfast: column 7 of the query: ")
    assert plain.stderr.startswith("holdfast: column 7 of the query: ")


def test_nothing_found_is_exit_1_and_says_so(cli: Cli, repository: Path) -> None:
    done = cli("search", "qqqzzz", cwd=repository)

    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing found for 'qqqzzz'" in done.stderr


def test_json_is_one_line_with_more_fields_than_compact(cli: Cli, repository: Path) -> None:
    whole = cli("search", "--json", "enforce", cwd=repository)
    compact = cli("search", "--json", "--compact", "enforce", cwd=repository)

    assert whole.stdout.count("\n") == compact.stdout.count("\n") == 1
    full, small = (json.loads(done.stdout)["code"][0] for done in (whole, compact))
    assert full["signature"]
    assert "signature" not in small
    assert full.keys() > small.keys()


def test_filters_of_the_command_line_reach_the_engine(cli: Cli, repository: Path) -> None:
    wanted = "--calls", "subprocess.run", "--async", "--lang", "python", "--path", "src/,lib", "--compact"
    done = cli("search", *wanted, "shell", cwd=repository)
    without = cli("search", "--no-async", "--calls", "subprocess.run", "shell", cwd=repository)

    assert done.stdout.startswith("src/retry.py:14  function  run_shell")
    assert without.returncode == 1


def test_paths_can_be_opened_from_where_the_command_runs(cli: Cli, repository: Path, tmp_path: Path) -> None:
    below = cli("search", "--compact", "--mode", "code", "enforce", cwd=repository / "src")
    outside = cli("search", "--compact", "--mode", "code", "--repo", "project", "enforce")

    assert below.stdout.startswith("retry.py:8  ")
    assert outside.stdout.startswith(f"{repository}/src/retry.py:8  ")


def test_words_behind_two_dashes_may_begin_with_a_dash(cli: Cli, repository: Path) -> None:
    assert cli("search", "--mode", "code", "--", "budget", "-shell", cwd=repository).returncode == 0


def test_a_reader_that_leaves_early_is_no_error(repository: Path, environment: dict[str, str]) -> None:
    command = f"'{sys.executable}' -m holdfast search --compact retry; echo $? >&2"
    done = subprocess.run(
        ["sh", "-c", f"({command}) | true"], capture_output=True, text=True, cwd=repository, env=environment,
        check=False, timeout=30,
    )  # fmt: skip

    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == "0"


def test_colours_are_for_terminals_only(repository: Path, environment: dict[str, str]) -> None:
    assert "\x1b[1;31m" in on_terminal(repository, environment, "search", "enforce")
    assert "\x1b[1;31m" not in on_terminal(repository, environment, "search", "--no-color", "enforce")
    assert "\x1b[1;31m" not in on_terminal(repository, {**environment, "NO_COLOR": "1"}, "search", "enforce")


def on_terminal(repository: Path, environment: dict[str, str], *arguments: str) -> str:
    """What the command shows on a terminal of its own."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "holdfast", *arguments]
    environment = {**environment, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        command, cwd=repository, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # the end of a terminal is an error on Linux
            pass
        process.wait(30)
    os.close(ours)
    return shown.decode()
