"""The reference pages say what the tables in the code say."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"


def generator() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: page() for name, page in module.PAGES.items()}


@pytest.mark.requirement("OURS-6b-table")
@pytest.mark.parametrize("name", sorted(generator()))
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == generator()[name], "run `make docs`"
