"""Which variable of the environment a run may name for a token, and which hosts that may be sent to.

A configuration comes from anybody: left to itself it could name any variable of the process and any listener. So
the operator grants variables to hosts, beside a few that everybody uses. Tokens go by https, except on loopback.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from holdfast.errors import ToolError, UsageError
from holdfast.launch.forge_places import AUTO, ForgeAddressError, place_of

__all__ = ["USUAL_GRANTS", "Problem", "TokenGrants", "TokenUse", "token_uses"]

_USUAL = (
    ("GITHUB_TOKEN", "github.com"), ("GITHUB_TOKEN", "api.github.com"), ("GITHUB_TOKEN", "*.ghe.com"),
    ("GITEA_TOKEN", "gitea.com"), ("GITEA_TOKEN", "codeberg.org"), ("OPENAI_API_KEY", "api.openai.com"),
)  # fmt: skip
_GRANT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=((?:\*\.)?[A-Za-z0-9.-]+(?::\d+)?|\[[0-9a-fA-F:]+\](?::\d+)?)")
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|\[::1\]")
_NOT_ASKED = ("none:", "recorded:", "embedded:")


class Problem(NamedTuple):
    """One thing that is wrong in a run configuration, and where."""

    path: str
    keyword: str
    message: str


class TokenUse(NamedTuple):
    """A variable that a configuration names, at `path` in it, and where what it holds would be sent."""

    path: str
    variable: str
    url: str


def token_uses(config: Mapping[str, Any]) -> Iterator[TokenUse]:
    """All of a checked configuration."""
    model = config.get("llm", {})
    for path, one in (("/llm", model), ("/llm/fallback", model.get("fallback") or {})):
        yield from _at_service(f"{path}/api_key_env", one.get("api_key_env"), one.get("api_base_url", "none:"))
    told = config.get("telemetry", {})
    address = told.get("endpoint_url", "embedded:")
    yield from _at_service("/telemetry/auth_token_env", told.get("auth_token_env"), address)
    commits = config.get("commit_service", {})
    path, variable = "/commit_service/github_token_env", commits.get("github_token_env")
    if commits.get("endpoint_url", "embedded:") != "embedded:":
        yield from _at_service(path, variable, commits["endpoint_url"])
        return
    try:
        place = place_of(config.get("site_repo_url", ""), commits.get("forge", AUTO), commits.get("forge_url", ""))
    except ForgeAddressError:
        return  # which is refused elsewhere, and nothing is sent
    if place is not None and variable:
        yield TokenUse(path, variable, place.api)
        if place.takes_token:
            yield TokenUse(path, variable, place.address)


class TokenGrants:
    """What the operator's setting says, `VARIABLE=HOST[:PORT]` with commas between them, and what is usual."""

    def __init__(self, text: str = "") -> None:
        found = [(word, _GRANT.fullmatch(word.strip())) for word in text.split(",") if word.strip()]
        wrong = [word for word, grant in found if grant is None]
        if wrong:
            raise UsageError(
                f"launch_tokens has {wrong[0]!r}", remedy="write VARIABLE=HOST, such as GITEA_TOKEN=git.example"
            )
        self._grants = {*_USUAL, *((grant[1], grant[2].lower()) for _, grant in found if grant)}

    def check(self, config: Mapping[str, Any]) -> None:
        """Refuse a configuration that would send what it may not: SCHEMA_VALIDATION_FAILED."""
        problems = [
            Problem(use.path, "granted", problem) for use in token_uses(config) if (problem := self.problem(use))
        ]
        if not problems:
            return
        raise ToolError(
            "SCHEMA_VALIDATION_FAILED",
            f"The run_config is not valid: {problems[0].path}: {problems[0].message}",
            details={
                "reason": "token_not_granted",
                "setting": "HOLDFAST_LAUNCH_TOKENS",
                "violations": [
                    {"instancePath": one.path, "keyword": one.keyword, "message": one.message}
                    for one in dict.fromkeys(problems)
                ],
            },
            hint="only whoever runs the server may allow it: HOLDFAST_LAUNCH_TOKENS or --allow-tokens",
            retryable=False,
        )

    def problem(self, use: TokenUse) -> str:
        """Why the variable may not be sent there; "" where it may."""
        host, where, is_encrypted = _host_of(use.url)
        if not is_encrypted and not _LOOPBACK.fullmatch(host):
            return f"{use.variable} is not sent to {where}, since that is not encrypted: use https"
        if any(use.variable == name and _fits(granted, host, where) for name, granted in self._grants):
            return ""
        return (
            f"{use.variable} is not sent to {where} unless the operator allows it: "
            f"HOLDFAST_LAUNCH_TOKENS={use.variable}={where}"
        )


USUAL_GRANTS = TokenGrants()
"""What needs no permission."""


def _at_service(path: str, variable: str | None, url: str) -> Iterator[TokenUse]:
    if variable and not url.startswith(_NOT_ASKED):
        yield TokenUse(path, variable, url)


def _host_of(url: str) -> tuple[str, str, bool]:
    """The host, the host with its port, and whether what is sent there is encrypted."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", "an address that is none", True
    host = f"[{host}]" if ":" in host else host
    return host, f"{host}:{port}" if port else host, parts.scheme == "https"


def _fits(granted: str, host: str, where: str) -> bool:
    if granted.startswith("*."):
        return host.endswith(granted[1:]) and where == host
    return granted in (host, where)
