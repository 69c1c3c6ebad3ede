"""Every way in which a TARGET can be right or wrong."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import TargetError
from holdfast.worker.targets import load_target

HEAD = "from holdfast import Server, effect\n"
ONE = HEAD + 'server = Server("one", version="1.0.0")\n'


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current directory for each test; what a test imported is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in [name for name in sys.modules if name not in before]:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize(
    "text", ["one.py", "./one.py", "one.py:server", "one:server", "one:Shop.server", "one:make", "one.py:make"]
)
def test_a_target_leads_to_its_server(directory: Path, text: str) -> None:
    more = "class Shop:\n    server = server\ndef make(word='x'):\n    return server\nalias = server\n"
    (directory / "one.py").write_text(ONE + more)

    assert load_target(text).name == "one"


def test_an_absolute_path_finds_the_neighbours_of_its_file(directory: Path) -> None:
    room = directory / "room with spaces"
    room.mkdir()
    (room / "neighbour.py").write_text("NAME = 'found'\n")
    (room / "my-server.py").write_text(
        HEAD + "import neighbour\nserver = Server(neighbour.NAME, version='1.0.0')\n"
    )

    assert load_target(str(room / "my-server.py")).name == "found"


def test_a_file_named_like_a_known_module_does_not_replace_it(directory: Path) -> None:
    import json

    (directory / "json.py").write_text(ONE)

    assert load_target("json.py").name == "one"
    assert sys.modules["json"] is json


def test_a_file_is_imported_once_and_never_as_main(directory: Path) -> None:
    (directory / "one.py").write_text(ONE + "if __name__ == '__main__':\n    server.run()\n")

    assert load_target("one.py") is load_target("one.py")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not say where"),
        ("one", "does not say where"),
        (":", "is not a TARGET"),
        ("one:", "is not a TARGET"),
        (":server", "is not a TARGET"),
        ("one:ser ver", "is not a TARGET"),
        ("one.py:", "cannot name an object"),
        ("one.py:1st", "cannot name an object"),
        ("gone.py", "there is no file gone.py"),
        ("gone/one.py:server", "there is no file"),
        ("gone:server", "there is no module gone"),
        ("one.gone:server", "there is no module one.gone"),
        ("data.txt", "not a Python file"),
        ("folder", "is a directory"),
        ("folder.py", "is a directory"),
        ("one.py:gone", "has no object 'gone'"),
        ("one.py:server.gone", "has no object 'server.gone'"),
        ("one.py:number", "is not a server but an int"),
        ("one.py:Server", "is not a server but a type"),
        ("one.py:needs", "is not a server but a function"),
        ("one.py:wrong", "returned a str, not a server"),
        ("one.py:later", "returned a coroutine, not a server"),
        ("one.py:fails", "one.py, line 11: KeyError: 'stock'"),
        ("https://example.org/mcp", "only servers on stdio can be spoken to"),
        ("\0.py", "cannot be looked up"),
        ("x" * 5000 + ".py", "cannot be looked up"),
    ],
)
def test_a_target_that_leads_nowhere_says_why_and_what_to_do(directory: Path, text: str, reason: str) -> None:
    (directory / "folder").mkdir()
    (directory / "folder.py").mkdir()
    (directory / "data.txt").write_text("x")
    (directory / "one.py").write_text(
        ONE + "number = 5\ndef needs(what):\n    return server\ndef wrong():\n    return 'x'\n"
        "async def later():\n    return server\ndef fails():\n    return {}['stock']\n"
    )

    with pytest.raises(TargetError) as caught:
        load_target(text)
    assert reason in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "import nothing_of_that_name\n",
            "bad.py, line 1: ModuleNotFoundError: No module named 'nothing_of_that_name'",
        ),
        ("x = 1\ndef f(:\n", "bad.py, line 2: SyntaxError: "),
        ("x = 1\n1 / 0\n", "bad.py, line 2: ZeroDivisionError: division by zero"),
        ("raise ValueError('one\\ntwo')\n", "bad.py, line 1: ValueError: one"),
        ("raise ValueError\n", "bad.py, line 1: ValueError"),
        ("import sys\nsys.exit(3)\n", "bad.py, line 2: the file ended the program"),
        ("from . import sibling\n", "bad.py, line 1: ImportError"),
        ("x = '\0'\n", "bad.py"),
        (HEAD + "Server('', version='1.0.0')\n", "bad.py, line 2: a server needs a name"),
        (HEAD, "bad.py has no server at its top level"),
        (ONE + "other = Server('two', version='1.0.0')\n", "bad.py has 2 servers: server, other"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_line(directory: Path, source: str, reason: str) -> None:
    (directory / "bad.py").write_text(source)

    with pytest.raises(TargetError) as caught:
        load_target("bad.py")
    assert reason in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["bad.py", "bad:server"])
def test_a_surface_that_does_not_hold_together_is_refused(directory: Path, text: str) -> None:
    function = "async def put(key: str) -> str:\n    'Put.'\n    return key\n"
    tool = "@server.tool(effect=effect.probe_required('gone'))\n" + function
    (directory / "bad.py").write_text(ONE + tool)

    with pytest.raises(TargetError, match=r"^bad.*'put': its probe 'gone' is not another tool") as caught:
        load_target(text)
    assert caught.value.remedy


def test_a_file_that_is_no_text_is_a_target_error(directory: Path) -> None:
    (directory / "binary.py").write_bytes(bytes(range(256)))

    with pytest.raises(TargetError, match=r"binary\.py"):
        load_target("binary.py")


def test_an_interruption_is_not_taken_for_a_bad_file(directory: Path) -> None:
    (directory / "one.py").write_text("raise KeyboardInterrupt\n")

    with pytest.raises(KeyboardInterrupt):
        load_target("one.py")
