"""Rules for single tools, as a configuration file states them: deadlines, effect, worker losses, output.

The words for an effect are those that a server written with Holdfast declares; here they are plain text, checked
the same way, because a file must be told what is wrong with it before any server is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from holdfast.errors import UsageError
from holdfast.settings.knobs import SETTINGS
from holdfast.settings.places import Place

__all__ = ["EFFECTS", "ToolRule", "read_rule"]

# The effect, and what it cannot do without.
EFFECTS: dict[str, str | None] = {
    "replay_safe": None,
    "at_most_once": None,
    "deduplicated": "key",
    "probe_required": "probe",
}

_POINTER = "/arguments/"
_KINDS = {setting.name: setting.parse for setting in SETTINGS}
# The key in a file: the field of a rule, which is also the knob whose kind it has.
_NUMBERS = {
    "deadline": "deadline",
    "deadline_total": "deadline_total",
    "restart_budget": "replays",
    "replays": "replays",  # what the knob for all tools is called
    "output_bytes": "output_bytes",
    "output_tokens": "output_tokens",
}
_WORDS = ("effect", "key", "probe")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What was said about one tool; None where nothing was said."""

    deadline: float | None = None
    deadline_total: float | None = None
    effect: str | None = None
    key: str | None = None
    probe: str | None = None
    replays: int | None = None
    output_bytes: int | None = None
    output_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.effect is not None and self.effect not in EFFECTS:
            raise UsageError(
                f"effect is {self.effect!r}: expected one of {', '.join(EFFECTS)}", remedy="correct effect"
            )
        for effect, word in EFFECTS.items():
            if word is not None:
                self._check_companion(effect, word, getattr(self, word))
        if self.key is not None and not (self.key.startswith(_POINTER) and len(self.key) > len(_POINTER)):
            raise UsageError(
                f"deduplicated key {self.key!r} does not point at an argument",
                remedy='use a JSON Pointer such as key = "/arguments/key"',
            )

    def _check_companion(self, effect: str, word: str, value: str | None) -> None:
        """An effect comes with its key or probe, and these with their effect."""
        if value is not None and self.effect != effect:
            raise UsageError(
                f'{word} belongs to effect = "{effect}"', remedy=f'add effect = "{effect}", or leave {word} out'
            )
        if not value and self.effect == effect:
            needs = {
                "key": ("deduplicated needs the argument that holds the key", 'add key = "/arguments/NAME"'),
                "probe": ("probe_required needs the name of the probe tool", 'add probe = "TOOL"'),
            }
            message, remedy = needs[word]
            raise UsageError(message, remedy=remedy)

    def said(self) -> dict[str, Any]:
        """The fields about which something was said."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def over(self, general: "ToolRule") -> "ToolRule":
        """This rule where it says something, the general one elsewhere; an effect brings its own key or probe."""
        inherited = general.said()
        if self.effect is not None:
            inherited = {name: value for name, value in inherited.items() if name not in _WORDS}
        return ToolRule(**{**inherited, **self.said()})


def read_rule(tool: str, table: Mapping[str, Any], place: Place) -> ToolRule:
    """The rule that this table of a file states for a tool."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        field = _NUMBERS.get(key, key)
        if field in values:
            raise place.error("restart_budget and replays say the same thing", "leave one of them out")
        values[field] = _value(key, value, place)
    try:
        rule = ToolRule(**values)
    except UsageError as error:
        raise place.error(error.message, error.remedy) from error
    if rule.probe == tool:
        raise place.error("its probe is the tool itself", "name another tool, one that only looks")
    return rule


def _value(key: str, value: Any, place: Place) -> Any:
    if key in _NUMBERS:
        try:
            return _KINDS[_NUMBERS[key]].from_file(value)
        except ValueError as error:
            raise place.bad_value(key, value, error) from error
    if key not in _WORDS:
        known = (*_NUMBERS, *_WORDS)
        raise place.unknown_key(key, known, f"a rule for a tool may have: {', '.join(known)}")
    if key == "effect" and (not isinstance(value, str) or value not in EFFECTS):
        raise place.bad_value(key, value, f"expected one of {', '.join(EFFECTS)}")
    if not isinstance(value, str):
        raise place.bad_value(key, value, "expected text")
    return value
