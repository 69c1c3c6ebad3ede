"""Runs tools: registry, admission, validation, deadline, cancellation, progress; and the stdio surfaces of MCP."""
