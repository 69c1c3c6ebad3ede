"""Secrets and absolute paths leave; everything else stays."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from holdfast.observe.redaction import REDACTED, Redactor, is_plain

REDACTOR = Redactor(cwd="/work/project", home="/home/me", roots={"home", "work", "etc", "tmp", "usr", "var"})
TEXT = st.text(st.characters())
TOKEN = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=36, max_size=60)
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow{}\n-----END RSA PRIVATE KEY-----"

CARRIERS = [
    "password={}",
    "PASSWORD: {}",
    'pwd = "{} with spaces"',
    "{{'client_secret': '{}'}}",
    '{{"accessToken": "{}"}}',
    '{{\\"refresh_token\\":\\"{}\\"}}',
    "x-api-key: {}",
    "aws_secret_access_key = {}",
    "https://host/path?a=1&api_key={}&b=2",
    "https://user:{}@host.example/path",
    "postgres://{}@db/x",
    "Authorization: Basic {}",
    "Authorization: Token {}",
    "Cookie: session={}; theme=dark",
    "Set-Cookie: id={}; HttpOnly",
    "sent Bearer {} to the server",
    "the key={} was used",
    "idempotency_key: {}",
    "found sk-{}",
    "found sk-proj-{}",
    "found ghp_{}",
    "found github_pat_{}",
    "found glpat-{}",
    "found xoxb-{}",
    "found npm_{}",
    "found hf_{}",
    "found sk_live_{}",
    "found rk_test_{}",
    "found gho_{}",
    "found AIza{}",
    "found ya29.{}",
    "found pypi-{}",
    "found eyJ{0}.{0}.{0}",
    PEM,
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{} and no end",
]


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(CARRIERS), TOKEN, TEXT, TEXT)
def test_a_secret_never_survives(carrier: str, secret: str, before: str, after: str) -> None:
    assume(secret not in before + after)
    text = f"{before}\n{carrier.format(secret)}\n{after}"
    assert secret not in REDACTOR.text(text)
    assert secret not in json.dumps(REDACTOR.value({"deep": [{"er": text}]}))


@pytest.mark.parametrize("kind", ["AKIA", "ASIA"])
def test_an_access_key_id_is_known_by_its_shape(kind: str) -> None:
    assert REDACTOR.text(f"id {kind}IOSFODNN7EXAMPLE.") == f"id {REDACTED}."


def test_only_the_secret_itself_is_taken_out() -> None:
    text = "login as bob with password=hunter2, then retry https://bob:pw@host/a?b=c (3 of 5)"
    expected = "login as bob with password=[redacted], then retry https://[redacted]@host/a?b=c (3 of 5)"
    assert REDACTOR.text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the answer is 42",
        "https://host.example/path/file.html?q=a/b#c",
        "see http://localhost:8080/home/me/x for more",
        "on 2026/01/31 or 31/01/2026 at 12:30:45",
        "1/2 and 3/4, and/or, n/a, w/o",
        "violation at /arguments/key",
        'instancePath "/arguments/items/0/name" is wrong',
        "GET /v1/search and POST /index",
        "a relative/path.py and ./another/one.txt and ../up/x.md",
        "already ~/notes.txt and <path>/x.txt",
        "unexpected token in line 5",
        "max_tokens=500, tokens: 12",
        "basic authentication failed; Basic Authentication failed; bearer scheme required",
        "the tokenizer: fast; secretary: Bob; monkey=12345678901234567890abc; keyboard: qwerty",
        "a / b // c /// d",
        "/",
        "//",
        "s/foo/bar/g",
        "text/plain; charset=utf-8",
        "C: drive, note: this, a:b",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/work/project/src/a.py", "src/a.py"),
        ("in /work/project/src/a.py:10: error", "in src/a.py:10: error"),
        ("cwd is /work/project", "cwd is ."),
        ("cwd is '/work/project/'", "cwd is './'"),
        ("/work/projects/a.py", "<path>/a.py"),
        ("/home/me/.ssh/id_rsa", "~/.ssh/id_rsa"),
        ("HOME=/home/me;", "HOME=~;"),
        ("/home/you/x", "<path>/x"),
        ("open('/home/you/My Documents/tax.pdf') failed", "open('<path>/tax.pdf') failed"),
        ("cannot read /etc/passwd.", "cannot read <path>/passwd."),
        ("PATH=/usr/bin:/usr/local/bin", "PATH=<path>/bin:<path>/bin"),
        ("(/tmp/a/b)", "(<path>/b)"),
        ("/unknown/root/file.txt", "<path>/file.txt"),
        (r"C:\Users\me\secret.txt", "<path>/secret.txt"),
        ("c:/Users/me/x", "<path>/x"),
        (r"{'p': 'D:\\data\\x.db'}", "{'p': '<path>/x.db'}"),
        (r"\\server\share\dir\f.doc", "<path>/f.doc"),
        ("file:///etc/hosts", "<path>/hosts"),
        ("see file:///work/project/a%20b.txt now", "see a b.txt now"),
        ("file:///home/me/x", "~/x"),
        ("file:///C:/Users/me/x.txt", "<path>/x.txt"),
        ("file://nas/share/x.txt", "<path>/x.txt"),
        ("FILE:/etc/hosts", "<path>/hosts"),
        ("/work/project/../../etc/passwd", "../../etc/passwd"),
        ("/work/project//etc/passwd", "etc/passwd"),
    ],
)
def test_absolute_paths_are_made_relative_or_reduced_to_their_name(text: str, shown: str) -> None:
    assert REDACTOR.text(text) == shown


@pytest.mark.parametrize("everything", ["/", ""])
def test_a_working_directory_that_holds_everything_hides_nothing(everything: str) -> None:
    redactor = Redactor(cwd=everything, home=everything, roots={"etc"})
    assert redactor.text("read /etc/ssl/key.pem") == "read <path>/key.pem"


def test_a_working_directory_that_is_gone_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    assert Redactor(home="/home/me").text("/home/me/x and /etc/a/b") == "~/x and <path>/b"


@pytest.mark.parametrize(
    ("key", "item", "shown"),
    [
        ("password", "x", REDACTED),
        ("dbPassword", "x", REDACTED),
        ("X-Api-Key", "x", REDACTED),
        ("client_secret", ["a", "b"], REDACTED),
        ("AUTHORIZATION", "x", REDACTED),
        ("set-cookie", "x", REDACTED),
        ("credentials", {"user": "u"}, REDACTED),
        ("aws_access_key_id", "x", REDACTED),
        ("privateKey", "x", REDACTED),
        ("auth", "x", REDACTED),
        ("pwd", 1234, REDACTED),
        ("token", None, None),
        ("hasPassword", True, True),
        ("max_tokens", 500, 500),
        ("progressToken", "p-1", "p-1"),
        ("tokenizer", "fast", "fast"),
        ("key", "A-1", "A-1"),
        ("author", "Bob", "Bob"),
    ],
)
def test_the_key_decides_where_it_names_a_secret(key: str, item: Any, shown: Any) -> None:
    assert REDACTOR.value({"outer": [{key: item}]}) == {"outer": [{key: shown}]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@settings(deadline=None)
@given(JSON)
def test_any_value_is_redacted_without_an_error_and_stays_json(value: Any) -> None:
    json.dumps(REDACTOR.value(value))


FRAGMENTS = st.sampled_from(
    ["password", "token", "key", "=", ":", '"', "'", "\\", "/", "//", "://", "@", " ", "\n", "file:", "C:", "home",
     "/home/me", "/work/project", "bearer ", "cookie", "a.txt", "[redacted]", "x" * 20, "%2F", "sk-", "eyJ", "."]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=3), max_size=12).map("".join))
@example("")
def test_plain_text_is_what_the_redactor_leaves_alone(text: str) -> None:
    redacted = REDACTOR.text(text)
    assert redacted == text or not is_plain(text)


@pytest.mark.parametrize(
    "value", [1, 2.5, "tool_call", "4bf92f3577b34da6-a3ce929d0e0e4736", "lookup", "TOOL_TIMEOUT"]
)
def test_names_numbers_and_hexadecimal_ids_are_plain(value: object) -> None:
    assert is_plain(value)


@pytest.mark.parametrize("value", [None, True, [], {}, "a/b", "a=b", "sk-abcdefghijklmnop", "x y", "ü"])
def test_whatever_could_hold_a_secret_is_not_plain(value: object) -> None:
    assert not is_plain(value)


def test_what_is_nested_too_deeply_is_left_out() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]
    assert REDACTED in json.dumps(REDACTOR.value(value))


HOSTILE = [
    "a", "/", "\\", "-", " ", '"', "'", "token", "token:", "key=", "key: ", "://", "a://", "://a@", '"/', "'/a",
    "eyJ", "-eyJaaaaaaaa", ".eyJaaaaaaaaaaa", "sk-", "bearer ", "basic aB", 'password="', 'password=\\"', "C:\\",
    "\\\\a\\", "/home/a ", "/a.b", "file:/", "file:///%2f", "cookie: ", "authorization=", "-----BEGIN A-----",
    "auth key ", "ya29.",
]  # fmt: skip


@pytest.mark.parametrize("fragment", HOSTILE)
def test_hostile_text_takes_linear_time(fragment: str) -> None:
    text = fragment * (200_000 // len(fragment)) + "\nkey token / \\ :// cookie bearer eyJ sk- -----BEGIN A----\n"
    started = time.process_time()
    REDACTOR.text(text)
    assert time.process_time() - started < 1
