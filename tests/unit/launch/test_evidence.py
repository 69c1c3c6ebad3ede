"""What source code says of itself, through the search engine's parser."""

from holdfast.launch.evidence import Import, imported, parsed

SOURCE = '''"""Tables in memory."""

from tablekit.cells import Cell as _Cell

__all__ = ["Table", "read"]


class Table:
    """
    Rows with names.
    """

    @property
    def rows(self) -> list[str]:
        """All rows."""
        return []


async def read(path: str, *, sep: str = ",") -> Table:
    """Read a table."""
    import json

    raise ValueError(json.dumps(path))
'''


def test_definitions_have_names_signatures_documentation_and_lines() -> None:
    module = parsed("python", "tables.py", SOURCE)
    assert module is not None
    found = {item.name: item for item in module.definitions}
    assert (found["Table"].start_line, found["Table"].end_line, found["Table"].doc_line) == (8, 16, 10)
    assert found["Table.rows"].decorators == ("property",)
    assert (found["Table.rows"].owner, found["Table.rows"].plain_name) == ("Table", "rows")
    assert found["read"].is_async
    assert found["read"].returns == "Table"
    assert 'sep: str = ","' in found["read"].signature


def test_a_module_has_its_own_documentation_and_says_what_it_exports() -> None:
    module = parsed("python", "tables.py", SOURCE)
    assert module is not None
    assert (module.doc, module.doc_line) == ("Tables in memory.", 1)
    assert module.exports == ("Table", "read")
    assert not module.has_errors


def test_imports_inside_of_functions_are_not_bound_by_the_module() -> None:
    assert imported("python", SOURCE) == (Import("_Cell", "tablekit.cells.Cell"),)


def test_a_file_without_an_export_list_says_nothing_about_its_exports() -> None:
    module = parsed("python", "a.py", "def one() -> int:\n    return 1\n")
    assert module is not None
    assert module.exports is None
    assert module.doc == ""


def test_broken_syntax_costs_only_what_is_broken() -> None:
    module = parsed("python", "a.py", "def good():\n    '''It is fine here.'''\n\ndef broken(:\n    pass\n")
    assert module is not None
    assert module.has_errors
    assert "good" in {item.name for item in module.definitions}


def test_a_name_that_is_defined_twice_keeps_both_documentations_apart() -> None:
    source = 'def f():\n    """The first one."""\n\ndef f():\n    """The second one."""\n'
    module = parsed("python", "a.py", source)
    assert module is not None
    assert [item.doc for item in module.definitions] == ["The first one.", "The second one."]


def test_a_language_without_a_grammar_gives_nothing() -> None:
    assert parsed("jcl", "a.jcl", "MOVE A TO B.") is None
    assert imported("jcl", "MOVE A TO B.") == ()


def test_thousands_of_open_brackets_do_no_harm() -> None:
    module = parsed("python", "deep.py", "x = " + "(" * 20_000 + "\n\ndef after() -> None:\n    pass\n")
    assert module is not None
    assert module.has_errors
