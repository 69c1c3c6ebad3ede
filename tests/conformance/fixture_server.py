"""The server that the official conformance suite is run against; each module beside it registers a part of it."""

from tests.conformance import asking, offers

from holdfast import Server

__all__ = ["server"]

server = Server(
    "conformance",
    version="1.0.0",
    instructions="Fixtures of the official conformance suite.",
    list_changed=("tools", "prompts"),
)
offers.register(server)
asking.register(server)

if __name__ == "__main__":
    server.run()
