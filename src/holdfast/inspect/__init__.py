"""A live server looked at from outside: what it offers on the wire, and whether its examples tell the truth."""
