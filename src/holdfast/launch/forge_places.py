"""Which forge a repository lives on, and where that forge is asked: read from addresses, without asking anybody.

GitHub (github.com, its instances at ghe.com) and two public Gitea hosts are known by name. Any other host is plain
git until a setting says what it is. A token travels to the place that is named here and nowhere else, encrypted
unless that is this machine.
"""

import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from holdfast.errors import HoldfastError

__all__ = ["AUTO", "KINDS", "PLAIN", "ForgeAddressError", "ForgePlace", "belongs_to", "place_of", "usual_variable"]

AUTO, PLAIN = "auto", "git"
KINDS = (AUTO, PLAIN, "github", "gitea")
"""What a setting may say; `git` is a repository without a forge."""

_GITHUB = frozenset({"github.com", "www.github.com", "ssh.github.com"})
_GITEA = frozenset({"gitea.com", "codeberg.org"})
_VARIABLES = {"github": "GITHUB_TOKEN", "gitea": "GITEA_TOKEN"}
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
_SCP = re.compile(r"(?:[A-Za-z0-9_.-]+@)?([A-Za-z0-9.-]+):(?!/)(.+)")
_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.-]{1,100}")


class ForgeAddressError(HoldfastError):
    """An address that is no repository of the forge that is meant; the text says why, without the address."""


class ForgePlace(NamedTuple):
    """A repository on a forge: `web` is the forge in a browser, `api` its REST interface, `address` is for git."""

    kind: str
    web: str
    api: str
    owner: str
    name: str
    address: str

    @property
    def takes_token(self) -> bool:
        """Whether git comes in with the token; over ssh it has keys."""
        return self.address.startswith(("https://", "http://"))

    @property
    def path(self) -> str:
        """Where the REST interface has the repository."""
        return f"/repos/{quote(self.owner)}/{quote(self.name)}"

    def moved_to(self, full_name: str) -> "ForgePlace":
        """The same repository under the name that it has now, on the same host."""
        owner, _, name = full_name.partition("/")
        if (owner, name) == (self.owner, self.name) or not (_NAME.fullmatch(owner) and _NAME.fullmatch(name)):
            return self
        address = f"{self.web}/{owner}/{name}.git" if self.takes_token else self.address
        return self._replace(owner=owner, name=name, address=address)


class _Parts(NamedTuple):
    scheme: str
    host: str
    origin: str
    segments: list[str]


def place_of(address: str, kind: str = AUTO, url: str = "") -> ForgePlace | None:
    """Where the repository at this address is asked for; None where it is plain git.

    `url` is the forge's own address, needed where the repository's does not tell it.
    """
    parts = _parts(address)
    if kind == PLAIN or parts is None:
        if kind not in (AUTO, PLAIN):
            raise ForgeAddressError(f"a repository on this machine is on no forge, so it is not {kind}")
        return None
    kind = _detected(parts.host) if kind == AUTO else kind
    if kind == PLAIN:
        return None
    if url and not belongs_to(address, url):
        raise ForgeAddressError("the repository is not below the address of the forge")
    web = url.rstrip("/") or _web(parts, kind)
    if web.startswith("http://") and not _LOOPBACK.fullmatch(urlsplit(web).hostname or ""):
        raise ForgeAddressError("a token does not travel unencrypted: use https")
    *_, owner, name = ["", "", *parts.segments]
    name = name.removesuffix(".git")
    is_deep = kind == "github" and parts.scheme != "ssh" and len(parts.segments) != 2 and not url
    if not _NAME.fullmatch(owner) or not _NAME.fullmatch(name) or is_deep:
        raise ForgeAddressError(f"a repository of {kind} has an owner and a name")
    clean = f"{web}/{owner}/{name}.git" if parts.scheme != "ssh" else address
    return ForgePlace(kind, web, _api(kind, web), owner, name, clean)


def belongs_to(address: str, url: str) -> bool:
    """Whether a repository may be on the forge at this address; of ssh only the host can be compared."""
    parts, forge = _parts(address), _parts(url)
    if parts is None or forge is None:
        return False
    if parts.scheme == "ssh":
        return parts.host == forge.host
    return parts.origin == forge.origin and parts.segments[: len(forge.segments)] == forge.segments


def usual_variable(kind: str) -> str:
    """The environment variable in which tokens of such a forge usually are."""
    return _VARIABLES[kind]


def _parts(address: str) -> _Parts | None:
    """What the address says; None for a repository on this machine, or one that no forge can have."""
    if "://" not in address:
        found = _SCP.fullmatch(address)
        return _Parts("ssh", found[1].lower(), "", _segments(found[2])) if found else None
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    if parts.scheme not in ("https", "http", "ssh") or not host:
        return None
    shown = f"[{host}]" if ":" in host else host
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    origin = f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, usual) else "")
    return _Parts(parts.scheme, host, origin, _segments(parts.path))


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _detected(host: str) -> str:
    if host in _GITHUB or host.endswith(".ghe.com"):
        return "github"
    return "gitea" if host in _GITEA else PLAIN


def _web(parts: _Parts, kind: str) -> str:
    if parts.host in _GITHUB and parts.scheme in ("https", "ssh"):
        return "https://github.com"
    if parts.scheme == "ssh":
        return f"https://{parts.host}"
    below = parts.segments[:-2] if kind == "gitea" else []
    return "/".join([parts.origin, *below])


def _api(kind: str, web: str) -> str:
    if kind == "gitea":
        return f"{web}/api/v1"
    host = urlsplit(web).hostname or ""
    is_hosted = host == "github.com" or host.endswith(".ghe.com")
    return f"https://api.{host}" if is_hosted else f"{web}/api/v3"
