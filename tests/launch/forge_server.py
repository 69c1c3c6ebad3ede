"""A forge on this machine: the documented REST shapes of GitHub or Gitea, and git over HTTP, behind one token.

Repositories are bare ones in a folder, served by git's own `http-backend`. Faults are scripted: each is used up by
the first request that it fits.
"""

import base64
import json
import os
import re
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.launch.products import git

__all__ = ["Fault", "ForgeServer", "forge_server"]

_PAGE = {"github": ("per_page", 100), "gitea": ("limit", 50)}
_API = {"github": "/api/v3", "gitea": "/api/v1"}
_DOCS = "https://docs.example/rest"


@dataclass
class Fault:
    """What goes wrong with one request: instead of the effect, or (`after`) when the effect is there."""

    method: str
    path: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    after: bool = False
    drop: bool = False
    hold: threading.Event | None = None
    size: int = 0


@dataclass
class Pull:
    """A pull request of the forge."""

    number: int
    title: str
    body: str
    head: str
    base: str
    sha: str
    draft: bool = False
    state: str = "open"
    merged: bool = False
    created_at: str = ""
    fork: str = ""


class ForgeServer:
    """The forge; everything about it may be looked at and changed while it runs."""

    def __init__(self, kind: str, root: Path, token: str) -> None:
        self.kind = kind
        self.root = root
        self.token = token
        self.url = ""
        self.api = _API[kind]
        self.pulls: dict[str, list[Pull]] = {}
        self.renamed: dict[str, str] = {}
        self.archived: set[str] = set()
        self.denied: set[str] = set()
        self.faults: list[Fault] = []
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.page_size = _PAGE[kind][1]
        self.remaining: int | None = None
        self.link_base = ""

    def address(self, name: str) -> str:
        """The address of a repository."""
        return f"{self.url}/{name}.git"

    def path(self, name: str) -> Path:
        """Where a repository is in the folder."""
        return self.root / f"{name}.git"

    def requests(self, method: str, text: str) -> list[str]:
        """The paths of the requests so far that hold the text."""
        return [path for verb, path, _ in self.asked if verb == method and text in path]

    def fault(self, method: str, path: str, **about: Any) -> Fault:
        """Script a fault."""
        made = Fault(method, path, **about)
        self.faults.append(made)
        return made

    def fault_for(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, which is used up by it."""
        for one in self.faults:
            if one.method == method and one.path in path:
                self.faults.remove(one)
                return one
        return None

    def shown(self, repository: str, pull: Pull) -> dict[str, Any]:
        """A pull request as the forge's documentation shows it."""
        is_there = git(self.path(repository), "for-each-ref", f"refs/heads/{pull.head}") != ""
        owner = repository.partition("/")[0]
        repo = {"full_name": repository}
        web = f"{self.url}/{repository}/{'pull' if self.kind == 'github' else 'pulls'}/{pull.number}"
        common = {
            "id": 1000 + pull.number, "number": pull.number, "title": pull.title, "body": pull.body,
            "state": pull.state, "html_url": web, "created_at": pull.created_at or _now(),
            "merged_at": _now() if pull.merged else None, "draft": pull.draft,
            "base": {"label": pull.base, "ref": pull.base, "sha": "0" * 40, "repo": repo},
        }  # fmt: skip
        head_repo = {"full_name": pull.fork} if pull.fork else repo
        head: dict[str, Any]
        if self.kind == "github":
            head = {"label": f"{owner}:{pull.head}", "ref": pull.head, "sha": pull.sha, "repo": head_repo}
            return common | {"head": head, "user": {"login": owner}}
        reference = pull.head if is_there else f"refs/pull/{pull.number}/head"
        head = {"label": pull.head, "ref": reference, "sha": pull.sha, "repo_id": 1, "repo": head_repo}
        return common | {"head": head, "merged": pull.merged, "url": web}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    forge: ClassVar[ForgeServer]

    def log_message(self, *_: Any) -> None:
        return

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        self.close_connection = True
        self.body = self._read()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.forge.asked.append((method, self.path, headers))
        fault = self.forge.fault_for(method, self.path)
        if fault and not fault.after:
            self._fail(fault)
            return
        status, given, content = self._answer(method)
        if fault:
            self._fail(fault)
            return
        self._send(status, given, content)

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _fail(self, fault: Fault) -> None:
        if fault.hold is not None:
            fault.hold.wait(30)
        if fault.drop or fault.hold is not None:
            self.connection.close()
            return
        if fault.size:
            self._send(200, {"Content-Type": "application/json"}, b"[" + b" " * fault.size)
            return
        content = b"" if fault.body is None else json.dumps(fault.body).encode()
        self._send(fault.status, {"Content-Type": "application/json", **fault.headers}, content)

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            return  # whoever asked had enough

    # --- git ---

    def _answer(self, method: str) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(self.path)
        if parts.path.startswith(self.forge.api):
            return self._rest(method, parts.path.removeprefix(self.forge.api), parts.query)
        found = re.fullmatch(r"/([^/]+/[^/]+)\.git(/.*)", parts.path)
        if not found:
            return self._json(404, {"message": "Not Found"})
        if found[1] in self.forge.renamed:
            to = f"{self.forge.url}/{self.forge.renamed[found[1]]}.git{found[2]}?{parts.query}"
            return 301, {"Location": to}, b""
        if len(self.headers.get_all("Authorization", [])) > 1:
            return 400, {}, b"Duplicate header: Authorization"
        if not self._knows_git():
            return 401, {"WWW-Authenticate": 'Basic realm="forge"'}, b"no"
        if found[1] in self.forge.denied and "git-receive-pack" in self.path:
            return 403, {}, b"Permission denied"
        return self._git(method, f"/{found[1]}.git{found[2]}", parts.query)

    def _knows_git(self) -> bool:
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        try:
            password = base64.b64decode(value).decode().partition(":")[2]
        except ValueError:
            return False
        return scheme == "Basic" and password == self.forge.token

    def _git(self, method: str, path: str, query: str) -> tuple[int, dict[str, str], bytes]:
        given = {
            "GIT_PROJECT_ROOT": str(self.forge.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": unquote(path),
            "REQUEST_METHOD": method, "QUERY_STRING": query, "REMOTE_USER": "launch", "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(self.body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "PATH": os.environ["PATH"],
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=self.body, env=given, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return int(headers.pop("Status", "200").split()[0]), headers, content

    # --- REST ---

    def _json(self, status: int, document: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
        given = {"Content-Type": "application/json; charset=utf-8"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        if self.forge.remaining is not None:
            self.forge.remaining -= 1
            given |= {
                "x-ratelimit-remaining": str(self.forge.remaining),
                "x-ratelimit-reset": str(int(time.time()) + 1),
            }
        return status, given, json.dumps(document).encode()

    def _rest(self, method: str, path: str, query: str) -> tuple[int, dict[str, str], bytes]:
        forge = self.forge
        scheme = {"github": "Bearer", "gitea": "token"}[forge.kind]
        if self.headers.get("Authorization") != f"{scheme} {forge.token}":
            words = {"github": "Bad credentials", "gitea": "invalid username, password or token"}[forge.kind]
            return self._json(401, {"message": words, "documentation_url": _DOCS, "status": "401"})
        if forge.kind == "github" and self.headers.get("X-GitHub-Api-Version") != "2022-11-28":
            return self._json(400, {"message": "no version"})
        found = re.fullmatch(r"/repos/([^/]+/[^/]+)(/pulls)?", path)
        if found and found[1] in forge.renamed:
            new = f"{forge.url}{forge.api}/repos/{forge.renamed[found[1]]}{found[2] or ''}"
            moved = {"message": "Moved Permanently", "url": new, "documentation_url": _DOCS}
            return self._json(301, moved, Location=f"{new}?{query}" if query else new)
        if not found or not forge.path(found[1]).is_dir():
            words = {"github": "Not Found", "gitea": "The target couldn't be found."}[forge.kind]
            return self._json(404, {"message": words, "documentation_url": _DOCS, "status": "404"})
        if not found[2]:
            about = {"full_name": found[1], "default_branch": "main", "archived": found[1] in forge.archived}
            return self._json(200, {"id": 1, "name": found[1].partition("/")[2], **about})
        return self._created(found[1]) if method == "POST" else self._listed(found[1], path, query)

    def _listed(self, repository: str, path: str, query: str) -> tuple[int, dict[str, str], bytes]:
        forge = self.forge
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        pulls = sorted(forge.pulls.get(repository, []), key=lambda pull: -pull.number)
        if asked.get("state", "open") != "all":
            pulls = [pull for pull in pulls if pull.state == asked.get("state", "open")]
        if forge.kind == "github" and "head" in asked:
            owner, _, branch = asked["head"].partition(":")
            pulls = [
                one for one in pulls if one.head == branch and (one.fork or repository).startswith(f"{owner}/")
            ]
        size = min(int(asked.get(_PAGE[forge.kind][0], 30)), forge.page_size)
        page = int(asked.get("page", 1))
        links = {}
        if page * size < len(pulls):
            further = urlencode(asked | {"page": page + 1})
            base = forge.link_base or forge.url
            links["Link"] = f'<{base}{forge.api}{path}?{further}>; rel="next", <{base}/x>; rel="last"'
        listed = [forge.shown(repository, pull) for pull in pulls[(page - 1) * size : page * size]]
        return self._json(200, listed, **links)

    def _created(self, repository: str) -> tuple[int, dict[str, str], bytes]:
        forge, asked = self.forge, json.loads(self.body)
        heads = git(
            forge.path(repository), "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads"
        )
        branches = dict(line.split(" ") for line in heads.splitlines())
        pulls = forge.pulls.setdefault(repository, [])
        there = [one for one in pulls if (one.head, one.state, one.fork) == (asked["head"], "open", "")]
        if asked["head"] not in branches:
            return self._no_head()
        if there:
            return self._exists(repository, there[0])
        is_draft = asked.get("draft", False) or (forge.kind == "gitea" and asked["title"].startswith("WIP:"))
        pull = Pull(
            len(pulls) + 1, asked["title"], asked["body"], asked["head"], asked["base"], branches[asked["head"]],
            is_draft, created_at=_now(),
        )  # fmt: skip
        pulls.append(pull)
        return self._json(201, forge.shown(repository, pull))

    def _no_head(self) -> tuple[int, dict[str, str], bytes]:
        if self.forge.kind == "gitea":
            return self._json(404, {"message": "The target couldn't be found.", "errors": []})
        error = {"resource": "PullRequest", "field": "head", "code": "invalid"}
        return self._json(422, {"message": "Validation Failed", "errors": [error], "status": "422"})

    def _exists(self, repository: str, pull: Pull) -> tuple[int, dict[str, str], bytes]:
        if self.forge.kind == "gitea":
            where = f"[id: 7, issue_id: {pull.number}, head_branch: {pull.head}, base_branch: {pull.base}]"
            return self._json(409, {"message": f"pull request already exists for these targets {where}"})
        words = f"A pull request already exists for {repository.partition('/')[0]}:{pull.head}."
        error = {"resource": "PullRequest", "code": "custom", "message": words}
        return self._json(422, {"message": "Validation Failed", "errors": [error], "status": "422"})


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@contextmanager
def forge_server(kind: str, root: Path, token: str, *, certificate: Path | None = None) -> Iterator[ForgeServer]:
    """A running forge of the kind on a free port of 127.0.0.1; with a certificate (and its key) it speaks TLS."""
    forge = ForgeServer(kind, root, token)
    handler: Callable[..., BaseHTTPRequestHandler] = type("Handler", (_Handler,), {"forge": forge})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        forge.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield forge
        finally:
            server.shutdown()
            thread.join()
