"""Git with a token: by settings of its environment, which hold for one place."""

from pathlib import Path

import pytest

from holdfast.git.access import access_by_token, encoded
from holdfast.git.acting import act
from holdfast.git.asking import GitError

PLACE = "https://git.example/acme/site.git"


def headers_for(url: str, root: Path) -> list[str]:
    """The headers that git would send to the address."""
    asked = ["config", "--get-urlmatch", "http.extraHeader", url]
    return act(asked, root=root, network=True, env=access_by_token(PLACE, "t0ken")).decode().splitlines()


def test_the_token_is_for_its_place_alone(tmp_path: Path) -> None:
    mine = [f"Authorization: Basic {encoded('t0ken')}"]
    assert headers_for(f"{PLACE}/info/refs", tmp_path) == mine
    for other in (
        "https://git.example.evil/acme/site.git", "https://git.example/acme/site.git.x", "https://git.example/other/",
        "http://git.example/acme/site.git", "https://git.example:444/acme/site.git",
    ):  # fmt: skip
        with pytest.raises(GitError, match="ended with 1"):  # which is how git says that there is none
            headers_for(other, tmp_path)
