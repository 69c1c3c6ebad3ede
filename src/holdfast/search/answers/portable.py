"""The answers of `build_sqlite_index` and `compact_sqlite_index`."""

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = ["CompactedPortable", "PortableIndex"]


class PortableIndex(Answer):
    """The portable file that was written, with figures."""

    repo_path: str = Field(description="The root of the repository.")
    mode: str = Field(description="What is in the file: all, code, or prose.")
    path: str = Field(description="The file that was written; the copy, where one was asked for.")
    bytes: int = Field(description="Its size.")
    build: str = Field(description="The build of the index that it was made from.")
    generation: int = Field(description="The generation of that build that it answers at.")
    chunks: dict[str, int] = Field(description="Chunks in it, by mode.")
    incremental: bool = Field(
        description="Whether an earlier file was brought up to date; false: it is a new one."
    )
    compacted: bool = Field(description="Whether it is without gaps now.")
    unchanged: bool = Field(description="Whether the file already said all that the index says.")
    elapsed_ms: int = Field(description="How long it took, in milliseconds.")
    warnings: list[Remark] = Field(description="What to know about it.")


class CompactedPortable(Answer):
    """How much smaller the portable file has become, or would become."""

    repo_path: str = Field(description="The root of the repository.")
    mode: str = Field(description="The mode that was asked for.")
    dry_run: bool = Field(description="Whether the file was left as it is.")
    path: str = Field(description="The file.")
    bytes_before: int = Field(description="Its size before.")
    bytes: int = Field(description="Its size without gaps.")
    freed_bytes: int = Field(description="The difference.")
    backup: str | None = Field(description="Where the file as it was is kept; null where it is not.")
    output: str = Field(description="The same in one line.")
