"""What the download tools and the check of extensions answer."""

from typing import Literal

from pydantic import Field

from holdfast.search.answers.answer import Answer, Remark

__all__ = [
    "Attempt",
    "DownloadedDictionaries",
    "DownloadedDictionary",
    "DownloadedExtension",
    "DownloadedModel",
    "ExtensionConfig",
    "ExtensionReport",
    "ModelFile",
]

Status = Literal["downloaded", "unchanged", "skipped"]

_STATUS = "Whether it was fetched, asked for and found unchanged, or left alone since it was here."
_SHA256 = (
    "SHA-256 of what was fetched (of the archive, where it came in one); of the file itself where that is unknown."
)
_VERIFIED = "Whether it was compared with a SHA-256 that was known beforehand."
_OUTPUT = "A line for people: downloaded=1 skipped=0."
_WARNINGS = "What the caller should know: UNVERIFIED, CHANGED."


class ModelFile(Answer):
    """One file of a model."""

    path: str = Field(description="Where it is below the directory of the model.")
    bytes: int = Field(ge=0, description="Its size.")


class DownloadedModel(Answer):
    """What download_models did."""

    model: str = Field(description="The name of the model.")
    dir: str = Field(description="The directory with its files.")
    files: list[ModelFile] = Field(description="Its files, sorted by path.")
    bytes: int = Field(ge=0, description="Size of all files together.")
    sha256: str | None = Field(description=_SHA256)
    verified: bool = Field(description=_VERIFIED)
    status: Status = Field(description=_STATUS)
    downloaded: int = Field(ge=0, description="1 if it was fetched.")
    skipped: int = Field(ge=0, description="1 if it was here already.")
    output: str = Field(description=_OUTPUT)
    warnings: list[Remark] = Field(description=_WARNINGS)


class DownloadedDictionary(Answer):
    """One word list."""

    name: str = Field(description="The language or name of the list.")
    file: str = Field(description="Where it is: one word per line.")
    bytes: int = Field(ge=0, description="Its size.")
    sha256: str | None = Field(description=_SHA256)
    verified: bool = Field(description=_VERIFIED)
    status: Status = Field(description=_STATUS)


class DownloadedDictionaries(Answer):
    """What download_dictionaries did."""

    dir: str = Field(description="The directory of the word lists.")
    dictionaries: list[DownloadedDictionary] = Field(description="Every list that was asked for.")
    downloaded: int = Field(ge=0, description="How many were fetched.")
    skipped: int = Field(ge=0, description="How many were here already.")
    output: str = Field(description=_OUTPUT)
    warnings: list[Remark] = Field(description=_WARNINGS)


class DownloadedExtension(Answer):
    """What download_extensions did."""

    provider: str = Field(description="Whose extension it is.")
    extension_path: str | None = Field(description="The library.")
    platform: str = Field(description="What it is made for: linux, darwin or win32.")
    arch: str = Field(description="What it is made for: x64 or arm64.")
    bytes: int = Field(ge=0, description="Size of the library.")
    sha256: str | None = Field(description=_SHA256)
    verified: bool = Field(description=_VERIFIED)
    status: Status = Field(description=_STATUS)
    downloaded: int = Field(ge=0, description="1 if it was fetched.")
    skipped: int = Field(ge=0, description="1 if it was here already.")
    output: str = Field(description=_OUTPUT)
    warnings: list[Remark] = Field(description=_WARNINGS)


class ExtensionConfig(Answer):
    """What was verified, with every default filled in."""

    ann_mode: Literal["auto", "extension", "js"] = Field(description="When the extension is used; with js, never.")
    enabled: bool = Field(description="Whether it is used at all.")
    provider: str = Field(description="Whose extension it is.")
    module: str = Field(description="The module of virtual tables that it brings.")
    table: str = Field(description="The table that was made for the test.")
    column: str = Field(description="The column of vectors in it.")
    encoding: Literal["float32", "json"] = Field(description="How vectors are handed over.")
    options: str = Field(description="Options of the table.")
    platform: str = Field(description="What it is made for: linux, darwin or win32.")
    arch: str = Field(description="What it is made for: x64 or arm64.")
    platform_key: str = Field(description="Both together, such as linux-x64.")


class Attempt(Answer):
    """One step of the check."""

    attempted: bool = Field(description="Whether it was tried.")
    ok: bool = Field(description="Whether it worked.")
    reason: str | None = Field(description="Why it was not tried or did not work.")


class ExtensionReport(Answer):
    """What verify_extensions found."""

    config: ExtensionConfig = Field(description="What was verified.")
    path: str = Field(description="Where the library is looked for.")
    exists: bool = Field(description="Whether it is there; if not, that is an answer and no failure.")
    sha256: str | None = Field(description="SHA-256 of the library.")
    load: Attempt = Field(description="Loading it into a database in memory.")
    smoke: Attempt = Field(description="Making a table of vectors with it and finding the nearest one.")
