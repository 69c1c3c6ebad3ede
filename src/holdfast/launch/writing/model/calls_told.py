"""Whether a run asks a model, and the calls that its events tell of. Pure; the engine knows no more of models."""

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["NONE", "model_is_asked", "told_calls"]

NONE = "none:"
"""The address that means no model at all."""
_BEGINS, _ENDS = "LLM_CALL_STARTED", ("LLM_CALL_FINISHED", "LLM_CALL_FAILED")


def model_is_asked(config: Mapping[str, Any]) -> bool:
    """Whether a configuration names a model."""
    return bool(config.get("llm", {}).get("api_base_url", NONE) != NONE)


def told_calls(events: Iterable[Any]) -> list[dict[str, Any]]:
    """The calls that events of a run tell of: whose they were, what they cost, and whether their end was told.

    Of one whose end was not told also how it began: the machine that knew more of it may be gone.
    """
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        told = event.payload
        if event.type == _BEGINS:
            section = str(told["work_item_id"]).rpartition(":")[2]
            found[told["call_id"]] = {
                "call_id": told["call_id"], "section": section, "prompt_hash": told["prompt_hash"],
                "tokens": told.get("most_tokens", told["max_tokens"]), "is_over": False,
                "begun": {name: value for name, value in told.items() if name != "work_item_id"},
            }  # fmt: skip
        elif event.type in _ENDS and told["call_id"] in found:
            usage = told.get("token_usage", {}).get("total", 0)
            call = found[told["call_id"]]
            call |= {"is_over": True, "tokens": usage or call["tokens"], "begun": {}}
    return list(found.values())
