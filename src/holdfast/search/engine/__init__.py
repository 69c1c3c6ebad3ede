"""Finding candidates: the small interface of every backend, with tantivy, SQLite or dictionaries behind it."""
