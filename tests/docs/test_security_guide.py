"""The threat model names tests that exist, and settings that exist."""

import re
from pathlib import Path

from holdfast.settings import SETTINGS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/security.md").read_text(encoding="utf-8")


def test_every_test_that_the_threat_model_names_is_there() -> None:
    named = re.findall(r"`((?:tests|benchmarks)/[^`]+)`", GUIDE)
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_setting_that_opens_a_door_is_there_and_stands_in_no_file() -> None:
    by_variable = {setting.env: setting for setting in SETTINGS}
    named = set(re.findall(r"`(HOLDFAST_[A-Z_]+)`", GUIDE))
    assert named
    assert [name for name in named if by_variable[name].in_file] == []
