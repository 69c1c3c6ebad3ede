"""Where a repository's forge is asked: from its address and a setting, and a token goes nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch.forge_places import KINDS, ForgeAddressError, belongs_to, place_of

KNOWN = {
    "https://github.com/acme/site": ("github", "https://api.github.com", "https://github.com/acme/site.git"),
    "https://www.github.com/acme/site.git/": (
        "github", "https://api.github.com", "https://github.com/acme/site.git",
    ),
    "https://user:pw@github.com/acme/site": (
        "github", "https://api.github.com", "https://github.com/acme/site.git",
    ),
    "git@github.com:acme/site.git": ("github", "https://api.github.com", "git@github.com:acme/site.git"),
    "ssh://git@ssh.github.com:443/acme/site.git": (
        "github", "https://api.github.com", "ssh://git@ssh.github.com:443/acme/site.git",
    ),
    "https://acme.ghe.com/team/site": (
        "github", "https://api.acme.ghe.com", "https://acme.ghe.com/team/site.git",
    ),
    "https://codeberg.org/acme/site.git": (
        "gitea", "https://codeberg.org/api/v1", "https://codeberg.org/acme/site.git",
    ),
}  # fmt: skip


@pytest.mark.parametrize("address", KNOWN)
def test_public_forges_are_known_by_their_host(address: str) -> None:
    place = place_of(address)
    assert place is not None
    assert (place.kind, place.api, place.address) == KNOWN[address]
    assert place.path in ("/repos/acme/site", "/repos/team/site")
    assert place.takes_token == address.startswith("https")


@pytest.mark.parametrize(
    "address",
    ["/srv/site.git", "file:///srv/site.git", "https://git.example/acme/site.git", "git@git.example:acme/site.git",
     "https://github.com.example/acme/site", "https://notgithub.com/acme/site", "git://github.com/acme/site"],
)  # fmt: skip
def test_everything_else_is_plain_git_until_a_setting_says_more(address: str) -> None:
    assert place_of(address) is None
    assert place_of(address, "git") is None


OWN = [
    ("https://git.example/acme/site.git", "github", "", "https://git.example/api/v3"),
    ("https://git.example:8443/acme/site", "gitea", "", "https://git.example:8443/api/v1"),
    ("https://git.example/git/acme/site", "gitea", "", "https://git.example/git/api/v1"),
    ("https://git.example/git/acme/site", "gitea", "https://git.example/git/", "https://git.example/git/api/v1"),
    ("ssh://git@git.example:2222/acme/site.git", "gitea", "https://git.example:3000",
     "https://git.example:3000/api/v1"),
    ("http://127.0.0.1:3000/acme/site", "gitea", "", "http://127.0.0.1:3000/api/v1"),
]  # fmt: skip


@pytest.mark.parametrize(("address", "kind", "url", "api"), OWN)
def test_a_setting_says_what_a_host_of_ones_own_is(address: str, kind: str, url: str, api: str) -> None:
    place = place_of(address, kind, url)
    assert place is not None
    assert (place.api, place.owner, place.name) == (api, "acme", "site")


WRONG = [
    ("http://git.example/acme/site", "gitea", "", "unencrypted"),
    ("http://github.com/acme/site", "auto", "", "unencrypted"),
    ("https://github.com/acme", "auto", "", "an owner and a name"),
    ("https://github.com/acme/site/tree/main", "auto", "", "an owner and a name"),
    ("https://git.example/acme/..", "gitea", "", "an owner and a name"),
    ("https://git.example/acme/si%74e", "gitea", "", "an owner and a name"),
    ("/srv/site.git", "github", "", "on no forge"),
    ("https://git.example/acme/site", "gitea", "https://other.example", "not below"),
    ("https://git.example.evil/acme/site", "gitea", "https://git.example", "not below"),
    ("https://git.example:8443/acme/site", "gitea", "https://git.example", "not below"),
]


@pytest.mark.parametrize(("address", "kind", "url", "said"), WRONG)
def test_an_address_that_cannot_be_on_the_forge_is_told(address: str, kind: str, url: str, said: str) -> None:
    with pytest.raises(ForgeAddressError, match=said):
        place_of(address, kind, url)


def test_a_renamed_repository_stays_on_its_host() -> None:
    place = place_of("https://github.com/acme/site")
    assert place is not None
    assert place.moved_to("other/new").address == "https://github.com/other/new.git"
    for name in ("acme/site", "", "a", "a/b/c", "../x", "https://evil/x", "a/b\n"):
        assert place.moved_to(name) == place


@given(st.text(max_size=60) | st.from_regex(r"(https?|ssh)://[^\n]{0,40}", fullmatch=True), st.sampled_from(KINDS))
def test_any_text_is_a_place_on_its_own_host_or_refused(address: str, kind: str) -> None:
    try:
        place = place_of(address, kind)
    except ForgeAddressError:
        return
    if place is not None and place.takes_token:
        assert belongs_to(place.address, place.web)
        assert place.web.startswith("https://") or "//localhost" in place.web or "//127." in place.web
