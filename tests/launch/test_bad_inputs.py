"""Configurations, names and filters that nobody should send: each is refused with its code, and nothing begins."""

import asyncio
import copy
import json
import math
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import run_config
from tests.launch.runs import Place, error_of

from holdfast.errors import ToolError
from holdfast.launch import calls
from holdfast.launch.documents import schema
from holdfast.launch.service import RunService
from holdfast.launch.tools import server
from holdfast.launch.workspace import Workspace
from holdfast.settings import Settings
from holdfast.testing import CallResult, connect

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]  # whose one run is shared

SHA = "a" * 40
SECRET = "hunter2-token"
Config = dict[str, Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    root = tmp_path_factory.mktemp("bad-inputs")
    with RunService(Workspace(root / "ws", f"sqlite:///{root / 'ws' / 'runs.sqlite'}")) as made:
        yield made


def good(**changes: Any) -> Config:
    """A configuration that is right; its repositories need not be there to be looked at."""
    return run_config(Path("/nowhere/product"), SHA, Path("/nowhere/site"), SHA, **changes)


def refusal(service: RunService, config: Any) -> ToolError:
    """The refusal of a configuration, which has begun nothing and can be told."""
    with pytest.raises(ToolError) as caught:
        service.start(config, drive=False)
    assert service.runs() == []
    told = json.dumps([caught.value.message, caught.value.details], allow_nan=False).encode()
    assert len(told) < 50_000
    return caught.value


def violated(error: ToolError) -> list[str]:
    """Where a configuration is wrong."""
    assert error.code == "SCHEMA_VALIDATION_FAILED"
    return [violation["instancePath"] for violation in error.details["violations"]]


# --- every field of the schema -----------------------------------------------------------------------------------


def fields(
    rules: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every field of a schema, at every level."""
    for name, rule in rules.get("properties", {}).items():
        yield (*path, name), rule
        yield from fields(rule, (*path, name))


FIELDS = dict(fields(schema("run_config")))
OBJECTS = [(), *(path for path, rule in FIELDS.items() if rule.get("type") == "object")]


def with_value(path: tuple[str, ...], value: Any) -> Config:
    """A good configuration but for one field."""
    config = good()
    inner = config
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner[path[-1]] = value
    return config


def wrong_for(rule: Mapping[str, Any]) -> Any:
    """A value of a type that the field does not take."""
    return {"object": [], "array": {}, "boolean": "true", "string": 7}.get(rule.get("type", ""), ["x"])


@pytest.mark.parametrize("path", FIELDS, ids="/".join)
def test_a_field_of_the_wrong_type_is_named(service: RunService, path: tuple[str, ...]) -> None:
    where = "/" + "/".join(path)
    assert where in violated(refusal(service, with_value(path, wrong_for(FIELDS[path]))))
    assert where in violated(refusal(service, with_value(path, None)))


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: "/".join(path) or "top")
def test_an_unknown_key_is_refused_at_every_level(service: RunService, path: tuple[str, ...]) -> None:
    error = refusal(service, with_value((*path, "surprise"), 1))
    where = "".join(f"/{name}" for name in path)
    assert where in violated(error)
    assert "surprise" in json.dumps(error.details)


@pytest.mark.parametrize("name", schema("run_config")["required"])
def test_a_missing_field_is_named(service: RunService, name: str) -> None:
    config = good()
    del config[name]
    assert name in json.dumps(refusal(service, config).details)


# --- what is no configuration at all -----------------------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"x": value}
    return value


def holding_itself() -> Config:
    config = good()
    config["llm"]["decoding"]["self"] = config
    return config


NO_CONFIGURATION = {
    "nothing": None, "empty": {}, "text": "run.yaml", "number": 7, "list": [], "true": True, "bytes": b"{}",
    "nan": math.nan, "list of itself": [good()], "deep": nested(1000), "cycle": holding_itself(),
    "number as key": {1: 2}, "surrogate as key": {"\ud800": 1}, "set": {"allowed_paths"},
    "many keys": {f"key{number}": number for number in range(30_000)},
}  # fmt: skip


@pytest.mark.parametrize("name", NO_CONFIGURATION)
def test_what_is_no_configuration_is_refused(service: RunService, name: str) -> None:
    assert violated(refusal(service, NO_CONFIGURATION[name]))


STRANGE_VALUES = {
    "huge name": ("product_name", "x" * 10_000_000),
    "huge template": ("commit_service/commit_body_template", "x" * 30_000),
    "ten thousand paths": ("allowed_paths", [f"content/docs/{number}" for number in range(10_000)]),
    "many tags": ("telemetry/run_tags", ["x"] * 51),
    "deep": ("llm/decoding", nested(1000)),
    "not a number": ("llm/decoding/temperature", math.nan),
    "infinity": ("llm/decoding/temperature", math.inf),
    "huge number": ("budgets/max_llm_calls", 10**400),
    "half a character": ("product_name", "table\ud800kit"),
    "half a character in a list": ("telemetry/run_tags", ["\udfff"]),
    "bytes": ("product_name", b"tablekit"),
    "line in name": ("product_name", "table\nkit"),
    "escape in name": ("product_name", "\x1b[31mtablekit"),
    "slug with a slash": ("product_slug", "../tablekit"),
    "slug with a line": ("product_slug", "tablekit\n"),
    "slug as option": ("product_slug", "-tablekit"),
    "huge slug": ("product_slug", "t" * 49),
    "family with a dot": ("family", ".."),
    "no section": ("required_sections", []),
    "unknown section": ("required_sections", ["shop"]),
    "section twice": ("required_sections", ["docs", "docs"]),
    "path twice": ("allowed_paths", ["content/docs", "content/docs"]),
    "both languages": ("locales", ["en"]),
    "language as path": ("locale", "en/../.."),
    "variable with a value": ("commit_service/github_token_env", f"TOKEN={SECRET}"),
    "long address": ("github_repo_url", f"https://me:{SECRET}@x.example/" + "x" * 3000),
    "author with a line": ("commit_service/author_name", "me\nparent 000"),
    "author with an address": ("commit_service/author_email", "a@b> <c@d"),
    "port": ("mcp/listen_port", 65536),
    "workflows without a commit": ("workflows_repo_url", "https://x.example/w"),
    "task card": ("taskcard_id", "TC-1; rm -rf /"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE_VALUES)
def test_a_strange_value_is_refused(service: RunService, name: str) -> None:
    field, value = STRANGE_VALUES[name]
    error = refusal(service, with_value(tuple(field.split("/")), value))
    assert violated(error)
    assert SECRET not in json.dumps([error.message, error.details])


def test_two_languages_are_two_runs(service: RunService) -> None:
    config = good(locales=["en", "de"])
    del config["locale"]
    assert violated(refusal(service, config)) == ["/locales"]


# --- paths -------------------------------------------------------------------------------------------------------

BAD_PATHS = [
    "/etc", "//server/share", "\\\\server\\share", "C:/site", "c:site", "content\\docs", "..", ".", "./content",
    "content/../../x", "content//docs", "content/./docs", ".git", "content/.GIT/hooks", "content/git~1/x", "~/x:y",
    "content/docs/CON", "content/docs/nul.md", "content/docs/com1", "content/docs /x", "content/docs./x",
    "content/docs\0", "content/docs\n", "content/docs\x7f", "content/\u202egpj.exe", "content/\u200bdocs",
    "content/*",
    "content/\u2028docs", unicodedata.normalize("NFD", "content/caf\u00e9"), "content/" + "x" * 300, "content/a?b",
    "content/docs:stream", "**", "/**", "content/***", "content/<x>", 'content/"x"', "content/x|y",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD_PATHS, ids=ascii)
def test_a_path_that_no_run_may_write_is_refused(service: RunService, path: str) -> None:
    assert "/allowed_paths/5" in violated(refusal(service, good(allowed_paths=[*good()["allowed_paths"], path])))
    layout = copy.deepcopy(good()["site_layout"])
    layout["subdomain_roots"]["docs"] = path
    assert "/site_layout/subdomain_roots/docs" in violated(refusal(service, good(site_layout=layout)))


@pytest.mark.parametrize("field", ["ingestion/scan_directories", "repo_hints/preferred_docs_roots"])
@pytest.mark.parametrize("path", ["/etc", "../..", "docs/../../x", "a\0b", "\\\\server\\share"], ids=ascii)
def test_a_folder_outside_of_the_product_is_no_hint(service: RunService, field: str, path: str) -> None:
    assert violated(refusal(service, with_value(tuple(field.split("/")), [path]))) == [f"/{field}/0"]


def test_a_section_without_an_allowed_path_is_refused(service: RunService) -> None:
    error = refusal(service, good(allowed_paths=["content/docs/tablekit", "content/docsy"]))
    assert violated(error) == ["/allowed_paths"] * 4


# --- addresses, commits, templates -------------------------------------------------------------------------------

BAD_ADDRESSES = [
    "ext::sh -c 'touch /tmp/pwned'", "ext::sh% -c% true", "--upload-pack=touch /tmp/pwned", "-oProxyCommand=true",
    "ssh://-oProxyCommand=true/x", "ssh://git@-oProxyCommand=true/x", "git@-oProxyCommand=true:x", "fd::17",
    "fd::17/x", "transport::address", "relative/path", "../up", "~/x", "", "https://x.example/a\nb",
    "https://x.example/\0", "ftp://x.example/a", "rsync://x.example/a", "javascript:alert(1)", "file::x",
    "https://", "https:///x",
    "ssh://", "http://x.example:99999/a", "https://x.example:port/a", "https://[::1/a",
]  # fmt: skip


@pytest.mark.parametrize("address", BAD_ADDRESSES, ids=ascii)
@pytest.mark.parametrize("field", ["github_repo_url", "site_repo_url"])
def test_an_address_that_could_start_a_program_is_refused(service: RunService, field: str, address: str) -> None:
    assert f"/{field}" in violated(refusal(service, good(**{field: address})))


@pytest.mark.parametrize(
    "address",
    [
        f"https://me:{SECRET}@x.example/a", f"https://{SECRET}@x.example/a", f"http://:{SECRET}@x.example/a",
        f"ssh://git:{SECRET}@x.example/a", f"HTTPS://me:{SECRET}@x.example/a", f"git://me:{SECRET}@x.example/a",
        f"https://me:{SECRET}@x.example:99999/a", f"https://x.example\\@me:{SECRET}@y.example/",
    ],
)  # fmt: skip
def test_credentials_in_an_address_are_refused_and_never_shown(service: RunService, address: str) -> None:
    places = [
        "github_repo_url",
        "site_repo_url",
        "workflows_repo_url",
        "llm/api_base_url",
        "telemetry/endpoint_url",
    ]
    places += ["commit_service/endpoint_url", "canonical_urls/docs"]
    for place in places:
        error = refusal(service, with_value(tuple(place.split("/")), address))
        assert f"/{place}" in violated(error)
        assert SECRET not in json.dumps([error.message, error.details, error.hint])


@pytest.mark.parametrize("address", ["ssh://git@x.example/a.git", "git@x.example:a.git", "https://x.example/a@b"])
def test_a_user_of_ssh_is_no_credential(tmp_path: Path, address: str) -> None:
    with RunService(Workspace(tmp_path / "ws", f"sqlite:///{tmp_path / 'runs.sqlite'}")) as service:
        run, is_new = service.start(good(github_repo_url=address), drive=False)
        assert (run.state, is_new) == ("CREATED", True)


@pytest.mark.parametrize(
    "ref",
    [
        "main",
        "HEAD",
        "abc1234",
        "A" * 40,
        "a" * 39,
        "a" * 41,
        "a" * 40 + "\n",
        "--all",
        "",
        "v1.0",
        "refs/heads/x",
    ],
)
@pytest.mark.parametrize("field", ["github_ref", "site_ref"])
def test_a_ref_that_is_no_whole_commit_is_refused(service: RunService, field: str, ref: str) -> None:
    assert violated(refusal(service, good(**{field: ref}))) == [f"/{field}"]


BAD_TEMPLATES = [
    "{unknown}", "{0.__class__}", "{0}", "{}", "{product_name.__class__.__mro__}", "{product_name[0]}",
    "{run_id!r}",
    "{run_id:>999999999}", "{", "}", "{{{run_id}}", "{run_id:{run_id}}", "{product_name.__init__.__globals__}",
]  # fmt: skip


@pytest.mark.parametrize("template", BAD_TEMPLATES)
def test_a_template_can_only_name_what_is_known(service: RunService, template: str) -> None:
    for name in ("commit_message_template", "commit_body_template"):
        error = refusal(service, with_value(("commit_service", name), template))
        assert violated(error) == [f"/commit_service/{name}"]


# --- names of runs and artifacts, filters, keys ------------------------------------------------------------------

BAD_RUN_IDS = [
    "", "x", "../../etc/passwd", "r_2026-01-21T10-00-00Z_00000000", "r" * 65, "r_ok_but_\0", "a/b/c/d/e",
    "\ud800" * 10,
    "%2e%2e%2f%2e%2e", "' OR 1=1 --", "r_2026-01-21T10-00-00Z_00000000\n", "CON", "a" * 1_000_000, ".........",
]  # fmt: skip


@pytest.mark.parametrize("run_id", BAD_RUN_IDS, ids=lambda run_id: ascii(run_id)[:40])
def test_an_id_that_no_run_has_is_not_found(service: RunService, run_id: str) -> None:
    asked = (service.status, service.resume, service.cancel, service.validate, service.fix_next, service.open_pr)
    for ask in asked:
        with pytest.raises(ToolError) as caught:
            ask(run_id)
        assert caught.value.code == "RUN_NOT_FOUND"
        assert len(json.dumps(caught.value.details)) < 1000


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_of_no_use_is_refused(service: RunService, key: str) -> None:
    with pytest.raises(ToolError) as caught:
        service.start(good(), key, drive=False)
    assert caught.value.code == "INVALID_INPUT"
    assert service.runs() == []


@pytest.mark.parametrize("state", ["", "done", "PAUSED", "' OR 1=1 --", "DONE\n"])
def test_a_filter_for_no_state_is_refused(service: RunService, state: str) -> None:
    with pytest.raises(ToolError) as caught:
        service.runs(state=state)
    assert caught.value.code == "INVALID_INPUT"


@pytest.mark.parametrize("slug", ["%", "' OR 1=1 --", "\0", "x" * 100_000, "../.."])
def test_a_filter_for_no_product_finds_nothing(service: RunService, slug: str) -> None:
    assert service.runs(product_slug=slug) == []


# --- the same over MCP -------------------------------------------------------------------------------------------

NAMES = [
    "../../../../../etc/hostname", "/etc/passwd", "page_plan.json\0", "page_plan.json/", "PAGE_PLAN.JSON",
    "%2e%2e/x",
    "drafts/../page_plan.json", "drafts/../../runs.sqlite", "logs/../../engine.lock", "\\\\server\\share", "CON",
    " ",
    "run_config.yaml", "objects/aa", "\u202egpj.nosj", "' OR 1=1 --",
]  # fmt: skip


def test_an_artifact_is_found_by_its_exact_name_alone(shared: Place) -> None:
    async def ask() -> list[CallResult]:
        async with connect(server) as client:
            run = shared.run_id
            return [await client.call("launch_get_artifact", run_id=run, artifact_name=name) for name in NAMES]

    for name, result in zip(NAMES, asyncio.run(ask()), strict=True):
        error = error_of(result)
        assert error["code"] == "INVALID_INPUT", name
        assert "root:" not in json.dumps(error)


OVER_THE_WIRE = {
    "empty": {}, "unknown key": good(surprise=1), "traversal": good(allowed_paths=["content/../.."]),
    "program": good(github_repo_url="ext::sh -c true"), "option": good(site_repo_url="--upload-pack=true"),
    "credentials": good(github_repo_url=f"https://me:{SECRET}@x.example/a"), "short": good(github_ref="abc1234"),
    "template": with_value(("commit_service", "commit_message_template"), "{0.__class__}"),
    "languages": good(locales=["de"]),
    "many": good(allowed_paths=[f"content/docs/{number}" for number in range(10_000)]),
    "deep": good(llm=nested(100)),
    "null": good(product_name=None), "control": good(product_name="a\0b"),
    "huge": good(product_name="x" * 100_000),
}  # fmt: skip


def test_the_tool_refuses_what_the_service_refuses(tmp_path: Path) -> None:
    async def ask() -> dict[str, CallResult]:
        async with connect(server) as client:
            return {
                name: await client.call("launch_start_run", run_config=config)
                for name, config in OVER_THE_WIRE.items()
            }

    Place.stop()
    calls.configure(Settings(launch_dir=tmp_path))
    try:
        for name, result in asyncio.run(ask()).items():
            error = error_of(result)
            assert (error["code"], error["retryable"]) == ("SCHEMA_VALIDATION_FAILED", False), name
            assert SECRET not in json.dumps(error)
        assert calls.service().runs() == []
    finally:
        calls.close()
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
