"""The skill agrees with the project: all that it names is there, its commands run, and so does its Python."""

import re
import shlex
from pathlib import Path

import pytest
from tests.docs.skill_check import blocks, problems

from holdfast.cli.app import main
from holdfast.cli.skill import _PAGES

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills" / "mcp-bootstrap"
PAGES = sorted(SKILL.rglob("*.md"))
PYTHON = [
    pytest.param(block.text, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page.read_text(encoding="utf-8")))
    if block.language == "python"
]


@pytest.mark.requirement("S3-skill-owned")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_everything_that_the_skill_names_is_there(page: Path) -> None:
    assert problems(page.read_text(encoding="utf-8"), page) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("`holdfast serv inventory.py`", "there is no command 'serv'"),
        ("`holdfast contract lok TARGET`", "there is no command 'lok'"),
        ("`holdfast run --spares 1 -- COMMAND`", "--spares"),
        ("`holdfast call TARGET TOOL --render xml`", "xml"),
        ("`holdfast serve --standalone`", "target"),
        ("```sh\nholdfast ps --jsn\n```", "--jsn"),
        ("```console\n$ holdfast events --folow\n```", "--folow"),
        ("```console\n$ curl example\n```", "curl is not our command"),
        ("`--spares`", "there is no `--spares`"),
        ("`replay_save`", "there is no `replay_save`"),
        ("`effect.idempotent()`", "there is no `effect.idempotent()`"),
        ("`session_state=SessionState.STICKY`", "there is no `session_state=SessionState.STICKY`"),
        ("`dead_line`", "there is no `dead_line`"),
        ("`HOLDFAST_DEAD_LINE`", "there is no `HOLDFAST_DEAD_LINE`"),
        ("`AMBIGOUS_OUTCOME`", "there is no `AMBIGOUS_OUTCOME`"),
        ("`worker_gone`", "there is no `worker_gone`"),
        ("`references/missing.md`", "there is no `references/missing.md`"),
        ("`holdfast.yaml.toml`", "there is no `holdfast.yaml.toml`"),
        ("[page](references/missing.md)", "there is no file references/missing.md"),
        ("`ctx.spawn`", "there is no `ctx.spawn`"),
        ("`safe=True`", "there is no `safe=True`"),
        ("`SyncronContext`", "there is no `SyncronContext`"),
        ("`it works`", "nobody knows what `it works` is"),
        ("```python\nfrom holdfast import Sever\n```", "holdfast has no Sever"),
        ("```toml\n[servers.a.tools.b]\neffect = 'safe'\n```", "effect"),
        ("```toml\n[servers.a]\ndead_line = 3\n```", "dead_line"),
        ('```json\n{"mcpServers": {"a": {"command": "holdfast", "args": ["rn", "--", "x"]}}}\n```', "rn"),
        ("```ruby\nputs 1\n```", "nobody checks a block of ruby"),
    ],
)
def test_what_is_not_there_is_reported(text: str, told: str) -> None:
    (problem,) = problems(text, SKILL / "SKILL.md")
    assert told in problem


def test_the_skill_introduces_itself_to_an_agent() -> None:
    head, name, description, rest = (SKILL / "SKILL.md").read_text(encoding="utf-8").split("\n", 3)
    assert (head, name) == ("---", "name: mcp-bootstrap")
    assert description.startswith("description: Use when ")
    assert len(description) < 600
    assert rest.startswith("---\n")


def test_the_router_stays_thin_and_leads_to_every_page() -> None:
    router = (SKILL / "SKILL.md").read_text(encoding="utf-8")
    assert len(router.splitlines()) < 80
    linked = set(re.findall(r"\((references/[\w-]+\.md)\)", router))
    assert linked == {f"references/{page.name}" for page in (SKILL / "references").iterdir()}
    assert {"SKILL.md", *linked} == set(_PAGES.values())


def test_the_checklist_is_numbered_and_complete() -> None:
    text = (SKILL / "references" / "checklist.md").read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", text, flags=re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 40


@pytest.mark.parametrize("source", PYTHON)
def test_the_python_of_the_skill_runs(source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    exec(compile(source, "skill", "exec"), {"__name__": "block_of_the_skill"})


def test_the_commands_of_a_fresh_server_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (SKILL / "references" / "bootstrap-fresh.md").read_text(encoding="utf-8")
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    for line in (line for block in blocks(page) if block.language == "sh" for line in block.commands()):
        program, *words = shlex.split(line)
        if program == "cd":
            monkeypatch.chdir(words[0])
        else:
            assert main(words) == 0, (line, capsys.readouterr())
    assert "count: 12" in capsys.readouterr().out
    assert (tmp_path / "stock-room" / "contracts" / "stock-room.lock.json").is_file()
