"""A configuration in TOML, edited as text: one table comes and goes, comments and order stay."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.setup.text_refused import TextRefused
from holdfast.setup.toml_text import TomlText

ENTRY = {"command": "/opt/bin/holdfast", "args": ["serve", "search"]}
FILE = '''\
model = "o3" # the model

[mcp_servers.other]  # not ours
command = "npx"
args = [
  "-y", # a comment, and [brackets]
  """
[mcp_servers.search]
""",
]

# about the profile
[profiles.fast]
x = 1
'''


def config(text: str) -> TomlText:
    return TomlText(text, "mcp_servers")


def test_an_empty_file_becomes_one_table() -> None:
    text = config("").put("search", ENTRY).text
    assert text == '[mcp_servers.search]\ncommand = "/opt/bin/holdfast"\nargs = ["serve", "search"]\n'


def test_a_table_is_added_behind_everything_and_taken_out_without_a_trace() -> None:
    edited = config(FILE).put("search", ENTRY)
    assert edited.text.startswith(FILE + "\n[mcp_servers.search]\n")
    assert edited.drop("search").text == FILE


def test_tables_below_ours_and_between_others_go_with_it() -> None:
    ours = '[mcp_servers.search]\ncommand = "c"\n\n[mcp_servers.search.env]\nA = "1"\n# behind\n\n'
    edited = config(FILE.replace("# about", ours + "# about")).drop("search")
    assert tomllib.loads(edited.text) == tomllib.loads(FILE)
    assert "# behind" in edited.text
    assert "# about the profile\n[profiles.fast]" in edited.text


def test_what_somebody_added_to_our_table_survives_its_update() -> None:
    ours = '[mcp_servers.search]\ncommand = "old" # mine\nstartup_timeout_sec = 60\n'
    text = ours + '[mcp_servers.search.env]\nA = "1"\n'
    edited = config(text).update("search", ENTRY)
    assert edited.servers["search"] == {**ENTRY, "startup_timeout_sec": 60, "env": {"A": "1"}}
    assert 'command = "/opt/bin/holdfast" # mine\n' in edited.text


def test_variables_are_written_in_the_same_table() -> None:
    edited = config("").put("search", {**ENTRY, "env": {"A B": 'a"\\\x7f\n'}})
    assert edited.servers["search"]["env"] == {"A B": 'a"\\\x7f\n'}


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}",
        "mcp_servers = { search = { command = 'x' } }",
        "mcp_servers.search.command = 'x'",
        "[mcp_servers]\nsearch = { command = 'x' }",
    ],
)
def test_a_form_that_cannot_be_edited_is_refused(text: str) -> None:
    document = config(text)
    with pytest.raises(TextRefused, match="cannot be changed"):
        document.put("search", ENTRY) if text == "mcp_servers = {}" else document.drop("search")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = 1\nb = = 2", "line 2"),
        ("mcp_servers = 1", "is no table"),
        ("a" + ".a" * 200_000 + " = 1", "parts"),
        ("#" * 2**21, "more"),
    ],
    ids=lambda value: value[:20],
)
def test_a_broken_text_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(TextRefused, match=reason):
        config(text)


def test_windows_line_ends_are_those_of_the_file() -> None:
    edited = config("a = 1\r\n").put("search", ENTRY).text
    assert "\n" not in edited.replace("\r\n", "")


LINES = st.sampled_from(
    [
        "",
        "# note",
        "a = 1",
        "b = [\n1,\n]",
        "[t]",
        "[mcp_servers.x]",
        "[mcp_servers.x.env]",
        'c = """\n[t2]\n"""',
        "  ",
    ]
)


@given(st.lists(LINES, max_size=8), st.booleans())
def test_whatever_the_file_holds_our_table_comes_and_goes_without_a_trace(lines: list[str], ends: bool) -> None:
    text = "".join(line + "\n" for line in lines) + ("" if ends else "z.z = 1")
    try:
        document = config(text)
    except TextRefused:
        return  # a key twice
    edited = document.put("search", ENTRY)
    assert edited.servers["search"] == ENTRY
    assert edited.drop("search").text.rstrip() == text.rstrip()
    assert edited.text.startswith(text)
