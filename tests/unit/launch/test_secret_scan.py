"""Credentials in foreign text: which are replaced, what is left alone, and that no text takes long."""

import base64
import hashlib
import json
import random
import uuid
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.facts_place import PYPROJECT, built, place_of
from tests.unit.launch.scouting_places import inventory_of

from holdfast.launch.secret_scan import find_secrets, redact_secrets

LOWER = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
WORD = LOWER + LOWER.upper() + DIGITS
HEX = "0123456789abcdef"
Made = Callable[[str, int], str]

# What providers document of their formats, written down apart from the table that finds them.
PUBLISHED: dict[str, Callable[[Made], str]] = {
    "GitHub personal": lambda of: "ghp_" + of(WORD, 36),
    "GitHub OAuth": lambda of: "gho_" + of(WORD, 36),
    "GitHub user to server": lambda of: "ghu_" + of(WORD, 36),
    "GitHub server to server": lambda of: "ghs_" + of(WORD, 36),
    "GitHub refresh": lambda of: "ghr_" + of(WORD, 76),
    "GitHub fine-grained": lambda of: f"github_pat_{of(WORD, 22)}_{of(WORD, 59)}",
    "GitLab personal": lambda of: "glpat-" + of(WORD + "_-", 20),
    "GitLab deploy": lambda of: "gldt-" + of(WORD, 20),
    "GitLab runner": lambda of: "glrt-" + of(WORD, 20),
    "Slack bot": lambda of: f"xoxb-{of(DIGITS, 12)}-{of(DIGITS, 13)}-{of(WORD, 24)}",
    "Slack user": lambda of: f"xoxp-{of(DIGITS, 12)}-{of(DIGITS, 12)}-{of(DIGITS, 12)}-{of(HEX, 32)}",
    "Slack app": lambda of: f"xapp-1-A{of(WORD.upper(), 10)}-{of(DIGITS, 13)}-{of(HEX, 64)}",
    "Slack webhook": lambda of: f"https://hooks.slack.com/services/T{of(WORD, 8)}/B{of(WORD, 8)}/{of(WORD, 24)}",
    "AWS key id": lambda of: "AKIA" + of(LOWER.upper() + "234567", 16),
    "AWS temporary key id": lambda of: "ASIA" + of(LOWER.upper() + "234567", 16),
    "AWS secret": lambda of: f"aws_secret_access_key = {of(WORD + '/+', 40)}",
    "Google API key": lambda of: "AIza" + of(WORD + "_-", 35),
    "Google client secret": lambda of: "GOCSPX-" + of(WORD + "_-", 28),
    "Stripe secret": lambda of: "sk_live_" + of(WORD, 24),
    "Stripe restricted": lambda of: "rk_live_" + of(WORD, 99),
    "npm": lambda of: "npm_" + of(WORD, 36),
    "PyPI": lambda of: "pypi-AgEIcHlwaS5vcmc" + of(WORD + "_-", 150),
    "OpenAI, old": lambda of: f"sk-{of(WORD, 20)}T3BlbkFJ{of(WORD, 20)}",
    "OpenAI, project": lambda of: f"sk-proj-{of(WORD + '_-', 74)}T3BlbkFJ{of(WORD + '_-', 74)}",
    "Anthropic": lambda of: f"sk-ant-api03-{of(WORD + '_-', 93)}AA",
    "Hugging Face": lambda of: "hf_" + of(LOWER + LOWER.upper(), 34),
    "Twilio key": lambda of: "SK" + of(HEX, 32),
    "Twilio auth token": lambda of: f"TWILIO_AUTH_TOKEN={of(HEX, 32)}",
    "SendGrid": lambda of: f"SG.{of(WORD + '_-', 22)}.{of(WORD + '_-', 43)}",
    "Mailgun": lambda of: "key-" + of(HEX, 32),
    "Mailchimp": lambda of: of(HEX, 32) + "-us14",
    "DigitalOcean": lambda of: "dop_v1_" + of(HEX, 64),
    "Shopify": lambda of: "shpat_" + of(HEX, 32),
    "Databricks": lambda of: "dapi" + of(HEX, 32),
    "Vault": lambda of: "hvs." + of(WORD + "_-", 90),
    "Telegram": lambda of: f"{of(DIGITS, 10)}:AA{of(WORD + '_-', 33)}",
    "JSON Web Token": lambda of: ".".join(
        [
            *(
                base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
                for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": f"u-{of(HEX, 12)}", "exp": 1893456000})
            ),
            of(WORD + "_-", 43),
        ]
    ),
    "private key": lambda of: (
        "-----BEGIN RSA "
        "PRIVATE KEY-----\n" + "\n".join(of(WORD + "/+", 64) for _ in range(9)) + "\n-----END RSA PRIVATE KEY-----"
    ),
    "private key without an end": lambda of: (
        "-----BEGIN " + "PRIVATE KEY-----\n" + "\n".join(of(WORD + "/+", 64) for _ in range(3)) + "\n\nMore text."
    ),
    "private key in a string": lambda of: (
        'key = "-----BEGIN EC '
        f'PRIVATE KEY-----\\n{of(WORD, 64)}\\n{of(WORD, 40)}==\\n-----END EC PRIVATE KEY-----"'
    ),
    "database URL": lambda of: f"postgres://app:{of(WORD, 20)}@db.internal:5432/app",
    "Authorization header": lambda of: f'curl -H "Authorization: Bearer {of(WORD, 40)}" https://api.acme.dev/',
    "Basic header": lambda of: (
        "Authorization: Basic " + base64.b64encode(f"deploy:{of(WORD, 20)}".encode()).decode()
    ),
    "header of its own": lambda of: f"X-Api-Key: {of(WORD, 32)}",
    "Python": lambda of: f'client = Client(api_key="{of(WORD, 32)}")',
    "shell": lambda of: f"export ACME_TOKEN={of(WORD, 32)}",
    "YAML": lambda of: f"  client_secret: {of(WORD, 32)}",
    "JSON": lambda of: f'{{"access_token": "{of(WORD, 32)}"}}',
    "command line": lambda of: f"acme login --token {of(WORD, 32)}",
    "query": lambda of: f"https://api.acme.dev/v1?api_key={of(WORD, 32)}&page=2",
    "Markdown": lambda of: f"Set `ACME_TOKEN` = `{of(WORD, 32)}` first.",
    "TypeScript": lambda of: f"const apiKey: string = '{of(WORD, 32)}';",
    "Ruby": lambda of: f":secret_key => '{of(WORD, 32)}'",
    "XML": lambda of: f"<password>{of(WORD, 24)}</password>",
}


def maker(seed: str, made: list[str] | None = None) -> Made:
    chosen = random.Random(seed)

    def make(alphabet: str, size: int) -> str:
        text = "".join(chosen.choice(alphabet) for _ in range(size))
        if made is not None:
            made.append(text)
        return text

    return make


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_format_is_replaced_wherever_it_is_written(name: str) -> None:
    for seed in range(25):
        parts: list[str] = []
        made = PUBLISHED[name](maker(f"{name} {seed}", parts))
        text = f"# Use\n\nBefore {made} after.\n"
        redacted = redact_secrets(text)

        assert "REDACTED" in redacted, made
        assert redacted.count("\n") == text.count("\n")
        assert [secret.line for secret in find_secrets(text)][:1] == [3]
        assert find_secrets(redacted) == []
        assert not [part for part in parts if len(part) >= 16 and part[4:-4] in redacted]


UNTOUCHED = [
    f"commit {hashlib.sha1(b'x', usedforsecurity=False).hexdigest()}",
    f"sha256:{hashlib.sha256(b'x').hexdigest()}  dist/a.tar.gz",
    f"token_digest = sha256:{hashlib.sha256(b'y').hexdigest()}",
    f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(b"z").digest()).decode()}"',
    f"--hash=sha256:{hashlib.sha256(b'y').hexdigest()}",
    f"id: {uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)}",
    f"![dot](data:image/png;base64,{base64.b64encode(random.Random(1).randbytes(900)).decode()})",
    f"https://github.com/acme/acme/commit/{hashlib.sha1(b'q', usedforsecurity=False).hexdigest()}",
    'export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  # ghp_YourTokenGoesHereYourTokenGoesHere12',
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "OPENAI_API_KEY=sk-..., sk_test_4eC39HqLyjWDarjtT1zdp7dc, AC0123456789abcdef0123456789abcdef",
    "api_key: <YOUR_API_KEY>, token: ${{ secrets.GITHUB_TOKEN }}, password=os.environ['DATABASE_PASSWORD_2']",
    "postgres://user:password@localhost/db, https://alice:s3cret@example.com, redis://:${REDIS_PASSWORD}@host",
    "password = get_password_from_vault_v2(name), secret=settings.SECRET_KEY_V2, tokenizer=AutoTokenizer2Fast1",
    "NextToken='eyJNYXJrZXIiOiBudWxsLCAiYm90b190cnVuY2F0ZV9hbW91bnQiOiAyfQ=='",
    '!function(e,t){var n=e[0],r={token:t.a1b2c3d4e5,password:n(1)};return r}("token",123456789)',
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXHVxB7s5SR7I9cWw\n-----END PUBLIC KEY-----",
    "MLKEM768X25519PrivateKey = rust_openssl.hpke.MLKEM768X25519PrivateKey",
    "Authorization: Bearer YOUR_ACCESS_TOKEN, Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y",
]  # fmt: skip


@pytest.mark.parametrize("text", UNTOUCHED, ids=range(len(UNTOUCHED)))
def test_digests_ids_images_and_placeholders_stay_as_they_are(text: str) -> None:
    assert redact_secrets(text) == text
    assert find_secrets(text) == []


PIECES = [
    "ghp_",
    "token=",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END ",
    "://a:",
    "@h",
    "\n",
    '"',
    " ",
    "eyJ",
    ".",
]


@given(st.lists(st.sampled_from([*PIECES, "A1b2" * 4, "x9Yz7Kq2Lm5P", "é"]), max_size=40))
def test_nothing_is_left_in_redacted_text_and_no_line_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    redacted = redact_secrets(text)

    assert redacted.count("\n") == text.count("\n")
    assert find_secrets(redacted) == []


@pytest.mark.parametrize(
    "piece",
    ["-----BEGIN RSA PRIVATE KEY-----\n", "token", "token=", "a://b:", "eyJ", "Authorization: ", "xoxb-1"],
)
def test_the_work_grows_with_the_text_only(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        start = process_time()
        redact_secrets(text)
        return process_time() - start

    redact_secrets(piece)
    # Four times the text: a quadratic search would take sixteen times as long.
    assert seconds(80_000) < 10 * max(seconds(20_000), 0.01)


def test_a_token_in_a_readme_is_in_nothing_that_a_run_makes(tmp_path: Path) -> None:
    token = "ghp_" + maker("readme")(WORD, 36)
    password = maker("password")(WORD, 24)
    readme = (
        "# tablekit\n\nTablekit reads tables from files. It is used with the token "
        f"{token} by default.\n\n## Usage\n\n```python\nimport tablekit\n\n"
        f'tablekit.connect(token="{token}")\n```\n'
    )
    code = (
        f'"""Tables.\n\nConnect with `postgres://app:{password}@db/app`.\n"""\n\n\n'
        'def connect(token: str) -> None:\n    """Connect."""\n'
    )
    files = {"pyproject.toml": PYPROJECT, "README.md": readme.encode(), "tablekit/__init__.py": code.encode()}
    place = place_of(tmp_path, files)
    facts, evidence, catalog = built(place)
    made = json.dumps([facts, evidence, catalog])

    assert token[4:] not in made
    assert password not in made
    assert any("ghp_REDACTED" in snippet["code"] for snippet in catalog["snippets"])

    named = {f"examples/use_{token}.py": b"import tablekit\n", f"docs/{token}/a.md": b"# A\n"}
    seen = inventory_of(tmp_path / "again", files | named)
    assert token[4:] not in json.dumps(seen)
    assert [one["path"] for one in seen["skipped"]] == ["docs/ghp_REDACTED/a.md", "examples/use_ghp_REDACTED.py"]
    assert seen["redacted"] == [
        {"path": "README.md", "line": 3, "kind": "GitHub token"},
        {"path": "README.md", "line": 10, "kind": "GitHub token"},
        {"path": "tablekit/__init__.py", "line": 3, "kind": "password in a URL"},
    ]
