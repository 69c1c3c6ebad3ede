"""The results of the tools as typed models: what is published as output schemas, and what every answer is held to.

Only `search.tools` loads them; the engine itself works with plain dictionaries.
"""
