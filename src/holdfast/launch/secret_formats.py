"""Formats of the credentials that common providers hand out, and the words behind which any value may be one.

Data only. Every expression is RE2's: no look-around, no back-reference, and linear time on any text.
"""

from typing import NamedTuple

__all__ = ["ASSIGNMENT", "AUTHORIZATION", "FORMATS", "PAGE_TOKEN", "PLACEHOLDER", "URL_PASSWORD", "SecretFormat"]


class SecretFormat(NamedTuple):
    """A credential that is known by its shape: `prefix` is public and stays, `body` is replaced."""

    kind: str
    prefix: str
    body: str


_WORD = "[A-Za-z0-9]"
_URL = r"[A-Za-z0-9_-]"
_HEX = "[a-f0-9]"

FORMATS: tuple[SecretFormat, ...] = (
    SecretFormat("GitHub token", "gh[oprsu]_", f"{_WORD}{{36,}}"),
    SecretFormat("GitHub token", "github_pat_", "[A-Za-z0-9_]{50,}"),
    SecretFormat("GitLab token", "gl(?:pat|dt|rt|ptt|oas|ft|imt|agent|cbt|soat|ffct)-", r"[A-Za-z0-9_.-]{20,}"),
    SecretFormat("GitLab token", "GR1348941", f"{_URL}{{20,}}"),
    SecretFormat("Slack token", "xox[abopers]-", r"(?:[0-9]+-){1,4}[A-Za-z0-9]{10,}"),
    SecretFormat("Slack token", r"xoxe(?:\.xox[bp])?-[0-9]-", f"{_WORD}{{60,}}"),
    SecretFormat("Slack token", "xapp-[0-9]-", f"{_WORD}+-[0-9]+-{_WORD}{{20,}}"),
    SecretFormat("Slack webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", "[A-Za-z0-9+/]{30,}"),
    SecretFormat("AWS access key id", "(?:AKIA|ASIA|ABIA|ACCA)", r"[A-Z2-7]{16}\b"),
    SecretFormat("Google API key", "AIza", f"{_URL}{{35}}"),
    SecretFormat("Google OAuth secret", "GOCSPX-", f"{_URL}{{28}}"),
    SecretFormat("Google OAuth token", r"ya29\.", f"{_URL}{{20,}}"),
    SecretFormat("Stripe key", "(?:sk|rk)_live_", f"{_WORD}{{16,}}"),
    SecretFormat("Stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]{32,}"),
    SecretFormat("npm token", "npm_", f"{_WORD}{{36,}}"),
    SecretFormat("PyPI token", "pypi-", f"Ag[EI]{_URL}{{50,}}"),
    SecretFormat("RubyGems key", "rubygems_", f"{_HEX}{{48}}"),
    SecretFormat("NuGet key", "oy2", r"[a-z0-9]{43}\b"),
    SecretFormat("Docker Hub token", "dckr_(?:pat|oat)_", f"{_URL}{{27,}}"),
    SecretFormat("Anthropic key", "sk-ant-(?:[a-z]+[0-9]{2}-)?", f"{_URL}{{24,}}"),
    SecretFormat("OpenAI key", "sk-(?:proj|svcacct|admin|None|or-v1)-", f"{_URL}{{40,}}"),
    SecretFormat("OpenAI key", "sk-", f"{_WORD}{{32,}}"),
    SecretFormat("Hugging Face token", "hf_", "[A-Za-z]{34}"),
    SecretFormat("Groq key", "gsk_", f"{_WORD}{{50,}}"),
    SecretFormat("Twilio key", "SK", rf"{_HEX}{{32}}\b"),
    SecretFormat("SendGrid key", r"SG\.", rf"{_URL}{{20,24}}\.{_URL}{{39,50}}"),
    SecretFormat("Mailgun key", "key-", rf"{_HEX}{{32}}\b"),
    SecretFormat("Mailchimp key", "", rf"{_HEX}{{32}}-us[0-9]{{1,2}}\b"),
    SecretFormat("DigitalOcean token", "do[opr]_v1_", f"{_HEX}{{64}}"),
    SecretFormat("Shopify token", "shp(?:at|ca|pa|ss)_", "[a-fA-F0-9]{32}"),
    SecretFormat("Square token", "sq0(?:atp|csp)-", f"{_URL}{{22,}}"),
    SecretFormat("Databricks token", "dapi", rf"{_HEX}{{32}}\b"),
    SecretFormat("HashiCorp Vault token", r"hv[bsr]\.", f"{_URL}{{24,}}"),
    SecretFormat("Terraform token", "", rf"{_WORD}{{14}}\.atlasv1\.{_URL}{{60,}}"),
    SecretFormat("Atlassian token", "ATATT3", "[A-Za-z0-9_=-]{50,}"),
    SecretFormat("Grafana token", "gl(?:sa|c)_", "[A-Za-z0-9_+/=]{32,}"),
    SecretFormat("JFrog key", "AKC[a-z0-9]", f"{_WORD}{{60,}}"),
    SecretFormat("Linear key", "lin_(?:api|oauth)_", f"{_WORD}{{32,}}"),
    SecretFormat("Postman key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    SecretFormat("New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    SecretFormat("Notion token", "ntn_", f"{_WORD}{{40,}}"),
    SecretFormat("Supabase token", "sbp_", f"{_HEX}{{40}}"),
    SecretFormat("PlanetScale token", "pscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9_.=-]{32,}"),
    SecretFormat("Telegram token", "[0-9]{8,10}:AA", f"{_URL}{{33}}"),
    SecretFormat("Discord token", "[MNO][A-Za-z0-9]{23,27}", rf"\.{_URL}{{6}}\.{_URL}{{27,}}"),
    SecretFormat("Discord webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/", f"{_URL}{{60,}}"),
    SecretFormat("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    SecretFormat("JSON Web Token", "eyJ", rf"{_URL}{{10,}}\.eyJ{_URL}{{6,}}\.{_URL}{{16,}}"),
)

URL_PASSWORD = r"\b([A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'<>`]{0,100}:)([^\s/@\"'<>`]{8,200})(@[\w\[{$])"  # noqa: S105
AUTHORIZATION = (
    r"(?i)(authorization[\"'`\]]{0,2}[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}(?:[a-z]{0,2}[\"'`])?"
    r"(?:bearer|token|basic|apikey|api-key|bot|key)[ \t]{1,4})([a-z0-9+/_=.~-]{16,})()"
)
_NAMES = (
    "passwo?r?d|passphrase|secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|account[_-]?key"
    "|secret[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|credentials?"
)
# A name, how a value is given to it in one of many languages, a quote perhaps, and the value.
ASSIGNMENT = (
    rf"(?i)([\w-]{{0,24}}(?:{_NAMES})(?:"
    r"[\"'`*\]}]{0,3}[ \t]{0,8}(?::[ \t]{0,4}&?(?:static )?(?:str|string|secretstr)\b[ \t]{0,4})?"
    r"(?::=|=>|==|=|:)[ \t*]{0,8}|[\"'],[ \t]{0,4}|[\"'`)\]]{0,2}[ \t]{1,4}|>)"
    r"(?:[a-z]{0,2}[\"'`])?)([a-z0-9+/_=.~!@#$%^&*?-]{12,})([\"'`(\[]?)"
)
PAGE_TOKEN = r"(?i)(?:next|page|cursor|continuation|sync|starting|previous|public|pagination|marker)[\w-]*$"  # noqa: S105
"""Names that end like those of secrets and hold something else: where a list goes on, a key for everybody."""

PLACEHOLDER = (
    r"(?i)example|sample|placeholder|your|change.?me|dummy|fake|redact|insert|replace|t[eo][sd][to]|password|passwd"
    r"|secret|token|hunter2|x{4}|\.\.|\*{3}|[<>{}…]|[$%]\(|\$[a-z_]|https?:|deadbeef|cafebabe|lorem|foobar"
    r"|user|demo|docs?_|mykey|my[_-]|1q2w3e|qwert|asdf|none|null|value|string"
    # Of RFC 5849, 6749 and 6750, of AWS, Slack and GitLab.
    r"|hh5s93j4|hfdp7dh3|kkk9d7dh|nnch734d|gX1fBat3bV|2YotnFZFEjr|tGzv3JOkF0X|mF_9\.B5f|wJalrXUtnF|8f742231b10e"
)
"""Parts of values that stand for one, and of credentials that were published as examples."""
