"""What happened, written down: the event log, its rotation, and the redaction of what it must not hold."""
