"""The server of a preview, and browsers that do not wait for it."""

import socket
import struct
from pathlib import Path

import pytest

from holdfast.launch.previewing import PreviewServer, listening

RESET_AT_CLOSE = struct.pack("ii", 1, 0)


def answer_one(server: PreviewServer) -> None:
    """What a thread of the server does for one connection, in this one."""
    server.process_request_thread(*server.get_request())


def test_a_browser_that_hangs_up_in_the_middle_of_its_question_is_not_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with listening(0) as server:
        with socket.create_connection(server.server_address[:2]) as browser:  # type: ignore[arg-type]
            browser.sendall(b"GET / HT")
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
        answer_one(server)

    assert capsys.readouterr().err == ""


def test_what_goes_wrong_in_the_server_itself_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.html").write_text("Hello.")
    with listening(0) as server:
        server.public = tmp_path
        monkeypatch.setattr(server, "base_path", None)
        with socket.create_connection(server.server_address[:2]) as browser:  # type: ignore[arg-type]
            browser.sendall(b"GET / HTTP/1.0\r\n\r\n")
            answer_one(server)

    assert "AttributeError" in capsys.readouterr().err


def test_text_is_announced_as_the_utf_8_that_hugo_writes_whatever_the_layout_says(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>“Hello”</p>", encoding="utf-8")
    with listening(0) as server:
        server.public = tmp_path
        with socket.create_connection(server.server_address[:2]) as browser:  # type: ignore[arg-type]
            browser.sendall(b"GET / HTTP/1.0\r\n\r\n")
            answer_one(server)
            answer = browser.makefile("rb").read()

    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Content-type: text/html; charset=utf-8\r\n" in head + b"\r\n"
    assert body.decode() == "<p>“Hello”</p>"
