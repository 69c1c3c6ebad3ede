"""How git may read a site that not everybody can read: with the token that its pull request will need anyway."""

import os
from collections.abc import Mapping
from typing import Any

from holdfast.git.access import access_by_token
from holdfast.launch.forge_places import AUTO, ForgeAddressError, place_of, usual_variable
from holdfast.launch.token_grants import TokenGrants, TokenUse

__all__ = ["access_of_run", "access_to"]


def access_to(
    address: str, kind: str = AUTO, url: str = "", variable: str = "", grants: TokenGrants | None = None
) -> dict[str, str]:
    """The environment that lets git in; empty where there is no token, or nobody to give it to.

    Without `grants`, the configuration was checked against them before.
    """
    try:
        place = place_of(address, kind, url)
    except ForgeAddressError:
        return {}
    if place is None or not place.takes_token:
        return {}
    variable = variable or usual_variable(place.kind)
    if grants is not None and grants.problem(TokenUse("", variable, place.address)):
        return {}
    token = os.environ.get(variable, "").strip()
    is_sound = bool(token) and token.isascii() and token.isprintable()
    return access_by_token(address, token) if is_sound else {}


def access_of_run(config: Mapping[str, Any]) -> dict[str, str]:
    """The same for the site of a run; a service elsewhere has a token of its own, which is not ours."""
    asked = config["commit_service"]
    if asked["endpoint_url"] != "embedded:":
        return {}
    return access_to(
        config["site_repo_url"], asked.get("forge", AUTO), asked.get("forge_url", ""), asked["github_token_env"]
    )
