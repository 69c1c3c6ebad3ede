"""TOML from anywhere: what would take for ever is refused, and what only looks like it is read."""

import contextlib
import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.settings.toml import MOST_PARTS, TomlRefused, parse_toml

_MIB = 1024 * 1024
TOWER = "a." * 5000 + "b = 1"


@pytest.mark.parametrize(
    "text",
    [
        "a." * (_MIB // 2) + "b = 1",
        "[" + " . ".join(["'a'", '"b"'] * 50_000) + "]",
        '"\\"".' * 100_000 + "b = 1",  # a quote that does not end its name
        f'a = {{b = """\n""", {TOWER}}}',  # behind a text of several lines
        f"a = {{b = '''\n''''', {TOWER}}}",
        f'# "\n{TOWER}',
        f'x = "a # \\""\n{TOWER}',
        f'x = \'"""\'\n{TOWER}',
    ],
    ids=lambda text: text[:20],
)
def test_a_key_without_an_end_is_refused_at_once(text: str) -> None:
    started = time.process_time()

    with pytest.raises(TomlRefused, match="has a key of more than 100 parts") as refused:
        parse_toml(text)
    assert refused.value.remedy
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    "text",
    [
        "a" * _MIB, '"' * _MIB, "'" * _MIB, "." * _MIB, " " * _MIB, "a.\n" * (_MIB // 3), "a" + " " * _MIB,
        "." * 100 + '"' + '\\"' * (_MIB // 2), "." * 100 + '"""' + '""a' * (_MIB // 3), ("a." * 99 + "\n") * 5000,
    ],
    ids=range(10),
)  # fmt: skip
def test_looking_for_such_keys_takes_no_long_time_itself(text: str) -> None:
    started = time.process_time()

    with contextlib.suppress(TomlRefused):
        parse_toml(text)
    assert time.process_time() - started < 10.0  # about a second; the square would be hours


@pytest.mark.parametrize(
    "text",
    [
        f'x = "{"a." * 5000}"', f"x = '{'a.' * 5000}'", f'x = """\n{"a." * 5000}"""', f"# {'a.' * 5000}",
        f"x = [{'1.5, ' * 5000}]", "\n".join(f"a.b.c{number} = 1.5" for number in range(500)),
        "a." * (MOST_PARTS - 1) + "b = 1",
    ],
    ids=range(7),
)  # fmt: skip
def test_many_dots_that_are_no_such_key_are_read(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


@given(st.text("a.'\"\\#= \n[]{},", max_size=60))
def test_every_text_is_read_as_the_standard_library_does_or_refused(text: str) -> None:
    padded = f"# {'.' * MOST_PARTS}\n{text}"
    try:
        expected = tomllib.loads(padded)
    except ValueError:
        with pytest.raises(TomlRefused):
            parse_toml(padded)
    else:
        assert parse_toml(padded) == expected
