"""Scripts and styles in pages and components."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.embedded.markup import scripts_and_styles


def found(text: str, host: str = "html") -> list[tuple[str, str]]:
    """Language and text of each piece of code."""
    return [(one.language, one.text.decode()) for one in scripts_and_styles(host, text.encode())]


@each_row(
    ("tag", "language"),
    [
        ("<script>", "javascript"), ("<SCRIPT>", "javascript"), ('<script type="module">', "javascript"),
        ("<script type='text/javascript; charset=utf-8'>", "javascript"), ("<script async defer>", "javascript"),
        ("<script type=importmap>", "json"), ('<script type="application/json" id="x">', "json"),
        ('<script lang="ts">', "typescript"), ("<script setup lang='tsx'>", "tsx"),
        ("<script lang=ts>", "typescript"), ("<script\n  lang='ts'\n>", "typescript"),
        ('<script lang="ts" generic="T extends Map<K, V>">', "typescript"),
        ('<script type="text/typescript">', "typescript"), ('<script context="module" lang="ts">', "typescript"),
        ('<script type="application/ld+json">', ""), ('<script type="text/x-template">', ""),
        ('<script lang="nope">', ""), ('<script data-type="text/x" type="module">', "javascript"),
        ("<style>", "css"), ('<style lang="scss" scoped>', "css"), ('<style type="text/css">', "css"),
        ('<style type="text/x">', ""), ("<scripture>", ""), ("<script/>", ""), ('<script "', ""),
    ],
)  # fmt: skip
def test_the_attributes_of_a_tag_name_the_language(tag: str, language: str) -> None:
    name = "style" if "style" in tag else "script"
    text = f"<p>a</p>{tag}x(){{}}</{name}>"

    assert found(text) == ([(language, "x(){}")] if language else [])


def test_scripts_in_comments_and_without_text_are_none() -> None:
    assert found("<!-- <script>a()</script> --><script src=x></script><script> \n</script><b onclick='c()'>") == []


def test_a_script_ends_where_a_browser_ends_it() -> None:
    assert found("<script>a('<p>')</SCRIPT ><style>b{}</style>") == [("javascript", "a('<p>')"), ("css", "b{}")]
    assert found("<script>a() // </scripts>\n") == [("javascript", "a() // </scripts>\n")]
    assert found("<!-- <script>a()</script>") == []


def test_the_head_of_an_astro_file_is_typescript_and_so_are_its_scripts() -> None:
    text = "---\nconst a: number = 1;\n---\n<p>--- </p>\n<script>b();</script>\n"

    assert found(text, "astro") == [("typescript", "const a: number = 1;\n"), ("typescript", "b();")]
    assert found("---\nconst a = 1;\n", "astro") == []


_PARTS = st.sampled_from(
    ["<script>", "</script>", "<style lang='scss'>", "</style>", "<!--", "-->", "<script ", '"', "'", ">", "x()"]
)


@given(st.lists(_PARTS, max_size=30))
def test_pieces_of_code_stand_in_order_and_never_overlap(parts: list[str]) -> None:
    source = "".join(parts).encode()

    at = 0
    for segment in scripts_and_styles("vue", source):
        assert at <= segment.start < segment.end <= len(source)
        assert segment.text == source[segment.start : segment.end]
        at = segment.end
