"""Reference pages of a server, Markdown and HTML, from the same blocks: an index and one page per tool.

The HTML stands alone: no scripts, no assets from elsewhere. Everything a server says is text in it, never markup.
"""

import html
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast.cli.argument_list import argument_rows
from holdfast.contract.compare.view import SurfaceView, ToolView

__all__ = ["pages_of"]

_STRANGE = re.compile(r"[^A-Za-z0-9_.-]")
_STYLE = (
    "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;"
    "background:#fff}code,pre{font:14px/1.4 ui-monospace,monospace;background:#f3f3f3}pre{padding:.8rem;"
    "overflow-x:auto}code{padding:.1em .3em}pre code{padding:0}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #ddd}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}code,pre{background:#262626}"
    "th,td{border-color:#444}a{color:#8ab4ff}}"
)


class _Block(NamedTuple):
    """A piece of a page: a heading, a paragraph, a table, a piece of code, a list of links."""

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    level: int = 2


def pages_of(view: SurfaceView, call: str) -> dict[str, str]:
    """File name -> text of every page; `call` is how a tool of this server is called from a shell."""
    files = _file_names(view)
    title = f"{view.name or 'Server'} {view.version or view.server_version}".rstrip()
    index = [_Block("heading", title, level=1)]
    if view.instructions:
        index.append(_Block("text", view.instructions))
    rows = tuple((name, files[name], _first_line(tool)) for name, tool in view.tools.items())
    index.append(_Block("links", rows=rows))
    pages = _both("index", title, index)
    for name, tool in view.tools.items():
        pages |= _both(files[name], name, list(_tool_blocks(tool, call)))
    return pages


def _file_names(view: SurfaceView) -> dict[str, str]:
    """A file name for each tool; names that a file system may not tell apart get a number."""
    taken = {"index"}
    names: dict[str, str] = {}
    for name in view.tools:
        stem = _STRANGE.sub("_", name)[:100].lstrip(".") or "tool"
        number = 1
        while (found := stem if number == 1 else f"{stem}-{number}").lower() in taken:
            number += 1
        taken.add(found.lower())
        names[name] = found
    return names


def _both(stem: str, title: str, blocks: list[_Block]) -> dict[str, str]:
    return {f"{stem}.md": _markdown(blocks), f"{stem}.html": _html(title, blocks)}


def _first_line(tool: ToolView) -> str:
    lines = str(tool.facets.get("description") or "").strip().splitlines()
    return lines[0] if lines else ""


# --- what stands on the page of a tool ---------------------------------------------------------------------------


def _tool_blocks(tool: ToolView, call: str) -> Iterator[_Block]:
    facets = tool.facets
    yield _Block("heading", f"{tool.name} {tool.version or ''}".rstrip(), level=1)
    if isinstance(facets.get("title"), str):
        yield _Block("text", facets["title"])
    yield _Block("text", str(facets.get("description") or "No description."))
    yield _Block("table", rows=(("Promise", "Value"), *_promises(facets)))
    yield _Block("heading", "Arguments")
    yield from _fields(facets["input"], "This tool takes no arguments.")
    yield _Block("heading", "Answer")
    output = facets["output"] if facets["output"] is not None else facets.get("payload")
    yield from _fields(output, "No form of the answer is published.")
    if facets.get("errors"):
        yield _Block("heading", "Errors")
        rows = ((code, row.get("meaning", ""), row.get("remedy", "")) for code, row in facets["errors"].items())
        yield _Block("table", rows=(("Code", "Meaning", "Remedy"), *rows))
    yield from _examples(tool, call)
    if facets.get("security"):
        yield _Block("heading", "Security")
        yield _Block("text", facets["security"])
    for heading, schema in (("Input schema", facets["input"]), ("Output schema", output)):
        if schema is not None:
            yield _Block("heading", heading)
            yield _Block("code", json.dumps(schema, indent=2, ensure_ascii=False))


def _promises(facets: dict[str, Any]) -> Iterator[tuple[str, str]]:
    hints = facets["annotations"]
    yield "Reads only", "yes" if hints.get("readOnlyHint") is True else "no"
    effect = facets.get("effect")
    repeats = effect.get("kind", "") if effect else "idempotent" if hints.get("idempotentHint") is True else ""
    yield "Repeating a call", str(repeats or "not declared")
    if facets.get("timeoutMs") is not None:
        yield "Timeout", f"{facets['timeoutMs'] / 1000:g} s" if facets["timeoutMs"] else "none"
    if facets.get("aliases"):
        yield "Older names", ", ".join(facets["aliases"])
    if isinstance(facets.get("deprecated"), dict):
        told = facets["deprecated"]
        yield "Deprecated", f"since {told.get('since', '?')}; use {told.get('replacement') or 'nothing instead'}"


def _fields(schema: Any, nothing: str) -> Iterator[_Block]:
    rows = tuple(tuple(row) for row in argument_rows(schema)) if isinstance(schema, dict) else ()
    if rows:
        yield _Block("table", rows=(("Name", "Type", "Needed", "Description"), *rows))
    else:
        yield _Block("text", nothing)


def _examples(tool: ToolView, call: str) -> Iterator[_Block]:
    examples = tool.facets.get("examples")
    if not isinstance(examples, list) or not examples:
        return
    yield _Block("heading", "Examples")
    for example in examples:
        document = json.dumps(example, ensure_ascii=False)
        words = [call.replace("TOOL", shlex.quote(tool.name), 1), shlex.quote(document)]
        yield _Block("code", " ".join(words))
        yield _Block("code", json.dumps({"name": tool.name, "arguments": example}, indent=2, ensure_ascii=False))
    if tool.facets.get("outputExample") is not None:
        yield _Block("text", "An answer:")
        yield _Block("code", json.dumps(tool.facets["outputExample"], indent=2, ensure_ascii=False))


# --- Markdown ----------------------------------------------------------------------------------------------------


def _markdown(blocks: list[_Block]) -> str:
    return "\n\n".join(_MARKDOWN[block.kind](block) for block in blocks) + "\n"


def _md_table(block: _Block) -> str:
    head, *rows = block.rows
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_md_cell(cell) for cell in line) + " |" for line in lines)


def _md_cell(text: str) -> str:
    escaped = re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(str(text).split()))
    return escaped or " "


def _md_code(block: _Block) -> str:
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", block.text)), default=0) + 1)
    return f"{fence}\n{block.text}\n{fence}"


def _md_links(block: _Block) -> str:
    return "\n".join(f"- [{_md_cell(name)}]({file}.md): {_md_cell(words)}" for name, file, words in block.rows)


_MARKDOWN = {
    "heading": lambda block: f"{'#' * block.level} {_md_cell(block.text)}",
    "text": lambda block: re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", block.text.strip()),
    "table": _md_table,
    "code": _md_code,
    "links": _md_links,
}


# --- HTML --------------------------------------------------------------------------------------------------------


def _html(title: str, blocks: list[_Block]) -> str:
    body = "\n".join(_HTML[block.kind](block) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _html_text(block: _Block) -> str:
    parts = re.split(r"\n\s*\n", block.text.strip())
    return "\n".join(f"<p>{html.escape(part)}</p>" for part in parts)


def _html_table(block: _Block) -> str:
    head, *rows = block.rows
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    lines = ["<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    return f"<table>\n<tr>{cells}</tr>\n" + "\n".join(lines) + "\n</table>"


def _html_links(block: _Block) -> str:
    items = (
        f'<li><a href="{html.escape(file, quote=True)}.html">{html.escape(name)}</a>: {html.escape(words)}</li>'
        for name, file, words in block.rows
    )
    return "<ul>\n" + "\n".join(items) + "\n</ul>"


_HTML = {
    "heading": lambda block: f"<h{block.level}>{html.escape(block.text)}</h{block.level}>",
    "text": _html_text,
    "table": _html_table,
    "code": lambda block: f"<pre><code>{html.escape(block.text)}</code></pre>",
    "links": _html_links,
}
