"""Code inside of other files: fences in Markdown, scripts in HTML and its kin, cells of notebooks.

A host file is cut into segments, each of which is extracted by the rules of its own language; languages know
nothing of this room.
"""

__all__ = ["HOSTS"]

HOSTS = frozenset({"astro", "html", "markdown", "notebook", "svelte", "vue"})  # ids of the languages of host files
