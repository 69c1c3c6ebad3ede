from collections.abc import Callable
from typing import Any

import pytest
from tests.rows import each_row

from holdfast.launch.code_fences import fences
from holdfast.launch.fixing.rules import RULES, choose, fixable
from holdfast.launch.issues import issue

A, B = "clm_" + "a" * 16, "clm_" + "b" * 16
MARK_A = f" <!-- claim:{A} -->"
LIVE = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
HEAD = "---\ntitle: T\n---\n\n"


def found(
    rule: str, *, line: int = 0, severity: str = "blocker", gate: str = "g", anchor: str = "", **data: Any
) -> dict[str, Any]:
    return issue(
        gate, "CODE", severity, "message", path="content/x.md", line=line, fix_rule=rule, data=data, anchor=anchor
    )


def sha_of(text: str, number: int = 0) -> str:
    return fences(text)[number].code_sha256


PY = HEAD + "Text.\n\n```\nprint(1)\n```\n\nMore.\n"
SH = HEAD + "```bash\n$ pip install wrong\npip install wrong\npip install wrong-er\n```\n\npip install wrong\n"

# rule, data, before, after
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "remove_template_token",
        {"token": "__NAME__", "line_text": "Use __NAME__ now."},
        HEAD + "Use __NAME__ now.\n",
        HEAD + "Use now.\n",
    ),
    (
        "remove_template_token",
        {"token": "{{ x }}", "line_text": "All of {{ x }}."},
        HEAD + "All of {{ x }}.\n",
        HEAD + "All of.\n",
    ),
    (
        "remove_template_token",
        {"token": "__X__", "line_text": "- __X__"},
        HEAD + "- a\n- __X__\n- b\n",
        HEAD + "- a\n- b\n",
    ),
    (
        "remove_template_token",
        {"token": "__X__", "line_text": "## __X__"},
        HEAD + "a\n\n## __X__\n\nb\n",
        HEAD + "a\n\nb\n",
    ),
    (
        "remove_template_token",
        {"token": "__X__", "line_text": "title: __X__"},
        "---\ntitle: __X__\n---\nb\n",
        "---\ntitle: __X__\n---\nb\n",
    ),
    (
        "remove_template_token",
        {"token": "__X__", "line_text": "title: A __X__"},
        "---\ntitle: A __X__\n---\nb\n",
        "---\ntitle: A\n---\nb\n",
    ),
    (
        "redact_secret",
        {"line_text": "- ghp_REDACTED now"},
        f"{HEAD}- {LIVE}\n- {LIVE} now{MARK_A}\n",
        f"{HEAD}- {LIVE}\n- ghp_REDACTED now{MARK_A}\n",
    ),
    ("complete_frontmatter", {"key": "weight", "value": 3}, HEAD + "b\n", "---\ntitle: T\nweight: 3\n---\n\nb\n"),
    ("complete_frontmatter", {"key": "title", "value": "New"}, "b\n", "---\ntitle: New\n---\n\nb\n"),
    ("complete_frontmatter", {"key": "title", "value": "New"}, "---\n[\n---\nb\n", "---\n[\n---\nb\n"),
    (
        "replace_frontmatter",
        {"key": "title", "value": "New"},
        "---\n# c\ntitle: 3\n---\nb\n",
        "---\n# c\ntitle: New\n---\nb\n",
    ),
    (
        "replace_frontmatter",
        {"values": {"title": "New", "weight": 1}},
        "---\na: [\n---\n\nb\n",
        "---\ntitle: New\nweight: 1\n---\n\nb\n",
    ),
    (
        "replace_frontmatter",
        {"values": {"title": "New"}},
        "---\na: b\n\n# H\n\nb\n",
        "---\ntitle: New\n---\n\n# H\n\nb\n",
    ),
    (
        "replace_frontmatter",
        {"values": {"title": "New"}, "format": "toml"},
        HEAD + "b\n",
        '+++\ntitle = "New"\n+++\n\nb\n',
    ),
    ("lint_fix", {"rule_id": "MD012", "line_text": ""}, HEAD + "a\n\n\nb\n", HEAD + "a\n\nb\n"),
    ("lint_fix", {"rule_id": "MD045", "line_text": ""}, HEAD + "![](x)\n", HEAD + "![](x)\n"),
    (
        "remove_dead_link",
        {"target": "/gone/", "line_text": 'See [the `x` page](/gone/ "t") and [y](/y/).'},
        HEAD + 'See [the `x` page](/gone/ "t") and [y](/y/).\n',
        HEAD + "See the `x` page and [y](/y/).\n",
    ),
    (
        "remove_dead_link",
        {"target": "a.png", "line_text": "![x](a.png)"},
        HEAD + "a\n\n![x](a.png)\n\nb\n",
        HEAD + "a\n\nb\n",
    ),
    (
        "remove_dead_link",
        {"target": "/g", "line_text": "[a][r] b"},
        HEAD + "[a][r] b\n\n[r]: /g\n",
        HEAD + "a b\n\n[r]: /g\n",
    ),
    (
        "remove_dead_link",
        {"target": "/g", "line_text": '<a href="/g">a</a> b'},
        HEAD + '<a href="/g">a</a> b\n',
        HEAD + "a b\n",
    ),
    (
        "remove_dead_link",
        {"target": "/g", "line_text": "[a](/g)"},
        HEAD + "```\n[a](/g)\n```\n",
        HEAD + "```\n[a](/g)\n```\n",
    ),
    (
        "repair_anchor",
        {"target": "#ol", "replacement": "#old", "line_text": "[a](#ol) [b](#olo)"},
        HEAD + "[a](#ol) [b](#olo)\n",
        HEAD + "[a](#old) [b](#olo)\n",
    ),
    (
        "mark_line",
        {"claim_ids": [A], "line_text": "It reads CSV."},
        HEAD + "It reads CSV.\n",
        HEAD + f"It reads CSV.{MARK_A}\n",
    ),
    (
        "mark_line",
        {"claim_ids": [A], "line_text": "| a | b |"},
        HEAD + "| a | b |\n",
        HEAD + f"| a | b{MARK_A} |\n",
    ),
    (
        "mark_line",
        {"claim_ids": [A], "line_text": "x"},
        HEAD + f"x <!-- claim:{B} -->\n",
        HEAD + f"x <!-- claim:{B},{A} -->\n",
    ),
    (
        "mark_line",
        {"claim_ids": [A], "line_text": "x = 1"},
        HEAD + "```\nx = 1\n```\n",
        HEAD + "```\nx = 1\n```\n",
    ),
    (
        "drop_uncited_line",
        {"line_text": "Up to 9 of them."},
        HEAD + "a\n\nUp to 9 of them.\n\nb\n",
        HEAD + "a\n\nb\n",
    ),
    ("drop_uncited_line", {"line_text": "b"}, HEAD + "a\n\nb\n", HEAD + "a\n"),
    ("drop_uncited_line", {"line_text": "| a |"}, HEAD + "| a |\n| - |\n| b |\n", HEAD + "| a |\n| - |\n| b |\n"),
    ("drop_uncited_line", {"line_text": "x"}, HEAD + "```\nx\n```\n", HEAD + "```\nx\n```\n"),
    ("drop_uncited_line", {"line_text": "title: T"}, HEAD + "x\n", HEAD + "x\n"),
    (
        "drop_unknown_mark",
        {"claim_id": B, "line_text": "x"},
        HEAD + f"x <!-- claim:{A},{B} -->\n",
        HEAD + f"x{MARK_A}\n",
    ),
    ("drop_unknown_mark", {"claim_id": "odd", "line_text": "x"}, HEAD + "x <!-- claim:odd -->\n", HEAD + "x\n"),
    (
        "drop_duplicate_claim",
        {"claim_id": A, "line_text": "x"},
        HEAD + f"x\n\ny{MARK_A}\n\nx{MARK_A}\n",
        HEAD + f"x\n\ny{MARK_A}\n",
    ),
    (
        "insert_required_heading",
        {"heading": "Limits", "level": 2, "lines": [f"- One.{MARK_A}"], "after": ""},
        HEAD + "a\n",
        HEAD + f"a\n\n## Limits\n\n- One.{MARK_A}\n",
    ),
    (
        "insert_required_heading",
        {"heading": "New", "level": 2, "lines": [], "after": "A"},
        HEAD + "## A\n\n### A1\n\na\n\n## B\n\nb\n",
        HEAD + "## A\n\n### A1\n\na\n\n## New\n\n## B\n\nb\n",
    ),
    (
        "insert_required_heading",
        {"heading": "limits", "level": 2, "lines": [f"- One.{MARK_A}", "- Two."]},
        HEAD + "## Limits\n\n- One.\n\n## B\n",
        HEAD + f"## Limits\n\n- One.{MARK_A}\n- Two.\n\n## B\n",
    ),
    (
        "insert_required_heading",
        {"heading": "Limits", "level": 2, "lines": [f"- One.{MARK_A}"]},
        HEAD + "## Limits\n\n- One.\n",
        HEAD + f"## Limits\n\n- One.{MARK_A}\n",
    ),
    (
        "replace_install_command",
        {"found": "$ pip install x", "expected": "pip install y"},
        HEAD + "```\n$ pip install x\n```\n",
        HEAD + "```\n$ pip install y\n```\n",
    ),
    (
        "replace_install_command",
        {"found": "pip install x", "expected": "pip install y"},
        HEAD + "Use `pip install x` now.\n",
        HEAD + "Use `pip install y` now.\n",
    ),
    (
        "remove_dead_link",
        {"target": "/g", "line_text": "- [Reads 3 things](/g)"},
        HEAD + "- [Reads 3 things](/g)\n- b\n",
        HEAD + "- b\n",
    ),
    (
        "repair_anchor",
        {"target": "https://h/a/t", "replacement": "https://h/b/t", "line_text": "At https://h/a/t."},
        HEAD + "At https://h/a/t.\n",
        HEAD + "At https://h/b/t.\n",
    ),
    (
        "repair_anchor",
        {"target": "/a", "replacement": "/b", "line_text": "[x][r]"},
        HEAD + "[x][r]\n\n[r]: /a\n",
        HEAD + "[x][r]\n\n[r]: /b\n",
    ),
    (
        "replace_install_command",
        {"found": "pip install wrong", "expected": "pip install right"},
        SH,
        SH.replace("wrong\npip install wrong\n", "right\npip install right\n", 1),
    ),
    ("drop_snippet", {"code_sha256": sha_of(PY)}, PY, HEAD + "Text.\n\nMore.\n"),
    (
        "set_fence_language",
        {"code_sha256": sha_of(PY), "language": "python"},
        PY,
        PY.replace("```\nprint", "```python\nprint"),
    ),
    ("restore_file", {"path": "content/x.md"}, PY, PY),
]


@each_row(("rule", "data", "before", "after"), CASES)
def test_a_rule_mends_its_finding_and_nothing_else_and_does_so_once(
    rule: str, data: dict[str, Any], before: str, after: str
) -> None:
    found_issue = found(rule, **data)
    assert fixable(found_issue)
    mended = RULES[rule].mend(before, found_issue)
    assert mended == after
    assert RULES[rule].mend(mended, found_issue) == after


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(RULES)


@each_row("rule", sorted(RULES))
@each_row("text", ["", "\n", "---\n", "\n\n\n", "```\n", HEAD, "x\r\n", "# H\n", "---\n---\n"])
def test_no_rule_stumbles_over_an_odd_page(rule: str, text: str) -> None:
    every: dict[str, Any] = {
        "token": "t",
        "line_text": "",
        "key": "k",
        "value": 1,
        "rule_id": "MD012",
        "target": "",
        "replacement": "r",
        "claim_ids": [A],
        "claim_id": A,
        "heading": "H",
        "level": 2,
        "lines": [],
        "found": "f",
        "expected": "e",
        "code_sha256": "0" * 64,
        "language": "python",
        "path": "content/x.md",
    }
    assert isinstance(RULES[rule].mend(text, found(rule, line=9, **every)), str)


@pytest.mark.parametrize("line", [1, 5, 7, 99])
def test_of_lines_that_read_the_same_the_nearest_one_is_mended(line: int) -> None:
    text = HEAD + "same\n\nsame\n"
    mended = RULES["mark_line"].mend(text, found("mark_line", line=line, line_text="same", claim_ids=[A]))
    assert mended.split("\n").index(f"same{MARK_A}") == (4 if line < 6 else 6)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda each: each.pop("location"),
        lambda each: each.pop("fix_rule"),
        lambda each: each.update(fix_rule="unheard_of"),
        lambda each: each["data"].pop("claim_ids"),
        lambda each: each["data"].update(line_text=3),
        lambda each: each.pop("data"),
    ],
)
def test_an_issue_without_a_rule_or_without_what_its_rule_needs_is_not_fixable(
    spoil: Callable[[dict[str, Any]], Any],
) -> None:
    one = found("mark_line", line_text="x", claim_ids=[A])
    assert fixable(one)
    spoil(one)
    assert not fixable(one)
    assert choose([one], ()) is None


def test_the_first_counting_issue_that_has_a_rule_and_was_not_tried_is_chosen() -> None:
    none = issue("a", "CODE", "blocker", "no rule", path="content/x.md")
    first = found("drop_uncited_line", gate="b", line_text="1", file_sha256="f1", anchor="1")
    second = found("drop_uncited_line", gate="c", line_text="2", severity="error", anchor="2")
    warning = found("drop_uncited_line", gate="a", line_text="3", severity="warn", anchor="3")
    every = [warning, second, none, first]
    assert choose(every, ()) == first
    assert choose(every, {(first["issue_id"], "f1")}) == second
    assert choose(every, {(first["issue_id"], "f0")}) == first
    assert choose(every, {(first["issue_id"], "f1"), (second["issue_id"], "")}) is None
    assert choose([{**first, "status": "RESOLVED"}], ()) is None
