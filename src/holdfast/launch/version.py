"""The version of the contract of the launch server, all its tools together."""

__all__ = ["ARTIFACT_VERSION", "SCHEMA_VERSION"]

SCHEMA_VERSION = "1.0.0"
ARTIFACT_VERSION = "1.0"  # what every artifact says in `schema_version`
