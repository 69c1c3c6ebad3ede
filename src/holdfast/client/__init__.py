"""One MCP session with a peer: a spawned program in any language, or a server in this very process."""
