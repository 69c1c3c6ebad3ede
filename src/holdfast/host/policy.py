"""From what a person has configured to what the kernel decides by."""

from holdfast.kernel.policy import Policy, ToolPolicy
from holdfast.settings import Configuration, ToolRule
from holdfast.vocabulary.effects import Effect, EffectKind

__all__ = ["policy_of"]


def policy_of(configuration: Configuration) -> Policy:
    """The policy of a host."""
    settings = configuration.settings
    return Policy(
        pending_max=settings.pending_max,
        pending_bytes=settings.pending_bytes,
        replays=settings.replays,
        tool_timeout=settings.tool_timeout,
        answer_timeout=settings.answer_timeout,
        deadline=settings.deadline,
        deadline_total=settings.deadline_total,
        grace=settings.kill_grace,
        drain=settings.drain,
        heartbeat=settings.heartbeat,
        liveness_interval=settings.liveness_interval,
        suspect_after=settings.suspect_after,
        single=settings.single,
        stateful=settings.stateful,
        ping_interval=settings.ping_interval,
        ping_timeout=settings.ping_timeout,
        start_timeout=settings.start_timeout,
        restart_budget=settings.restart_budget,
        restart_window=settings.restart_window,
        restart_delay=settings.restart_delay,
        restart_delay_max=settings.restart_delay_max,
        restart_slow=settings.restart_slow,
        restart_reset=settings.restart_reset,
        rollout_grace=settings.rollout_grace,
        probation=settings.probation,
        quarantine=settings.quarantine,
        probe_hold=settings.probe_hold,
        spare=settings.spare > 0,
        trusts_worker=not settings.untrusted,
        trust_idempotent=settings.trust_idempotent,
        tools={name: _tool_policy(rule) for name, rule in configuration.tools.items()},
    )


def _tool_policy(rule: ToolRule) -> ToolPolicy:
    effect = None if rule.effect is None else Effect(EffectKind(rule.effect), key=rule.key, probe=rule.probe)
    return ToolPolicy(effect, rule.deadline, rule.deadline_total, rule.replays)
