"""Gate: the Markdown that the run wrote is tidy, as a linter with pinned rules sees it.

The rules are about what breaks a page or a diff, not about taste; what the templates and the other gates decide
(titles, line length, raw HTML, languages of code) is not among them.
"""

import contextlib
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from holdfast.launch.claim_marks import without_marks
from holdfast.launch.code_fences import fences
from holdfast.launch.factual import prose_lines
from holdfast.launch.front_matter import FrontMatterError, split
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View, heading_of

if TYPE_CHECKING:
    from pymarkdown.api import PyMarkdownApi

__all__ = ["FIXABLE", "GATE", "RULES", "check", "mended"]

RULES = {
    "MD001": "heading levels grow by one at a time",
    "MD009": "no spaces at the end of a line",
    "MD010": "no tabs",
    "MD011": "a link is [text](address), not (text)[address]",
    "MD012": "no two blank lines in a row",
    "MD018": "a space after the hashes of a heading",
    "MD019": "one space after the hashes of a heading",
    "MD022": "blank lines around headings",
    "MD023": "headings begin at the beginning of the line",
    "MD027": "one space after the mark of a quotation",
    "MD031": "blank lines around code blocks",
    "MD032": "blank lines around lists",
    "MD037": "no spaces inside the marks of emphasis",
    "MD038": "no spaces inside the marks of code",
    "MD039": "no spaces inside the text of a link",
    "MD042": "no links without an address",
    "MD045": "images have a text for those who cannot see them",
    "MD047": "the file ends with one line feed",
    "MD056": "every row of a table has as many cells",
    "MD058": "blank lines around tables",
}
FIXABLE = frozenset(
    {"MD001", "MD009", "MD010", "MD012", "MD019", "MD023", "MD027", "MD031", "MD037", "MD038", "MD039", "MD047"}
)
"""The rules that the linter can mend by itself."""
_OUTSIDE_CODE = frozenset({"MD009"})
"""What is no matter of style in code, which stands on a page as its author wrote it."""
_GAVE_UP = "gave up"
_WORTH_SHARING = 8  # pieces from which on several processes are faster than one
_MOST_PROCESSES = 4
_PIECE = 30  # lines, at least, that are looked at together


class _Lint(NamedTuple):
    line: int
    rule_id: str
    text: str


def check(view: View) -> Checked:
    """Pages without their front matter and marks, which are no Markdown; only findings that are new."""
    os.chdir(view.scratch)  # the linter reads settings, and the plug-ins in them, from the folder that it is in
    folder = view.scratch / "lint"
    folder.mkdir()
    texts = {page.path: _plain(page.body) for page in view.pages}
    before = {page.path: text for page in view.pages if (text := _body_before(page, view)) is not None}
    lints = _linted(folder, [*texts.values(), *before.values()])
    after_lints = dict(zip(texts, lints, strict=False))
    before_lints = dict(zip(before, lints[len(texts) :], strict=True))
    found = [
        finding
        for page in view.pages
        for finding in _new(page, after_lints[page.path], before_lints.get(page.path))
    ]
    return Checked(found, notes=[f"rules: {' '.join(sorted(RULES))}", f"pages: {len(texts)}"])


def mended(text: str, rule_id: str) -> str:
    """The text after the linter has mended one rule; the same text where it cannot."""
    if rule_id not in FIXABLE:
        return text
    try:
        parts = split(text)
    except FrontMatterError:
        return text
    head = text[: len(text) - len(parts.body)]
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):  # it loads plug-ins from where it is
        result = _linter([rule_id]).fix_string(parts.body)
    made = result.fixed_file if result.was_fixed else parts.body
    return head + (_with_code_of(parts.body, made) if rule_id in _OUTSIDE_CODE else made)


def _with_code_of(body: str, made: str) -> str:
    """What the linter made of it, line by line, with the code as it was."""
    old, new = body.split("\n"), made.split("\n")
    kept = _code_lines(body)
    return "\n".join(old[at] if at + 1 in kept else line for at, line in enumerate(new))


def _code_lines(body: str) -> set[int]:
    return {number for block in fences(body) for number in range(block.line, block.end_line + 1)}


def _new(page: Page, after: list[_Lint], before: list[_Lint] | None) -> Iterator[Finding]:
    """What was not there before. A finding on a line that the run left alone is an old one, wherever it moved."""
    old = Counter((lint.rule_id, lint.text) for lint in before or ())
    code = _code_lines(page.body)
    for lint in after:
        line = lint.line + page.offset
        if lint.rule_id in _OUTSIDE_CODE and lint.line in code:
            continue
        if old[lint.rule_id, lint.text]:
            old[lint.rule_id, lint.text] -= 1
        elif lint.rule_id == _GAVE_UP:
            yield Finding("MARKDOWN_LINT_GAVE_UP", "The linter cannot read the page.", page.path, anchor=_GAVE_UP)
        elif before is None or _touches(page, line):
            yield _finding(page, lint, line)


def _touches(page: Page, line: int) -> bool:
    """A finding about the space between lines is told on either side of it."""
    return not page.touched.isdisjoint((line - 1, line, line + 1))


def _finding(page: Page, lint: _Lint, line: int) -> Finding:
    rule = lint.rule_id
    line = min(max(line, 1), len(page.file_lines))
    text = page.line_text(line)
    return Finding(
        "MARKDOWN_LINT",
        f"{rule}: {RULES[rule]}.",
        page.path,
        line,
        anchor=f"{rule} {text}",
        suggested_fix=f"Correct it as rule {rule} of the linter asks.",
        fix_rule="lint_fix" if rule in FIXABLE else "",
        data={"rule_id": rule, "line_text": text} if rule in FIXABLE else {},
    )


def _plain(body: str) -> str:
    """The body as the linter should see it: marks are comments of ours."""
    return without_marks(body)


def _body_before(page: Page, view: View) -> str | None:
    if page.is_new:
        return None
    content = view.tree.read(page.path) or b""
    text = content.decode("utf-8", "replace")
    try:
        return _plain(split(text).body)
    except FrontMatterError:
        return _plain(text)


def _linted(folder: Path, texts: list[str]) -> list[list[_Lint]]:
    """What the linter says of each text, in order."""
    pieces = [(number, first, piece) for number, text in enumerate(texts) for first, piece in _pieces(text)]
    answers = _lint_all(folder, [piece for _, _, piece in pieces])
    found: list[list[_Lint]] = [[] for _ in texts]
    for (number, first, _), lints in zip(pieces, answers, strict=True):
        found[number] += [lint._replace(line=lint.line + first) for lint in lints]
    return found


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text cut before headings, with the lines before each piece: the linter's time grows with the square.

    Cut is only where no rule looks across: after a blank line, before a heading that is not too deep there.
    """
    lines = text.split("\n")
    first, level = 0, 1
    for number, line in prose_lines(text):
        heading = heading_of(line)
        if heading is None:
            continue
        start, fits = number - 1, line.startswith("#") and heading[0] <= level + 1
        if fits and start - first >= _PIECE and not lines[start - 1].strip():
            yield first, _ended("\n".join(lines[first:start]))
            first = start
        level = heading[0]
    yield first, "\n".join(lines[first:])


def _ended(piece: str) -> str:
    """A piece that is not the last one: the blank line before the next heading is none at its end."""
    return piece if piece.endswith("\n\n") else piece.rstrip("\n") + "\n"


def _lint_all(folder: Path, texts: list[str]) -> list[list[_Lint]]:
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1)
    if len(texts) < _WORTH_SHARING or processes < 2:
        return _lint_share(folder, texts, "0")
    shares = [texts[number::processes] for number in range(processes)]
    import pymarkdown.api  # noqa: F401 - takes long, and each of them would do it for itself

    # They stay in the group of this process, and end with it.
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        jobs = [(folder, share, str(number)) for number, share in enumerate(shares)]
        answers = pool.starmap(_lint_share, jobs)
    return [answers[number % processes][number // processes] for number in range(len(texts))]


def _lint_share(folder: Path, texts: list[str], name: str) -> list[list[_Lint]]:
    """All texts of a share at once, since the linter takes long to start; one by one where it gives up."""
    from pymarkdown.api import PyMarkdownApiException

    share = folder / name
    share.mkdir()
    files = [share / f"{number:05d}.md" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_bytes(text.encode("utf-8", "replace"))
    found: dict[str, list[_Lint]] = {str(file): [] for file in files}
    try:
        _scan(share, texts, found)
    except PyMarkdownApiException:
        for file in files:
            found[str(file)] = []
            try:
                _scan(file, texts, found)
            except PyMarkdownApiException:
                found[str(file)] = [_Lint(0, _GAVE_UP, "")]
    return [found[str(file)] for file in files]


def _scan(path: Path, texts: list[str], found: dict[str, list[_Lint]]) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    for failure in _linter(RULES).scan_path(str(path)).scan_failures:
        lines = texts[int(Path(failure.scan_file).stem)].split("\n")
        number = failure.line_number
        text = lines[number - 1].strip() if 1 <= number <= len(lines) else ""
        found[failure.scan_file].append(_Lint(number, failure.rule_id, text))


def _linter(rules: Iterable[str]) -> "PyMarkdownApi":
    """The linter with these rules and no others, and with no settings of whoever runs it."""
    from pymarkdown.api import PyMarkdownApi

    linter = PyMarkdownApi(inherit_logging=True).set_boolean_property(
        "plugins.selectively_enable_rules", property_value=True
    )
    for rule in rules:
        linter = linter.enable_rule_by_identifier(rule)
    return linter.set_boolean_property("extensions.markdown-tables.enabled", property_value=True)


GATE = Gate(
    "markdown_lint",
    "markdown_lint",
    check,
    everywhere(MARKDOWN_LINT="warn error error", MARKDOWN_LINT_GAVE_UP="info"),
    seconds(60, 120),
    needs=("pymarkdown",),
)
