"""Finding candidates: the small interface that every backend offers, and the tantivy one behind it."""
