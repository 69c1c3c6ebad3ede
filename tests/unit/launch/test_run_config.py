"""Configurations of runs: everything that is wrong is told at once, and nothing that anybody sends is a crash."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.products import run_config
from tests.rows import each_row

from holdfast.errors import ToolError, UsageError
from holdfast.launch.documents import schema
from holdfast.launch.run_config import checked, config_sha256, load_file, locale_of

ONE, TWO = "a" * 40, "b" * 40
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def sample(**changes: Any) -> dict[str, Any]:
    return run_config(Path("/srv/product"), ONE, Path("/srv/site"), TWO, **changes)


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sample with one value set, somewhere inside."""
    config: dict[str, Any] = json.loads(json.dumps(sample()))
    *folders, last = path.split("/")
    place = config
    for name in folders:
        place = place.setdefault(name, {})
    place[last] = value
    return config


def problems(config: Any) -> list[dict[str, Any]]:
    with pytest.raises(ToolError) as caught:
        checked(config)
    assert caught.value.code == "SCHEMA_VALIDATION_FAILED"
    assert len(json.dumps(caught.value.details)) < 100_000
    assert len(caught.value.message) < 2000
    found: list[dict[str, Any]] = caught.value.details["violations"]
    assert found
    assert all(set(one) == {"instancePath", "keyword", "message"} for one in found)
    return found


def test_a_good_configuration_gets_its_defaults() -> None:
    config = checked(sample())

    assert config["validation_profile"] == "local"
    assert config["ingestion"] == {
        "gitignore_mode": "respect", "record_binary_files": True, "detect_phantom_paths": True
    }  # fmt: skip
    assert config["hugo"] == {"use_config_gate": True}
    assert checked(config) == config


def test_the_given_configuration_is_left_as_it_is() -> None:
    given_config = sample()
    before = json.dumps(given_config)

    checked(given_config)["llm"]["model"] = "changed"

    assert json.dumps(given_config) == before


def test_the_digest_knows_the_meaning_and_not_the_order() -> None:
    config = sample()
    keys = list(config)
    random.Random(1).shuffle(keys)
    other = {key: config[key] for key in keys} | {"validation_profile": "local", "max_fix_attempts": 3.0}

    assert config_sha256(checked(config)) == config_sha256(checked(other)) == config_sha256(config)
    assert config_sha256(config) != config_sha256(sample(max_fix_attempts=4))


@each_row("name", schema("run_config")["required"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    config = sample()
    del config[name]

    assert any(name in one["message"] for one in problems(config))


@each_row(
    ("path", "value"),
    [
        ("unknown", 1),
        ("schema_version", "2.0"),
        ("product_slug", "Table Kit"),
        ("product_slug", "../x"),
        ("product_slug", "a" * 60),
        ("product_name", "a\nb"),
        ("product_name", ""),
        ("family", "-x"),
        ("github_ref", "main"),
        ("github_ref", "A" * 40),
        ("site_ref", "a" * 39),
        ("github_repo_url", "relative/path"),
        ("github_repo_url", "ext::sh -c id"),
        ("github_repo_url", "--upload-pack=id"),
        ("github_repo_url", "ftp://x.example/y"),
        ("github_repo_url", "https://x.example/a\nb"),
        ("site_repo_url", "/srv/\0"),
        ("site_repo_url", 7),
        ("required_sections", []),
        ("required_sections", ["docs", "docs"]),
        ("required_sections", ["news"]),
        ("site_layout/content_root", "/content"),
        ("site_layout/content_root", "elsewhere"),
        ("site_layout/subdomain_roots/docs", "content/../../etc"),
        ("site_layout/subdomain_roots/docs", "contents/docs"),
        ("site_layout/subdomain_roots/docs", "static/docs"),
        ("site_layout/localization/mode_by_section/docs", "folder"),
        ("allowed_paths", []),
        ("allowed_paths", ["/"]),
        ("allowed_paths", ["content/../x"]),
        ("allowed_paths", ["content\\docs"]),
        ("allowed_paths", [".git/hooks"]),
        ("allowed_paths", ["content/.GIT/x"]),
        ("allowed_paths", ["C:/x"]),
        ("allowed_paths", ["content/docs/nul"]),
        ("allowed_paths", ["content/docs/tablekit/"]),
        ("allowed_paths", ["content/doc"]),
        ("allowed_paths", [1]),
        ("llm/api_base_url", "file:///etc/passwd"),
        ("llm/api_base_url", "embedded:"),
        ("llm/api_base_url", "recorded:answers.jsonl"),
        ("llm/api_base_url", "recorded:"),
        ("llm/decoding/seed", -1),
        ("llm/required", "yes"),
        ("llm/api_base_url", "http://"),
        ("llm/api_base_url", "https://me:secret@x.example/"),
        ("llm/decoding/temperature", 2),
        ("llm/decoding/temperature", float("nan")),
        ("llm/decoding/max_tokens", 10**30),
        ("telemetry/endpoint_url", "none:"),
        ("telemetry/endpoint_url", "http://[bad"),
        ("commit_service/endpoint_url", "unix:/x"),
        ("commit_service/endpoint_url", "http://x.example:0/"),
        ("commit_service/github_token_env", "NOT A NAME"),
        ("commit_service/forge", "gitlab"),
        ("commit_service/forge_url", "https://git.example"),
        ("commit_service/forge_url", "https://me:secret@git.example"),
        ("commit_service/commit_message_template", "Launch {secret}"),
        ("commit_service/commit_message_template", "Launch {product_name.__class__}"),
        ("commit_service/commit_message_template", "Launch {product_name!r}"),
        ("commit_service/commit_message_template", "Launch {product_name:>999999999}"),
        ("commit_service/commit_message_template", "Launch {"),
        ("commit_service/commit_message_template", "two\nlines"),
        ("commit_service/commit_body_template", "{0}"),
        ("commit_service/author_email", "a b"),
        ("max_fix_attempts", -1),
        ("max_fix_attempts", True),
        ("budgets/max_runtime_s", 0),
        ("budgets", []),
        ("target_platform", "cobol"),
        ("locale", "EN"),
        ("locales", ["de"]),
        ("hugo/config_dir", "../site"),
        ("ingestion/scan_directories", ["/etc"]),
        ("ingestion/gitignore_mode", "maybe"),
        ("repo_hints/preferred_docs_roots", ["a/../../b"]),
        ("extra_evidence_urls", ["javascript:alert(1)"]),
        ("canonical_urls", {"docs": "//x.example"}),
        ("workflows_ref", ONE),
        ("taskcard_id", "TC-1"),
    ],
)
def test_a_bad_value_is_refused_at_its_place(path: str, value: Any) -> None:
    first = path.split("/", maxsplit=1)[0]

    assert any(first in one["instancePath"] + one["message"] for one in problems(changed(path, value)))


def test_all_problems_are_told_at_once() -> None:
    config = changed("llm/api_base_url", "ftp://x") | {"locale": 1, "github_ref": "x", "allowed_paths": ["../a"]}

    places = [one["instancePath"] for one in problems(config)]

    assert {"/llm/api_base_url", "/locale", "/github_ref", "/allowed_paths/0"} <= set(places)
    assert places == sorted(places)


def test_one_language_is_one_language_however_it_is_given() -> None:
    config = sample(locales=["de"])
    del config["locale"]

    assert locale_of(checked(config)) == "de"
    assert locale_of(checked(sample())) == "en"
    assert problems(config | {"locales": ["de", "fr"]})[0]["instancePath"] == "/locales"


def test_services_may_be_embedded_absent_or_elsewhere() -> None:
    config = changed("llm/api_base_url", "http://127.0.0.1:8080/v1")
    config["telemetry"]["endpoint_url"] = "https://telemetry.example"

    assert checked(config)["llm"]["max_concurrency"] == 4


@pytest.mark.parametrize("config", [None, 1, "x", [], {}, (), b"x", object(), {1: 2}, {"a": {1, 2}}, float("inf")])
def test_what_is_no_configuration_at_all_is_refused(config: Any) -> None:
    assert problems(config)


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000_000,
        "\ud800",
        ["x"] * 100_000,
        {str(n): n for n in range(50_000)},
        {"k" * 2_000_000: 1},
        10**5000,
    ],
    ids=["long", "surrogate", "list", "object", "key", "number"],
)
@pytest.mark.parametrize("name", ["product_name", "allowed_paths", "surprise"])
def test_size_has_a_limit(name: str, value: Any) -> None:
    assert problems(sample(**{name: value}))


def test_depth_has_a_limit() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    try:
        assert problems(sample(llm=deep))
    finally:
        while isinstance(deep, list):  # so that Python need not recurse to forget it
            deep = deep.pop()


@given(st.sampled_from(sorted(schema("run_config")["properties"])), JSON)
def test_any_value_anywhere_is_accepted_or_refused_with_its_code(name: str, value: Any) -> None:
    try:
        config = checked(sample(**{name: value}))
    except ToolError as error:
        assert error.code == "SCHEMA_VALIDATION_FAILED"  # noqa: PT017 - both are fine
    else:
        assert config_sha256(config)


def test_a_file_may_be_yaml_or_json(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(sample()), encoding="utf-8")
    (tmp_path / "run.yaml").write_text("\ufeff" + json.dumps(sample(), indent=1), encoding="utf-8")

    assert load_file(tmp_path / "run.json") == load_file(tmp_path / "run.yaml") == sample()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("run.yaml", b"a: 1\nb: [\n", "line 3"),
        ("run.yaml", b"a: 1\na: 2\n", "line 2: the key 'a' is there twice"),
        ("run.yaml", b"a: !!python/object/apply:os.system [id]\n", "line 1"),
        ("run.yaml", b"a: 1\n\xff\n", "line 2: it is not UTF-8"),
        ("run.yaml", b"- a\n", "line 1: it is no list of settings"),
        ("run.yaml", b"", "line 1: it is no list of settings"),
        ("run.yaml", b"a: &a [x]\nb: &b [" + b"*a," * 2000 + b"]\nc: [" + b"*b," * 2000 + b"]\n", "line 3"),
        ("run.yaml", b"[" * 500_000, "nested more than"),
        ("run.yaml", b"x" * 2_000_000, "more than"),
        ("run.json", b'{\n"a": 1,,}', "line 2"),
        ("run.json", b'{"a": 1, "a": 2}', "twice"),
        ("run.json", b'{"a": NaN}', "NaN"),
        ("run.json", b"[" * 500_000, "run.json"),
    ],
    ids=range(13),
)
def test_a_broken_file_is_told_on_one_line(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(UsageError) as caught:
        load_file(tmp_path / name)

    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")

    for name in ("pipe", "loop", "nowhere", ".", "nul\0"):
        with pytest.raises(UsageError):
            load_file(tmp_path / name)


def test_recorded_answers_are_named_as_seen_from_the_file_that_names_them(tmp_path: Path) -> None:
    config = changed("llm/api_base_url", "recorded:kept/answers.jsonl")
    config["llm"]["fallback"] = {"api_base_url": "recorded:/elsewhere.jsonl", "model": "m"}
    (tmp_path / "run.json").write_text(json.dumps(config))
    loaded = checked(load_file(tmp_path / "run.json"))

    assert loaded["llm"]["api_base_url"] == f"recorded:{tmp_path}/kept/answers.jsonl"
    assert loaded["llm"]["fallback"]["api_base_url"] == "recorded:/elsewhere.jsonl"


def test_a_missing_language_is_told_without_quoting_the_whole_configuration() -> None:
    config = sample()
    del config["locale"]
    with pytest.raises(ToolError) as refused:
        checked(config)

    assert (
        refused.value.message == "The run_config is not valid: /: one of locale and locales is a required property"
    )


FORGES: list[tuple[dict[str, str], str, bool]] = [
    ({}, "https://github.com/acme/site", True),
    ({"forge": "github"}, "https://github.com/acme/site", True),
    ({"forge": "gitea"}, "https://git.example/acme/site", True),
    ({"forge": "gitea", "forge_url": "https://git.example/"}, "https://git.example/acme/site", True),
    ({"forge": "git"}, "https://github.com/acme/site", True),
    ({"forge": "github"}, "/srv/site", False),
    ({}, "https://github.com/acme", False),
    ({"forge": "gitea"}, "http://git.example/acme/site", False),
    ({"forge": "gitea", "forge_url": "https://other.example"}, "https://git.example/acme/site", False),
    ({"forge_url": "https://git.example"}, "https://git.example/acme/site", False),
    ({"forge": "gitea", "endpoint_url": "https://commits.example"}, "https://git.example/acme/site", False),
]


@pytest.mark.parametrize(("settings", "site", "is_right"), FORGES)
def test_a_forge_must_be_one_that_the_site_can_be_on(settings: dict[str, str], site: str, is_right: bool) -> None:
    config = sample(site_repo_url=site, commit_service=sample()["commit_service"] | settings)
    if is_right:
        assert checked(config)["commit_service"] == config["commit_service"]
    else:
        assert {one["instancePath"].split("/")[1] for one in problems(config)} <= {
            "site_repo_url",
            "commit_service",
        }
