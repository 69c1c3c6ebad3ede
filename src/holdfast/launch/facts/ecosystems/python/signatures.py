"""Signatures of Python functions and classes, from the text of their definition: parameters and one line.

Only the head of a definition is parsed, so a file that this interpreter cannot parse as a whole is no obstacle.
"""

import ast
import re
from typing import Any, NamedTuple

__all__ = ["Signature", "class_fields", "read_signature"]

_GENERIC = re.compile(r"^((?:async )?def \w+)\[[^()]*\](?=\()")
_LONGEST = 1_900
_FIELD_DECORATORS = ("dataclass", "define", "attrs", "frozen", "mutable", "attr.s", "dataclasses.dataclass")
_FIELD_BASES = ("NamedTuple", "TypedDict", "BaseModel", "Struct")


class Signature(NamedTuple):
    """`text` is what stands behind the name: `(path: str, *, sep: str = ',') -> Table`."""

    text: str
    parameters: list[dict[str, Any]]
    returns: str


def read_signature(head: str, *, drop_first: bool) -> Signature:
    """The signature of `def name(...) -> ...`; the first parameter of a method is not the caller's."""
    try:
        node = ast.parse(_GENERIC.sub(r"\1", head) + ": ...").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        text = head[head.find("(") :] if "(" in head else "()"
        return Signature(" ".join(text.split())[:_LONGEST], [], "")
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return Signature("()", [], "")
    if drop_first:
        _drop_first(node.args)
    returns = _annotated(node.returns) if node.returns else ""
    parameters = _parameters(node.args)
    text = f"({_listed(parameters)})" + (f" -> {returns}" if returns else "")
    return Signature(text[:_LONGEST], parameters, returns[:500])


def _drop_first(arguments: ast.arguments) -> None:
    for group in (arguments.posonlyargs, arguments.args):
        if group:
            group.pop(0)
            return


def _parameters(arguments: ast.arguments) -> list[dict[str, Any]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    found = [
        _parameter(item, default, "positional" if number < len(arguments.posonlyargs) else "any")
        for number, (item, default) in enumerate(
            zip(positional, defaults[-len(positional) :] if positional else [], strict=True)
        )
    ]
    if arguments.vararg:
        found.append(_parameter(arguments.vararg, None, "variable"))
    for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(_parameter(item, default, "keyword"))
    if arguments.kwarg:
        found.append(_parameter(arguments.kwarg, None, "keywords"))
    # What begins with an underscore and need not be given is not for callers.
    return [item for item in found if not ("default" in item and item["name"].startswith("_"))]


def _parameter(item: ast.arg, default: ast.expr | None, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": item.arg[:200], "kind": kind}
    if item.annotation is not None:
        found["annotation"] = _annotated(item.annotation)[:500]
    if default is not None:
        found["default"] = "..." if _is_private(default) else ast.unparse(default)[:500]
    return found


def _listed(parameters: list[dict[str, Any]]) -> str:
    """The parameters as people write them: a default has spaces around its sign where there is an annotation."""
    shown: list[str] = []
    before = ""
    for item in parameters:
        kind = item["kind"]
        if before == "positional" != kind:
            shown.append("/")
        if kind == "keyword" and before not in ("keyword", "variable"):
            shown.append("*")
        shown.append(_shown(item))
        before = kind
    return ", ".join([*shown, "/"] if before == "positional" else shown)


def _shown(item: dict[str, Any]) -> str:
    text: str = {"variable": "*", "keywords": "**"}.get(item["kind"], "") + item["name"]
    if "annotation" in item:
        text = f"{text}: {item['annotation']}"
    if "default" in item:
        sign = " = " if "annotation" in item else "="
        text = f"{text}{sign}{item['default']}"
    return text


def _annotated(annotation: ast.expr) -> str:
    """A type as it is meant: quotation marks around a name that is defined later say nothing to a reader."""
    return ast.unparse(_Unquoting().visit(annotation))


class _Unquoting(ast.NodeTransformer):
    """Takes types out of their quotation marks, and leaves texts that are texts."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A text in the place of a type is the type."""
        if not isinstance(node.value, str):
            return node
        try:
            return ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """What `Literal` lists are values, and so is all behind the type in `Annotated`."""
        name = ast.unparse(node.value).rpartition(".")[2]
        if name == "Annotated" and isinstance(node.slice, ast.Tuple) and node.slice.elts:
            node.slice.elts[0] = self.visit(node.slice.elts[0])
        elif name not in ("Literal", "Annotated"):
            self.generic_visit(node)
        return node


def _is_private(default: ast.expr) -> bool:
    """Whether a default is a name that callers neither know nor may use: a marker for `not given`."""
    name = default.attr if isinstance(default, ast.Attribute) else getattr(default, "id", "")
    return name.startswith("_") and not name.endswith("__")


def class_fields(source: list[str], decorators: tuple[str, ...], bases: tuple[str, ...]) -> Signature | None:
    """The constructor that a class gets from its fields (a dataclass, a named tuple), or None."""
    generated = any(name.endswith(_FIELD_DECORATORS) for name in decorators)
    if not generated and not any(base.rpartition(".")[2] in _FIELD_BASES for base in bases):
        return None
    try:
        tree = ast.parse(_dedented(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not tree or not isinstance(tree[0], ast.ClassDef):
        return None
    fields = [
        node
        for node in tree[0].body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not node.target.id.startswith("_")
        and "ClassVar" not in ast.unparse(node.annotation)
        and not _is_no_argument(node.value)
    ]
    parameters = [
        _parameter(ast.arg(node.target.id, node.annotation), _default(node.value), "any")
        for node in fields
        if isinstance(node.target, ast.Name)
    ]
    return Signature(f"({_listed(parameters)})"[:_LONGEST], parameters, "")


def _is_no_argument(value: ast.expr | None) -> bool:
    keywords = value.keywords if isinstance(value, ast.Call) else []
    return any(
        item.arg == "init" and isinstance(item.value, ast.Constant) and not item.value.value for item in keywords
    )


def _default(value: ast.expr | None) -> ast.expr | None:
    if not isinstance(value, ast.Call):
        return value
    given = {item.arg: item.value for item in value.keywords}
    if "default" in given:
        return given["default"]
    factory = given.get("default_factory") or given.get("factory")
    return ast.Call(factory, [], []) if factory is not None else None


def _dedented(source: list[str]) -> str:
    margin = min((len(line) - len(line.lstrip()) for line in source if line.strip()), default=0)
    return "\n".join(line[margin:] for line in source)
