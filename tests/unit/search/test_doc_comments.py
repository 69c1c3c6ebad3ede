"""Comments that document: above a definition, and across blank lines where the language says so."""

import pytest
from tests.unit.search.extracted import definitions_of

ACROSS = {
    "java": "/** Keeps it. */\n\nclass A { }\n",
    "javascript": "/** Keeps it. */\n\n\nexport function A() { return 1; }\n",
    "typescript": "/** Keeps it. */\n\nexport function A(): number { return 1; }\n",
    "tsx": "/** Keeps it. */\n\nfunction A(): number { return 1; }\n",
    "rust": "/// Keeps it.\n\n#[inline]\nfn A() -> i32 { 1 }\n",
    "c": "/** Keeps it. */\n\nint A(void) { return 1; }\n",
    "cpp": "//! Keeps it.\n\nint A() { return 1; }\n",
    "csharp": "/// Keeps it.\n\n[Serializable]\nclass A { }\n",
    "php": "<?php\n/** Keeps it. */\n\nfunction A() { return 1; }\n",
    "kotlin": "/** Keeps it. */\n\nfun A(): Int { return 1 }\n",
    "swift": "/// Keeps it.\n\nfunc A() -> Int { return 1 }\n",
    "scala": "/** Keeps it. */\n\nclass A { }\n",
}
PARTED = {
    "go": "package m\n\n// Keeps it.\n\nfunc A() int { return 1 }\n",
    "ruby": "# Keeps it.\n\nclass A\nend\n",
    "shell": "# Keeps it.\n\nA() { echo 1; }\n",
    "lua": "--- Keeps it.\n\nfunction A() return 1 end\n",
    "java": "// Keeps it.\n\nclass A { }\n",
    "c": "/*** Keeps it. ***/\n\nint A(void) { return 1; }\n",
    "cpp": "int a; ///< Keeps it.\n\nint A() { return 1; }\n",
    "javascript": "/** Copyright 2020, keeps it. */\n\nfunction A() { return 1; }\n",
    "typescript": "/**\n * @fileoverview Keeps it.\n */\n\nfunction A() { return 1; }\n",
    "rust": "// Keeps it.\n\nfn A() -> i32 { 1 }\n",
    "kotlin": "/** Keeps it. */\n\nimport a.b\n\nfun A(): Int { return 1 }\n",
}


def doc_of(language: str, source: str) -> str:
    return next(one.doc for one in definitions_of(language, source) if one.name == "A")


@pytest.mark.parametrize("language", ACROSS)
def test_a_documentation_comment_reaches_across_blank_lines(language: str) -> None:
    assert doc_of(language, ACROSS[language]) == "Keeps it."


@pytest.mark.parametrize("language", PARTED)
def test_any_other_comment_and_one_about_the_file_does_not(language: str) -> None:
    assert doc_of(language, PARTED[language]) == ""
