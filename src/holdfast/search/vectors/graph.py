"""A graph over the vectors of a table, for indexes in which looking at every vector takes too long.

It covers the first rows of its table; those that were added since are looked at one by one, until they are so many
that they are added to the graph.
"""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.search.vectors.table import GRAPH, TableView, seal_of, write_seal

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress

__all__ = ["MOST_EXACT", "bring_graph_up_to_date", "open_graph", "search_graph"]

MOST_EXACT = 100_000  # rows that are compared one by one: about 15 ms
_TAIL = 0.1  # share of the rows that may be outside of the graph
_BLOCK = 4096
_CONNECTIVITY, _EFFORT_TO_ADD, _EFFORT_TO_SEARCH = 16, 128, 128


def bring_graph_up_to_date(directory: Path, view: TableView, progress: "Progress") -> None:
    """Make or extend the graph of a table where it is worth it."""
    path = directory / GRAPH
    if len(view) <= MOST_EXACT:
        if path.exists():
            seal_of(directory).remove()
            path.unlink()
            write_seal(directory)
        return
    graph = open_graph(directory, len(view), mapped=False)
    covered = 0 if graph is None else len(graph)
    if covered >= (1 - _TAIL) * len(view):
        return
    graph = graph or _new(view.vectors.shape[1])
    for first in range(covered, len(view), _BLOCK):
        progress("graph", first, len(view), "")
        rows = np.arange(first, min(first + _BLOCK, len(view)))
        graph.add(rows.astype(np.uint64), np.ascontiguousarray(view.vectors[rows]), threads=1)
    draft = directory / f".{GRAPH}.{secrets.token_hex(4)}"
    try:
        graph.save(str(draft))
        seal_of(directory).remove()
        draft.replace(path)
        write_seal(directory)
    finally:
        draft.unlink(missing_ok=True)


def open_graph(directory: Path, rows: int, *, mapped: bool = True) -> Any:
    """The graph of a table with so many rows; None where there is none that can be used."""
    from usearch.index import Index

    path = directory / GRAPH
    if not path.is_file():
        return None
    try:
        graph = Index.restore(str(path), view=mapped)
    except (RuntimeError, ValueError):  # damaged: as if it was not there
        return None
    return graph if graph is not None and 0 < len(graph) <= rows else None


def search_graph(graph: Any, codes: NDArray[np.int8], count: int) -> NDArray[np.int64]:
    """Row numbers of about the nearest vectors."""
    graph.expansion_search = max(_EFFORT_TO_SEARCH, count)
    return np.asarray(graph.search(codes, count, threads=1).keys).astype(np.int64)


def _new(dimensions: int) -> Any:
    from usearch.index import Index

    return Index(
        ndim=dimensions, metric="cos", dtype="i8", connectivity=_CONNECTIVITY, expansion_add=_EFFORT_TO_ADD
    )
