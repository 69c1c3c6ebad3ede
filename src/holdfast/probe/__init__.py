"""Holds any MCP server to what a robust one does, over raw bytes: checks, their verdicts, a score.

`run.run_probe` is the way in, `table.CHECKS` what is looked at. Nothing here knows how a server is built: it is
a program on a pipe, or an address that speaks HTTP.
"""
