"""Fetching from a server that breaks off, lies, redirects, refuses or is slow; from files; after a kill."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.unit.search.download_server import Page, Web, never, quiet

from holdfast.errors import ToolError
from holdfast.search.downloads.fetch import MAX_BYTES, Fetched, Known, fetch

CONTENT = bytes(range(256)) * 2000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Web() as server:
        yield server


def get(source: str, target: Path, sha256: str | None = None, *, max_bytes: int = MAX_BYTES) -> Fetched | None:
    return fetch(source, sha256, target, progress=quiet, stop=never, max_bytes=max_bytes)


def refused(source: str, target: Path, sha256: str | None = None, *, max_bytes: int = MAX_BYTES) -> ToolError:
    with pytest.raises(ToolError) as caught:
        get(source, target, sha256, max_bytes=max_bytes)
    return caught.value


def test_a_file_comes_whole_and_verified_and_nothing_stays_beside_it(web: Web, tmp_path: Path) -> None:
    done = get(web.serve("/words", Page(CONTENT)), tmp_path / "words", DIGEST.upper())

    assert done == Fetched(len(CONTENT), DIGEST, verified=True, etag='"one"')
    assert (tmp_path / "words").read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["words"]


def test_progress_tells_bytes_and_their_total(web: Web, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []

    def progress(stage: str, done: int, total: int | None, detail: str) -> None:
        told.append((stage, done, total))

    fetch(web.serve("/w?signature=secret", Page(CONTENT)), None, tmp_path / "w", progress=progress, stop=never)
    assert told[-1] == ("download", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_another_hash_than_promised_leaves_the_old_file_and_no_part(web: Web, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("old")
    error = refused(web.serve("/words", Page(CONTENT)), tmp_path / "words", "0" * 64)

    assert error.code == "DOWNLOAD_VERIFY_FAILED"
    assert error.details["expected"] == "0" * 64
    assert error.details["actual"] == DIGEST
    assert (tmp_path / "words").read_text() == "old"
    assert os.listdir(tmp_path) == ["words"]


def test_a_broken_transfer_goes_on_where_it_ended(web: Web, tmp_path: Path) -> None:
    page = Page(CONTENT, sends=300_000)
    url = web.serve("/words", page)
    error = refused(url, tmp_path / "words", DIGEST)
    page.sends = None
    get(url, tmp_path / "words", DIGEST)

    assert (error.code, error.details["received"]) == ("DOWNLOAD_VERIFY_FAILED", 300_000)
    assert page.headers[1]["Range"] == "bytes=300000-"
    assert (tmp_path / "words").read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["words"]


@pytest.mark.parametrize("change", ["changed", "no ranges", "other source", "If-Range ignored"])
def test_a_part_that_does_not_fit_is_begun_again(web: Web, tmp_path: Path, change: str) -> None:
    page = Page(CONTENT, sends=300_000)
    url = web.serve("/words", page)
    refused(url, tmp_path / "words")
    page.sends = None
    new = CONTENT[::-1]
    page.heeds_if_range = change != "If-Range ignored"
    page.content, page.etag, page.has_ranges = new, '"two"', change != "no ranges"
    get(web.serve("/other", page) if change == "other source" else url, tmp_path / "words")

    assert (tmp_path / "words").read_bytes() == new


def test_a_resumed_file_with_the_wrong_hash_is_fetched_again_from_its_beginning(web: Web, tmp_path: Path) -> None:
    page = Page(CONTENT, sends=300_000)
    url = web.serve("/words", page)
    refused(url, tmp_path / "words", DIGEST)
    page.sends = None
    (tmp_path / ".words.part").write_bytes(b"x" * 1000)  # the disk lost what was there

    get(url, tmp_path / "words", DIGEST)
    assert [headers["Range"] for headers in page.headers] == [None, "bytes=1000-", None]
    assert (tmp_path / "words").read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file_is_begun_again(web: Web, tmp_path: Path) -> None:
    page = Page(CONTENT, sends=300_000)
    url = web.serve("/words", page)
    refused(url, tmp_path / "words")
    page.sends, page.status, page.etag = None, 416, None
    (tmp_path / ".words.part").write_bytes(b"x" * 1000)
    assert refused(url, tmp_path / "words").details["status"] == 416  # once for the part, once for the whole
    assert len(page.headers) == 3
    assert os.listdir(tmp_path) == []


def test_without_a_way_to_resume_no_part_stays(web: Web, tmp_path: Path) -> None:
    refused(web.serve("/words", Page(CONTENT, sends=300_000, etag=None)), tmp_path / "words")
    assert os.listdir(tmp_path) == []


def test_a_server_that_claims_more_than_it_sends_is_found_out(web: Web, tmp_path: Path) -> None:
    error = refused(web.serve("/words", Page(CONTENT, claims=len(CONTENT) + 1)), tmp_path / "words")

    assert error.code == "DOWNLOAD_VERIFY_FAILED"
    assert error.details["expected"] == len(CONTENT) + 1
    assert not (tmp_path / "words").exists()


def test_a_server_that_claims_less_than_it_has_does_not_pass_the_hash(web: Web, tmp_path: Path) -> None:
    error = refused(web.serve("/words", Page(CONTENT, claims=1000)), tmp_path / "words", DIGEST)
    assert error.code == "DOWNLOAD_VERIFY_FAILED"


@pytest.mark.parametrize("claims", [None, -1, 10])
def test_what_is_larger_than_allowed_is_refused_whatever_its_length_says(
    web: Web, tmp_path: Path, claims: int | None
) -> None:
    url = web.serve("/words", Page(CONTENT, claims=claims))
    if claims == 10:
        get(url, tmp_path / "words", max_bytes=1000)
        assert (tmp_path / "words").stat().st_size == 10
    else:
        error = refused(url, tmp_path / "words", max_bytes=1000)
        assert (error.code, error.details["limitBytes"]) == ("ARCHIVE_TOO_LARGE", 1000)
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "NOT_FOUND"), (410, "NOT_FOUND"), (500, "CAPABILITY_MISSING"), (403, "CAPABILITY_MISSING"),
     (204, "CAPABILITY_MISSING"), (304, "CAPABILITY_MISSING"), (206, "CAPABILITY_MISSING")],
)  # fmt: skip
def test_a_refusal_is_told_with_its_status(web: Web, tmp_path: Path, status: int, code: str) -> None:
    url = web.serve("/words", Page(b"", status=status, etag=None))
    error = (
        refused(url + "?token=secret", tmp_path / "words") if status == 404 else refused(url, tmp_path / "words")
    )

    assert (error.code, error.details["status"]) == (code, status)
    assert "secret" not in str(error)
    assert os.listdir(tmp_path) == []


def test_a_host_that_is_not_there_is_a_missing_capability(tmp_path: Path) -> None:
    with Web() as gone:
        url = gone.url
    error = refused(f"{url}/words", tmp_path / "words")
    assert (error.code, bool(error.hint)) == ("CAPABILITY_MISSING", True)


def test_redirects_are_followed_to_their_end(web: Web, tmp_path: Path) -> None:
    web.serve("/words", Page(CONTENT))
    web.serve("/b", Page(status=302, location=f"{web.url}/words"))
    get(web.serve("/a", Page(status=301, location="/b")), tmp_path / "words", DIGEST)
    assert (tmp_path / "words").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("/a", "it answered 302 .*loop"),
        ("file:///etc/passwd", "it answered 302 .*file:"),
        ("ftp://host/x", "it answered 302 .*ftp:"),
        ("data:,x", "it answered 302 .*data:"),
        ("http://[bad", "Invalid IPv6 URL"),
    ],
)
def test_a_redirect_in_a_circle_or_to_elsewhere_is_not_followed(
    web: Web, tmp_path: Path, location: str, why: str
) -> None:
    page = Page(status=302, location=location)
    error = refused(web.serve("/a", page), tmp_path / "words")

    assert error.code == "CAPABILITY_MISSING"
    assert re.match(why, error.details["reason"], re.DOTALL)
    assert len(page.headers) <= 6
    assert os.listdir(tmp_path) == []


def test_credentials_stay_with_their_host(web: Web, tmp_path: Path) -> None:
    with Web() as elsewhere:
        last = Page(CONTENT)
        middle = Page(status=302, location=elsewhere.serve("/last", last))
        web.serve("/middle", middle)
        first = Page(status=302, location="/middle")
        url = web.serve("/first", first).replace("//", "//ana:s%3Acret@")
        get(url, tmp_path / "words")

    sent = [page.headers[0]["Authorization"] for page in (first, middle, last)]
    assert sent == ["Basic YW5hOnM6Y3JldA==", "Basic YW5hOnM6Y3JldA==", None]


def test_what_did_not_change_is_not_sent_again(web: Web, tmp_path: Path) -> None:
    url = web.serve("/words", Page(CONTENT))
    known = Known('"one"')
    assert fetch(url, None, tmp_path / "words", progress=quiet, stop=never, known=known) is None
    web.pages["/words"].etag = '"two"'
    assert fetch(url, None, tmp_path / "words", progress=quiet, stop=never, known=known) is not None


@pytest.mark.parametrize("is_silent", [True, False])
def test_a_stop_is_heeded_while_the_server_keeps_us_waiting(web: Web, tmp_path: Path, is_silent: bool) -> None:
    page = Page(b"" if is_silent else CONTENT, claims=len(CONTENT), waits=threading.Event())
    url = web.serve("/words", page)
    begun = monotonic()
    with pytest.raises(ToolError) as caught:
        fetch(url, None, tmp_path / "words", progress=quiet, stop=lambda: monotonic() > begun + 0.2)

    assert caught.value.code == "CANCELLED"
    assert monotonic() - begun < 10  # the server would be waited for three times as long
    assert not (tmp_path / "words").exists()


def test_a_silent_server_is_given_up_after_a_while(web: Web, tmp_path: Path) -> None:
    url = web.serve("/words", Page(CONTENT, waits=threading.Event()))
    with pytest.raises(ToolError) as caught:
        fetch(url, None, tmp_path / "words", progress=quiet, stop=never, timeout=0.2)
    assert caught.value.code == "DOWNLOAD_VERIFY_FAILED"


KILLED = """
import os, sys
from pathlib import Path
from holdfast.search.downloads.fetch import fetch

def progress(stage, done, total, detail):
    if done > 200_000:
        os._exit(9)

fetch(sys.argv[1], sys.argv[2], Path(sys.argv[3]), progress=progress, stop=lambda: False)
"""


def test_the_next_call_finishes_what_a_killed_one_began(web: Web, tmp_path: Path) -> None:
    page = Page(CONTENT)
    url = web.serve("/words", page)
    target = tmp_path / "words"
    killed = subprocess.run([sys.executable, "-c", KILLED, url, DIGEST, str(target)], check=False, timeout=20)
    assert (killed.returncode, target.exists()) == (9, False)

    get(url, target, DIGEST)
    assert target.read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["words"]


def test_a_link_in_the_place_of_a_part_is_not_written_through(web: Web, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    url = web.serve("/words", Page(CONTENT))
    (tmp_path / ".words.part").symlink_to(precious)
    (tmp_path / ".words.part.json").write_text(json.dumps({"source": url, "validator": '"one"'}))

    get(url, tmp_path / "words", DIGEST)
    assert precious.read_text() == "mine"
    assert (tmp_path / "words").read_bytes() == CONTENT


@pytest.mark.parametrize("note", ["", "[]", "nonsense", '{"source": 1}', "[" * 60000])
def test_a_damaged_note_makes_a_part_useless_and_nothing_else(web: Web, tmp_path: Path, note: str) -> None:
    (tmp_path / ".words.part").write_bytes(b"x" * 1000)
    (tmp_path / ".words.part.json").write_text(note)
    get(web.serve("/words", Page(CONTENT)), tmp_path / "words", DIGEST)
    assert (tmp_path / "words").read_bytes() == CONTENT


def test_a_local_file_is_copied_by_path_and_by_url(tmp_path: Path) -> None:
    (tmp_path / "a#b c").write_bytes(CONTENT)
    get(str(tmp_path / "a#b c"), tmp_path / "one", DIGEST)
    get(f"file://{tmp_path}/a%23b%20c", tmp_path / "two", DIGEST)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == CONTENT


def test_what_is_no_readable_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(CONTENT)
    assert refused(str(tmp_path / "missing"), tmp_path / "out").code == "NOT_FOUND"
    assert refused(str(tmp_path / "pipe"), tmp_path / "out").code == "INVALID_REQUEST"
    assert refused(str(tmp_path), tmp_path / "out").code == "INVALID_REQUEST"
    assert refused(str(tmp_path / "large"), tmp_path / "out", max_bytes=100).code == "ARCHIVE_TOO_LARGE"
    assert sorted(os.listdir(tmp_path)) == ["large", "pipe"]


def test_a_full_disk_leaves_no_part(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    program = (
        "import resource, sys; from pathlib import Path; from holdfast.search.downloads.fetch import fetch\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sys.dont_write_bytecode = True; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "fetch(sys.argv[1], None, Path(sys.argv[2]), progress=lambda *_: None, stop=lambda: False)"
    )
    command = [sys.executable, "-c", program, str(source), str(tmp_path / "target")]
    done = subprocess.run(command, check=False, timeout=20, capture_output=True)
    assert b"File too large" in done.stderr
    assert os.listdir(tmp_path) == ["source"]


def test_a_local_file_that_cannot_be_read_is_told_as_such(tmp_path: Path) -> None:
    error = refused("/proc/self/mem", tmp_path / "target")
    assert (error.code, "cannot be read: " in error.message) == ("FORBIDDEN", True)
    assert os.listdir(tmp_path) == []
