"""The results of `index_status`, `report_artifacts` and `check_status`."""

from typing import Literal

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = [
    "ArtifactBytes",
    "ArtifactReport",
    "BuildBytes",
    "CachedRepository",
    "CheckedIndex",
    "Checkup",
    "CurrentIndex",
    "DictionaryState",
    "FileRemark",
    "FileState",
    "Finding",
    "GitState",
    "Health",
    "IncrementalState",
    "IndexStatus",
    "ModeState",
    "ModeStates",
    "ModelState",
    "OverallBytes",
    "PlacedFile",
    "PortableFile",
    "RepositoryArtifacts",
    "SkippedFile",
]


class FileState(Answer):
    """A file or a directory of an index."""

    exists: bool = Field(description="Whether it is there.")
    mtime: str | None = Field(description="When it was last written, in UTC; of a directory, its newest file.")
    bytes: int = Field(ge=0, description="Its length; of a directory, of all its files.")


class PlacedFile(FileState):
    """A file and where it is or would be."""

    path: str = Field(description="Its absolute path.")


class GitState(Answer):
    """What git says about the work tree."""

    is_repo: bool = Field(description="Whether the repository is one of git.")
    head: str | None = Field(description="The commit that is checked out.")
    branch: str | None = Field(description="The branch that is checked out.")
    is_dirty: bool | None = Field(description="Whether something is not committed; null where git did not say.")
    warning: str | None = Field(description="Why git did not say.")


class DictionaryState(Answer):
    """Word lists."""

    dir: str = Field(description="Where they are kept.")
    files: list[str] = Field(description="Their names, sorted.")
    enabled: bool = Field(description="Whether searches use them: never yet, since nothing reads them.")
    include_slang: bool = Field(description="Whether lists of slang are among them; none is ever taken in.")


class ModelState(Answer):
    """Models for embeddings."""

    dir: str = Field(description="Where they are kept.")
    model: str | None = Field(description="The first one by name.")
    available: bool = Field(description="Whether there is one.")
    hint: str | None = Field(description="What to do where there is none.")


class IncrementalState(Answer):
    """What an update starts from."""

    dir: str = Field(description="Where the builds are kept.")
    exists: bool = Field(description="Whether there is a build that an update can start from.")


class ModeState(Answer):
    """The part of an index that one mode searches. All modes share one store and one term index."""

    dir: str = Field(description="The directory of the current build.")
    exists: bool = Field(description="Whether this mode can be searched, be it without any chunk.")
    chunks: int = Field(ge=0, description="How many chunks it has.")
    chunk_meta: FileState = Field(description="The store.")
    token_postings: FileState = Field(description="The term index.")


class ModeStates(Answer):
    """The same for every mode."""

    code: ModeState = Field(description="Code.")
    prose: ModeState = Field(description="Documentation and other texts.")
    extracted_prose: ModeState = Field(description="Comments, and texts out of documents.")
    records: ModeState = Field(description="Logs and records of triage.")


class SkippedFile(Answer):
    """Something that is not indexed."""

    path: str = Field(description="Relative to the root; a directory ends with a slash.")
    reason: str = Field(description="A word, such as ignored, binary, oversized.")
    detail: str = Field(description="More about it, for people.")


class FileRemark(Answer):
    """Something about a file that is indexed."""

    path: str = Field(description="Relative to the root.")
    remark: str = Field(description="What is the matter with it.")


class CurrentIndex(Answer):
    """What is in the index that is searched."""

    build: str = Field(description="The name of the build.")
    generation: int = Field(ge=0, description="Rises with every update of the build.")
    format: int | None = Field(description="The number of the format on disk.")
    built_at: str = Field(description="When it was last written, in UTC.")
    commit: str | None = Field(description="The commit that was checked out then.")
    branch: str | None = Field(description="The branch that was checked out then.")
    head_commit: str | None = Field(description="The commit that is checked out now.")
    head_branch: str | None = Field(description="The branch that is checked out now.")
    changed_files: int | None = Field(
        description="Files and directories that changed since then; null where the last update did not finish."
    )
    files: int = Field(ge=0, description="Indexed files.")
    lines: int = Field(ge=0, description="Their lines.")
    source_bytes: int = Field(ge=0, description="Their bytes.")
    bytes: int = Field(ge=0, description="The bytes of the build on disk.")
    languages: dict[str, int] = Field(description="Files by language, the most frequent first.")
    skipped: dict[str, int] = Field(description="What is not indexed, counted by reason.")
    skipped_files: list[SkippedFile] = Field(description="The first 200 of them by path.")
    skipped_count: int = Field(ge=0, description="How many there are.")
    remarks: list[FileRemark] = Field(description="The first 200 remarks about indexed files.")
    remark_count: int = Field(ge=0, description="How many there are.")


class IndexStatus(Answer):
    """Where the index of a repository is, what is in it and how fresh it is."""

    repo_path: str = Field(description="The root of the repository.")
    repo_id: str = Field(description="Its name in the cache.")
    cache_root: str = Field(description="The cache directory.")
    repo_cache_root: str = Field(description="The directory of this repository in the cache.")
    git: GitState = Field(description="The work tree.")
    dictionaries: DictionaryState = Field(description="Word lists.")
    models: ModelState = Field(description="Models for embeddings.")
    incremental: IncrementalState = Field(description="What an update starts from.")
    index: ModeStates = Field(description="The index, mode by mode.")
    sqlite: PlacedFile = Field(
        description="The portable form of the index, which exists only where it was asked for."
    )
    problem: Remark | None = Field(description="Why the index cannot be searched; null where it can.")
    current: CurrentIndex | None = Field(description="What is in the index; null where it cannot be searched.")


class ArtifactBytes(Answer):
    """Bytes by what they belong to; together all of the repository's directory in the cache."""

    store: int = Field(ge=0, description="Chunks and texts, of all builds.")
    terms: int = Field(ge=0, description="Term indexes, of all builds.")
    blame: int = Field(ge=0, description="What git said about single lines.")
    sqlite: int = Field(ge=0, description="The portable form of the index.")
    triage: int = Field(ge=0, description="Records of triage.")
    other: int = Field(ge=0, description="Pointers, locks and everything else.")


class PortableFile(Answer):
    """The portable form of an index."""

    path: str = Field(description="Its absolute path.")
    bytes: int = Field(ge=0, description="Its length.")


class BuildBytes(Answer):
    """One build of an index."""

    name: str = Field(description="Its name: when it was begun, and a random part.")
    bytes: int = Field(ge=0, description="Its bytes on disk.")
    current: bool = Field(description="Whether it is the one that is searched.")


class RepositoryArtifacts(Answer):
    """What the cache holds of one repository."""

    root: str = Field(description="The root of the repository.")
    cache_root: str = Field(description="The directory of this repository in the cache.")
    total_bytes: int = Field(ge=0, description="All of it.")
    artifacts: ArtifactBytes = Field(description="The same by what it belongs to.")
    sqlite: PortableFile | None = Field(description="The portable form of the index, if there is one.")
    builds: list[BuildBytes] = Field(description="The builds, by name.")


class Health(Answer):
    """Whether the index is well."""

    issues: list[str] = Field(description="What is wrong; empty for a healthy index.")
    hints: list[str] = Field(description="What to do.")


class OverallBytes(Answer):
    """The cache as a whole."""

    cache_root: str = Field(description="The cache directory.")
    cache_bytes: int = Field(ge=0, description="Everything below it.")
    dictionary_bytes: int = Field(ge=0, description="Of that, word lists.")
    model_bytes: int = Field(ge=0, description="Of that, models.")
    extension_bytes: int = Field(ge=0, description="Of that, extensions.")
    total_bytes: int = Field(ge=0, description="Everything that is ours; all of it lies in the cache.")


class CachedRepository(Answer):
    """One of all repositories in the cache."""

    id: str = Field(description="Its name in the cache.")
    root: str | None = Field(description="The root of the repository; null before its first build.")
    bytes: int = Field(ge=0, description="Its bytes in the cache.")
    last_used: str | None = Field(description="When its index was last written or opened, in UTC.")


class ArtifactReport(Answer):
    """What lies in the cache, and whether the index in it is healthy."""

    repo: RepositoryArtifacts = Field(description="This repository.")
    health: Health = Field(description="The health of its index.")
    overall: OverallBytes = Field(description="The cache as a whole.")
    all_repos: list[CachedRepository] = Field(description="Every repository with an index in the cache, by name.")


class Finding(Answer):
    """Something that a check found."""

    code: str = Field(description="A word that a program can rely on, such as index-stale.")
    severity: Literal["info", "warning", "error"] = Field(description="How bad it is.")
    area: Literal["index", "configuration", "capabilities", "disk", "git"] = Field(description="What it is about.")
    message: str = Field(description="What was found, for people.")
    remedy: str = Field(description="What to do about it.")


class CheckedIndex(Answer):
    """The index that was checked."""

    exists: bool = Field(description="Whether there is one that can be searched.")
    build: str | None = Field(description="The name of the build.")
    generation: int | None = Field(description="Rises with every update of the build.")
    built_at: str | None = Field(description="When it was last written, in UTC.")
    changed_files: int | None = Field(description="Files and directories that changed since then.")


class Checkup(Answer):
    """Is everything well?"""

    status: Literal["ok", "warning", "error"] = Field(
        description="The worst of the findings; info does not count."
    )
    findings: list[Finding] = Field(description="What was found.")
    index: CheckedIndex = Field(description="The index that was checked.")
    checked_at: str = Field(description="When, in UTC.")
