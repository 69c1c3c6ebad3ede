"""The result of `show_file`."""

from pydantic import Field

from holdfast.search.answers.answer import Answer

__all__ = ["ShownFile"]


class ShownFile(Answer):
    """Some lines of a file."""

    repo_path: str = Field(description="The root of the repository.")
    file: str = Field(description="The file, relative to the root; where a link was named, what it leads to.")
    start_line: int = Field(ge=1, description="The first line that is shown, counted from 1.")
    end_line: int = Field(
        ge=0, description="The last line that is shown, at least in part; 0 for a file without lines."
    )
    total_lines: int = Field(ge=0, description="How many lines the file has.")
    text: str = Field(description="The lines with their ends as in the file, without a byte order mark.")
    truncated: bool = Field(description="Whether `maxBytes` was too little for all that was asked for.")
    encoding: str = Field(
        description="How the text is written in the file: utf-8, utf-8-sig, utf-16-le, utf-16-be, utf-32-le, "
        "utf-32-be, cp1252, or utf-8+cp1252 for single bytes of the latter amid UTF-8."
    )
    hash: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the whole file, in hexadecimal.")
    bytes: int = Field(ge=0, description="The size of the whole file on disk.")
