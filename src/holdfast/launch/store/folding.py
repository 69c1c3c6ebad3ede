"""What follows from the events of a run: its state, sections, artifacts, work and issues. Pure.

The tables of the store say the same and are written by other code: that both agree is what a replay proves.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.launch import issues, states
from holdfast.launch.store.chain import BEGINNING, verified
from holdfast.launch.store.records import Artifact, Event, Run, RunPicture, SectionFacts, WorkItem
from holdfast.launch.store.refusals import ChainBroken
from holdfast.launch.version import ARTIFACT_VERSION

__all__ = ["fold", "picture_of", "section_states", "snapshot_of"]

_PASSED = frozenset({states.READY_FOR_PR, states.PR_OPENED, states.DONE})


def fold(events: Iterable[Event]) -> dict[str, Any]:
    """The snapshot (schema `snapshot`) that these events lead to; ChainBroken where they cannot be believed."""
    return snapshot_of(picture_of(events))


def picture_of(events: Iterable[Event]) -> RunPicture:
    """Everything that these events tell about their run; who holds it is no event, and is not told."""
    folding = _Folding()
    for event in verified(events):
        folding.take(event)
    return folding.picture()


def snapshot_of(picture: RunPicture) -> dict[str, Any]:
    """The snapshot document of a run."""
    run = picture.run
    return {
        "schema_version": ARTIFACT_VERSION,
        "run_id": run.run_id,
        "run_state": run.state,
        "section_states": section_states(picture),
        "artifacts_index": {name: _indexed(picture.artifacts[name]) for name in sorted(picture.artifacts)},
        "work_items": [_listed(item) for item in picture.items],
        "issues": picture.issues,
        "fix_attempts": run.fix_attempts,
        "last_event_hash": run.last_hash,
        "last_seq": run.last_seq,
    }


def section_states(picture: RunPicture) -> dict[str, str]:
    """How far each section is that the run was asked for."""
    facts = picture.run.sections
    return states.section_states(
        picture.run.config.get("required_sections", ()),
        planned=facts.planned,
        drafted=facts.drafted,
        is_merged=facts.is_merged,
        is_passed=picture.run.state in _PASSED,
        blocked=_blocked(picture.issues, picture.items),
    )


def _blocked(found: Sequence[Mapping[str, Any]], items: Sequence[WorkItem]) -> set[str]:
    by_issue = {
        str(dict(item.get("data", {})).get("section"))
        for item in found
        if item["status"] != "RESOLVED" and item["severity"] in issues.COUNTING
    }
    # The last attempt decides: one that is queued again is not stuck any more.
    last = {item.scope: item.status for item in items if item.worker == "section_writer"}
    return by_issue | {scope for scope, status in last.items() if status == "failed"}


def _indexed(artifact: Artifact) -> dict[str, Any]:
    return {
        "path": artifact.path,
        "sha256": artifact.sha256,
        "schema_id": artifact.schema_id,
        "writer_worker": artifact.writer_worker,
        "ts": artifact.ts,
        "event_id": artifact.event_id,
    }


def _listed(item: WorkItem) -> dict[str, Any]:
    told = {"started_at": item.started_at, "finished_at": item.finished_at, "error": item.error}
    return {
        "work_item_id": item.work_item_id,
        "worker": item.worker,
        "attempt": item.attempt,
        "status": item.status,
        "scope_key": item.scope,
        "inputs": item.inputs,
        "outputs": item.outputs,
    } | {key: value for key, value in told.items() if value is not None}


def _word(payload: Mapping[str, Any], name: str) -> str:
    if not isinstance(payload[name], str):
        raise TypeError(f"{name} is no text")
    return str(payload[name])


def _words(payload: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if not isinstance(payload[name], list) or not all(isinstance(word, str) for word in payload[name]):
        raise TypeError(f"{name} is no list of texts")
    return tuple(payload[name])


def _count(payload: Mapping[str, Any], name: str) -> int:
    if type(payload[name]) is not int:
        raise TypeError(f"{name} is no whole number")
    return int(payload[name])


class _Folding:
    """A run in the making: one method for each type of event that changes something."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._artifacts: dict[str, Artifact] = {}
        self._items: dict[str, WorkItem] = {}
        self._issues: dict[str, dict[str, Any]] = {}
        self._of_run: dict[str, Callable[[Event, Run], Run]] = {
            "RUN_STATE_CHANGED": _moved,
            "RUN_COMPLETED": _ended,
            "RUN_CANCELLED": _ended,
            "RUN_FAILED": _failed,
            "FIX_ATTEMPTED": _fix_attempted,
            "SECTIONS_PLANNED": _sections_planned,
            "SECTION_DRAFTED": _section_drafted,
            "PATCHES_APPLIED": _patches_applied,
        }
        self._of_parts: dict[str, Callable[[Event], None]] = {
            "ARTIFACT_WRITTEN": self._artifact_written,
            "WORK_ITEM_QUEUED": self._item_queued,
            "WORK_ITEM_STARTED": self._item_started,
            "WORK_ITEM_FINISHED": self._item_finished,
            "WORK_ITEM_FAILED": self._item_failed,
            "WORK_ITEM_SKIPPED": self._item_skipped,
            "ISSUE_OPENED": self._issue_told,
            "ISSUE_CHANGED": self._issue_told,
            "ISSUE_RESOLVED": self._issue_resolved,
        }

    def take(self, event: Event) -> None:
        """Let one event have its effect."""
        try:
            run = _created(event) if self._run is None else self._reduced(event, self._run)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # Its hash is right, so whoever wrote it was no store: a forged file must not look like our mistake.
            raise ChainBroken(event.seq, f"{event.type} does not say what it must: {error!r}") from error
        self._run = replace(run, last_seq=event.seq, last_hash=event.event_hash)

    def picture(self) -> RunPicture:
        """What the events so far lead to."""
        assert self._run is not None  # the chain refuses to be empty
        return RunPicture(
            self._run, self._artifacts, list(self._items.values()), issues.ordered(self._issues.values())
        )

    def _reduced(self, event: Event, run: Run) -> Run:
        if event.type == "RUN_CREATED":
            raise ChainBroken(event.seq, "the run is created a second time")
        if event.type in self._of_parts:
            self._of_parts[event.type](event)
        return self._of_run[event.type](event, run) if event.type in self._of_run else run

    def _artifact_written(self, event: Event) -> None:
        told = event.payload
        self._artifacts[_word(told, "name")] = Artifact(
            name=_word(told, "name"),
            path=_word(told, "path"),
            sha256=_word(told, "sha256"),
            schema_id=_word(told, "schema_id"),
            writer_worker=_word(told, "writer_worker"),
            size=_count(told, "size"),
            seq=event.seq,
            event_id=event.event_id,
            ts=event.ts,
        )

    def _item_queued(self, event: Event) -> None:
        told = event.payload
        self._items[_word(told, "work_item_id")] = WorkItem(
            work_item_id=_word(told, "work_item_id"),
            worker=_word(told, "worker"),
            scope=_word(told, "scope_key"),
            attempt=_count(told, "attempt"),
            status="queued",
            seq=event.seq,
            inputs=dict(told["inputs"]),
        )

    def _item_started(self, event: Event) -> None:
        owner, token = _word(event.payload, "owner"), _count(event.payload, "lease_token")
        self._amend(
            event, status="running", started_at=event.ts, lease_owner=owner, lease_token=token, leased_at=event.ts
        )

    def _item_finished(self, event: Event) -> None:
        self._end(event, status="finished", outputs=dict(event.payload["outputs"]))

    def _item_failed(self, event: Event) -> None:
        self._end(event, status="failed", error=dict(event.payload["error"]))

    def _item_skipped(self, event: Event) -> None:
        self._end(event, status="skipped")

    def _end(self, event: Event, **changes: Any) -> None:
        self._amend(event, finished_at=event.ts, lease_owner=None, lease_token=None, leased_at=None, **changes)

    def _amend(self, event: Event, **changes: Any) -> None:
        item_id = event.payload["work_item_id"]
        self._items[item_id] = replace(self._items[item_id], **changes)

    def _issue_told(self, event: Event) -> None:
        told = dict(event.payload["issue"])
        place = {"path": "", "line": 0, **told.get("location", {})}
        # What ordering and counting rely on.
        _word(told, "gate"), _word(told, "status"), _word(place, "path"), _count(place, "line")
        issues.ordered([told | {"data": dict(told.get("data", {}))}])
        self._issues[_word(told, "issue_id")] = told

    def _issue_resolved(self, event: Event) -> None:
        issue_id = event.payload["issue_id"]
        self._issues[issue_id] = self._issues[issue_id] | {"status": "RESOLVED"}


def _created(event: Event) -> Run:
    if event.type != "RUN_CREATED":
        raise ChainBroken(event.seq, "it does not begin with RUN_CREATED")
    config = dict(event.payload["config"])
    _words({"required_sections": [], **config}, "required_sections")
    return Run(
        run_id=event.run_id,
        state=states.CREATED,
        product_slug=_word(event.payload, "product_slug"),
        config=config,
        config_sha256=_word(event.payload, "config_sha256"),
        started_at=event.ts,
        finished_at=None,
        fix_attempts=0,
        failure=None,
        sections=SectionFacts(),
        last_seq=0,
        last_hash=BEGINNING,
    )


def _moved(event: Event, run: Run) -> Run:
    before, after = _word(event.payload, "from"), _word(event.payload, "to")
    if before != run.state or not states.is_edge(before, after):
        raise ChainBroken(event.seq, f"a run in {run.state} does not go from {before} to {after}")
    return replace(run, state=after)


def _ended(event: Event, run: Run) -> Run:
    return replace(run, finished_at=event.ts)


def _failed(event: Event, run: Run) -> Run:
    return replace(run, finished_at=event.ts, failure=dict(event.payload["failure"]))


def _fix_attempted(event: Event, run: Run) -> Run:
    attempt = _count(event.payload, "attempt")
    if attempt != run.fix_attempts + 1:
        raise ChainBroken(event.seq, f"fix attempt {attempt} follows on {run.fix_attempts}")
    return replace(run, fix_attempts=run.fix_attempts + 1)


def _sections_planned(event: Event, run: Run) -> Run:
    # Drafts and patches rest on a plan: with a new one they are of the past.
    return replace(run, sections=SectionFacts(planned=_words(event.payload, "sections")))


def _section_drafted(event: Event, run: Run) -> Run:
    drafted = tuple(sorted({*run.sections.drafted, _word(event.payload, "section")}))
    return replace(run, sections=replace(run.sections, drafted=drafted))


def _patches_applied(_event: Event, run: Run) -> Run:
    return replace(run, sections=replace(run.sections, is_merged=True))
