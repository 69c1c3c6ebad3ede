"""Which values a new JSON Schema accepts that the old one did not, and the other way round: proven, not guessed.

`compare_schemas` gives the verdict with its witnesses and names every change; `bumps_of` says how far a version
must move for one. What could not be proven is `unknown`, and unknown counts as breaking.
"""

from holdfast.contract.inclusion.bump import Bump, floors_of
from holdfast.contract.inclusion.compare import compare_schemas
from holdfast.contract.inclusion.model import Comparison, Effect, Limits, SchemaChange, Witness
from holdfast.contract.inclusion.rules import RULES, Rule, acknowledgements_of, bumps_of, strict_bumps_of

__all__ = [
    "RULES",
    "Bump",
    "Comparison",
    "Effect",
    "Limits",
    "Rule",
    "SchemaChange",
    "Witness",
    "acknowledgements_of",
    "bumps_of",
    "compare_schemas",
    "floors_of",
    "strict_bumps_of",
]
