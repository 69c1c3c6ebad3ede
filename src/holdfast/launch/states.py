"""The states of a run and of its sections, and which change may follow which. Pure; the store enforces it."""

from collections.abc import Iterable, Mapping

__all__ = [
    "CANCELLED",
    "CLONED_INPUTS",
    "CREATED",
    "DONE",
    "DRAFTING",
    "DRAFT_READY",
    "EDGES",
    "FACTS_READY",
    "FAILED",
    "FIXING",
    "INGESTED",
    "LINKING",
    "PLAN_READY",
    "PR_OPENED",
    "READY_FOR_PR",
    "RESTING",
    "SECTIONS",
    "STATES",
    "TERMINAL",
    "VALIDATING",
    "is_edge",
    "section_states",
]

CREATED = "CREATED"  # the configuration is stored
CLONED_INPUTS = "CLONED_INPUTS"  # both repositories are here, at their pinned commits
INGESTED = "INGESTED"  # what is in them is known
FACTS_READY = "FACTS_READY"  # claims, evidence and snippets
PLAN_READY = "PLAN_READY"  # which pages
DRAFTING = "DRAFTING"  # the sections are being written
DRAFT_READY = "DRAFT_READY"  # every section has its drafts
LINKING = "LINKING"  # the drafts are in the work tree of the site
VALIDATING = "VALIDATING"  # the gates have looked; here a run waits when they found something
FIXING = "FIXING"  # one issue is being mended
READY_FOR_PR = "READY_FOR_PR"  # the last look of the gates found nothing that counts
PR_OPENED = "PR_OPENED"
DONE = "DONE"
FAILED = "FAILED"
CANCELLED = "CANCELLED"

TERMINAL = frozenset({DONE, FAILED, CANCELLED})
RESTING = frozenset({VALIDATING, READY_FOR_PR, *TERMINAL})
"""Where a run waits for somebody, or has ended: no engine goes on from here by itself."""
_LINE = (
    CREATED, CLONED_INPUTS, INGESTED, FACTS_READY, PLAN_READY, DRAFTING, DRAFT_READY, LINKING, VALIDATING,
    READY_FOR_PR, PR_OPENED, DONE,
)  # fmt: skip
STATES = (*_LINE[:9], FIXING, *_LINE[9:], FAILED, CANCELLED)

EDGES: Mapping[str, frozenset[str]] = {
    state: frozenset(
        {
            *((after,) if after else ()),
            *((FIXING,) if state == VALIDATING else ()),
            # A person may validate again, and find that it is ready no more.
            *((VALIDATING,) if state in (FIXING, READY_FOR_PR) else ()),
            *(() if state in TERMINAL else (FAILED, CANCELLED)),
        }
    )
    for state, after in [
        *zip(_LINE, (*_LINE[1:], None), strict=True),
        (FIXING, None),
        (FAILED, None),
        (CANCELLED, None),
    ]
}

SECTIONS = ("products", "docs", "reference", "kb", "blog")


def is_edge(before: str, after: str) -> bool:
    """Whether a run may go from one state to the other."""
    return after in EDGES.get(before, frozenset())


def section_states(
    sections: Iterable[str],
    *,
    planned: Iterable[str] = (),
    drafted: Iterable[str] = (),
    is_merged: bool = False,
    is_passed: bool = False,
    blocked: Iterable[str] = (),
) -> dict[str, str]:
    """How far each section is, in the fixed order of sections."""
    wanted, outlined, written, stuck = set(sections), set(planned), set(drafted), set(blocked)

    def state(section: str) -> str:
        if section in stuck:
            return "BLOCKED"
        if section in written:
            return "DONE" if is_passed else "MERGED_IN_WORKTREE" if is_merged else "DRAFTED"
        return "OUTLINED" if section in outlined else "NOT_STARTED"

    return {section: state(section) for section in SECTIONS if section in wanted}
