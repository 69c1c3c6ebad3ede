"""The linter: pinned rules, only what is new, mended by itself where that is possible."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.launch.gate_views import INSTALL_MD, START, found, page_text, planned, view_of
from tests.launch.gate_views import artifacts as made

from holdfast.launch.gates.markdown_lint import FIXABLE, GATE, RULES, mended
from holdfast.launch.gates.table import GATES


@pytest.fixture(autouse=True)
def elsewhere() -> Iterator[None]:
    """The gate goes into its scratch folder, which is fine in a process of its own."""
    here = Path.cwd()
    yield
    os.chdir(here)


BAD = {
    "MD001": "## A\n\n#### B\n",
    "MD009": "words   \nmore\n",
    "MD010": "a\tb\n",
    "MD011": "(text)[address]\n",
    "MD012": "a\n\n\nb\n",
    "MD018": "#Heading\n",
    "MD019": "##  Heading\n",
    "MD022": "a\n\n## Heading\ntext\n",
    "MD023": "a\n\n  ## Heading\n",
    "MD027": ">  quoted\n",
    "MD031": "a\n```bash\nx\n```\n",
    "MD032": "a\n\n- x\n- y\n## Heading\n",
    "MD037": "some ** bold ** text\n",
    "MD038": "some ` code` text\n",
    "MD039": "some [ link ](/a) text\n",
    "MD042": "some [link]() text\n",
    "MD045": "![](/a.png)\n",
    "MD047": "no end",
    "MD056": "| a | b |\n| --- | --- |\n| 1 |\n",
    "MD058": "a\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n## Heading\n",
}


def test_every_pinned_rule_has_an_example() -> None:
    assert set(BAD) == set(RULES)
    assert set(RULES) >= FIXABLE


def test_every_rule_finds_its_example_on_a_page_of_its_own(tmp_path: Path) -> None:
    pages = {f"content/docs/tablekit/{rule}.md": page_text(body) for rule, body in BAD.items()}
    findings = found(GATE, view_of(pages, scratch=tmp_path)).findings

    for rule in BAD:
        hits = [finding for finding in findings if finding.path.endswith(f"{rule}.md") and rule in finding.message]
        assert hits, rule
        assert hits[0].line > 5
        assert hits[0].fix_rule == ("lint_fix" if rule in FIXABLE else ""), rule


def test_a_long_page_is_judged_as_one_whatever_the_pieces(tmp_path: Path) -> None:
    part = "## Part {0}\n\n" + "Words.\n\n" * 20
    parts = [part.format(number) for number in range(6)]
    whole = "".join(parts).rstrip("\n") + "\n"
    assert found(GATE, view_of(page_text(whole), scratch=tmp_path / _made(tmp_path, "a"))).findings == []

    parts[2] += "\n"  # two blank lines before the next heading
    parts[4] += "Words   \n\n"
    bad = page_text("".join(parts).rstrip("\n") + "\n")
    findings = found(GATE, view_of(bad, scratch=tmp_path / _made(tmp_path, "b"))).findings
    lines = bad.split("\n")

    assert [finding.data["rule_id"] for finding in findings] == ["MD012", "MD009"]
    assert lines[findings[0].line - 1] == ""
    assert lines[findings[1].line - 1] == "Words   "


def _made(folder: Path, name: str) -> str:
    (folder / name).mkdir()
    return name


def test_a_good_page_passes_marks_and_all(tmp_path: Path) -> None:
    assert found(GATE, view_of(page_text(), scratch=tmp_path)).findings == []


def test_findings_that_were_there_before_are_not_new(tmp_path: Path) -> None:
    old = page_text("a   \nb\n\n\n\nc\n")
    new = page_text("new   \nb\n\na   \nb\n\n\n\nc\n")
    findings = found(GATE, view_of(new, before={INSTALL_MD: old}, scratch=tmp_path)).findings

    assert [(finding.data["rule_id"], finding.data["line_text"]) for finding in findings] == [("MD009", "new")]


@pytest.mark.parametrize("rule", sorted(FIXABLE))
def test_what_can_be_mended_is_mended_and_the_front_matter_stays(rule: str, tmp_path: Path) -> None:
    text = page_text(BAD[rule] + ("" if rule == "MD047" else "\nTail. <!-- claim:clm_0123456789abcdef -->\n"))
    after = mended(text, rule)
    findings = found(GATE, view_of(after, scratch=tmp_path)).findings

    assert after != text
    assert after.startswith(text.partition("\n\n")[0])
    assert not [finding for finding in findings if rule in finding.message]
    assert mended(after, rule) == after


def test_spaces_at_the_end_of_a_line_of_code_are_its_author_s(tmp_path: Path) -> None:
    code = "```java\nlog(a, \n  b);   \n```\n"
    assert found(GATE, view_of(page_text(code), scratch=tmp_path)).findings == []
    text = page_text(f"words \nmore\n\n{code}")
    assert mended(text, "MD009") == page_text(f"words\nmore\n\n{code}")


def test_what_cannot_be_mended_stays_as_it_is() -> None:
    assert mended(page_text(BAD["MD011"]), "MD011") == page_text(BAD["MD011"])
    assert mended("---\nx: [\n---\na   \n", "MD009") == "---\nx: [\n---\na   \n"


def test_settings_in_the_current_folder_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / ".pymarkdown").write_text('{"plugins": {"md009": {"enabled": false}}}')
    monkeypatch.chdir(tmp_path / "here")

    assert len(found(GATE, view_of(page_text(BAD["MD009"]), scratch=tmp_path)).findings) == 1


def test_plug_ins_of_the_current_folder_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".pymarkdown").write_text('{"plugins": {"additional_paths": "plug.py"}}')
    (tmp_path / "plug.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    page = page_text(BAD["MD009"])

    assert mended(page, "MD009") != page
    assert not (tmp_path / "loaded").exists()


def test_fifty_pages_cost_at_most_two_seconds_without_hugo(tmp_path: Path) -> None:
    paths = [f"content/docs/tablekit/page-{number:02d}.md" for number in range(50)]
    plan = made()["page_plan"] | {
        "pages": [
            planned(page_id=f"docs/{number}", output_path=path, url_path=f"/docs/{number}/")
            for number, path in enumerate(paths)
        ]
    }
    more = "".join(f"\n## Part {name}\n\nSome words.\n\n- One thing.\n- Another thing.\n" for name in "abcdef")
    view = view_of(dict.fromkeys(paths, page_text(START + more)), page_plan=plan, scratch=tmp_path)
    begun = _spent()
    for gate in GATES:
        if "hugo" not in gate.needs:
            assert found(gate, view).findings == []

    assert _spent() - begun < 2 * min(2, os.cpu_count() or 1)  # seconds of processors, of which two are used


def _spent() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
