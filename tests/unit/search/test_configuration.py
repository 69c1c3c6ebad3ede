"""The configuration of a repository: hostile files first, then what the keys mean, then who wins."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.configuration import KEYS, SearchConfiguration, is_refused, load_configuration
from holdfast.search.configuration.document import check_document
from holdfast.search.configuration.files import MAX_BYTES
from holdfast.search.configuration.jsonc import parse_jsonc
from holdfast.search.configuration.keys import JSON, REFUSED, TOML, spelled
from holdfast.search.configuration.pairofcleats import mapped
from holdfast.search.discover import Limits
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest
from holdfast.settings import Settings
from holdfast.settings import load_configuration as load_settings_file

DIGEST = "ab" * 32


def load(root: Path, **files: str | bytes) -> SearchConfiguration:
    """The configuration of a repository with these files: `json`, `toml`, `project`."""
    names = {"json": ".pairofcleats.json", "toml": "holdfast.toml", "project": "pyproject.toml"}
    for kind, text in files.items():
        (root / names[kind]).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_configuration(find_repository(root))


def refusal(root: Path, **files: str | bytes) -> ToolError:
    with pytest.raises(ToolError) as found:
        load(root, **files)
    error = found.value
    assert error.code == "INVALID_REQUEST"
    assert error.message.isprintable()
    assert str(root) not in error.message
    assert error.details["violations"]
    for item in error.details["violations"]:
        assert item.keys() == {"instancePath", "schemaPath", "keyword", "params", "message"}
        assert item["params"]["file"] in error.message or len(files) > 1
    return error


def left_out(root: Path, json: str | bytes) -> list[str]:
    """The warnings about a `.pairofcleats.json` that is wrong; it refuses nothing."""
    configuration = load(root, json=json)
    assert all(warning["code"].startswith("configuration_") for warning in configuration.warnings)
    assert all(warning["message"].isprintable() for warning in configuration.warnings)
    assert str(root) not in str(configuration.warnings)
    return [warning["message"] for warning in configuration.warnings]


def violations(json: str) -> list[Any]:
    """What is wrong with a JSON document, as the findings about it are made of."""
    return check_document(mapped(parse_jsonc(json)), JSON, ".pairofcleats.json").violations


UNREADABLE: list[tuple[str | bytes, str]] = [
    ("", ".pairofcleats.json: is not valid JSON: line 1, column 1: the text ends too early"),
    (b"\0\xff" * 50, ".pairofcleats.json: is not UTF-8"),
    (b"\0" * 50, ".pairofcleats.json: is not valid JSON: line 1, column 1"),
    (b"/" * (MAX_BYTES + 1), f".pairofcleats.json: is larger than {MAX_BYTES} bytes"),
    ("[" * 100_000, "nested deeper than 64 levels"),
    ('{"mcp": {}, "mcp": {}}', "line 1, column 13: the key 'mcp' stands twice"),
    ("[]", ".pairofcleats.json: must be an object, not a list"),
    ("null", ".pairofcleats.json: must be an object, not null"),
]


@pytest.mark.parametrize(("json", "words"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_json_file_that_cannot_be_read_is_a_warning_and_the_defaults_count(
    tmp_path: Path, json: str | bytes, words: str
) -> None:
    (message,) = left_out(tmp_path, json)

    assert words in message
    assert set(load(tmp_path).origins.values()) == {"default"}
    assert load(tmp_path).files == (".pairofcleats.json",)


PUBLIC = """{
  "cache": {"root": "/tmp/elsewhere"}, "quality": "max", "threads": 4,
  "runtime": {"nodeOptions": "--require=./x.js"}, "tooling": {"lsp": {"servers": [{"cmd": "./run"}]}},
  "mcp": {"mode": "auto", "queueMax": 5, "toolTimeoutMs": 9000},
  "indexing": {"maxFileBytes": 5000, "maxFileLines": 9, "fileCaps": {"byMode": {"code": {"maxBytes": 7000}}},
               "scm": {"provider": "git"}, "riskInterprocedural": {"enabled": true}},
  "retrieval": {"graph": {"caps": {}}}, "search": {"annDefault": false, "rrf": {"k": 60}}
}"""


def test_the_public_keys_of_pairofcleats_are_mapped_or_reported_and_choose_no_place_or_program(
    tmp_path: Path,
) -> None:
    configuration = load(tmp_path, json=PUBLIC)

    assert configuration.indexing.limits == Limits(7000, 5000, 5000)
    assert (configuration.mcp.mode, configuration.mcp.queue_max) == ("native", 5)
    found = [(one["code"].removeprefix("configuration_"), one["message"]) for one in configuration.warnings]
    places = {message.split(": ")[1]: code for code, message in found}
    assert {place for place, code in places.items() if code == "refused"} == {
        "/cache/root",
        "/runtime",
        "/tooling",
    }
    assert {place for place, code in places.items() if code == "no_effect"} == {
        "/quality", "/threads", "/retrieval", "/indexing/maxFileLines", "/indexing/scm",
        "/indexing/riskInterprocedural", "/search/annDefault", "/search/rrf",
    }  # fmt: skip
    assert len(places) == len(found) == 11


def test_what_is_wrong_in_a_json_file_is_left_out_and_the_rest_counts(tmp_path: Path) -> None:
    messages = left_out(tmp_path, '{"search": {"top": 0, "mode": "code"}, "serach": 1}')

    assert messages == [
        ".pairofcleats.json: /search/top: must be 1 or more (left out)",
        ".pairofcleats.json: unknown key 'serach'; did you mean 'search'? (left out)",
    ]
    assert (load(tmp_path).search.top, load(tmp_path).search.mode) == (5, "code")


BROKEN: list[tuple[dict[str, str | bytes], str]] = [
    ({"toml": "[search"}, "holdfast.toml: is not valid TOML"),
    ({"toml": "search = 1"}, "holdfast.toml: /search: must be an object, not an integer"),
    ({"toml": b"#\xff"}, "holdfast.toml: is not UTF-8: byte 1 is the first that is not"),
    ({"toml": b"#" * (MAX_BYTES + 1)}, "holdfast.toml: is larger than"),
    ({"toml": "a = " + "[" * 50_000}, "holdfast.toml: is nested too deeply"),
    ({"toml": ".".join("a" * 100_000) + " = 1"}, "holdfast.toml: has a key of more than 100 parts"),
    ({"toml": "[" + " . ".join(["'a'", '"b"'] * 10_000) + "]"}, "holdfast.toml: has a key of more than 100 parts"),
    (
        {"project": "[tool.holdfast.search]\ntop = 0"},
        "pyproject.toml: /tool/holdfast/search/top: must be 1 or more",
    ),
    ({"project": "[tool.holdfast"}, "pyproject.toml: is not valid TOML"),
    ({"project": b"# holdfast\n" + b"#" * MAX_BYTES}, "pyproject.toml: is larger than"),
]


@pytest.mark.parametrize(("files", "words"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_a_typed_error_that_names_it(
    tmp_path: Path, files: dict[str, str | bytes], words: str
) -> None:
    started = time.process_time()

    assert words in refusal(tmp_path, **files).message
    assert words in refusal(tmp_path).message  # also when it is known already
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize("name", [".pairofcleats.json", "holdfast.toml"])
@pytest.mark.parametrize("kind", ["fifo", "directory", "outside", "nowhere", "loop", "device"])
def test_something_that_is_no_file_of_the_repository_is_never_read(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    root = tmp_path / "root"
    root.mkdir()
    place = root / name
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        targets = {"outside": "../elsewhere.json", "nowhere": "gone", "loop": name, "device": "/dev/zero"}
        place.symlink_to(targets[kind])

    def look() -> None:
        found.append(refusal(root).message if name.endswith(".toml") else load(root).warnings[0]["message"])

    found: list[str] = []
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(10)
    assert found[0].startswith(f"{name}: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").touch(0)

    assert "cannot be read: Permission denied" in refusal(tmp_path).message


def test_a_link_inside_of_the_repository_is_followed(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "search.json").write_text('{"search": {"top": 7}}')
    (tmp_path / ".pairofcleats.json").symlink_to("tools/search.json")

    assert load(tmp_path).search.top == 7


def test_a_pyproject_that_cannot_be_ours_does_no_harm(tmp_path: Path) -> None:
    assert load(tmp_path, project="[[[").warnings == ()
    assert load(tmp_path, project=b"#" * (2 * MAX_BYTES)).warnings == ()
    assert load(tmp_path, project='[tool.holdfast]\nmcp_mode = "sdk"').files == ()
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "pyproject.toml").symlink_to("/dev/zero")

    assert load(tmp_path).warnings[0]["code"] == "configuration_unreadable"


WRONG: list[tuple[str, str, str, str]] = [
    ('{"serach": {}}', "", "additionalProperties", "unknown key 'serach'; did you mean 'search'?"),
    ('{"search": {"Top": 5}}', "/search", "additionalProperties", "unknown key 'Top'; did you mean 'top'?"),
    ('{"a\\nb": 1}', "", "additionalProperties", "unknown key 'a?b'"),
    ('{"search": []}', "/search", "type", "must be an object, not a list"),
    ('{"search": {"top": "5"}}', "/search/top", "type", "must be an integer, not a string"),
    ('{"search": {"top": true}}', "/search/top", "type", "must be an integer, not true or false"),
    ('{"search": {"top": null}}', "/search/top", "type", "must be an integer, not null"),
    ('{"search": {"top": 1.5}}', "/search/top", "type", "must be an integer, not a number"),
    ('{"search": {"top": 0}}', "/search/top", "minimum", "must be 1 or more"),
    ('{"search": {"top": 1001}}', "/search/top", "maximum", "must be 1000 or less"),
    ('{"search": {"top": 1e300}}', "/search/top", "maximum", "must be 1000 or less"),
    ('{"search": {"mode": "cod"}}', "/search/mode", "enum", "must be one of code, prose"),
    ('{"search": {"backend": 1}}', "/search/backend", "type", "must be a string, not an integer"),
    ('{"mcp": {"mode": "other"}}', "/mcp/mode", "enum", "must be one of native, sdk, legacy"),
    ('{"mcp": {"maxBufferBytes": 10}}', "/mcp/maxBufferBytes", "minimum", "must be 1024 or more"),
    ('{"mcp": {"toolTimeouts": 1}}', "/mcp/toolTimeouts", "type", "must be an object"),
    ('{"mcp": {"toolTimeouts": {"serch": 1}}}', "/mcp/toolTimeouts", "propertyNames",
     "there is no tool 'serch'; did you mean 'search'?"),
    ('{"mcp": {"toolTimeouts": {"search": -1}}}', "/mcp/toolTimeouts/search", "minimum", "must be 0 or more"),
    ('{"indexing": {"maxFileBytes": "5"}}', "/indexing/maxFileBytes", "type", "must be an object, not a string"),
    ('{"indexing": {"maxFileBytes": {"code": 0}}}', "/indexing/maxFileBytes/code", "minimum", "1 or more"),
    ('{"indexing": {"ignore": "*.py"}}', "/indexing/ignore", "type", "must be a list, not a string"),
    ('{"indexing": {"ignore": ["a", 1]}}', "/indexing/ignore/1", "type", "must be a string, not an integer"),
    ('{"indexing": {"ignore": [" "]}}', "/indexing/ignore/0", "pattern", "must not be blank"),
    ('{"indexing": {"ignore": ["# x"]}}', "/indexing/ignore/0", "pattern", "is a comment in an ignore file"),
    ('{"indexing": {"ignore": ["a\\nb"]}}', "/indexing/ignore/0", "pattern", "must be one line"),
    ('{"indexing": {"useGitignore": false}}', "/indexing", "additionalProperties", "unknown key 'useGitignore'"),
    ('{"cache": {"maxBytes": 0}}', "/cache/maxBytes", "minimum", "must be 1048576 or more"),
    ('{"cache": {"root": "/tmp"}}', "/cache/root", "refused", "a project must not choose where we write"),
    ('{"cacheRoot": "/tmp"}', "/cacheRoot", "refused", "a project must not choose where we write"),
    ('{"extensions": {"sources": {}}}', "/extensions", "refused", "must not choose code that we load or run"),
    ('{"tooling": {}}', "/tooling", "refused", "must not choose code that we load or run"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "keyword", "message"), WRONG, ids=[row[0][:40] for row in WRONG])
def test_a_key_or_value_that_cannot_be_is_told_with_its_place(
    tmp_path: Path, text: str, path: str, keyword: str, message: str
) -> None:
    (item,) = violations(text)

    assert (item["instancePath"], item["keyword"]) == (path, keyword)
    assert message in item["message"]
    assert item["schemaPath"].startswith("#")
    assert item["message"] in left_out(tmp_path, text)[0]


def source_faults(entry: str) -> list[str]:
    return [item["message"] for item in violations(f'{{"dictionary": {{"sources": {{"en": {entry}}}}}}}')]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("/etc/shadow", "must not lead out of the repository"),
        ("words/../../secret", "must not lead out of the repository"),
        ("~/words", "must not lead out of the repository"),
        ("file:///etc/shadow", "must be an https or http URL"),
        ("ftp://host/x", "must be an https or http URL"),
        ("https://", "must be an https or http URL"),
        ("https://user:secret@host/x", "must not hold a user or a password"),
        ("https://[::1/x", "is not a valid URL"),
        ("https://host:99999/x", "is not a valid URL"),
        ("pypi:words", "must be pypi:NAME==VERSION"),
        ("pypi:--index-url==1", "must be pypi:NAME==VERSION"),
        ("", "must be one line"),
        ("a\\u0000b", "must be one line"),
    ],
)
def test_a_project_cannot_name_just_any_source(tmp_path: Path, source: str, fault: str) -> None:
    entry = f'{{"source": "{source}", "sha256": "{DIGEST}"}}'
    assert not load(tmp_path, json=f'{{"dictionary": {{"sources": {{"en": {entry}}}}}}}').dictionary_sources
    (message,) = source_faults(f'{{"source": "{source}", "sha256": "{DIGEST}"}}')

    assert message.startswith(fault)


def test_a_source_needs_its_digest_and_nothing_else() -> None:
    assert "the key 'sha256' is missing" in source_faults('{"source": "https://host/x"}')[0]
    assert "64 hexadecimal digits" in source_faults('{"source": "x", "sha256": "abc"}')[0]
    assert len(source_faults('{"sha": 1, "url": 2}')) == 4
    assert source_faults("[]") == ["must be an object, not a list"]
    (item,) = violations(f'{{"models": {{"sources": {{"../x": {{"source": "a", "sha256": "{DIGEST}"}}}}}}}}')
    assert "the name '../x' must be letters" in item["message"]


def test_everything_that_is_wrong_in_toml_is_listed_at_once_whatever_stands_in_json(tmp_path: Path) -> None:
    error = refusal(tmp_path, json='{"x": 1}', toml='[search]\ntop = "a"\nmode = 1\n[search.mpc]')

    places = [(item["params"]["file"], item["instancePath"]) for item in error.details["violations"]]
    assert places == [("holdfast.toml", place) for place in ("/search/top", "/search/mode", "/search")]
    assert error.message == "holdfast.toml: /search/top: must be an integer, not a string (and 2 more)"


def test_thousands_of_mistakes_are_counted_and_the_first_are_listed(tmp_path: Path) -> None:
    error = refusal(tmp_path, toml="[search]\n" + "\n".join(f"k{number} = 1" for number in range(5000)))

    assert error.details["violationCount"] == 5000
    assert len(error.details["violations"]) == 64
    (tmp_path / "holdfast.toml").unlink()
    messages = left_out(tmp_path, "{" + ", ".join(f'"k{number}": 1' for number in range(5000)) + "}")
    assert len(messages) == 65
    assert messages[-1] == ".pairofcleats.json: and 4936 more (left out)"


@pytest.mark.parametrize(
    "group", ["{%s}", '{"mcp": {"toolTimeouts": {%s}}}', '{"models": {"sources": {"a": {%s}}}}']
)
def test_a_file_full_of_mistakes_takes_no_time(tmp_path: Path, group: str) -> None:
    keys = ",".join(f'"sarch{number}":1' for number in range(16_000))
    started = time.process_time()

    assert len(left_out(tmp_path, group % keys)) == 65
    assert time.process_time() - started < 2.0


def test_what_one_caller_does_to_the_error_does_not_reach_the_next(tmp_path: Path) -> None:
    first = refusal(tmp_path, toml="[search]\nx = 1")
    first.details["violations"][0]["params"].clear()

    assert refusal(tmp_path).details["violations"][0]["params"]["additionalProperty"] == "x"


# --- what the keys mean ---------------------------------------------------------------------------------------


def test_without_a_file_every_key_has_the_default_of_the_server_and_of_the_search(tmp_path: Path) -> None:
    configuration = load(tmp_path)
    server = Settings()

    assert set(configuration.origins.values()) == {"default"}
    assert configuration.mcp.mode == server.mcp_mode
    assert configuration.mcp.queue_max == server.queue_max
    assert configuration.mcp.max_buffer_bytes == server.max_message_bytes
    assert configuration.indexing.limits == Limits()
    assert configuration.server_settings() == {}
    plain = SearchRequest.from_arguments({"query": "a"})
    assert SearchRequest.from_arguments(configuration.search.completed({"query": "a"})) == plain


EVERYTHING = f"""{{
  // every key there is
  "mcp": {{"mode": "legacy", "queueMax": 3, "maxBufferBytes": 4096, "toolTimeoutMs": 5000,
          "toolTimeouts": {{"search": 100, "build_index": 0}}}},
  "search": {{"top": 9, "mode": "code", "backend": "fts"}},
  "indexing": {{"maxFileBytes": {{"code": 10, "prose": 20, "records": 30}}, "ignore": ["*.min.js", "!keep.js",]}},
  "cache": {{"maxBytes": 1073741824, "maxAgeDays": 30}},
  "dictionary": {{"sources": {{"en": {{"source": "words/en.txt", "sha256": "{DIGEST.upper()}"}}}}}},
  "models": {{"sources": {{"org/mini": {{"source": "https://host/m.zip#a", "sha256": "{DIGEST}"}}}}}},
}}"""


def test_every_key_that_is_declared_can_be_set_and_is_found_again(tmp_path: Path) -> None:
    configuration = load(tmp_path, json=EVERYTHING)

    assert set(configuration.origins.values()) == {".pairofcleats.json"}
    for key in KEYS:
        assert configuration.values[key.path] != key.default, key.path
    assert configuration.indexing.limits == Limits(10, 20, 30)
    assert configuration.indexing.ignore_file() == b"*.min.js\n!keep.js\n"
    assert (configuration.cache.max_bytes, configuration.cache.max_age_days) == (2**30, 30)
    settings: dict[str, Any] = {"mcp_mode": "legacy", "queue_max": 3, "max_message_bytes": 4096}
    assert configuration.server_settings() == settings
    assert Settings(**settings).queue_max == 3


def test_a_source_that_is_a_path_starts_at_the_root_of_the_repository(tmp_path: Path) -> None:
    configuration = load(tmp_path, json=EVERYTHING)

    root = find_repository(tmp_path).root
    assert configuration.dictionary_sources == {"en": {"source": str(root / "words/en.txt"), "sha256": DIGEST}}
    assert configuration.model_sources["org/mini"]["source"] == "https://host/m.zip#a"
    assert configuration.as_json()["dictionary"]["sources"]["en"]["source"] == "words/en.txt"


def test_a_search_takes_from_the_configuration_only_what_it_leaves_open(tmp_path: Path) -> None:
    defaults = load(tmp_path, json=EVERYTHING).search

    request = SearchRequest.from_arguments(defaults.completed({"query": "a"}))
    assert (request.top, request.mode, request.backend) == (9, "code", "sqlite-fts")
    said = {"query": "a", "top": 2, "mode": "all", "backend": None}
    request = SearchRequest.from_arguments(defaults.completed(said))
    assert (request.top, request.mode, request.backend) == (2, "all", "sqlite-fts")


@pytest.mark.parametrize(
    ("tool", "expected"), [("search", 100), ("build_index", 0), ("index_build", 0), ("cache_gc", 5000)]
)
def test_the_time_of_a_tool_is_its_own_or_the_general_one(tmp_path: Path, tool: str, expected: int) -> None:
    assert load(tmp_path, json=EVERYTHING).mcp.timeout_ms(tool) == expected


def test_without_a_word_about_it_a_tool_keeps_the_time_that_it_declares(tmp_path: Path) -> None:
    assert load(tmp_path).mcp.timeout_ms("search") is None


# --- two files ------------------------------------------------------------------------------------------------


def as_toml(table: dict[str, Any], header: str = "search") -> str:
    import json

    lines = [f"[{header}]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in table.items() if not isinstance(value, dict)]
    inner = [as_toml(value, f'{header}."{name}"') for name, value in table.items() if isinstance(value, dict)]
    return "\n".join([*lines, *inner])


def test_toml_says_the_same_in_snake_case_with_the_search_at_the_top(tmp_path: Path) -> None:
    expected = load(tmp_path, json=EVERYTHING)
    whole: dict[str, Any] = {}
    for key in KEYS:
        *groups, name = spelled(key.path, TOML)
        inner = whole
        for group in groups:
            inner = inner.setdefault(group, {})
        value: Any = expected.as_json()
        for part in spelled(key.path, JSON):
            value = value[part]
        inner[name] = value
    (tmp_path / ".pairofcleats.json").unlink()
    configuration = load(tmp_path, toml=as_toml(whole))

    assert configuration.values == expected.values
    assert set(configuration.origins.values()) == {"holdfast.toml [search]"}
    assert load_settings_file({}, {}, start=tmp_path).file == tmp_path / "holdfast.toml"


def test_holdfast_toml_wins_key_by_key_and_says_so(tmp_path: Path) -> None:
    configuration = load(
        tmp_path,
        json='{"search": {"top": 3, "mode": "code"}}',
        toml='[search]\ntop = 4\nmode = "code"\nbackend = "fts"',
    )

    assert (configuration.search.top, configuration.search.mode, configuration.search.backend) == (
        4,
        "code",
        "fts",
    )
    assert configuration.files == (".pairofcleats.json", "holdfast.toml")
    (warning,) = configuration.warnings
    assert warning["code"] == "configuration_overridden"
    assert warning["message"] == "search.top stands in .pairofcleats.json too; holdfast.toml [search] wins"


def test_a_pyproject_counts_where_there_is_no_holdfast_toml(tmp_path: Path) -> None:
    table = "[tool.holdfast.search.indexing.max_file_bytes]\ncode = 100"
    configuration = load(tmp_path, project=table)

    assert configuration.indexing.limits.code == 100
    assert configuration.origins["indexing.maxFileBytes.code"] == "pyproject.toml [tool.holdfast.search]"
    assert load_settings_file({}, {}, start=tmp_path).file == tmp_path / "pyproject.toml"
    assert load(tmp_path, toml="spare = 1").indexing.limits == Limits()


def test_a_key_is_refused_in_toml_as_in_json(tmp_path: Path) -> None:
    for row in REFUSED:
        path = ".".join(spelled(row.path, TOML))
        (item,) = refusal(tmp_path, toml=f"[search]\n{path} = 1").details["violations"]
        assert (item["keyword"], item["params"]["remedy"]) == ("refused", row.hint)


def test_a_camel_case_key_in_toml_is_told_its_spelling(tmp_path: Path) -> None:
    error = refusal(tmp_path, toml="[search.mcp]\nqueueMax = 1")

    assert error.message == "holdfast.toml: /search/mcp: unknown key 'queueMax'; did you mean 'queue_max'?"


# --- kept while nothing changes -------------------------------------------------------------------------------


def test_it_is_read_once_and_again_when_a_file_changes_comes_or_goes(tmp_path: Path) -> None:
    first = load(tmp_path, json='{"search": {"top": 3}}')
    assert load(tmp_path) is first

    assert load(tmp_path, json='{"search": {"top": 4}}').search.top == 4
    assert refusal(tmp_path, toml="[search]\ntop = 0").details["violationCount"] == 1
    (tmp_path / "holdfast.toml").unlink()
    assert load(tmp_path).search.top == 4
    (tmp_path / ".pairofcleats.json").unlink()
    assert load(tmp_path).search.top == 5


def test_a_change_is_noticed_that_leaves_size_and_time_as_they_were(tmp_path: Path) -> None:
    load(tmp_path, json='{"search": {"top": 3}}')
    file = tmp_path / ".pairofcleats.json"
    before = file.stat()
    (tmp_path / "new").write_text('{"search": {"top": 4}}')
    (tmp_path / "new").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert load(tmp_path).search.top == 4


def test_a_look_at_a_known_configuration_costs_next_to_nothing(tmp_path: Path) -> None:
    load(tmp_path, json=EVERYTHING)
    repository = find_repository(tmp_path)

    started = time.process_time()
    for _ in range(1000):
        load_configuration(repository)
    assert time.process_time() - started < 0.5  # 20 to 30 ms on an idle machine


def test_the_digest_is_another_one_exactly_when_other_files_may_be_indexed(tmp_path: Path) -> None:
    plain = load(tmp_path).indexing.digest()
    assert load(tmp_path, json='{"search": {"top": 7}, "indexing": {"ignore": []}}').indexing.digest() == plain
    texts = ['{"ignore": ["a", "b"]}', '{"ignore": ["b", "a"]}', '{"ignore": ["ab"]}']
    texts += [f'{{"maxFileBytes": {{"{mode}": 7}}}}' for mode in ("code", "prose", "records")]
    digests = [load(tmp_path, json=f'{{"indexing": {text}}}').indexing.digest() for text in texts]

    assert len({plain, *digests}) == 7
    (tmp_path / ".pairofcleats.json").unlink()
    assert load(tmp_path, toml='[search.indexing]\nignore = ["a", "b"]').indexing.digest() == digests[0]


def test_a_refused_file_is_told_apart_from_a_wrong_question(tmp_path: Path) -> None:
    assert is_refused(refusal(tmp_path, toml="[search"))
    with pytest.raises(ToolError) as wrong:
        SearchRequest.from_arguments({"query": " "})
    assert not is_refused(wrong.value)
    assert not is_refused(ToolError("INVALID_REQUEST", "Repo path not found: x"))
