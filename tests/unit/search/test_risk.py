"""Risk facts of a chunk: what is told, by which names, with which way of the data, and within which bounds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.work import calls_made, grows_evenly

from holdfast.search.extract.code import extract
from holdfast.search.model import FACTS, CallSite, Chunk, Write
from holdfast.search.risk.analysis import analyse
from holdfast.search.risk.blocks import find_blocks
from holdfast.search.risk.loading import load_rules
from holdfast.search.risk.masking import masked
from holdfast.search.risk.places import chain_before

RULES = load_rules()
VULNERABLE = b"""import os
from flask import request

def handler(cursor):
    name = request.args["name"]
    line = f"ls {name}"
    os.system(line)
    cursor.execute("SELECT ?", (name,))
"""


def functions(source: bytes, language: str = "python") -> list[Chunk]:
    return [chunk for chunk in extract(language, "a.py", source).chunks if chunk.kind in ("function", "method")]


def risk_facts(chunk: Chunk) -> dict[str, list[str]]:
    return {name: values for name, values in chunk.facts.items() if name.startswith("risk_")}


def test_what_is_found_becomes_facts_of_the_chunk() -> None:
    (chunk,) = functions(VULNERABLE)
    analyse("python", VULNERABLE, chunk, RULES)

    assert risk_facts(chunk) == {
        "risk_tags": ["http-input", "command-exec", "sql"],
        "risk_sources": ["http.request"],
        "risk_sinks": ["os.system", "sql.execute"],
        "risk_sanitizers": ["sql.parameters"],
        "risk_categories": ["command-injection", "sql-injection"],
        "risk_flows": ["http.request->os.system"],
    }
    assert set(risk_facts(chunk)) <= set(FACTS)


def test_a_flow_tells_the_lines_of_its_way() -> None:
    (chunk,) = functions(VULNERABLE)
    (flow,) = analyse("python", VULNERABLE, chunk, RULES)

    assert (flow.source, flow.sink, flow.category, flow.severity) == (
        "http.request",
        "os.system",
        "command-injection",
        "critical",
    )
    assert flow.path == [
        (5, 'name = request.args["name"]'),
        (6, 'line = f"ls {name}"'),
        (7, "os.system(line)"),
    ]


def test_a_chunk_without_risk_gets_no_facts() -> None:
    source = b"def f(x):\n    y = int(x)\n    return str(y)\n"
    (chunk,) = functions(source)

    assert analyse("python", source, chunk, RULES) == []
    assert risk_facts(chunk) == {}


def test_a_sink_alone_is_told_without_a_flow() -> None:
    source = b"import pickle\ndef f(x):\n    return pickle.loads(x)\n"
    (chunk,) = functions(source)
    analyse("python", source, chunk, RULES)

    assert chunk.facts["risk_tags"] == ["deserialization"]
    assert "risk_flows" not in chunk.facts


def test_a_resolved_name_at_the_same_place_counts_like_the_written_one() -> None:
    source = b"def f():\n    run(input(), shell=True)\n"
    chunk = Chunk("code", "function", "f", 0, len(source), 1, 2)
    for callee in ("run", "subprocess.run"):
        chunk.call_sites.append(CallSite(callee, 16, 37, 2))
    chunk.call_sites.append(CallSite("input", 22, 24, 2))
    analyse("python", source, chunk, RULES)

    assert chunk.facts["risk_flows"] == ["process.stdin->subprocess.shell"]
    assert chunk.facts["risk_sinks"] == ["subprocess.shell"]


def test_imports_tell_what_a_name_stands_for() -> None:
    source = b"def f():\n    go(sp.check_output(input(), shell=True))\n"
    (chunk,) = functions(source)
    analyse("python", source, chunk, RULES, {"sp": "subprocess", "go": "os.system"})

    assert chunk.facts["risk_sinks"] == ["subprocess.shell", "os.system"]


def test_what_a_method_does_is_not_told_of_its_class() -> None:
    source = b"class A:\n    limit = int(3)\n\n    def f(self):\n        return sys.argv\n"
    chunk = Chunk("code", "class", "A", 0, len(source), 1, 5, text="class A:\n    limit = int(3)\n")
    chunk.call_sites = [CallSite("int", 24, 27, 2)]
    chunk.written = [Write("limit", 21, 27, 2)]

    assert analyse("python", source, chunk, RULES) == []
    assert risk_facts(chunk) == {}


def test_what_a_class_does_itself_is_told() -> None:
    source = b"class A:\n    limit = os.environ['X']\n\n    def f(self):\n        return sys.argv\n"
    chunk = Chunk("code", "class", "A", 0, len(source), 1, 5, text="")
    chunk.written = [Write("limit", 21, 36, 2)]
    analyse("python", source, chunk, RULES)

    assert chunk.facts["risk_sources"] == ["process.env"]


def test_rules_of_the_users_take_part(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("""
[[source]]
name = "queue"
patterns = ["queue.take()"]
[[sink]]
name = "launch"
patterns = ["rocket.launch"]
category = "physics"
severity = "critical"
tags = ["fire"]
""")
    source = b"def f(queue, rocket):\n    rocket.launch(queue.take())\n"
    (chunk,) = functions(source)
    analyse("python", source, chunk, load_rules(own))

    assert chunk.facts["risk_flows"] == ["queue->launch"]
    assert chunk.facts["risk_tags"] == ["fire"]


def test_a_language_without_rules_of_its_own_is_no_error() -> None:
    chunk = Chunk("code", "function", "f", 0, 10, 1, 1, call_sites=[CallSite("eval", 4, 10, 1)])

    assert analyse("cobol", b"eval(user)", chunk, RULES) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"Runtime.getRuntime().exec", "Runtime.getRuntime().exec"),
        (b"x = conn.cursor(a(b), c[1]).execute", "conn.cursor().execute"),
        (b"return rows[0].execute", "rows.execute"),
        (b"(a or b).execute", "().execute"),
        (b"a\n  .b()\n  .execute", "a.b().execute"),
        (b"'text'.format", "?.format"),
    ],
)
def test_the_name_of_a_chain_leaves_out_its_arguments(text: bytes, name: str) -> None:
    assert chain_before(masked("python", text), len(text)) == name


@pytest.mark.parametrize(
    ("language", "text", "plain"),
    [
        ("python", b"a = 'b' + f'c {d!r} {{e}}' # f", b"a =     +      d!r            "),
        ("python", b'x("""y\nz""")', b"x(    \n    )"),
        ("javascript", b"a(`b ${c} d`, 'e') // f", b"a(     c    ,    )     "),
        ("go", b'a(`b\n`, "c") /* d */', b"a(  \n ,    )        "),
        ("java", b'a("b\\"c", d)', b"a(      , d)"),
        ("ruby", b'a("b #{c}") # d', b"a(     c  )    "),
    ],
)
def test_strings_and_comments_are_blank_and_what_they_compute_stays(
    language: str, text: bytes, plain: bytes
) -> None:
    assert masked(language, text) == plain


@given(
    st.sampled_from(["python", "javascript", "go", "java", "ruby", "rust"]),
    st.text(alphabet="'\"`\\\n{}$#/*fx ()"),
)
def test_masking_keeps_every_offset_and_every_line(language: str, text: str) -> None:
    source = text.encode()
    plain = masked(language, source)

    assert len(plain) == len(source)
    assert [n for n, sign in enumerate(plain) if sign == 10] == [n for n, sign in enumerate(source) if sign == 10]


def test_blocks_are_found_by_indentation_and_by_braces() -> None:
    python = b"def f():\n    for x in y:\n        a\n    b\n"
    script = b"function f() { for (const x of y) { a } if (b) { c } }"

    assert [(block.start, block.loop) for block in find_blocks("python", python)] == [(9, False), (25, True)]
    assert [(block.start, block.loop) for block in find_blocks("javascript", script)] == [
        (13, False),
        (34, True),
        (47, False),
    ]


PIECES = [
    "x", "y.z", "eval", "os.system", "request.args", "sys.argv", "input", "int", "shlex.quote", "(", ")", "[", "]",
    "{", "}", ",", "=", "+=", "==", ".", ":", "\n", "\n    ", "for ", " in ", "while ", "'", '"', '"""',
    "f'{", "`${", "é", "\\", "#", "//", "/*", "0", " " * 50,
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.data())
def test_no_text_and_no_places_break_the_analysis(pieces: list[str], data: st.DataObject) -> None:
    source = "".join(pieces).encode()
    places = st.integers(0, len(source))
    chunk = Chunk("code", "function", "f", 0, len(source), 1, 1, text=data.draw(st.sampled_from([None, ""])))
    for callee in data.draw(
        st.lists(st.sampled_from(["eval", "os.system", "input", "x.append", "", "a?.execute"]))
    ):
        start, end = sorted((data.draw(places), data.draw(places)))
        chunk.call_sites.append(CallSite(callee, start, end, 1))
        chunk.written.append(Write(data.draw(st.sampled_from(["x", "y.z", "x[]", "", "?"])), start, end, 1))

    for language in ("python", "javascript", "go", "java", "ruby"):
        analyse(language, source, chunk, RULES)


def deep(count: int) -> bytes:
    return b"def f():\n    x = input()\n    return " + b"eval(" * count + b"x" + b")" * count + b"\n"


def wide(count: int) -> bytes:
    lines = b"".join(b"        x%d = x%d + request.args['%d']\n" % (n + 1, n, n) for n in range(count))
    return b"def f():\n    while 1:\n" + lines + b"        os.system(x%d)\n" % count


def blank(count: int) -> bytes:
    return (
        b"def f():\n    with a"
        + b" " * count
        + b"b, c as d: eval(input('"
        + b" " * count
        + b"'), x"
        + b" " * count
    )


def as_chunk(source: bytes) -> Chunk:
    """A function with a call at every parenthesis and an assignment at every sign of equality."""
    chunk = Chunk("code", "function", "f", 0, len(source), 1, 1)
    for place in range(len(source)):
        if source[place] == 40:
            name = source[max(0, place - 12) : place].split(b"(")[-1].split()[-1:]
            chunk.call_sites.append(CallSite(b"".join(name).decode(), place, len(source), 1))
        elif source[place] == 61:
            end = source.find(b"\n", place)
            target = source[:place].split()[-1].decode()
            chunk.written.append(Write(target, place + 1, end if end > 0 else len(source), 1))
    return chunk


@pytest.mark.parametrize(("shape", "size"), [(deep, 150), (wide, 60), (blank, 4000)])
def test_beyond_a_bound_the_work_on_a_hostile_function_grows_no_faster_than_its_length(
    shape: Callable[[int], bytes], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.risk.tracking._MOST_WORK", 10_000)

    def judge(count: int) -> None:
        source = shape(count)
        analyse("python", source, as_chunk(source), RULES)

    assert grows_evenly(judge, size)


def test_most_chunks_are_dismissed_at_once() -> None:
    source = b"import os\n" + b"x = 1\n" * 200
    chunk = Chunk("code", "function", "f", 0, 1000, 1, 100)
    chunk.call_sites = [CallSite(f"self.thing_{n}", n, n + 5, 1) for n in range(10)]
    analyse("python", source, chunk, RULES)

    # Less than three calls per call site: nothing reads the text again.
    assert calls_made(lambda: analyse("python", source, chunk, RULES)) < 3 * len(chunk.call_sites)
