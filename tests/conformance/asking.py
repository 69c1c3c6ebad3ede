"""The fixture tools of the official conformance suite that ask their client and log to it."""

import asyncio
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from holdfast import Context, QuestionError, Server, question

__all__ = ["register"]

PAUSE = 0.05  # seconds between two log messages


class Contact(BaseModel):
    """Who somebody is."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    """One field of each kind, with its default."""

    name: str = Field("John Doe", description="User name")
    age: int = Field(30, description="User age")
    score: float = Field(95.5, description="User score")
    status: Literal["active", "inactive", "pending"] = Field("active", description="User status")
    verified: bool = Field(True, description="Verification status")


Option = Literal["option1", "option2", "option3"]
Value = Literal["value1", "value2", "value3"]
LEGACY_NAMES: Any = {"enumNames": ["Option One", "Option Two", "Option Three"]}


TITLED_ONE = question.titles(value1="First Option", value2="Second Option", value3="Third Option")
TITLED_MANY = question.titles(value1="First Choice", value2="Second Choice", value3="Third Choice")
Titled = Annotated[Value, TITLED_ONE]
Legacy = Annotated[Literal["opt1", "opt2", "opt3"], Field(json_schema_extra=LEGACY_NAMES)]


class Choices(BaseModel):
    """The five kinds of choices, under the names of the suite."""

    untitledSingle: Option | None = None  # noqa: N815
    titledSingle: Titled | None = None  # noqa: N815
    legacyEnum: Legacy | None = None  # noqa: N815
    untitledMulti: list[Option] | None = None  # noqa: N815
    titledMulti: Annotated[list[Value], TITLED_MANY] | None = None  # noqa: N815


class Name(BaseModel):
    """A name."""

    name: str


class Color(BaseModel):
    """A color."""

    color: str


class Confirmation(BaseModel):
    """Yes or no."""

    ok: bool


def register(server: Server) -> None:
    """Put all of them on a server."""
    for function in (
        test_tool_with_logging,
        test_logging_tool,
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_streaming_elicitation,
        test_missing_capability,
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
    ):
        server.tool()(function)


async def test_tool_with_logging(ctx: Context) -> str:
    """Log three messages, with pauses between them."""
    await ctx.log.info("Tool execution started")
    await asyncio.sleep(PAUSE)
    await ctx.log.info("Tool processing data")
    await asyncio.sleep(PAUSE)
    await ctx.log.info("Tool execution completed")
    return "Tool with logging executed successfully"


async def test_logging_tool(ctx: Context) -> str:
    """Log one message, which only a request that wants it may hear."""
    await ctx.log.info("This is a log message")
    return "Logged"


async def test_sampling(prompt: str, ctx: Context) -> str:
    """Have the client's model answer a prompt.

    Args:
        prompt: The prompt to send to the model.
    """
    return f"LLM response: {(await ctx.sample(prompt, max_tokens=100)).text}"


async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask a person for a name and an address.

    Args:
        message: The message to show.
    """
    return f"User response: {_shown(await ctx.elicit(message, Contact))}"


async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask with a default for every kind of field."""
    answer = await ctx.elicit("Please review and update the form fields with defaults", Defaults)
    return f"Elicitation completed: {_shown(answer)}"


async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask with every kind of choice."""
    answer = await ctx.elicit("Please select options from the enum fields", Choices)
    return f"Elicitation completed: {_shown(answer)}"


async def test_streaming_elicitation(ctx: Context) -> str:
    """Ask a person, in the middle of a stream."""
    answer = await ctx.elicit("Please confirm", Confirmation, key="confirm")
    return f"Confirmed: {_shown(answer)}"


async def test_missing_capability(ctx: Context) -> str:
    """Need a client that samples."""
    return (await ctx.sample("Say something", max_tokens=10)).text


async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Greet whoever tells a name."""
    answer = await ctx.elicit("What is your name?", Name, key="user_name")
    return f"Hello, {answer.value.name}!" if answer.value else f"Hello! ({answer.action})"


async def test_input_required_result_sampling(ctx: Context) -> str:
    """Ask the client's model a question."""
    return (await ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question")).text


async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Tell the roots of the client."""
    return "Roots: " + ", ".join(root.uri for root in await ctx.roots(key="client_roots"))


async def test_input_required_result_request_state(ctx: Context) -> str:
    """Ask for a confirmation, with a state that comes back."""
    answer = await ctx.elicit("Please confirm", Confirmation, key="confirm")
    return f"state-ok: {_shown(answer)}"


async def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Ask for three things at once."""
    answers = await ctx.ask(
        user_name=question.form("What is your name?", Name),
        greeting=question.sampling("Generate a greeting", max_tokens=50),
        client_roots=question.roots(),
    )
    return f"{_shown(answers['user_name'])}; {answers['greeting'].text}; {len(answers['client_roots'])} roots"


async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Ask for one thing after the other."""
    name = await ctx.elicit("Step 1: What is your name?", Name, key="step1")
    color = await ctx.elicit("Step 2: What is your favorite color?", Color, key="step2")
    return f"{_shown(name)}; {_shown(color)}"


async def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Ask for a confirmation, with a state that nobody may change."""
    answer = await ctx.elicit("Please confirm", Confirmation, key="confirm")
    return f"Confirmed: {_shown(answer)}"


async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Ask only what the client can be asked."""
    if ctx.client_can("elicitation"):
        return _shown(await ctx.elicit("What is your name?", Name, key="user_name"))
    try:
        return (await ctx.sample("Say something", max_tokens=50, key="line")).text
    except QuestionError:
        return "This client can be asked nothing."


def _shown(answer: question.Elicited[Any]) -> str:
    content = answer.value.model_dump(exclude_none=True) if answer.value else {}
    return f"action={answer.action}, content={content}"
