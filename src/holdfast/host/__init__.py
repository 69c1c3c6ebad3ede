"""The host: a stable process in front of a worker that may die; it owns the session of the client."""
