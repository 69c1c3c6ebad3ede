"""A hostile MCP server on stdio: a real one, which misbehaves exactly where its script says.

It is a program, run by path (`python -I -S .../scripted_worker SCRIPT`). It imports nothing of the package around
it and little of the library, so that a test can start and lose hundreds of it. `holdfast.testing.hostile` writes
its scripts and reads what it leaves behind. SCRIPT is a JSON object, or the path of a file with one.
"""
