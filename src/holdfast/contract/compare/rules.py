"""Every rule about tools, results and operation: what it means, how far a version must move, who must agree.

Rules about schemas are in `contract/inclusion`. `acknowledge` marks what no version can make harmless alone: a
person has to look at it. In strict mode an acknowledged MINOR counts as MAJOR. A violation is wrong whatever the
version is.
"""

from dataclasses import dataclass

from holdfast.contract.inclusion.bump import Bump

__all__ = ["APPROVALS", "RULES", "Rule", "weight"]


def weight(bump: Bump) -> int:
    """A number that grows with the bump, to sort by."""
    return list(Bump).index(bump)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of change. `effect` is what it does to what callers may rely on."""

    id: str
    bump: Bump
    effect: str
    meaning: str
    acknowledge: bool = False
    violation: bool = False

    def floor(self, *, strict: bool) -> Bump:
        """How far a version must move for it."""
        is_risk = strict and self.acknowledge and self.bump is Bump.MINOR
        return Bump.MAJOR if is_risk else self.bump


def _major(rule: str, meaning: str, *, ack: bool = False, effect: str = "narrows") -> Rule:
    return Rule(rule, Bump.MAJOR, effect, meaning, acknowledge=ack)


def _minor(rule: str, meaning: str, *, ack: bool = False, effect: str = "widens") -> Rule:
    return Rule(rule, Bump.MINOR, effect, meaning, acknowledge=ack)


def _patch(rule: str, meaning: str, *, ack: bool = False) -> Rule:
    return Rule(rule, Bump.PATCH, "equal", meaning, acknowledge=ack)


def _violation(rule: str, meaning: str, *, bump: Bump = Bump.NONE) -> Rule:
    return Rule(rule, bump, "incomparable", meaning, violation=True)


# Who approved the tool for what it was has to approve it again, by name; a higher version does not do.
APPROVALS = frozenset(
    {"annotations.read_only_lost", "annotations.destructive_gained", "annotations.open_world_gained"}
)

_ROWS = (
    # --- names ---
    _major("tool.removed", "calls to this name fail"),
    _major("tool.renamed", "calls to the old name fail; keep it as an alias for a while"),
    _major("tool.alias_removed", "calls to the older name fail"),
    _minor("tool.renamed_with_alias", "the old name still answers, as an alias"),
    _minor("tool.alias_added", "the tool can be called by one more name"),
    _minor("tool.added", "there is one more tool"),
    _major("tool.replaced", "the name now stands for another tool; use a new name", ack=True,
           effect="incomparable"),
    _violation("tool.reserved_name_reused", "a removed name must not come back for something else",
               bump=Bump.MAJOR),
    # --- results ---
    _minor("output.schema_added", "answers now have a published form", effect="narrows"),
    _major("output.schema_removed", "clients can no longer rely on the form of answers", effect="widens"),
    _major("output.root_kind_changed", "the answer is of another kind at its root", effect="incomparable"),
    _major("result.content_removed", "a kind of content block that clients read is gone", effect="incomparable"),
    _major("result.content_reordered", "clients that read blocks by position get another one",
           effect="incomparable"),
    _minor("result.content_added", "there is one more kind of content block", ack=True),
    _major("result.error_convention_changed", "failures are told in another form", effect="incomparable"),
    _major("result.pagination_introduced", "a result that was complete now comes in pages", ack=True),
    _major("result.page_size_cut", "a page holds fewer items than callers got so far", ack=True),
    _minor("result.presentation_changed", "the text of answers looks different; text is no contract for programs",
           ack=True, effect="equal"),
    # --- errors ---
    _major("error.code_removed", "clients that handle the code wait for it in vain", effect="incomparable"),
    _major("error.meaning_changed", "the code now means something else", effect="incomparable"),
    _minor("error.code_added", "clients may meet a code that they do not know", ack=True),
    _patch("error.remedy_changed", "the advice for a code reads differently"),
    _major("error.envelope_field_removed", "clients read a field of failures that is gone", effect="widens"),
    _major("error.envelope_field_renamed", "clients read a field of failures under its old name",
           effect="incomparable"),
    _major("error.envelope_field_retyped", "a field of failures holds something else", effect="incomparable"),
    _major("error.envelope_field_now_optional", "a field of failures may be missing", effect="widens"),
    _minor("error.envelope_field_added", "failures carry one more field"),
    _minor("error.schema_added", "failures now have a published form", effect="narrows"),
    _major("error.schema_removed", "clients can no longer rely on the form of failures", effect="widens"),
    # --- hints ---
    _major("annotations.read_only_lost", "who approved it as read-only now approves a write", ack=True,
           effect="incomparable"),
    _major("annotations.destructive_gained", "who approved it as harmless now approves destruction", ack=True,
           effect="incomparable"),
    _major("annotations.open_world_gained", "the tool now reaches outside", ack=True, effect="incomparable"),
    _major("annotations.idempotent_lost", "callers that retry may do it twice", effect="incomparable"),
    _minor("annotations.read_only_gained", "the tool now promises to change nothing", effect="equal"),
    _minor("annotations.destructive_lost", "the tool now promises to destroy nothing", effect="equal"),
    _minor("annotations.open_world_lost", "the tool now promises to stay inside", effect="equal"),
    _minor("annotations.idempotent_gained", "the tool now promises that repeating it is harmless", effect="equal"),
    _patch("annotations.other_changed", "a hint that is not part of the protocol changed", ack=True),
    # --- effect and state ---
    _major("effect.authority_lowered", "calls that could be repeated must not be any more", effect="incomparable"),
    _minor("effect.authority_raised", "the tool promises more about repeating it; show the evidence", ack=True,
           effect="equal"),
    _major("effect.key_changed", "calls are told apart by another argument", effect="incomparable"),
    _major("effect.probe_changed", "another tool now tells whether a call took effect", effect="incomparable"),
    _major("effect.undeclared", "what repeating a call does is no longer declared", effect="incomparable"),
    _minor("effect.declared", "what repeating a call does is now declared", ack=True, effect="equal"),
    _major("state.pinned", "calls depend on one process; it cannot be replaced under them", effect="incomparable"),
    _minor("state.kept", "the tool keeps state between calls", ack=True, effect="equal"),
    _minor("state.freed", "the tool keeps less state between calls", effect="equal"),
    # --- what a caller needs, and limits ---
    _major("requires.added", "callers need a permission or feature that they did not need"),
    _minor("requires.removed", "callers need less"),
    _major("limit.tightened", "calls that fitted the limit may not any more", ack=True),
    _minor("limit.relaxed", "the limit is wider"),
    _major("limit.unknown", "the limit before or after is not stated, so it may be tighter", ack=True,
           effect="unknown"),
    _major("header.changed", "clients on HTTP send this argument as a header", effect="incomparable"),
    _major("task.required", "clients must call it as a task"),
    _major("task.forbidden", "clients may not call it as a task any more"),
    _minor("task.optional", "clients may call it as a task or not"),
    # --- words: they steer the model ---
    _patch("text.description_changed", "models choose the tool by these words", ack=True),
    _patch("text.title_changed", "people choose the tool by this name", ack=True),
    _patch("text.instructions_changed", "models are told something else about the whole server", ack=True),
    _patch("text.security_changed", "what the tool may touch is described differently", ack=True),
    _patch("text.examples_changed", "the examples are others"),
    _patch("text.icons_changed", "clients show another picture", ack=True),
    _patch("meta.changed", "something else in the definition changed", ack=True),
    Rule("meta.rewritten", Bump.NONE, "equal", "written differently, without a change that callers could notice",
         acknowledge=True),
    _minor("normalization.changed", "other spellings of arguments are accepted, or mean something else", ack=True,
           effect="unknown"),
    _patch("operation.isolation_changed", "calls run in another kind of process"),
    # --- lifecycle ---
    _minor("lifecycle.deprecated", "the tool should no longer be used", effect="equal"),
    _patch("lifecycle.undeprecated", "the tool may be used again"),
    _patch("lifecycle.deprecation_changed", "the deprecation says something else"),
    _violation("lifecycle.removed_before_sunset", "callers were told that they had more time", bump=Bump.MAJOR),
    _violation("lifecycle.sunset_moved_earlier", "callers were told that they had more time", bump=Bump.MAJOR),
    # --- beside tools ---
    _major("resource.removed", "reads of this address fail"),
    _minor("resource.added", "there is one more resource"),
    _major("resource.mime_changed", "clients get another kind of content", effect="incomparable"),
    _major("resource.subscription_removed", "clients can no longer be told of its changes"),
    _minor("resource.subscription_added", "clients can be told of its changes"),
    _patch("resource.text_changed", "the resource is described differently", ack=True),
    _major("template.removed", "addresses of this form fail"),
    _minor("template.added", "there is one more form of address"),
    _major("template.mime_changed", "clients get another kind of content", effect="incomparable"),
    _major("template.value_narrowed", "addresses that were read are refused"),
    _minor("template.value_widened", "more addresses can be read"),
    _major("template.subscription_removed", "clients can no longer be told of changes"),
    _minor("template.subscription_added", "clients can be told of changes"),
    _patch("template.text_changed", "the template is described differently", ack=True),
    _major("prompt.removed", "requests for this prompt fail"),
    _minor("prompt.added", "there is one more prompt"),
    _major("prompt.required_argument_added", "requests without the argument fail"),
    _major("prompt.argument_became_required", "requests without the argument fail"),
    _major("prompt.argument_removed", "requests with the argument are misunderstood"),
    _minor("prompt.argument_added", "the prompt takes one more argument"),
    _minor("prompt.argument_became_optional", "the argument may be left out"),
    _major("prompt.argument_narrowed", "values of the argument that were accepted are refused"),
    _minor("prompt.argument_widened", "the argument accepts more values"),
    _patch("prompt.text_changed", "the prompt is described differently", ack=True),
    _major("protocol.removed", "clients of this revision cannot connect"),
    _minor("protocol.added", "clients of this revision can connect"),
    _major("capability.removed", "the server no longer offers this"),
    _minor("capability.added", "the server offers one more thing"),
    _minor("server.name_changed", "clients know the server by another name", ack=True, effect="equal"),
    # --- versions ---
    Rule("version.raised", Bump.NONE, "equal", "the version moved"),
    Rule("version.above_floor", Bump.NONE, "equal", "the version moved further than the change asks for"),
    _violation("version.missing", "there is no version to tell this surface from the last one"),
    _violation("version.malformed", "the version is no SemVer"),
    _violation("version.decreased", "a version never goes back"),
    _violation("version.reused", "the same version stands for two different contracts"),
    _violation("version.below_floor", "the version did not move as far as the change asks for"),
    _violation("version.breaks_earlier", "clients of an earlier version with the same major number break"),
)  # fmt: skip

RULES: dict[str, Rule] = {rule.id: rule for rule in _ROWS}
if len(RULES) != len(_ROWS):
    raise AssertionError("a rule is declared twice")
