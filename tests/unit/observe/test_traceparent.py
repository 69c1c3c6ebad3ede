"""The trace parent: to the letter of its standard, or none."""

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.observe.traceparent import TraceParent, parse_traceparent

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@given(st.text(max_size=70) | st.from_regex(r"\A[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\Z"))
@example(f"00-{'0' * 32}-{PARENT}-01")
@example(f"00-{TRACE}-{'0' * 16}-01")
@example(f"ff-{TRACE}-{PARENT}-01")
@example(f"00-{TRACE}-{PARENT}-01-more")
@example(f"00-{TRACE.upper()}-{PARENT}-01")
@example(f"00-{TRACE}-{PARENT}-01\n")
@example(f" 00-{TRACE}-{PARENT}-01")
def test_only_a_trace_parent_to_the_letter_is_one(text: str) -> None:
    parsed = parse_traceparent(text)
    if parsed is not None:
        version, trace_id, span_id, flags = text.split("-", 4)[:4]
        assert version != "ff"
        assert (f"{parsed.trace_id:032x}", f"{parsed.span_id:016x}", f"{parsed.flags:02x}") == (
            trace_id,
            span_id,
            flags,
        )
        assert parsed.trace_id
        assert parsed.span_id


def test_a_later_version_may_say_more() -> None:
    assert parse_traceparent(f"01-{TRACE}-{PARENT}-03-more") == TraceParent(int(TRACE, 16), int(PARENT, 16), 3)
    for text in (f"00-{TRACE}-{PARENT}-01-more", f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01"):
        assert parse_traceparent(text) is None
