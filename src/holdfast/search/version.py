"""The version of the search server's contracts, all of them together."""

__all__ = ["SCHEMA_VERSION"]

# The first number rises with what breaks a caller, the second with what is added, the third with mere words.
SCHEMA_VERSION = "1.4.0"
