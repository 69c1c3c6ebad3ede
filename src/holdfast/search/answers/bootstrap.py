"""The result of `bootstrap`."""

from typing import Literal

from pydantic import Field

from holdfast.search.answers.answer import Answer

__all__ = ["BootstrapAnswer", "Step"]


class Step(Answer):
    """One step."""

    name: Literal["install", "dictionaries", "tooling", "artifacts", "index", "sqlite"] = Field(
        description="Which one."
    )
    status: Literal["done", "skipped", "failed"] = Field(description="What became of it.")
    detail: str = Field(description="What was done, or why it was not.")
    duration_ms: int = Field(ge=0, description="How long it took, in milliseconds.")


class BootstrapAnswer(Answer):
    """What was done to make a repository ready."""

    repo_path: str = Field(description="The root of the repository.")
    cache_root: str = Field(description="The cache directory that was filled.")
    steps: list[Step] = Field(description="Every step, in order.")
    output: str = Field(description="The same as text, one line for each.")
