"""The page at `/docs`: everything the API can do, with a form to try it, in one response.

It loads nothing but `/openapi.json` from its own server; a strict content security policy names the hashes of
its one script and its one style sheet, so nothing else can run in it.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from holdfast.api.envelope import Header, Reply

__all__ = ["docs_page"]


@cache
def docs_page() -> Reply:
    """The page with its policy."""
    assets = files("holdfast.api") / "assets"
    style, script, shell = (
        (assets / name).read_text(encoding="utf-8") for name in ("docs.css", "docs.js", "docs.html")
    )
    page = shell.replace("/*STYLE*/", style).replace("/*SCRIPT*/", script)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers: tuple[Header, ...] = ((b"content-security-policy", policy.encode()),)
    return Reply(200, page.encode(), content_type=b"text/html; charset=utf-8", headers=headers)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
