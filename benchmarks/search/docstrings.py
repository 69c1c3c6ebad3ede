"""Python definitions and their docstrings, read with `ast`."""

import ast
import inspect
import warnings

from benchmarks.search.model import Definition, Reading

__all__ = ["read_python"]

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_python(source: bytes) -> Reading | None:
    """The definitions of a file with the first line of their docstrings; None when Python cannot parse it.

    The source has unix line ends (`stripped` sees to it), so that the lines of `ast` are the lines of the file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old escapes in other people's strings
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            return None
    lines = source.split(b"\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    reading = Reading([], [])
    _visit(tree, "", source, offsets, reading)
    return reading


def _visit(owner: ast.AST, prefix: str, source: bytes, offsets: list[int], reading: Reading) -> None:
    for node in ast.iter_child_nodes(owner):
        name = prefix
        if isinstance(node, Documented):
            name = f"{prefix}.{node.name}" if prefix else node.name
            docstring = ast.get_docstring(node, clean=False)
            summary = "" if docstring is None else inspect.cleandoc(docstring).partition("\n")[0].strip()
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            reading.definitions.append(
                Definition(name, kind, first, node.lineno, node.end_lineno or first, summary)
            )
            if docstring is not None:
                reading.documentation.append(_removal(node, source, offsets))
        _visit(node, name, source, offsets, reading)


def _removal(node: Documented, source: bytes, offsets: list[int]) -> tuple[int, int, bytes]:
    """The bytes of the docstring and what takes their place: nothing, or a `pass` where the syntax needs one."""
    docstring = node.body[0]
    last = docstring.end_lineno or docstring.lineno
    start = offsets[docstring.lineno - 1] + docstring.col_offset
    end = offsets[last - 1] + (docstring.end_col_offset or 0)
    before = source[offsets[docstring.lineno - 1] : start]
    after = source[end : offsets[last] - 1]
    if len(node.body) == 1 or before.strip() or after.strip():
        return start, end, b"pass"
    return offsets[docstring.lineno - 1], min(offsets[last], len(source)), b""
