"""The query language: from what a person typed to a tree of what to look for. Nothing here knows an index."""
