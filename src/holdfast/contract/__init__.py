"""What a tool promises, as data: derived from a typed function, checked, published and written down."""
