"""The audit record of runs: a local service that keeps it, the records themselves, and their delivery."""
