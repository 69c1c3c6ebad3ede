"""The compact store beside the term index: files, chunks and what is known of them, in one SQLite database."""
