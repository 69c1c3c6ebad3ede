"""The gates: what must be true of the pages of a run before they may become a pull request."""
