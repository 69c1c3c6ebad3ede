"""The version of the package, in one place: the build, the wire and `holdfast --version` read it here."""

__all__ = ["__version__"]

__version__ = "0.1.0"
