"""The results of the triage tools."""

from typing import Literal

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = ["ContextPackResult", "DecisionResult", "IngestError", "IngestResult", "IngestedRecord"]

_Source = Literal["dependabot", "aws_inspector", "sarif", "generic", "manual"]
_Status = Literal["fix", "accept", "defer", "false_positive", "not_affected"]


class IngestedRecord(Answer):
    """One record and its files."""

    record_id: str = Field(description="The id of the record; the same finding always has the same.")
    json_path: str = Field(description="The record, for programs.")
    md_path: str = Field(description="The same as Markdown, for people.")


class IngestError(Answer):
    """One entry of the input that could not become a record."""

    index: int = Field(
        ge=0, description="The position of the entry in the input, from 0; bad lines count as well."
    )
    message: str = Field(description="What is wrong with it; for input by lines, with the number of the line.")


class IngestResult(Answer):
    """What became of the findings of a file: total = written + unchanged + errors."""

    source: _Source = Field(description="The source, by its proper name.")
    repo_root: str = Field(description="The root of the repository that the records belong to.")
    records_dir: str = Field(description="The directory of the records.")
    total: int = Field(ge=0, description="Entries of the input, good or bad.")
    written: int = Field(ge=0, description="Records that are new or have changed.")
    unchanged: int = Field(ge=0, description="Records that were there already, just so.")
    errors: int = Field(ge=0, description="Entries that are no findings, or the same finding as an earlier entry.")
    record_ids: list[str] = Field(description="The ids of the records, in the order of the input; at most 1000.")
    records: list[IngestedRecord] = Field(description="The same with their files; at most 1000.")
    error_details: list[IngestError] = Field(description="The bad entries; at most 1000.")
    warnings: list[Remark] = Field(
        description="more-pages: the scanner was not asked for all of its list; list-cut: lists above were cut."
    )


class DecisionResult(Answer):
    """A decision that is on record."""

    record_id: str = Field(description="The id of the decision; the same decision always has the same.")
    finding_id: str = Field(description="The record id of the finding.")
    status: _Status = Field(description="What was decided.")
    records_dir: str = Field(description="The directory of the records.")
    json_path: str = Field(description="The record, for programs.")
    md_path: str = Field(description="The same as Markdown, for people.")
    unchanged: bool = Field(description="Whether just this was on record already; then nothing was written.")
    warnings: list[Remark] = Field(description="expired: the decision is over already.")


class ContextPackResult(Answer):
    """A context pack that was written."""

    out_path: str = Field(description="The file of the pack.")
    history_count: int = Field(ge=0, le=5, description="Decisions in the pack, the newest ones.")
    evidence_queries: int = Field(ge=0, description="Searches in the pack: one per question and mode.")
    hits: int = Field(ge=0, description="Places in the code and the texts that were found in all.")
    warnings: list[Remark] = Field(
        description="no-index: nothing was searched; not-searched: a question could not be; others as of a search."
    )
