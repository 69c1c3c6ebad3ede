"""The address of a site's repository: which one it means, and how it is shown without its secrets."""

import hashlib
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.git.acting import checked_address
from holdfast.git.asking import GitError
from holdfast.launch.publishing.refusal import Refusal

__all__ = ["checked", "local_directory", "repository_id", "shown", "without_secrets"]

_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")
_SHORTEST_SECRET = 4


def checked(address: str) -> str:
    """The address, if git may be given it; Refusal INVALID_REQUEST otherwise."""
    try:
        return checked_address(address)
    except GitError as error:
        raise Refusal("INVALID_REQUEST", str(error), details={"field": "repo_url"}) from error


def shown(address: str) -> str:
    """The address without the user, the password and the query that it may hold."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def repository_id(address: str) -> str:
    """One word for the repository, whoever asks for it."""
    return hashlib.sha256(shown(address).encode()).hexdigest()[:32]


def local_directory(address: str) -> Path | None:
    """Where the repository is on this machine; None for one that is elsewhere."""
    if address.startswith("file://"):
        return Path(unquote(urlsplit(address).path))
    return Path(address) if address.startswith("/") else None


def without_secrets(text: str, address: str) -> str:
    """What git said about an address, without what is secret in it."""
    text = text.replace(address, shown(address))
    _, separator, rest = address.partition("://")
    user = rest.partition("/")[0].rpartition("@")[0] if separator else ""
    query = rest.partition("?")[2]
    secrets = {user, user.partition(":")[2], query, query.partition("=")[2]}
    for secret in sorted(secrets | {unquote(one) for one in secrets}, key=lambda one: (-len(one), one)):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[redacted]")
    return _USER.sub("", text)
