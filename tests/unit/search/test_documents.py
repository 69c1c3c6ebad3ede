"""Office documents and PDFs made by hand, whole and hostile."""

import io
import re
import sys
import tracemalloc
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.documents import docx, paragraph, pdf

from holdfast.search.documents import DocumentRefused, extract_document


def refusal(suffix: str, data: bytes) -> str:
    with pytest.raises(DocumentRefused) as caught:
        extract_document(f"a{suffix}", data)
    assert "\n" not in caught.value.reason
    return caught.value.reason


def parts(path: str, data: bytes) -> list[tuple[str, str]]:
    text, found = extract_document(path, data)
    return [(chunk.name, text[chunk.start : chunk.end].decode()) for chunk in found.chunks]


def test_a_docx_has_a_section_per_heading_in_every_language_of_word() -> None:
    body = (
        paragraph("Before.") + paragraph("Install &amp; run", "Heading1") + paragraph("First.")
        + paragraph("Aus dem Quelltext", "berschrift2")
        + "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/></w:r></w:p>"
    )  # fmt: skip

    assert parts("a.docx", docx(body)) == [
        ("a.docx", "Before."),
        ("Install & run", "Install & run\nFirst."),
        ("Install & run > Aus dem Quelltext", "Aus dem Quelltext\na\tb"),
    ]


def test_chunks_stand_where_their_text_is_in_the_text_of_the_whole() -> None:
    body = paragraph("Größe") + paragraph("One", "Heading1") + "".join(map(paragraph, map(str, range(200))))

    text, found = extract_document("docs/a.docx", docx(body))
    chunks = found.chunks

    assert [(chunk.name, chunk.start_line, chunk.end_line) for chunk in chunks] == [
        ("a.docx", 1, 1),
        ("One", 3, 122),
        ("One", 123, 203),
    ]
    assert {(chunk.mode, chunk.kind) for chunk in chunks} == {("extracted-prose", "section")}
    assert text.startswith("Größe\n\nOne\n0\n1\n".encode())
    assert [text.count(b"\n", 0, chunk.start) + 1 for chunk in chunks] == [1, 3, 123]
    assert chunks[1].doc.startswith("One 0 1 2")


def test_a_document_of_pictures_alone_says_that_it_has_no_text() -> None:
    text, found = extract_document("a.docx", docx("<w:p><w:r><w:drawing/></w:r></w:p>"))

    assert (text, found.chunks, found.remarks) == (b"", [], ["no text in it"])


def test_an_entity_bomb_is_refused_at_its_declaration() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'

    assert refusal(".docx", docx("<w:p>&b;</w:p>", prolog=bomb)) == "declares a document type"
    assert (
        refusal(".docx", docx("", whole='<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'))
        == "declares a document type"
    )


def test_a_zip_bomb_is_refused_without_being_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.search.documents._MAX_XML_BYTES", 2 * 1024 * 1024)
    bomb = docx(" " * (10 * 1024 * 1024))
    tracemalloc.start()

    reason = refusal(".docx", bomb)

    assert reason == "unpacks to more than 2 MiB"
    assert tracemalloc.get_traced_memory()[1] < 2 * 1024 * 1024
    tracemalloc.stop()


def test_too_much_text_and_too_deep_nesting_are_refused() -> None:
    assert refusal(".docx", docx(paragraph("x" * 9_000_000))) == "more than 8 MiB of text"
    assert refusal(".docx", docx("<w:p>" * 600 + "</w:p>" * 600)) == "XML nested deeper than 500"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04",
        docx(paragraph("x"))[:200],
        docx(paragraph("x"))[:-30],
        docx("", whole="<w:p"),
        docx("", whole=""),
        docx("x", method=zipfile.ZIP_LZMA),
    ],
    ids=[
        "empty",
        "head",
        "cut",
        "cut-at-the-end",
        "half-a-tag",
        "no-document",
        "unknown-packing",
    ],  # bytes hold times
)
def test_a_truncated_or_broken_docx_is_refused_in_words(data: bytes) -> None:
    assert re.search(r"readable DOCX|not a DOCX", reason := refusal(".docx", data))
    assert not re.search(r"\b[A-Z]\w+Error\b", reason)


def test_a_locked_docx_says_that_it_is_encrypted() -> None:
    data = bytearray(docx(paragraph("x")))
    at = 0
    while (at := data.find(b"PK\x01\x02", at + 1)) > 0:
        data[at + 8] |= 1  # the flag in each entry of the directory

    assert refusal(".docx", bytes(data)) == "encrypted"
    assert refusal(".docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)).startswith("encrypted")


def test_an_archive_that_is_no_document_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "x")

    assert "word/document.xml is missing" in refusal(".docx", packed.getvalue())
    assert refusal(".odt", b"") == "no reader for .odt"


@given(st.data())
def test_flipped_bytes_give_text_or_a_refusal(data: st.DataObject) -> None:
    raw = bytearray(docx(paragraph("some text", "Heading1") + paragraph("and more")))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(DocumentRefused):
        assert len(parts("a.docx", bytes(raw))) <= 2


def test_without_its_library_a_pdf_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)

    assert refusal(".pdf", pdf("x")) == "needs the extra: pip install 'holdfast[documents]'"


def test_a_pdf_has_a_chunk_per_page() -> None:
    pytest.importorskip("pypdf")

    assert parts("a.PDF", pdf("Retry budget", "", "Third page")) == [
        ("page 1", "Retry budget"),
        ("page 3", "Third page"),
    ]
    chunks = extract_document("a.pdf", pdf("Retry budget", "Second"))[1].chunks
    assert [(chunk.kind, chunk.name) for chunk in chunks] == [("page", "page 1"), ("page", "page 2")]


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.4", b"\x00" * 100, pdf("x")[:80], pdf("x").replace(b"Pages", b"Pigs")]
)
def test_a_broken_pdf_is_refused_in_words(data: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pypdf")

    assert re.match("not a readable PDF: ", reason := refusal(".pdf", data))
    assert not re.search(r"\b[A-Z]\w+Error\b", reason)
    assert capfd.readouterr() == ("", "")


def test_a_locked_pdf_says_that_it_is_encrypted() -> None:
    pytest.importorskip("pypdf")

    assert refusal(".pdf", pdf("x", encrypted=True)) == "encrypted"
