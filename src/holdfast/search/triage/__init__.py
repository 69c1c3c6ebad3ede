"""Triage: findings of vulnerability scanners as records, decisions about them, and what the code says to them.

`ingest` reads the files of scanners, `decide` writes down a decision, `context_pack` gathers a finding with its
history and the evidence that a search finds. Records are data of the user: no clean-up of an index removes them.
"""

from holdfast.search.triage.decision import decide
from holdfast.search.triage.ingestion import ingest
from holdfast.search.triage.pack import context_pack

__all__ = ["context_pack", "decide", "ingest"]
