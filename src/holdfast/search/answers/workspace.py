"""What `workspace_status` answers."""

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = [
    "WorkspaceEntry",
    "WorkspaceIndex",
    "WorkspaceStatus",
    "WorkspaceTotals",
]


class WorkspaceIndex(Answer):
    """The index of one repository; null or empty where there is none."""

    exists: bool = Field(description="Whether there is an index that can be searched.")
    build: str | None = Field(description="The name of the build.")
    generation: int | None = Field(description="Rises with every update.")
    built_at: str | None = Field(description="When it was written, ISO 8601.")
    commit: str | None = Field(description="The commit that was checked out then.")
    head_commit: str | None = Field(description="The commit that is checked out now.")
    changed_files: int | None = Field(
        description="Files and directories that changed since; null without an index, or where it is half written."
    )
    chunks: dict[str, int] = Field(description="How many chunks each mode has.")
    bytes: int = Field(ge=0, description="Its size on disk.")


class WorkspaceEntry(Answer):
    """One repository."""

    repo_id: str = Field(description="What the repository is called in the cache.")
    alias: str | None = Field(
        description="What the workspace calls it; repoPath takes that beside workspacePath, or where it is served."
    )
    root: str = Field(
        description="Its directory, which repoPath takes. Over HTTP what repoPath takes there, if it is served."
    )
    enabled: bool = Field(description="Whether the workspace uses it.")
    priority: int = Field(description="Higher ones come first.")
    tags: list[str] = Field(description="Words of the workspace about it.")
    index: WorkspaceIndex = Field(description="Its index.")
    problem: Remark | None = Field(description="What is wrong with it: an error code, and a message.")


class WorkspaceTotals(Answer):
    """All of them together."""

    repos: int = Field(ge=0, description="Repositories.")
    enabled: int = Field(ge=0, description="Those that the workspace uses.")
    indexed: int = Field(ge=0, description="Those with an index.")
    problems: int = Field(ge=0, description="Those with a problem.")
    chunks: int = Field(ge=0, description="Chunks of all indexes.")
    bytes: int = Field(ge=0, description="Bytes of all indexes.")


class WorkspaceStatus(Answer):
    """The state of every repository in a workspace file."""

    workspace_path: str = Field(description="The file.")
    name: str | None = Field(description="What it calls itself.")
    repo_set_id: str = Field(description="The same for the same repositories.")
    manifest_hash: str = Field(description="The same as long as the file says the same, however it is written.")
    repos: list[WorkspaceEntry] = Field(description="The repositories, the most important first.")
    totals: WorkspaceTotals = Field(description="Sums.")
