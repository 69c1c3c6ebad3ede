"""MCP over streamable HTTP: one path, both eras, many clients of one host.

A request that describes itself (2026-07-28) is passed on almost as it came (`modern`); a client with a handshake
has a session that lives in this process (`session`, `sessions`), so a worker may be lost without its noticing.
"""
