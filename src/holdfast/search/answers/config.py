"""What `config_status` answers, and the capabilities that it shares with the handshake."""

from typing import Literal

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = [
    "CacheConfig",
    "CacheState",
    "Capabilities",
    "Config",
    "ConfigFile",
    "ConfigStatus",
    "DocumentCapabilities",
    "DownloadSource",
    "FileLimits",
    "IndexingConfig",
    "McpCapabilities",
    "McpConfig",
    "PortableFile",
    "SearchCapabilities",
    "SearchConfig",
    "SourcesConfig",
    "VectorCapabilities",
    "VectorExtension",
    "WatcherCapabilities",
]


class DocumentCapabilities(Answer):
    """Which documents can be read."""

    pdfjs_dist: bool = Field(description="Whether the text of PDF files can be extracted.")
    mammoth: bool = Field(description="Whether the text of DOCX files can be extracted.")


class VectorCapabilities(Answer):
    """Which engines for vectors are there."""

    sqlite_vec: bool = Field(description="Whether the extension sqlite-vec is there and can be loaded.")
    hnsw: bool = Field(description="Whether a graph over vectors can be made and searched.")


class McpCapabilities(Answer):
    """Which modes of MCP can be spoken."""

    sdk: bool = Field(description="Whether the official SDK is installed.")
    native: bool = Field(description="Newline JSON; always.")
    legacy: bool = Field(description="Content-Length framing; always.")


class SearchCapabilities(Answer):
    """Which engines of the search are there."""

    tantivy: bool = Field(description="Whether the term index can be read.")
    sqlite_fts: bool = Field(description="Whether SQLite has its full-text index (FTS5).")
    regex: bool = Field(description="Whether regular expressions can be searched (RE2).")


class WatcherCapabilities(Answer):
    """What notices changes of files."""

    watchfiles: bool = Field(description="Whether watchfiles is installed.")


class Capabilities(Answer):
    """What this installation can do."""

    docs: DocumentCapabilities = Field(description="Documents.")
    vector: VectorCapabilities = Field(description="Vectors.")
    mcp: McpCapabilities = Field(description="Modes of MCP.")
    search: SearchCapabilities = Field(description="The search.")
    watcher: WatcherCapabilities = Field(description="Changes of files.")
    languages: int = Field(ge=0, description="How many programming languages can be parsed.")
    git: str | None = Field(description="The version of git; null where it cannot be run.")


class McpConfig(Answer):
    """Of the server, and of calls about this repository."""

    mode: Literal["native", "sdk", "legacy"] = Field(description="How MCP is spoken on stdio.")
    queue_max: int = Field(ge=0, description="Calls that may wait.")
    max_buffer_bytes: int = Field(ge=0, description="Largest message, in bytes.")
    tool_timeout_ms: int | None = Field(
        ge=0, description="Milliseconds that a call may take; 0: no limit, null: what each tool declares."
    )
    tool_timeouts: dict[str, int] = Field(description="The same for single tools, by their names.")


class SearchConfig(Answer):
    """What a search means that does not say."""

    top: int = Field(ge=1, description="How many results of each mode.")
    mode: str = Field(description="What is searched.")
    backend: str = Field(description="The engine.")


class FileLimits(Answer):
    """The largest files that are indexed, in bytes."""

    code: int = Field(ge=1, description="Of code.")
    prose: int = Field(ge=1, description="Of prose.")
    records: int = Field(ge=1, description="Of records and documents.")


class IndexingConfig(Answer):
    """Which files are indexed."""

    max_file_bytes: FileLimits = Field(description="The largest files that are indexed, in bytes.")
    ignore: list[str] = Field(description="Patterns of what is not indexed, beside what git ignores.")


class CacheConfig(Answer):
    """What the collection of garbage leaves, where a call does not say."""

    max_bytes: int | None = Field(description="Bytes of all indexes together; null: no limit.")
    max_age_days: int | None = Field(description="Days without use; null: no limit.")


class DownloadSource(Answer):
    """Something that may be downloaded."""

    source: str = Field(description="A URL, pypi:NAME==VERSION, or a path of the repository.")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="What the download must have.")


class SourcesConfig(Answer):
    """What may be downloaded."""

    sources: dict[str, DownloadSource] = Field(description="By name.")


class Config(Answer):
    """Every key of the configuration with its value."""

    mcp: McpConfig = Field(description="The server, and time limits of calls.")
    search: SearchConfig = Field(description="Defaults of a search.")
    indexing: IndexingConfig = Field(description="Which files are indexed.")
    cache: CacheConfig = Field(description="Limits of the cache.")
    dictionary: SourcesConfig = Field(description="Word lists.")
    models: SourcesConfig = Field(description="Models.")


class ConfigFile(Answer):
    """A file that may hold a configuration."""

    file: str = Field(description="Its name at the root of the repository.")
    exists: bool = Field(description="Whether it is there.")
    used: bool = Field(description="Whether it says something about the search.")


class PortableFile(Answer):
    """The portable file of the backends sqlite and sqlite-fts."""

    path: str = Field(description="Where it is or would be.")
    exists: bool = Field(description="Whether it is there.")


class VectorExtension(Answer):
    """The extension of SQLite for vectors."""

    enabled: bool = Field(description="Whether this Python can load extensions of SQLite.")
    path: str | None = Field(description="Where the extension is; null where it is not installed.")
    available: bool = Field(description="Both.")


class CacheState(Answer):
    """What lies in the cache."""

    cache_root: str = Field(description="The directory of everything that can be made again.")
    cache_root_exists: bool = Field(description="Whether it is there.")
    repo_cache_root: str = Field(description="The part of this repository.")
    repo_cache_exists: bool = Field(description="Whether it is there.")
    dictionaries: list[str] = Field(description="Names of the files of words.")
    model_available: bool = Field(description="Whether there is a model.")
    sqlite: PortableFile = Field(description="The portable index.")
    vector_extension: VectorExtension = Field(description="The extension for vectors.")


class ConfigStatus(Answer):
    """The configuration in force, what this installation can do, and what is missing."""

    repo_path: str = Field(description="The root of the repository.")
    repo_id: str = Field(description="What the repository is called in the cache.")
    capabilities: Capabilities = Field(description="What this installation can do.")
    config: Config = Field(description="Every key with its value.")
    origins: dict[str, str] = Field(
        description="Where the value of each key comes from: default, a file, or the server that answers."
    )
    files: list[ConfigFile] = Field(description="The files that may hold a configuration.")
    cache: CacheState = Field(description="What lies in the cache.")
    warnings: list[Remark] = Field(description="What is missing or contradicts itself, and matters.")
