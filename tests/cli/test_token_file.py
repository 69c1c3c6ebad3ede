"""The file of tokens: what may stand in it, and what is refused without showing it."""

from pathlib import Path

import pytest

from holdfast.api.callers import digest_of_token
from holdfast.cli.token_file import read_token_file
from holdfast.errors import UsageError

PLAIN = "a-token-that-is-long-enough"
DIGEST = digest_of_token("other")


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "tokens.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_tokens_are_known_by_their_digests(tmp_path: Path) -> None:
    text = f'[[token]]\nname="a"\ntoken="{PLAIN}"\ntools=["x_*"]\n[[token]]\nname="b"\nsha256="{DIGEST.upper()}"\n'
    assert read_token_file(written(tmp_path, text)) == [
        {"name": "a", "digest": digest_of_token(PLAIN), "tools": ["x_*"]},
        {"name": "b", "digest": DIGEST},
    ]


def test_digests_may_be_read_by_others_and_plain_tokens_may_not(tmp_path: Path) -> None:
    assert read_token_file(written(tmp_path, f'[[token]]\nname="b"\nsha256="{DIGEST}"\n', 0o644))
    with pytest.raises(UsageError, match="others than its owner") as refused:
        read_token_file(written(tmp_path, f'[[token]]\nname="a"\ntoken="{PLAIN}"\n', 0o640))
    assert "chmod 600" in str(refused.value.remedy)
    assert PLAIN not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[token]\n",
        "token = []\n",
        '[[token]]\nname="a"\n',
        f'[[token]]\ntoken="{PLAIN}"\n',
        f'[[token]]\nname="a b"\ntoken="{PLAIN}"\n',
        '[[token]]\nname="a"\ntoken="short"\n',
        f'[[token]]\nname="a"\ntoken="{PLAIN} {PLAIN}"\n',
        '[[token]]\nname="a"\nsha256="xyz"\n',
        f'[[token]]\nname="a"\ntoken="{PLAIN}"\nsha256="{DIGEST}"\n',
        f'[[token]]\nname="a"\ntoken="{PLAIN}"\ntools="x"\n',
        f'[[token]]\nname="a"\ntoken="{PLAIN}"\nscope=["x"]\n',
        f'[[token]]\nname="a"\ntoken="{PLAIN}"\n' * 2,
        f'[[token]]\nname="a"\ntoken="{PLAIN}\n',
        "\0",
    ],
)
def test_what_cannot_be_used_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_token_file(written(tmp_path, text))
    assert PLAIN not in str(refused.value)
    assert PLAIN not in repr(refused.value.__cause__)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", "binary", "."):
        with pytest.raises(UsageError, match="cannot be read"):
            read_token_file(tmp_path / name)


def test_one_token_under_two_names_is_refused_since_nobody_could_tell_whose_tools_count(tmp_path: Path) -> None:
    text = f'[[token]]\nname="a"\nsha256="{DIGEST}"\n[[token]]\nname="b"\nsha256="{DIGEST.upper()}"\ntools=[]\n'
    with pytest.raises(UsageError, match="under two names"):
        read_token_file(written(tmp_path, text))
