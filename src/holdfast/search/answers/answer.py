"""What all results have in common: camelCase on the wire, and nothing that was not declared."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

__all__ = ["Answer", "Remark"]


class Answer(BaseModel):
    """A result, or a part of one."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Remark(Answer):
    """Something that the caller should know, though the call did what was asked."""

    code: str = Field(description="A word that a program can rely on.")
    message: str = Field(description="The same for people.")
