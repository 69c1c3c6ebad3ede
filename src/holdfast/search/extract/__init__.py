"""Extraction: from the bytes of one source file to its chunks and what is known about them."""
