"""The echo tool on Holdfast, native mode: validation, deadline, output check, event log."""

from typing_extensions import TypedDict

from holdfast import Server, effect

server = Server("bench-echo", version="1.0.0", dialect="poc", render="json")


class Echo(TypedDict):
    """What was said."""

    text: str


@server.tool(effect=effect.replay_safe(), timeout=30.0, security="Touches nothing.")
async def echo(text: str) -> Echo:
    """Return the text."""
    return {"text": text}


if __name__ == "__main__":
    server.run()
