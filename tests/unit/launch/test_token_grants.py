"""Which variable goes to which host: the operator decides, and no run."""

from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import run_config

from holdfast.errors import ToolError, UsageError
from holdfast.launch.service import RunService
from holdfast.launch.telemetry.sending import endpoint_of
from holdfast.launch.token_grants import TokenGrants
from holdfast.launch.workspace import workspace_of
from holdfast.settings import Settings

SECRET = "AWS_SECRET_ACCESS_KEY"


def config_with(part: str, changes: dict[str, Any], **top: Any) -> dict[str, Any]:
    """A whole configuration with these changes to one part of it."""
    made = run_config(Path("/product"), "a" * 40, Path("/site"), "b" * 40, **top)
    return made | {part: {**made[part], **changes}}


def refused(config: dict[str, Any], granted: str = "") -> list[str]:
    """Where and why the configuration is refused; nothing where it is not."""
    try:
        TokenGrants(granted).check(config)
    except ToolError as caught:
        error = caught
    else:
        return []
    assert error.code == "SCHEMA_VALIDATION_FAILED"
    assert error.details["setting"] in (error.hint or "")
    return [f"{one['instancePath']} {one['message']}" for one in error.details["violations"]]


STEALING: dict[str, tuple[str, dict[str, Any]]] = {
    "/llm/api_key_env": ("llm", {"api_base_url": "https://evil.example/v1", "api_key_env": SECRET}),
    "/llm/fallback/api_key_env": (
        "llm", {"fallback": {"api_base_url": "https://evil.example/v1", "model": "m", "api_key_env": SECRET}}
    ),
    "/telemetry/auth_token_env": ("telemetry", {"endpoint_url": "https://evil.example", "auth_token_env": SECRET}),
    "/commit_service/github_token_env": (
        "commit_service", {"endpoint_url": "https://evil.example", "github_token_env": SECRET}
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", STEALING)
def test_a_variable_that_nobody_granted_goes_nowhere_and_the_refusal_names_the_setting(where: str) -> None:
    config = config_with(*STEALING[where])
    remedy = f"{where} {SECRET} is not sent to evil.example unless the operator allows it: "

    assert refused(config) == [remedy + f"HOLDFAST_LAUNCH_TOKENS={SECRET}=evil.example"]
    assert refused(config, f"{SECRET}=evil.example") == []
    assert refused(config, f"{SECRET}=other.example, OTHER=evil.example") != []


@pytest.mark.parametrize(
    ("site", "changes", "is_refused"),
    [
        ("https://github.com/acme/site", {"github_token_env": "GITHUB_TOKEN"}, False),
        ("git@github.com:acme/site.git", {"github_token_env": "GITHUB_TOKEN"}, False),
        ("https://acme.ghe.com/acme/site", {"github_token_env": "GITHUB_TOKEN"}, False),
        ("https://github.com/acme/site", {"github_token_env": SECRET}, True),
        ("https://evil.example/acme/site", {"github_token_env": "GITHUB_TOKEN", "forge": "github"}, True),
        ("git@evil.example:acme/site", {"github_token_env": "GITEA_TOKEN", "forge": "gitea"}, True),
        ("https://ghe.com.evil.example/a/b", {"github_token_env": "GITHUB_TOKEN", "forge": "github"}, True),
        ("https://evil.example/acme/site", {"github_token_env": SECRET}, False),  # plain git takes no token
        ("/srv/site", {"github_token_env": SECRET}, False),
    ],
)
def test_the_token_of_a_forge_goes_to_its_own_host_alone(
    site: str, changes: dict[str, str], *, is_refused: bool
) -> None:
    config = config_with("commit_service", changes, site_repo_url=site)

    assert bool(refused(config)) is is_refused


def test_a_granted_token_travels_encrypted_except_on_this_machine() -> None:
    def asks(url: str) -> list[str]:
        config = config_with("llm", {"api_base_url": url, "api_key_env": "KEY"})
        return refused(config, "KEY=model.example,KEY=127.0.0.1:8080,KEY=[::1]")

    assert asks("https://model.example:8443/v1") == []
    assert asks("http://127.0.0.1:8080/v1") == asks("http://[::1]:9/v1") == []
    assert asks("http://127.0.0.1:8081/v1") != []
    assert asks("http://model.example/v1")[0].endswith("since that is not encrypted: use https")
    assert asks("https://model.example@evil.example/v1") != []
    assert asks("recorded:/a") == asks("none:") == []


def test_a_run_that_would_send_a_secret_is_not_even_started(tmp_path: Path) -> None:
    config = config_with(*STEALING["/llm/api_key_env"])
    with RunService(workspace_of(Settings(launch_dir=tmp_path))) as service:
        with pytest.raises(ToolError, match=r"AWS_SECRET_ACCESS_KEY is not sent to evil.example"):
            service.start(config)
        assert service.runs() == []


def test_telemetry_of_an_older_run_is_sent_without_a_token_that_is_not_granted() -> None:
    config = {"telemetry": {"endpoint_url": "https://t.example", "auth_token_env": "TOKEN"}}

    assert endpoint_of(config, {"TOKEN": "t"}).token is None
    assert endpoint_of(config, {"TOKEN": "t"}, TokenGrants("TOKEN=t.example")).token == "t"


@pytest.mark.parametrize("text", ["TOKEN", "TOKEN=", "=host", "TO KEN=host", "TOKEN=https://host", "TOKEN=*"])
def test_what_is_no_grant_is_told_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="launch_tokens"):
        TokenGrants(text)
