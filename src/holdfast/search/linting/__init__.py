"""What installed linters say of the indexed files: asked when a person wants it, kept by content."""
