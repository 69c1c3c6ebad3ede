"""How git is let in with a token: by settings in its environment, which no listing of processes and no file shows.

The settings hold for one repository, so they also win over what the user has set for its host. Git would carry a
header along to wherever a server sends it, so it is told to follow nobody; and to ask no helper that might answer
with the credentials of somebody else.
"""

import base64

__all__ = ["access_by_token", "encoded"]

_USER = "x-access-token"  # GitHub's name for whoever has only a token; Gitea looks at the token alone


def access_by_token(address: str, token: str) -> dict[str, str]:
    """The environment in which git sends the token to the repository at this address, and to no other place."""
    settings = (
        (f"http.{address}.extraHeader", ""),  # forgets what the user has for the host: two would be refused
        (f"http.{address}.extraHeader", f"Authorization: Basic {encoded(token)}"),
        (f"http.{address}.followRedirects", "false"),
        (f"http.{address}.sslVerify", "true"),
        ("credential.helper", ""),
    )
    environment = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return environment


def encoded(token: str) -> str:
    """The token as it travels."""
    return base64.b64encode(f"{_USER}:{token}".encode()).decode()
