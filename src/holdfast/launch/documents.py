"""The schemas of everything that is stored or exchanged, and the one form in which it is written.

Validated when it is written and again when it is read: a document that does not fit never becomes an artifact, and
one that was changed behind our back is noticed before it is believed.
"""

import functools
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from holdfast.contract.canonical import canonical_json
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    import jsonschema_rs

__all__ = ["DocumentError", "decode", "encode", "schema", "sha256", "violations"]

_MOST_VIOLATIONS = 50


class DocumentError(HoldfastError):
    """A document that does not fit its schema; `violations` lists how."""

    def __init__(self, name: str, violations: list[dict[str, Any]]) -> None:
        first = violations[0] if violations else {"instancePath": "", "message": "it is no JSON document"}
        super().__init__(f"{name} does not fit its schema: {first['instancePath'] or '/'}: {first['message']}")
        self.name = name
        self.violations = violations


def sha256(content: bytes) -> str:
    """The digest under which content is stored and compared."""
    return hashlib.sha256(content).hexdigest()


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document, such as `page_plan`."""
    text = files(__package__).joinpath("schemas", f"{name}.schema.json").read_bytes()
    document: dict[str, Any] = json.loads(text)
    return document


def violations(name: str, document: Any) -> list[dict[str, Any]]:
    """Every way in which a document does not fit its schema, sorted by where."""
    found = [
        {
            "instancePath": "".join(f"/{_escaped(part)}" for part in error.instance_path),
            "keyword": str(error.schema_path[-1]) if error.schema_path else "",
            "message": str(error.message)[:500],
        }
        for error in _validator(name).iter_errors(document)
    ]
    found.sort(key=lambda item: (item["instancePath"], item["keyword"], item["message"]))
    return found[:_MOST_VIOLATIONS]


def encode(name: str, document: Any) -> bytes:
    """The document as bytes, the same for the same document; DocumentError where it does not fit its schema."""
    problems = violations(name, document)
    if problems:
        raise DocumentError(name, problems)
    return canonical_json(document)


def decode(name: str, content: bytes) -> Any:
    """The document that the bytes hold; DocumentError where they hold none that fits its schema."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DocumentError(name, [{"instancePath": "", "keyword": "", "message": str(error)}]) from error
    problems = violations(name, document)
    if problems:
        raise DocumentError(name, problems)
    return document


@functools.cache
def _validator(name: str) -> "jsonschema_rs.Draft202012Validator":
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(schema(name))


def _escaped(part: object) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")
