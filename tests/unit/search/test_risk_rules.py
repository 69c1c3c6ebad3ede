"""Rule files: the built-in one is sound, a user's own adds, replaces and switches off, a broken one is refused."""

import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.search.risk import loading
from holdfast.search.risk.loading import load_rules, rules_digest
from holdfast.search.risk.patterns import CALL, READ, parse_pattern
from holdfast.search.risk.rules import RuleSet, Sanitizer, Sink, Source


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "rules.toml"


def names(rules: RuleSet, language: str, call: str) -> list[str]:
    return [rule.name for rule in rules.for_language(language).sink_calls.matching(call)]


def test_the_built_in_rules_know_the_usual_dangers() -> None:
    rules = load_rules()

    assert names(rules, "python", "os.system") == ["os.system"]
    assert names(rules, "typescript", "child_process.exec") == ["child_process.exec"]
    assert names(rules, "go", "http.Get") == ["http.fetch"]
    assert names(rules, "java", "Runtime.getRuntime().exec") == ["Runtime.exec"]
    assert names(rules, "php", "shell_exec") == ["system"]


def test_no_two_built_in_rules_of_a_kind_share_name_and_language() -> None:
    rules = load_rules()

    kinds: list[Sequence[Source | Sink | Sanitizer]] = [rules.sources, rules.sinks, rules.sanitizers]
    for kind in kinds:
        for first, second in combinations(kind, 2):
            assert first.name != second.name or not first.languages & second.languages, first.name


def test_every_sanitizer_cleans_for_categories_that_exist() -> None:
    rules = load_rules()
    categories = {rule.category for rule in rules.sinks} | {"*"}

    assert all(rule.categories <= categories for rule in rules.sanitizers)


def test_a_rule_of_the_users_is_added_and_comes_first(own: Path) -> None:
    own.write_text("""
[[sink]]
name = "our.shell"
patterns = ["os.system", "*.our_shell"]
category = "command-injection"
severity = "low"
""")

    assert names(load_rules(own), "python", "os.system") == ["our.shell", "os.system"]
    assert names(load_rules(own), "rust", "x.our_shell") == ["our.shell"]


def test_a_rule_of_the_same_name_replaces_the_built_in_one_of_its_languages(own: Path) -> None:
    own.write_text("""
[[source]]
name = "process.env"
languages = ["python"]
patterns = ["settings.secret"]
""")

    texts = {p.text for rule in load_rules(own).sources if rule.name == "process.env" for p in rule.patterns}

    assert "settings.secret" in texts
    assert "os.environ" not in texts
    assert "process.env" in texts  # of JavaScript, still there


def test_a_rule_can_be_switched_off(own: Path) -> None:
    own.write_text('[[sink]]\nname = "eval"\nenabled = false\n')

    assert names(load_rules(own), "python", "eval") == []
    assert names(load_rules(own), "javascript", "eval") == []


def test_the_rules_are_read_again_when_their_file_changes(own: Path) -> None:
    own.write_text("")
    before = load_rules(own)
    assert load_rules(own) is before
    own.write_text('[[sink]]\nname = "eval"\nenabled = false\n')
    os.utime(own, ns=(1, 1))

    assert names(load_rules(own), "python", "eval") == []


def test_the_digest_tells_edited_rules_apart_and_nothing_else(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one.toml", "same.toml", "other.toml"))
    one.write_text("")
    same.write_text("")
    os.utime(same, ns=(1, 1))
    other.write_text('[[sink]]\nname = "eval"\nenabled = false\n')

    assert rules_digest(one) == rules_digest(same) == rules_digest(one)
    assert len({rules_digest(), rules_digest(one), rules_digest(other)}) == 3


def test_the_digest_is_that_of_the_content_even_where_size_and_time_stay_the_same(own: Path) -> None:
    own.write_text("# a")
    os.utime(own, ns=(1, 1))
    before = rules_digest(own)
    own.write_text("# b")
    os.utime(own, ns=(1, 1))

    assert rules_digest(own) != before


def test_the_digest_changes_with_the_built_in_rules(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.write_text("# other rules of a later version")
    before = rules_digest()
    monkeypatch.setattr(loading, "_BUILT_IN", own)

    assert rules_digest() != before


def test_a_digest_of_rules_that_are_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        rules_digest(tmp_path / "none.toml")


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "not toml": ("[[sink", "cannot be read"),
    "not utf-8": (b"\xff\xfe", "cannot be read"),
    "an unknown kind": ("[[sinks]]\nname = 'x'", "[[sinks]] is no kind of rule"),
    "no tables": ("sink = 3", "sink must be tables"),
    "no name": ("[[sink]]\nseverity = 'low'", "name must be a text"),
    "an empty name": ("[[source]]\nname = ' '", "name must be a text"),
    "an unknown key": ("[[source]]\nname = 'x'\npattern = ['a']", "source 'x': pattern is not known"),
    "no patterns": ("[[source]]\nname = 'x'", "source 'x': patterns must not be empty"),
    "patterns of another type": ("[[source]]\nname = 'x'\npatterns = 'a'", "source 'x': patterns must be a list"),
    "a pattern with blanks": ("[[source]]\nname = 'x'\npatterns = ['a b']", "'a b' is not a dotted name"),
    "a star at the end": ("[[source]]\nname = 'x'\npatterns = ['os.*']", "'os.*' has no last name"),
    "a severity": (
        "[[sink]]\nname = 'x'\npatterns = ['a']\ncategory = 'c'\nseverity = 'bad'",
        "sink 'x': severity is 'bad'",
    ),
    "no category": (
        "[[sink]]\nname = 'x'\npatterns = ['a']\nseverity = 'low'",
        "sink 'x': category must be a text",
    ),
    "a negative argument": (
        "[[sink]]\nname = 'x'\npatterns = ['a']\ncategory = 'c'\nseverity = 'low'\nargument = -1",
        "sink 'x': argument must be a number",
    ),
    "an expression": (
        "[[sink]]\nname = 'x'\npatterns = ['a']\ncategory = 'c'\nseverity = 'low'\nwhen = '('",
        "sink 'x': when is no regular expression",
    ),
    "cleans nothing": ("[[sanitizer]]\nname = 'x'\npatterns = ['a']", "sanitizer 'x': for must not be empty"),
    "off, but unknown": ("[[sink]]\nname = 'evil'\nenabled = false", "sink 'evil': enabled switches off a rule"),
    "enabled is no flag": (
        "[[sink]]\nname = 'eval'\nenabled = 'no'",
        "sink 'eval': enabled must be true or false",
    ),
    "twice": (
        "[[source]]\nname = 'x'\npatterns = ['a']\n[[source]]\nname = 'x'\npatterns = ['b']",
        "source 'x': name is given twice",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_refused_by_rule_and_key(own: Path, what: str) -> None:
    content, message = BROKEN[what]
    own.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(UsageError) as refused:
        load_rules(own)

    assert message in refused.value.message
    assert str(own) in refused.value.message
    assert refused.value.remedy


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_rules(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("pattern", "name", "meant"),
    [
        ("os.system", "os.system", True),
        ("os.system", "self.os.system", True),
        ("os.system", "pos.system", False),
        ("os.system", "os.systems", False),
        ("eval()", "eval", True),
        ("eval()", "self.eval", False),
        ("File()", "new File", True),
        ("*cursor.execute", "self._cursor.execute", True),
        ("*cursor.execute", "dbCursor.execute", True),
        ("*cursor.execute", "executor.execute", False),
        ("*.extractall", "extractall", False),
        ("*cursor().execute", "conn.cursor().execute", True),
    ],
)
def test_a_pattern_matches_the_names_that_it_means(pattern: str, name: str, meant: bool) -> None:
    assert bool(parse_pattern(pattern, CALL).matches.match(name)) is meant


@pytest.mark.parametrize(
    ("pattern", "text", "meant"),
    [
        ("request.args", "x = request.args.get(1)", True),
        ("request.args", "x = request\n    .args", True),
        ("request.args", "x = request?.args", True),
        ("request.args", "x = request.argsort()", False),
        ("req.body", "x = req.bodyguard", False),
        ("$_GET", "x = $_GET['a']", True),
    ],
)
def test_a_read_is_found_in_a_text(pattern: str, text: str, meant: bool) -> None:
    assert bool(parse_pattern(pattern, READ).search.search(text.encode())) is meant
