"""The answer of `build_index`."""

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = ["BuildAnswer"]


class BuildAnswer(Answer):
    """What was built, with figures."""

    repo_path: str = Field(description="The root of the repository.")
    mode: str = Field(description="The mode that was asked for.")
    sqlite: bool = Field(description="Whether the portable SQLite index was built too.")
    sqlite_path: str | None = Field(description="Where that is; null without it.")
    incremental: bool = Field(description="Whether only changes were to be taken in.")
    restored_artifacts: bool = Field(description="Whether an exported index was taken up first.")
    action: str = Field(description="What was done: built, updated or unchanged.")
    build: str = Field(description="The build that is current now.")
    generation: int = Field(description="Rises with every update of that build.")
    commit: str | None = Field(description="The commit that was indexed.")
    files: int = Field(description="Files in the index.")
    chunks: dict[str, int] = Field(description="Chunks in the index, of the modes that were asked for.")
    skipped: dict[str, int] = Field(description="Files that were left out, by reason.")
    source_bytes: int = Field(description="Bytes of the indexed files.")
    bytes: int = Field(description="Bytes of the index on disk.")
    elapsed_ms: int = Field(description="How long it took, in milliseconds.")
    warnings: list[Remark] = Field(description="What to know about it.")
