"""Repositories that somebody has made to do harm, what may not become of them, and where to look for it."""

import hashlib
import os
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path

from tests.launch.products import commit_all, git
from tests.launch.tablekit_sources import TABLEKIT

__all__ = ["Files", "evil_product", "live_markup", "picture", "planted", "with_everything_odd"]

Files = dict[str | bytes, bytes]
SCRIPT = "<script>alert('pwned')</script>"
CODE = "{{< script >}}"
MARK = "<!-- claim:clm_0123456789abcdef -->"


def planted(
    path: Path,
    files: Mapping[str, bytes] | Files,
    links: Mapping[str, str | Path] | None = None,
    more: Callable[[Path], None] | None = None,
) -> tuple[Path, str]:
    """A repository with these files (of any name) and symbolic links in one commit; where it is, and its sha."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet")
    for name, content in files.items():
        target = os.path.join(os.fsencode(path), os.fsencode(name))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
    for name, leads_to in (links or {}).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).symlink_to(leads_to)
    if more is not None:
        more(path)
    return path, commit_all(path)


def with_everything_odd(outside: Path) -> tuple[Files, dict[str, str | Path]]:
    """A product with names, links and contents that no reader of files expects; the files, and the links."""
    files: Files = {name: content for name, content in TABLEKIT.items() if name != "README.md"}
    files |= {
        "docs/bom.md": b"\xef\xbb\xbf# Mark\n\ntablekit writes JSON files.\n",
        "docs/crlf.md": b"# Lines\r\n\r\ntablekit reads CSV files.\r\n",
        "docs/latin.md": b"# Caf\xe9\n\ntablekit supports \xe9\xe8.\n",
        "docs/nul.md": b"# N\0\n\ntablekit reads\0files.\n",
        "docs/Case.md": b"# Case\n\ntablekit reads one.\n",
        "docs/case.md": b"# case\n\ntablekit reads two.\n",
        "docs/new\nline.md": b"# Line\n\ntablekit supports lines.\n",
        "docs/-rf": b"# Option\n",
        b"docs/caf\xe9.md": b"# Name\n\ntablekit supports names.\n",
        "src/tablekit/broken.py": b"def broken(:\n    '''It is.'''\n",
        "src/tablekit/deep.py": b"x = " + b"(" * 10_000 + b")" * 10_000 + b"\n",
        "src/tablekit/nul.py": b'"""It has a \0."""\n',
        "src/tablekit/coding.py": b"# coding: rot13\n'''x'''\n",
    }
    links: dict[str, str | Path] = {
        "README.md": "/etc/passwd",
        "docs/secret.md": outside / "secret.md",
        "examples/secret.py": outside / "secret.md",
        "loop/a": "b",
        "loop/b": "a",
        "loop/self": ".",
        "more": outside,
    }
    return files, links


def evil_product() -> dict[str, bytes]:
    """A product whose every text tries to become markup, a shortcode, front matter or a citation of the page."""
    readme = TABLEKIT["README.md"].decode()
    for before, after in _IN_README:
        assert before in readme, before
        readme = readme.replace(before, after, 1)
    project = TABLEKIT["pyproject.toml"].decode()
    project = project.replace("Small, typed tables", f"Small {SCRIPT} {CODE} --- title: x tables")
    project = project.replace("https://tablekit.example", "javascript:alert('pwned')")
    changes = TABLEKIT["CHANGELOG.md"].decode().replace("- Added `Table", f"- Added {SCRIPT} {CODE} `Table")
    texts = {
        "README.md": f"---\ntitle: injected\nlayout: script\n---\n{readme}",
        "pyproject.toml": project,
        "CHANGELOG.md": changes,
        "docs/evil.md": _DOCUMENT,
        "examples/evil.py": _EXAMPLE,
        "src/tablekit/evil.py": _MODULE,
    }
    return {**TABLEKIT, **{name: text.encode() for name, text in texts.items()}}


_IN_README = (
    ("Small, typed tables", f"Small {SCRIPT} {CODE} <img src=x onerror=alert('pwned')> typed tables"),
    ("- Reads and writes CSV", f"- Reads {SCRIPT} {CODE} {{{{% script %}}}} [CSV](javascript:alert('pwned'))"),
    ("- Supports typed", f"- Supports `{CODE}` {MARK} <svg/onload=alert('pwned')> typed"),
    ("- Joins two", "- Joins ![x](javascript:alert('pwned')) &lt;script&gt;alert('pwned')&lt;/script&gt; two"),
    ("3.10 or newer", f'3.10 {CODE} or newer <iframe srcdoc="{SCRIPT}">'),
    ("- tablekit does not", f"- tablekit <!-- -->{SCRIPT} {{{{<script>}}}} does not"),
    ("- Joins hold", "- Joins {{% script %}} `a` {{< script\n  >}} hold"),
    ('("adults.json")', f'("adults.json")  # {CODE} </code></pre>{SCRIPT}'),
    ("pip install tablekit\n", f"pip install tablekit  # {CODE} {SCRIPT}\n"),
)

_DOCUMENT = f"""\
# Evil {CODE} {SCRIPT}: "title" 'x'

tablekit supports {SCRIPT} tables. {MARK}

---
title: injected
---

## How {SCRIPT} {CODE} works

tablekit reads <a href="javascript:alert('pwned')">files</a>. See [the bad][bad].

[bad]: javascript:alert('pwned')

````python
from tablekit import Table
text = "```{SCRIPT}{CODE}```"
Table.read(text)
````

| a | b |
|---|---|
| {SCRIPT} | {CODE} |
"""

_EXAMPLE = f'''\
"""Evil {CODE} {SCRIPT} example.

---
title: injected
---
"""

from tablekit import Table

print("{CODE} {{{{% script %}}}} {SCRIPT}")
text = """
```
{SCRIPT}
```
"""
Table.read(text)
'''

_MODULE = f'''\
"""Reads {CODE} and {SCRIPT} tables."""

__all__ = ["Harm", "evil"]


class Harm(Exception):
    """Raised when {SCRIPT} {{{{% script %}}}} happens."""


def evil(a: "str|{SCRIPT}" = "{SCRIPT}{CODE}`|", b: str = """```
{SCRIPT}
""") -> "{CODE}{SCRIPT}":
    """Returns {SCRIPT} {CODE} tables.

    Args:
        a: Supports {SCRIPT} {CODE} [x](javascript:alert('pwned')).
        b: A <img src=x onerror=alert('pwned')>.

    Returns:
        {SCRIPT} ``{CODE}``

    Raises:
        Harm: when {SCRIPT} or {MARK} is there.

    Example:
        >>> evil("{CODE}")
        '{SCRIPT}'

    .. raw:: html

        {SCRIPT}
    """
    return ""
'''


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.live: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        runs = [name for name, value in attrs if name.startswith("on") or _is_program(value or "")]
        if runs or tag in ("script", "iframe", "svg", "object", "embed"):
            self.live.append(f"<{tag} {attrs}>")

    def handle_comment(self, data: str) -> None:
        if data.strip() in MARK:
            self.live.append(data)


def _is_program(value: str) -> bool:
    return value.strip().lower().startswith(("javascript:", "vbscript:", "data:"))


def live_markup(html: str) -> list[str]:
    """What of a page a browser would run, and the citations that its source has smuggled in."""
    reader = _Markup()
    reader.feed(html)
    reader.close()
    return reader.live


def picture(folder: Path) -> dict[bytes, tuple[int, int, str]]:
    """Everything below a folder: kind and rights, time of the last change, and content."""
    found = {}
    for where, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = os.path.join(where, name)
            state = os.lstat(path)
            content = b""
            if os.path.islink(path):
                content = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    content = file.read()
            found[path] = (state.st_mode, state.st_mtime_ns, hashlib.sha256(content).hexdigest())
    return found
