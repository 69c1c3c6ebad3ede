"""Absolute paths disappear, everything else stays."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.api.options import MountedRepository
from holdfast.api.redact import MARKER, PathRedactor

ROOT = "/home/jane/My Projects/app"
REDACTOR = PathRedactor(
    [MountedRepository("app", ROOT), MountedRepository("lib", f"{ROOT}/lib")], top_level=["work"]
)


@each_row(
    ("text", "shown"),
    [
        (ROOT, "app"),
        (f"{ROOT}/src/a b.py", "app/src/a b.py"),
        (f"{ROOT}/lib/x.py", "lib/x.py"),
        (f"{ROOT}-old/x.py", MARKER),
        (f"cannot read {ROOT}/src/a.py: denied", "cannot read app/src/a.py: denied"),
        ("cannot read /usr/lib/x.so: denied", f"cannot read {MARKER}: denied"),
        ("in '/opt/with space/x'", f"in '{MARKER}'"),
        ("path:/etc/passwd", f"path:{MARKER}"),
        ("(/work/x)", f"({MARKER})"),
        ("//etc//passwd", MARKER),
        ("/srv/data with spaces", MARKER),
        ("C:\\Users\\jane\\x.txt", MARKER),
        ("see file:///home/jane/x", f"see {MARKER}"),
        ("/odd/place/settings.toml", MARKER),
        ("src/app.py", "src/app.py"),
        ("../x/y.py", "../x/y.py"),
        ("~/x/y.py", "~/x/y.py"),
        ("/query", "/query"),
        ("/path/0", "/path/0"),
        ("must match /ab+c/i", "must match /ab+c/i"),
        ("GET /search/stream", "GET /search/stream"),
        ("https://example.org/usr/lib/x.so", "https://example.org/usr/lib/x.so"),
        ("1/2 and/or 3", "1/2 and/or 3"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_text_keeps_everything_but_its_absolute_paths(text: str, shown: str) -> None:
    assert REDACTOR.text(text) == shown


def test_what_stands_under_the_key_of_a_path_is_one_wherever_it_leads() -> None:
    value = {"cacheDir": "/strange", "files": ["/strange/x", "src/x"], "note": "/strange", "/etc/x": {"root": "/"}}

    assert REDACTOR.value(value) == {
        "cacheDir": MARKER, "files": [MARKER, "src/x"], "note": "/strange", MARKER: {"root": MARKER},
    }  # fmt: skip


def test_pointers_of_a_violation_stay() -> None:
    violation = {
        "instancePath": "/path/0",
        "schemaPath": "#/properties/path/type",
        "message": "/path/0 is no text",
    }

    assert REDACTOR.value({"violations": [violation]}) == {"violations": [violation]}


def test_content_is_not_ours_to_change_and_is_not_even_copied() -> None:
    hits = [{"text": f"open('{ROOT}/x')"}]

    assert REDACTOR.value({"code": hits, "path": ROOT}, content=frozenset({"code"}))["code"] is hits


def test_where_paths_may_be_shown_nothing_changes() -> None:
    value = {"root": ROOT, "deep": [ROOT]}

    assert PathRedactor([], show_paths=True).value(value) == value
    assert PathRedactor([], show_paths=True).text(ROOT) == ROOT


def test_values_deeper_than_any_answer_are_cut() -> None:
    value: Any = "/etc/passwd"
    for _ in range(500):
        value = [value]

    assert "/etc/passwd" not in json.dumps(REDACTOR.value({"x": value}))


WORDS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
KEYS = WORDS.filter(lambda key: not key.endswith("Path"))  # two of them are pointers, not paths
PATHS = st.sampled_from([ROOT, f"{ROOT}/lib", "/etc", "/work", "/var/lib", "/usr/share/x"]).flatmap(
    lambda start: st.lists(st.from_regex(r"[a-z][a-z0-9_-]{0,8}(\.[a-z]{1,3})?", fullmatch=True), max_size=3).map(
        lambda rest: "/".join([start, *rest])
    )
)
SENTENCES = st.tuples(st.from_regex(r"([a-z]{1,8} ?){0,3}[ (\"'=:]?", fullmatch=True), PATHS, WORDS).map(
    lambda parts: f"{parts[0]} {parts[1]} {parts[2].replace('/', ' ')}"
)


@given(
    st.recursive(
        PATHS | SENTENCES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PATHS | KEYS, inner, max_size=3),
        max_leaves=6,
    )
)
def test_no_path_of_the_machine_is_left_anywhere(value: Any) -> None:
    shown = json.dumps(REDACTOR.value({"x": value}))

    for start in ("/home/jane", "/etc", "/work", "/var/lib", "/usr/share"):
        assert f'"{start}' not in shown
        assert f" {start}/" not in shown


@given(
    st.recursive(
        WORDS | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
        max_leaves=6,
    )
)
def test_values_without_slashes_stay_as_they_are(value: Any) -> None:
    text = json.dumps(value)
    if "/" not in text and "\\\\" not in text:
        assert REDACTOR.value({"x": value}) == {"x": value}
