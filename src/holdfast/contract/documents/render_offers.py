"""The prompts and resources of a server in its specification: one table each, from the snapshot."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.contract.documents.inline import cell, code_span

__all__ = ["offer_sections"]


def offer_sections(snapshot: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The id and the text of the region of each kind that the server offers; none for a server of tools alone."""
    prompts = _listed(snapshot, "prompts")
    if prompts:
        yield "prompts", f"## Prompts\n\n{_prompt_table(prompts)}"
    resources = [*_listed(snapshot, "resources"), *_listed(snapshot, "resourceTemplates")]
    if resources:
        yield "resources", f"## Resources\n\n{_resource_table(resources)}"


def _prompt_table(prompts: list[dict[str, Any]]) -> str:
    head = "| Prompt | Arguments | Description |\n| :-- | :-- | :-- |"
    rows = [f"| {code_span(str(one.get('name')))} | {_arguments(one)} | {_description(one)} |" for one in prompts]
    return "\n".join([head, *rows])


def _resource_table(resources: list[dict[str, Any]]) -> str:
    head = "| Address | Kind | Changes are told | Description |\n| :-- | :-- | :-- | :-- |"
    rows = [
        f"| {code_span(str(one.get('uri') or one.get('uriTemplate')))} | {cell(str(one.get('mimeType') or ''))} "
        f"| {'Yes' if one.get('subscribable') else 'No'} | {_description(one)} |"
        for one in resources
    ]
    return "\n".join([head, *rows])


def _arguments(prompt: Mapping[str, Any]) -> str:
    told = [
        code_span(str(one.get("name"))) + ("" if one.get("required") else " (optional)")
        for one in prompt.get("arguments") or []
        if isinstance(one, dict)
    ]
    return ", ".join(told) or "none"


def _description(entry: Mapping[str, Any]) -> str:
    return cell(str(entry.get("description") or "").strip().split("\n\n")[0])


def _listed(snapshot: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    listed = snapshot.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
