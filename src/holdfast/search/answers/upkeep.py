"""The results of `cache_gc` and `clean_artifacts`."""

from typing import Literal

from pydantic import Field

from holdfast.search.answers.answer import Answer

__all__ = ["Cleaned", "Collected", "Kept", "Limits", "Removed", "RemovedFor", "Totals"]


class Limits(Answer):
    """What was asked for."""

    max_bytes: int | None = Field(description="The most bytes that all indexes may have together.")
    max_age_days: float | None = Field(description="The most days that an index may be unused.")


class Totals(Answer):
    """What there was before."""

    repos: int = Field(ge=0, description="Indexes that were looked at.")
    bytes: int = Field(ge=0, description="Their bytes together.")


class Removed(Answer):
    """Something that was removed, or would be."""

    id: str = Field(description="The name of the repository in the cache.")
    path: str = Field(description="What was removed.")
    bytes: int = Field(ge=0, description="How much room it took.")


class RemovedFor(Removed):
    """The same with the reason."""

    reason: Literal["age", "quota", "orphan", "old-build"] = Field(
        description="Unused for too long; too much in all; its repository is gone; replaced or never finished."
    )


class Kept(Answer):
    """Something that was not removed."""

    id: str = Field(description="The name of the repository in the cache.")
    path: str = Field(description="What stays.")
    reason: str = Field(description="Why.")


class Collected(Answer):
    """What was cleaned up in the cache."""

    mode: Literal["repo", "builds"] = Field(
        description="With limits, whole indexes are removed; without, only what no search can use."
    )
    dry_run: bool = Field(description="Whether it is only told.")
    cache_root: str = Field(description="The cache directory.")
    limits: Limits = Field(description="What was asked for.")
    totals: Totals = Field(description="What there was before.")
    removals: list[RemovedFor] = Field(description="What was removed, or would be.")
    failed_removals: list[Kept] = Field(description="What could not be removed, such as an index in use.")
    kept: list[Kept] = Field(description="What is never removed: records of triage.")
    freed_bytes: int = Field(ge=0, description="The room that this gives back.")


class Cleaned(Answer):
    """Indexes that were removed."""

    repo_path: str = Field(description="The root of the repository.")
    dry_run: bool = Field(description="Whether it is only told.")
    removals: list[Removed] = Field(description="Indexes that were removed, or would be.")
    kept: list[Kept] = Field(description="What stays, and why.")
    freed_bytes: int = Field(ge=0, description="The room that this gives back.")
    output: str = Field(description="The same as text.")
