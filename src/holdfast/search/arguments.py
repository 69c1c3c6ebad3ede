"""The arguments of the tools as types: their names on the wire, their bounds, and their words."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

__all__ = [
    "TRUST",
    "Alike",
    "Ann",
    "AnnMode",
    "Arch",
    "ArtifactsDir",
    "BuildIndexToo",
    "BuildMode",
    "CacheDir",
    "Codes",
    "Compact",
    "Digests",
    "Directory",
    "DryRun",
    "Encoding",
    "EndLine",
    "Every",
    "Evidence",
    "Expires",
    "ExtensionDirectory",
    "ExtensionPath",
    "FilePath",
    "Finding",
    "FindingSource",
    "Force",
    "Incremental",
    "InputPath",
    "Justification",
    "KeepBackup",
    "Languages",
    "Load",
    "MaxAgeDays",
    "MaxBytesKept",
    "MaxBytesShown",
    "MaxGb",
    "Meta",
    "Model",
    "Options",
    "Out",
    "OutPath",
    "Platform",
    "PortableMode",
    "Provider",
    "RecordId",
    "RepoPath",
    "Reviewer",
    "Sha256",
    "SkipArtifacts",
    "SkipDicts",
    "SkipIndex",
    "SkipInstall",
    "SkipTooling",
    "StartLine",
    "Status",
    "StubEmbeddings",
    "Update",
    "Url",
    "UseArtifacts",
    "WithLinters",
    "WithSqlite",
    "WithSqliteToo",
    "WithVectors",
    "WordLists",
    "WorkspacePath",
]

_PATH = 4096
_TEXT = 10_000
TRUST = "An exported index is believed as it is: take it up only from a source that you trust."
_WORD = "^[A-Za-z_][A-Za-z0-9_]{0,62}$"


def _path(alias: str, words: str) -> object:
    return Field(alias=alias, min_length=1, max_length=_PATH, description=words)


RepoPath = Annotated[
    str | None,
    _path(
        "repoPath",
        "The repository: a directory in it, or the name of one that is served. Without it: the first one.",
    ),
]
DryRun = Annotated[bool, Field(alias="dryRun", description="Only tell what would be done.")]
Incremental = Annotated[bool, Field(description="Bring what is there up to date instead of making it anew.")]
Update = Annotated[bool, Field(description="Ask the source whether it has something newer.")]
Force = Annotated[bool, Field(description="Download again, whatever is there.")]

# show_file
FilePath = Annotated[str, _path("path", "The file, from the root of the repository.")]
StartLine = Annotated[int | None, Field(alias="startLine", ge=1, description="The first line to show.")]
EndLine = Annotated[int | None, Field(alias="endLine", ge=1, description="The last line to show.")]
MaxBytesShown = Annotated[
    int | None, Field(alias="maxBytes", ge=1, le=1024 * 1024, description="Show no more. Without it: 65536.")
]

# workspace_status
WorkspacePath = Annotated[
    str | None,
    _path(
        "workspacePath",
        "The workspace file. Without it: the one served, or .pairofcleats-workspace.jsonc in the repository.",
    ),
]

# building
BuildMode = Annotated[
    Literal["all", "code", "prose", "extracted-prose", "records"],
    Field(
        description="Which modes the answer counts and, with sqlite, the portable index holds. The index itself "
        "always has all modes."
    ),
]
PortableMode = Annotated[Literal["all", "code", "prose"], Field(description="Which modes the file has.")]
WithSqlite = Annotated[bool, Field(description="Build the portable SQLite index too.")]
StubEmbeddings = Annotated[
    bool, Field(alias="stubEmbeddings", description="Reserved: true is refused. Vectors are never stubbed.")
]
UseArtifacts = Annotated[
    bool, Field(alias="useArtifacts", description=f"Begin with an exported index, where there is one. {TRUST}")
]
ArtifactsDir = Annotated[
    str | None, _path("artifactsDir", "Where that is, from the root of the repository. Without it: ci-artifacts.")
]
WithVectors = Annotated[
    bool,
    Field(
        description="Give every chunk a vector, so that searches find what is meant too. The model has to be on "
        "this machine: download_models fetches all-MiniLM-L6-v2. A call goes on where the last one was stopped."
    ),
]
WithLinters = Annotated[
    Annotated[list[Literal["ruff", "shellcheck", "eslint"]], Field(min_length=1, max_length=3)] | None,
    Field(
        description="Linters to run over the indexed files, for the filter lint of search. eslint runs code of "
        "the repository: FORBIDDEN unless the operator allows it with HOLDFAST_CODE_LINTERS."
    ),
]
Compact = Annotated[bool, Field(description="Make it as small as possible.")]
Out = Annotated[str | None, _path("out", "Write a copy to this path as well.")]
KeepBackup = Annotated[bool, Field(alias="keepBackup", description="Keep the file as it was, beside it.")]

# downloads
Url = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=_PATH,
        description="Where it comes from: a URL, a path, or pypi:NAME==VERSION#path/inside. "
        "Without it: the source that is configured for the name, or built in.",
    ),
]
_WordList = Annotated[str, Field(min_length=3, max_length=_PATH)]
WordLists = Annotated[
    Annotated[list[_WordList], Field(max_length=64)] | _WordList | None,
    Field(description="Word lists, each NAME=URL; a single one also as text."),
]
Languages = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        description="Names with commas between them. Only for these a configured source counts. "
        "Without it: en, from the source that is built in.",
    ),
]
Directory = Annotated[str | None, _path("dir", "Where it is kept. Without it: in the cache directory.")]
Sha256 = Annotated[
    str | None,
    Field(pattern="^[0-9a-fA-F]{64}$", description="The SHA-256 that the download must have, in hexadecimal."),
]
Digests = Annotated[
    dict[str, Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$")]] | None,
    Field(max_length=64, description="The SHA-256 that each word list must have, by name, in hexadecimal."),
]
Model = Annotated[str | None, Field(min_length=1, max_length=200, description="The name of the model.")]
CacheDir = Annotated[str | None, _path("cacheDir", "Where it is kept. Without it: models in the cache directory.")]
_RESERVED = "Reserved: refused with FORBIDDEN. `holdfast index verify-extension` takes it on the command line."
ExtensionPath = Annotated[str | None, _path("path", _RESERVED)]
ExtensionDirectory = Annotated[str | None, _path("dir", _RESERVED)]
Encoding = Annotated[str | None, Field(max_length=32, description="How the numbers of a vector are kept.")]
Options = Annotated[str | None, Field(max_length=1000, description="Further options of the table.")]
AnnMode = Annotated[str | None, Field(alias="annMode", max_length=32, description="How vectors are searched.")]
Provider = Annotated[str | None, Field(max_length=64, description="The extension. Without it: sqlite-vec.")]
Platform = Annotated[
    str | None, Field(max_length=32, description="Such as linux or darwin. Without it: this one.")
]
Arch = Annotated[str | None, Field(max_length=32, description="Such as x64 or arm64. Without it: this one.")]
Load = Annotated[bool, Field(description="Load it and try it; else only look whether it is there.")]
Alike = Annotated[str | None, Field(pattern=_WORD, description="A name in the table that it is tried with.")]

# upkeep
MaxBytesKept = Annotated[
    int | None, Field(alias="maxBytes", ge=0, le=2**53, description="Keep no more, the latest used first.")
]
MaxGb = Annotated[float | None, Field(alias="maxGb", ge=0, le=1e6, description="The same in gigabytes.")]
MaxAgeDays = Annotated[
    float | None, Field(alias="maxAgeDays", ge=0, le=1e6, description="Remove what was not used for so many days.")
]
Every = Annotated[bool, Field(alias="all", description="Of every repository, not only of this one.")]

# bootstrap
SkipInstall = Annotated[
    bool,
    Field(
        alias="skipInstall",
        description="False runs the package manager of the repository, which executes what the repository says.",
    ),
]
SkipDicts = Annotated[bool, Field(alias="skipDicts", description="Fetch no dictionaries.")]
SkipIndex = Annotated[bool, Field(alias="skipIndex", description="Build no index.")]
SkipArtifacts = Annotated[
    bool,
    Field(
        alias="skipArtifacts",
        description=f"False takes up an exported index that lies in the repository, in ci-artifacts. {TRUST}",
    ),
]
SkipTooling = Annotated[bool, Field(alias="skipTooling", description="Do not look for what is missing.")]
WithSqliteToo = Annotated[bool, Field(alias="withSqlite", description="Build the portable SQLite index too.")]

# triage
FindingSource = Annotated[
    Literal["dependabot", "aws_inspector", "sarif", "generic", "manual"],
    Field(description="Where the findings come from."),
]
Finding = Annotated[str, Field(min_length=1, max_length=200, description="The record that is decided about.")]
InputPath = Annotated[str, _path("inputPath", "The file with the findings, from the root of the repository.")]
Meta = Annotated[
    dict[str, JsonValue] | None,
    Field(max_length=64, description="What to add: service, env, team, owner, repo, or exposure.* of a finding."),
]
BuildIndexToo = Annotated[bool, Field(alias="buildIndex", description="Bring the index up to date afterwards.")]
RecordId = Annotated[str, Field(alias="recordId", min_length=1, max_length=200, description="The finding.")]
Status = Annotated[
    Literal["fix", "accept", "defer", "false_positive", "not_affected"], Field(description="What was decided.")
]
Justification = Annotated[str | None, Field(min_length=1, max_length=_TEXT, description="Why.")]
Reviewer = Annotated[str | None, Field(min_length=1, max_length=200, description="Who decided.")]
Expires = Annotated[
    str | None, Field(min_length=1, max_length=64, description="Until when it holds: an ISO date or time.")
]
Codes = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]] | None,
    Field(max_length=64, description="Codes of the justification."),
]
Evidence = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=_PATH)]] | None,
    Field(max_length=256, description="What it rests on: links, files, notes."),
]
OutPath = Annotated[str | None, _path("outPath", "Where the pack is written. Without it: in the cache directory.")]
Ann = Annotated[bool | None, Field(description="Use vectors in the searches where there are some.")]
