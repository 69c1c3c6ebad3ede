"""The guide to languages: its commands print what it shows, and the language that it adds is one."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.labelled import scoring

from holdfast.search import languages

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/languages.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"```(\w+)\n(.*?)```", GUIDE, flags=re.DOTALL)


def block(language: str) -> str:
    (found,) = (text for name, text in BLOCKS if name == language)
    return found


def printed(command: str) -> list[str]:
    words = shlex.split(command)
    module = ["-m", *words] if words[0] == "holdfast" else words[1:]
    done = subprocess.run(
        [sys.executable, *module],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_command_of_the_guide_begins_and_ends_as_the_guide_shows() -> None:
    consoles = [text.splitlines() for name, text in BLOCKS if name == "console"]
    assert len(consoles) == 3
    for command, *shown in consoles:
        found, gap = printed(command.removeprefix("$ ")), shown.index("...")
        assert found[:gap] == shown[:gap]
        assert found[len(found) - len(shown[gap + 1 :]) :] == shown[gap + 1 :]


def test_the_language_of_the_guide_finds_everything_in_its_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = tmp_path / "samples" / "fish"
    samples.mkdir(parents=True)
    (tmp_path / "fish.py").write_text(block("python"), encoding="utf-8")
    (samples / "greet.fish").write_text(block("fish"), encoding="utf-8")
    (samples / "greet.fish.labels").write_text(block("labels"), encoding="utf-8")
    monkeypatch.setattr(languages, "__path__", [str(tmp_path), *languages.__path__])
    monkeypatch.setattr(languages, "LANGUAGES", languages.LANGUAGES | {"fish"})
    monkeypatch.delitem(sys.modules, "holdfast.search.languages.fish", raising=False)
    monkeypatch.setattr(scoring, "SAMPLES", samples.parent)
    for cached in (languages.described, languages.available):
        cached.cache_clear()

    try:
        definitions, facts = scoring.score_language("fish")
    finally:
        for cached in (languages.described, languages.available):
            cached.cache_clear()
        sys.modules.pop("holdfast.search.languages.fish", None)

    assert (definitions.missing(), definitions.wrong()) == ([], [])
    assert (len(definitions.wanted), facts.missing(), facts.wrong()) == (2, [], [])


def test_what_the_guide_points_to_is_there() -> None:
    for path in re.findall(r"`((?:src|tests)/[\w/.]+?)/?`", GUIDE):
        if "fish" not in path:
            assert (ROOT / path).exists(), path
    folder = ROOT / "src/holdfast/search/languages"
    for name in ("go.py", "sql.py", "rules/language.py"):
        assert f"`{name}`" in GUIDE
        assert (folder / name).is_file()
