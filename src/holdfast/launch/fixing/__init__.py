"""Mending what the gates found: one rule for each kind of finding, one issue at a time."""
