"""Finding candidates: the small interface that every backend offers, with tantivy and with SQLite behind it."""
